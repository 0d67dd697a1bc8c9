package probe

import "os/exec"

func ownSession(*exec.Cmd) {}

func ignoreTerm() {}
