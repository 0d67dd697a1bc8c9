package watch

import (
	"sync"
	"time"
)

// hostWait is how long a probe waits at least whose host has its number.
const hostWait = 2 * time.Second

// hosts counts what is read of each host at once.
type hosts struct {
	mu   sync.Mutex
	most int // less than 1: no limit
	now  map[string]int
}

func newHosts(most int) *hosts { return &hosts{most: most, now: map[string]int{}} }

// enter reports whether one more may be read of a host. "" is no host.
func (h *hosts) enter(host string) bool {
	if h.most < 1 || host == "" {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now[host] >= h.most {
		return false
	}
	h.now[host]++
	return true
}

func (h *hosts) leave(host string) {
	if h.most < 1 || host == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now[host]--; h.now[host] <= 0 {
		delete(h.now, host)
	}
}
