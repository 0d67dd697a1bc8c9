//go:build unix

package probe

import (
	"os/exec"
	"os/signal"
	"syscall"
)

func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func ignoreTerm() { signal.Ignore(syscall.SIGTERM) }
