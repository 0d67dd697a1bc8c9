package probe

import (
	"os/exec"
	"strconv"
	"syscall"
)

func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func waitUnreaped(cmd *exec.Cmd) { cmd.Wait() }

// terminate ends the tree of processes at once: a console program has no SIGTERM.
func (c *child) terminate() { c.kill() }

func (c *child) kill() {
	exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(c.cmd.Process.Pid)).Run()
	c.cmd.Process.Kill()
}

// killRest has nothing to add: a tree whose root has ended cannot be found any more.
func (c *child) killRest() {}
