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
// part of half the time that is left.
func (c *clock) share(n int) func() bool {
	if !c.limited {
		return c.over
	}
	now := c.now()
	end := now.Add(c.deadline.Sub(now) / time.Duration(2*max(n, 1)))
	return func() bool { return c.ctx.Err() != nil || !c.now().Before(end) }
}

// run gives every subject its turn. In the first round each may use an equal share, so
// that a hostile tool cannot use up the time of those behind it. The first round has
// half the time, more or less; the rest goes, in a second round, to those whose share
// was not enough, one after the other, so that where all are slow some come to an end.
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
