package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolmark/toolmark/internal/access"
)

// counter is the one goroutine of a process that changes meters. Whatever waits when a
// transaction ends goes into the next one together: a thousand requests a second cost
// a few dozen commits, each of them is answered only after its commit, and processes
// contend for a busy key's row once a batch rather than once a request.
type counter struct {
	store   Meters
	log     *slog.Logger
	queue   chan *change
	waiting atomic.Int64
	max     int64

	closing sync.RWMutex // held for reading while a change is put into the queue
	closed  bool
	done    chan struct{}
}

// A batch changes at most maxBatch meters' worth of requests, within batchTime: what a
// database may take before the requests that wait are told that it does not answer.
const (
	maxBatch  = 2000
	batchTime = 15 * time.Second
)

// change is one thing to be done with one key's meter.
type change struct {
	key   string
	apply func(*access.Meter)
	// undo takes the change back; nil where that is not needed.
	undo func(*access.Meter)
	done chan error // has room for one
	// given is set by whoever comes first: the counter with the answer, or the caller
	// that no longer waits for it.
	given atomic.Bool
}

func newCounter(store Meters, log *slog.Logger, waiting int) *counter {
	c := &counter{store: store, log: log, queue: make(chan *change, waiting), max: int64(waiting), done: make(chan struct{})}
	go c.run()
	return c
}

func (c *counter) close() {
	c.closing.Lock()
	if !c.closed {
		c.closed = true
		close(c.queue)
	}
	c.closing.Unlock()
	<-c.done
}

func (c *counter) run() {
	defer close(c.done)
	var batch []*change
	for first := range c.queue {
		batch = append(batch[:0], first)
	collect:
		for len(batch) < maxBatch {
			select {
			case next, ok := <-c.queue:
				if !ok {
					break collect
				}
				batch = append(batch, next)
			default:
				break collect
			}
		}
		for undo := c.commit(batch); len(undo) > 0; {
			undo = c.commit(undo)
		}
		clear(batch)
	}
}

// commit does a batch in one transaction, answers, and gives what must be undone
// because its caller went away meanwhile.
func (c *counter) commit(batch []*change) (undo []*change) {
	var keys []string
	byKey := map[string][]*change{}
	for _, ch := range batch {
		if _, ok := byKey[ch.key]; !ok {
			keys = append(keys, ch.key)
		}
		byKey[ch.key] = append(byKey[ch.key], ch)
	}
	found := map[string]bool{}
	ctx, cancel := context.WithTimeout(context.Background(), batchTime)
	err := c.store.ChangeMeters(ctx, keys, func(meters map[string]*access.Meter) {
		for key, meter := range meters {
			found[key] = true
			for _, ch := range byKey[key] {
				if ch.given.Load() && ch.undo != nil {
					ch.undo = nil // nobody waits: leave it undone
					continue
				}
				ch.apply(meter)
			}
		}
	})
	cancel()
	if err != nil {
		c.log.Error("meters could not be changed", "changes", len(batch), "error", err)
	}
	for _, ch := range batch {
		answer := err
		if err == nil && !found[ch.key] {
			answer = ErrNotFound
		}
		if ch.given.CompareAndSwap(false, true) {
			ch.done <- answer
		} else if answer == nil && ch.undo != nil {
			undo = append(undo, &change{key: ch.key, apply: ch.undo, done: make(chan error, 1)})
		}
	}
	return undo
}

// do waits until a change is durable. When ctx ends first, the change is not done, or
// undone.
func (c *counter) do(ctx context.Context, ch *change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.waiting.Add(1) > c.max {
		c.waiting.Add(-1)
		return ErrBusy
	}
	defer c.waiting.Add(-1)
	ch.done = make(chan error, 1)
	if err := c.put(ctx, ch); err != nil {
		return err
	}
	select {
	case err := <-ch.done:
		return err
	case <-ctx.Done():
		if ch.given.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		return <-ch.done
	}
}

func (c *counter) put(ctx context.Context, ch *change) error {
	c.closing.RLock()
	defer c.closing.RUnlock()
	if c.closed {
		return ErrClosed
	}
	select {
	case c.queue <- ch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// request counts a request against the key's own rate.
func (c *counter) request(ctx context.Context, key string, now time.Time) (rate access.Rate, ok bool, err error) {
	type answer struct {
		rate access.Rate
		ok   bool
	}
	var got answer
	err = c.do(ctx, &change{key: key, apply: func(m *access.Meter) { got.rate, got.ok = m.Request(now) }})
	if err != nil {
		return access.Rate{}, false, fmt.Errorf("count the request: %w", err)
	}
	if got.rate.Limit == 0 && got.ok { // its limit was taken away meanwhile
		got.rate.Reset = access.MinuteOf(now).End()
	}
	return got.rate, got.ok, nil
}

// take counts a scan.
func (c *counter) take(ctx context.Context, key string, now time.Time) (access.Month, error) {
	// Written by the counter's goroutine, and read here only once it has answered.
	var got struct {
		month  access.Month
		denial *access.Denial
	}
	err := c.do(ctx, &change{
		key:   key,
		apply: func(m *access.Meter) { got.month, got.denial = m.Take(now) },
		undo: func(m *access.Meter) {
			if got.denial == nil {
				m.Return(got.month)
			}
		},
	})
	switch {
	case errors.Is(err, ErrNotFound):
		return 0, &access.Denial{Code: access.InvalidKey, Message: "The API key is not valid."}
	case err != nil:
		return 0, fmt.Errorf("count the scan: %w", err)
	case got.denial != nil:
		return 0, got.denial
	}
	return got.month, nil
}

// giveBack takes back a scan that was counted.
func (c *counter) giveBack(ctx context.Context, key string, month access.Month) error {
	if err := c.do(ctx, &change{key: key, apply: func(m *access.Meter) { m.Return(month) }}); err != nil {
		return fmt.Errorf("give the scan back: %w", err)
	}
	return nil
}
