package probe

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// A child is a started command. It leads a session and a process group of its own,
// so that it cannot write to our terminal and can be ended with all it started.
type child struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	mark   string // markName=…, in the environment of the child and what it starts

	exited chan struct{} // closed when the child has ended
	reap   chan struct{} // closed when it may be reaped: until then its id stays its own
	reaped chan struct{} // closed when cmd.ProcessState is set

	tail   tailBuffer
	copied chan struct{} // closed when stderr is read to its end

	once sync.Once
	left string // what stop could not end
}

// markName is the variable by which a probe finds what its child left behind.
const markName = "TOOLMARK_PROBE"

// How long a child gets to end after its stdin was closed, and after SIGTERM
// (MCP, stdio transport, shutdown), and how long the system gets after SIGKILL.
const (
	waitAfterClose = 300 * time.Millisecond
	waitAfterTerm  = 700 * time.Millisecond
	waitAfterKill  = 5 * time.Second
)

func startChild(src Source, stderr io.Writer) (*child, error) {
	c := &child{
		mark:   markName + "=" + rand.Text(),
		exited: make(chan struct{}),
		reap:   make(chan struct{}),
		reaped: make(chan struct{}),
		copied: make(chan struct{}),
	}
	c.cmd = exec.Command(src.Command[0], src.Command[1:]...)
	if c.cmd.Err != nil {
		return nil, c.cmd.Err
	}
	c.cmd.Dir = src.Dir
	c.cmd.Env = append(childEnv(os.LookupEnv), src.Env...)
	c.cmd.Env = append(c.cmd.Env, c.mark)
	c.cmd.SysProcAttr = childAttributes()
	if err := byInterpreter(c.cmd); err != nil {
		return nil, err
	}

	// Our own pipes instead of those of exec.Cmd: their ends can be closed under a
	// reader, so that a process which inherited the other end cannot hold us.
	var theirs []*os.File
	closeAll := func(files []*os.File) {
		for _, f := range files {
			f.Close()
		}
	}
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		return r, w, err
	}
	inR, inW, err := pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := pipe()
	if err != nil {
		closeAll([]*os.File{inR, inW})
		return nil, err
	}
	errR, errW, err := pipe()
	if err != nil {
		closeAll([]*os.File{inR, inW, outR, outW})
		return nil, err
	}
	theirs = []*os.File{inR, outW, errW}
	c.stdin, c.stdout, c.stderr = inW, outR, errR
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = inR, outW, errW

	started := make(chan error)
	go c.run(started)
	err = <-started
	closeAll(theirs)
	if err != nil {
		closeAll([]*os.File{inW, outR, errR})
		return nil, err
	}
	go c.copyStderr(stderr)
	return c, nil
}

// run starts the child and waits for it, on one locked thread: the kernel sends the
// parent-death signal when the thread that started the child ends, not the process
// (prctl(2), PR_SET_PDEATHSIG), and the Go runtime may end a thread that is not held.
func (c *child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.cmd.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	waitUnreaped(c.cmd)
	close(c.exited)
	<-c.reap
	c.cmd.Wait()
	close(c.reaped)
}

func (c *child) copyStderr(w io.Writer) {
	defer close(c.copied)
	buf := make([]byte, 8<<10)
	for {
		n, err := c.stderr.Read(buf)
		c.tail.Write(buf[:n])
		if w != nil && n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				w = nil
			}
		}
		if err != nil {
			return
		}
	}
}

func (c *child) allowWrites() { c.stdin.SetWriteDeadline(time.Time{}) }

// endWrites makes a write to stdin that waits for the child return.
func (c *child) endWrites() {
	if c.stdin.SetWriteDeadline(time.Unix(1, 0)) != nil {
		c.stdin.Close() // no deadlines on this system's pipes
	}
}

// stop ends the child and everything it started, and waits for our own readers of
// it. It says what it could not end, which is nothing in all but odd cases.
func (c *child) stop() string {
	c.once.Do(func() {
		c.stdin.Close()
		if !within(waitAfterClose, c.exited) {
			c.terminate()
			if !within(waitAfterTerm, c.exited) {
				c.kill()
				if !within(waitAfterKill, c.exited) {
					c.left = fmt.Sprintf("the process %d that the command started could not be ended; it may run as another user", c.cmd.Process.Pid)
				}
			}
		}
		c.killRest()
		close(c.reap)
		if c.left == "" {
			<-c.reaped
		}
		within(waitAfterClose, c.copied)
		c.stdout.Close()
		c.stderr.Close()
		<-c.copied
	})
	return c.left
}

// outcome says how the child ended: "exit status 1", "signal: killed".
func (c *child) outcome() string {
	select {
	case <-c.reaped:
		return c.cmd.ProcessState.String()
	default:
		return "still running"
	}
}

func (c *child) stderrTail() string { return c.tail.String() }

func within(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// inherited are the variables a child gets from us: what programs need to find
// themselves, their user and their language, and nothing that holds a secret.
var inherited = [...]string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	// Windows
	"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE",
	"PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
}

// childEnv gives the part of our environment that a child gets.
func childEnv(lookup func(string) (string, bool)) []string {
	var env []string
	for _, name := range inherited {
		if v, ok := lookup(name); ok && !strings.HasPrefix(v, "()") { // no exported shell functions
			env = append(env, name+"="+v)
		}
	}
	return env
}

// tailSize is how much of stderr is kept for messages.
const tailSize = 4 << 10

// A tailBuffer keeps the last tailSize bytes written to it.
type tailBuffer struct {
	mu   sync.Mutex
	data []byte
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}
