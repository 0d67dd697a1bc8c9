package httpapi

import (
	"bytes"
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"
)

// What bodies and their trees may hold in memory together.
const (
	bodyMemory = 64 << 20
	treeMemory = 96 << 20
	// nodeBytes is what one value or member name of a tree takes, see canonjson.
	nodeBytes = 100
)

// gate bounds what runs and what is held at once. Who does not get in is told to come
// back; nobody waits without a bound.
type gate struct {
	inside *semaphore.Weighted // requests being scanned or waiting for it
	cores  *semaphore.Weighted // scans that run
	trees  *semaphore.Weighted // bytes of parsed bodies
	bodies *semaphore.Weighted // bytes of bodies being read or waiting
	wait   time.Duration       // the longest a request waits for its turn
}

func newGate(cores, queue int, wait time.Duration) *gate {
	return &gate{
		inside: semaphore.NewWeighted(int64(cores + queue)),
		cores:  semaphore.NewWeighted(int64(cores)),
		trees:  semaphore.NewWeighted(treeMemory),
		bodies: semaphore.NewWeighted(bodyMemory),
		wait:   wait,
	}
}

// enter takes a place in the queue for as long as the request has work to do, and the
// memory its tree may take. leave must be called.
func (g *gate) enter(ctx context.Context, body []byte) (leave func(), err error) {
	if !g.inside.TryAcquire(1) {
		return nil, overloaded("too many scans are waiting")
	}
	weight := treeWeight(body)
	if err := g.acquire(ctx, g.trees, weight); err != nil {
		g.inside.Release(1)
		return nil, err
	}
	return func() {
		g.trees.Release(weight)
		g.inside.Release(1)
	}, nil
}

// turn waits for a core and runs work on it.
func (g *gate) turn(ctx context.Context, work func() error) error {
	if err := g.acquire(ctx, g.cores, 1); err != nil {
		return err
	}
	defer g.cores.Release(1)
	return work()
}

func (g *gate) acquire(ctx context.Context, s *semaphore.Weighted, n int64) error {
	if s.TryAcquire(n) {
		return ctx.Err()
	}
	waiting, cancel := context.WithTimeout(ctx, g.wait)
	defer cancel()
	if err := s.Acquire(waiting, n); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return overloaded("the scan did not get its turn in time")
		}
		return err
	}
	return nil
}

// treeWeight is the most memory the tree of a body may take: a value or member name
// needs at least one of these bytes before or behind it. What stands in strings is
// counted too, which only makes the bound less tight.
func treeWeight(body []byte) int64 {
	n := 1
	for _, c := range []byte{',', ':', '[', '{'} {
		n += bytes.Count(body, []byte{c})
	}
	return min(int64(n)*nodeBytes, treeMemory)
}
