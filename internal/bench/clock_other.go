//go:build !unix

package main

import (
	"os"
	"time"
)

var started = time.Now()

// processorTime gives the time since the start where the system has no other clock for
// a process that we know.
func processorTime() (time.Duration, error) { return time.Since(started), nil }

// residentMost gives 0: it is not known here.
func residentMost(*os.ProcessState) int64 { return 0 }
