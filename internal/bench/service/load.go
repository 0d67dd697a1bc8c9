package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// load is what is sent and how.
type load struct {
	bases       []string
	key         string
	body        []byte
	connections int
}

// result is what came back.
type result struct {
	took    time.Duration
	answers []time.Duration
	others  int
	example string // of an answer that was not 200
}

// run sends for a time. Every connection sends its next request when its last was
// answered, so the rate is what the service can do and not what was asked of it.
func (l *load) run(ctx context.Context, length time.Duration) (*result, error) {
	results := make([]result, l.connections)
	faults := make([]error, l.connections)
	var group sync.WaitGroup
	start := time.Now()
	for i := range l.connections {
		group.Go(func() { faults[i] = l.loop(ctx, start.Add(length), l.bases[i%len(l.bases)], &results[i]) })
	}
	group.Wait()
	all := &result{took: time.Since(start)}
	for i := range results {
		all.answers = append(all.answers, results[i].answers...)
		all.others += results[i].others
		if all.example == "" {
			all.example = results[i].example
		}
	}
	slices.Sort(all.answers)
	if len(all.answers) == 0 {
		faults = append(faults, errors.New("nothing was answered"))
	}
	return all, errors.Join(faults...)
}

// loop sends until a time. The last request of a run is let finish: cutting it off would
// be an error that the service did not make.
func (l *load) loop(ctx context.Context, until time.Time, base string, r *result) error {
	c := &client{base: base}
	defer c.close()
	request := c.post("/api/v1/mcp/manifest-scan", l.key, l.body)
	for ctx.Err() == nil {
		start := time.Now()
		if !start.Before(until) {
			break
		}
		status, err := c.do(request)
		if err != nil {
			return fmt.Errorf("send a list: %w", err)
		}
		if status != 200 {
			r.others++
			r.example = fmt.Sprint("status ", status)
			continue
		}
		r.answers = append(r.answers, time.Since(start))
	}
	return nil
}

func (r *result) add(other *result) *result {
	sum := &result{took: r.took + other.took, answers: slices.Concat(r.answers, other.answers), others: r.others + other.others, example: r.example}
	if sum.example == "" {
		sum.example = other.example
	}
	slices.Sort(sum.answers)
	return sum
}

// rate gives the scans answered a second.
func (r *result) rate() float64 { return float64(len(r.answers)) / r.took.Seconds() }

// quantile gives what a part of the answers took at most.
func (r *result) quantile(part float64) time.Duration {
	return r.answers[min(int(part*float64(len(r.answers))), len(r.answers)-1)]
}
