// Command toolmark scans, pins and inspects the tool definitions of MCP servers.
//
// main parses, wires and exits; the program is [run], with everything it touches
// given to it: its streams, its environment, its clock.
//
// Exit codes: 0 clean; 1 could not finish (a source that cannot be read, a scan that
// ran out of time); 2 wrong use; 3 findings at or above --fail-on. 3 wins over 1.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"os/user"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/term"
)

func main() {
	// Reading the rules allocates some 15 MB, most of which stay; collecting in between
	// costs a third of the time to start. Below 64 MB nothing is collected; who has much to
	// do goes back to the usual pace first.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(startPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends us at once, but not before the servers we started have ended.
	// Some programs send a signal to us and to our group, which is two, and no Ctrl-C.
	context.AfterFunc(ctx, func() { time.AfterFunc(patience, stop) })
	code := run(ctx, os.Args[1:], &interruptible{ctx: ctx, in: os.Stdin}, os.Stdout, os.Stderr, system())
	stop()
	os.Exit(code)
}

// patience is how long after the first signal another one does nothing: longer than it
// takes to end the servers that a probe has started.
const patience = 3 * time.Second

// interruptible is a reader whose Read ends when ctx does. The read under way is left
// behind: a terminal cannot be told to stop waiting, and the process ends next.
type interruptible struct {
	ctx context.Context
	in  io.Reader
	buf []byte
}

type interrupted struct {
	n   int
	err error
}

// Read reads as the reader behind it does, or gives the context's error.
func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if len(r.buf) < len(p) {
		r.buf = make([]byte, len(p))
	}
	buf, done := r.buf[:len(p)], make(chan interrupted, 1)
	go func() {
		n, err := r.in.Read(buf)
		done <- interrupted{n, err}
	}()
	select {
	case <-r.ctx.Done():
		r.buf = nil // still being written to
		return 0, r.ctx.Err()
	case got := <-done:
		return copy(p, buf[:got.n]), got.err
	}
}

const (
	startPercent = 1600
	usualPercent = 100 // the runtime's default
	// A service keeps rules of some 40 MB, which cost more to look through than its
	// requests make: let twice as much gather, but collect at once where all together
	// comes near what a service may take. GOGC and GOMEMLIMIT win.
	servicePercent = 200
	serviceMemory  = 144 << 20
)

// environment is what the program sees of the system beside its streams.
type environment struct {
	getenv func(string) string
	now    func() time.Time
	// username gives the name of who runs the program, "" where it is unknown.
	username func() string
	// steady is called before work that may need much memory or time.
	steady func()
	// serving is called in its place by a service.
	serving func()
	// stdin, stdout and stderr say which streams are terminals, and how wide.
	stdin, stdout, stderr screen
}

// screen is a terminal, or no terminal.
type screen struct {
	terminal bool
	width    int // columns; 0 is unknown
}

func system() environment {
	return environment{
		getenv: os.Getenv, now: time.Now, username: username,
		steady: func() {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(usualPercent)
			}
		},
		serving: func() {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(servicePercent)
			}
			if os.Getenv("GOMEMLIMIT") == "" {
				debug.SetMemoryLimit(serviceMemory)
			}
		},
		stdin: screenOf(os.Stdin), stdout: screenOf(os.Stdout), stderr: screenOf(os.Stderr),
	}
}

// username gives the name of who runs the process.
func username() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

func screenOf(f *os.File) screen {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return screen{}
	}
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 0
	}
	return screen{terminal: true, width: width}
}
