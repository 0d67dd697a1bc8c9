//go:build unix && !linux

package probe

import (
	"os/exec"
	"syscall"
)

func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// waitUnreaped waits until the child has ended. Here this also reaps it; the group's
// id stays taken for as long as the group has a member.
func waitUnreaped(cmd *exec.Cmd) { cmd.Wait() }

func (c *child) terminate() { syscall.Kill(-c.cmd.Process.Pid, syscall.SIGTERM) }

func (c *child) kill() { syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) }

// killRest ends the rest of the process group.
func (c *child) killRest() { c.kill() }
