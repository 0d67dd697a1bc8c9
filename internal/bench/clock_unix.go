//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime gives the processor time that this process has used, all threads and
// the kernel's work for it included.
func processorTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
