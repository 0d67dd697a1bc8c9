package registry

import (
	"sync"
	"time"

	"github.com/toolmark/toolmark/internal/access"
)

// ceiling counts the requests of keys without a rate of their own, in this process
// only. It keeps the keys of one minute.
type ceiling struct {
	mu     sync.Mutex
	minute access.Minute
	used   map[string]int64
}

func (c *ceiling) request(key string, limit int64, now time.Time) (access.Rate, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if minute := access.MinuteOf(now); minute > c.minute || c.used == nil {
		c.minute, c.used = max(minute, c.minute), map[string]int64{}
	}
	ok := c.used[key] < limit
	if ok {
		c.used[key]++
	}
	return access.Rate{Limit: limit, Remaining: max(0, limit-c.used[key]), Reset: c.minute.End()}, ok
}

func (c *ceiling) standing(key string, limit int64, now time.Time) access.Rate {
	c.mu.Lock()
	defer c.mu.Unlock()
	minute, used := access.MinuteOf(now), int64(0)
	if minute <= c.minute {
		minute, used = c.minute, c.used[key]
	}
	return access.Rate{Limit: limit, Remaining: max(0, limit-used), Reset: minute.End()}
}
