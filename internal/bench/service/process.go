package service

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a service that was started for the measurement.
type process struct {
	cmd      *exec.Cmd
	url, key string
	drained  chan struct{}
	folder   string // to remove once no service runs; "" is none
}

// start starts a service on a free port and waits until it says where it is. The first
// one on a new database says its key too.
func start(ctx context.Context, binary, database string, more ...string) (*process, error) {
	p := &process{
		cmd:     exec.CommandContext(ctx, binary, append([]string{"serve", "--addr", "127.0.0.1:0", "--database", database, "--log-format", "off"}, more...)...),
		drained: make(chan struct{}),
	}
	p.cmd.Stderr = os.Stderr
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = 30 * time.Second
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the service: %w", err)
	}
	lines := bufio.NewScanner(out)
	if lines.Scan() {
		if after, found := strings.CutPrefix(lines.Text(), "Listening on "); found {
			p.url, _, _ = strings.Cut(after, " ")
		}
	}
	if p.url == "" {
		close(p.drained)
		return p, errors.New("the service does not say where it listens")
	}
	// The key is written together with the address, if there is one: give it a moment.
	found := make(chan string, 1)
	go func() {
		defer close(p.drained)
		for lines.Scan() {
			if text := strings.TrimSpace(lines.Text()); strings.HasPrefix(text, "tm_") {
				found <- text
			}
		}
	}()
	select {
	case p.key = <-found:
	case <-time.After(500 * time.Millisecond):
	}
	return p, nil
}

// stop ends the service as an operator does, and gives an error where it did not end
// clean.
func (p *process) stop() error {
	signalled := p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.drained
	return errors.Join(signalled, p.cmd.Wait())
}

// sample gives the memory of all processes in bytes, as Linux accounts it; 0 elsewhere.
func sample(all []*process) (sum int64) {
	for _, p := range all {
		sum += memory(p, "VmRSS:")
	}
	return sum
}

// processor gives the processor time all processes have used, as Linux accounts it in
// hundredths of a second; 0 elsewhere.
func processor(all []*process) time.Duration {
	sum := time.Duration(0)
	for _, p := range all {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			return 0
		}
		// The name may hold spaces; what follows it is numbers. User and system time are
		// fields 14 and 15 of proc(5), the state behind the name being field 3.
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 13 {
			return 0
		}
		for _, text := range fields[11:13] {
			ticks, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return 0
			}
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum
}
