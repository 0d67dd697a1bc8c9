package probe

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// byInterpreter makes cmd.exe run a batch file. Windows would do that by itself, with the
// arguments written for a program, which the interpreter reads in another way.
func byInterpreter(cmd *exec.Cmd) error {
	if !isBatch(cmd.Path) {
		return nil
	}
	line, err := batchLine(cmd.Path, cmd.Args[1:])
	if err != nil {
		return err
	}
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return err
	}
	cmd.Path = filepath.Join(system, "cmd.exe")
	cmd.SysProcAttr.CmdLine = line
	return nil
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
