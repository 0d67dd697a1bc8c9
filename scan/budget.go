package scan

import (
	"context"
	"time"
)

// clock says when to stop: at the end of the budget, or when the context ends.
type clock struct {
	ctx      context.Context
	now      func() time.Time
	started  time.Time
	deadline time.Time
	limited  bool
}

func newClock(ctx context.Context, now func() time.Time, budget time.Duration) *clock {
	c := &clock{ctx: ctx, now: now, started: now(), limited: budget > 0}
	c.deadline = c.started.Add(budget)
	return c
}

// over reports whether the whole scan has to stop.
func (c *clock) over() bool {
	return c.ctx.Err() != nil || c.limited && !c.now().Before(c.deadline)
}

// share gives a stop for one of n subjects that have not had a turn yet: an equal
// part of the time that is left.
func (c *clock) share(n int) func() bool {
	if !c.limited {
		return c.over
	}
	now := c.now()
	end := now.Add(c.deadline.Sub(now) / time.Duration(max(n, 1)))
	return func() bool { return c.ctx.Err() != nil || !c.now().Before(end) }
}

// run gives every subject its turn. In the first round each may use an equal share
// of what is left, so that a hostile tool cannot use up the time of those behind it;
// what they leave goes, in a second round, to those whose share was not enough.
func (s *Scanner) run(c *clock, subjects []*subject) {
	for i, sub := range subjects {
		if c.over() {
			return
		}
		s.turn(sub, c.share(len(subjects)-i))
	}
	for _, sub := range subjects {
		if sub.done {
			continue
		}
		if c.over() {
			return
		}
		s.turn(sub, c.over)
	}
}
