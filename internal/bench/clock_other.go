//go:build !unix

package main

import "time"

var started = time.Now()

// processorTime gives the time since the start where the system has no other clock for
// a process that we know.
func processorTime() (time.Duration, error) { return time.Since(started), nil }
