package probe

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// waitUnreaped waits until the child has ended and leaves it a zombie: its id, which
// is also its group's and its session's, is not given to another process meanwhile.
func waitUnreaped(cmd *exec.Cmd) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

func (c *child) terminate() { syscall.Kill(-c.cmd.Process.Pid, syscall.SIGTERM) }

func (c *child) kill() { syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) }

// killRest ends what the child left behind. It makes several passes, because a
// process may be starting another one while we look. We do not become a subreaper
// (prctl(2), PR_SET_CHILD_SUBREAPER): that would give a program that embeds us
// zombies it does not know of.
func (c *child) killRest() {
	c.kill()
	for range 50 {
		found := false
		for _, pid := range c.descendants() {
			// The process is held by a handle before it is looked at once more, so that
			// its id cannot pass to another process in between.
			p, err := os.FindProcess(pid)
			if err != nil {
				continue
			}
			if c.owns(pid) {
				found = p.Kill() == nil || found
			}
			p.Release()
		}
		if !found {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// descendants gives the processes that are the child's by session, group, parent or
// mark, without zombies.
func (c *child) descendants() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var all []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != os.Getpid() && c.owns(pid) {
			all = append(all, pid)
		}
	}
	return all
}

// owns reports whether a process belongs to the child's session or group, or carries
// its mark, and still runs.
func (c *child) owns(pid int) bool {
	base := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(base + "/stat")
	if err != nil {
		return false
	}
	// pid (name) state parent group session …; the name may hold anything (proc(5)).
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return false
	}
	own := strconv.Itoa(c.cmd.Process.Pid)
	if string(fields[2]) == own || string(fields[3]) == own {
		return true
	}
	env, err := os.ReadFile(base + "/environ")
	return err == nil && hasVariable(env, c.mark)
}

func hasVariable(env []byte, variable string) bool {
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if string(v) == variable {
			return true
		}
	}
	return false
}
