package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/toolmark/toolmark/internal/report"
)

// progress shows on a terminal what is being waited for, in one line that goes away.
// A nil progress shows nothing.
type progress struct {
	out   io.Writer
	width int
	quit  chan struct{}
	done  chan struct{}

	mu   sync.Mutex
	text string
}

const (
	progressDelay = 200 * time.Millisecond // what is quicker needs no sign
	progressTick  = 100 * time.Millisecond
)

// startProgress starts a progress line, if the screen is a terminal.
func startProgress(out io.Writer, s screen) *progress {
	if !s.terminal {
		return nil
	}
	p := &progress{out: out, width: s.width, quit: make(chan struct{}), done: make(chan struct{})}
	if p.width < 20 {
		p.width = 80
	}
	go p.run()
	return p
}

// show says what is done now. The text may be hostile.
func (p *progress) show(source, stage string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.text = report.Printable(source + ": " + stage)
	p.mu.Unlock()
}

func (p *progress) run() {
	defer close(p.done)
	select {
	case <-p.quit:
		return
	case <-time.After(progressDelay):
	}
	tick := time.NewTicker(progressTick)
	defer tick.Stop()
	signs := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	for i := 0; ; i++ {
		p.mu.Lock()
		text := p.text
		p.mu.Unlock()
		fmt.Fprintf(p.out, "\r%c %s\x1b[K", signs[i%len(signs)], displaywidth.TruncateString(text, p.width-3, "…"))
		select {
		case <-p.quit:
			fmt.Fprint(p.out, "\r\x1b[K")
			return
		case <-tick.C:
		}
	}
}

// stop takes the line away and waits until it is gone.
func (p *progress) stop() {
	if p == nil {
		return
	}
	close(p.quit)
	<-p.done
}
