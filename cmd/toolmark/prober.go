package main

import (
	"context"
	"net/http"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/outward"
	"github.com/toolmark/toolmark/internal/probe"
	"github.com/toolmark/toolmark/internal/registry"
)

// prober reads servers for the registry. Whatever address somebody gives it, it connects
// only where the guard lets it.
type prober struct {
	guard *outward.Guard
	now   func() time.Time
}

// newProber makes a prober that reaches public addresses, and the networks of
// --allow-net. Close its guard.
func newProber(allowNet []string, now func() time.Time) (*prober, error) {
	nets, err := outward.ParseNets(allowNet)
	if err != nil {
		return nil, usage("--allow-net: %v", err)
	}
	return &prober{guard: outward.New(outward.Options{AllowNet: nets}), now: now}, nil
}

// Probe reads one server. Its time is the context's.
func (p *prober) Probe(ctx context.Context, t registry.Target) (*toolmark.Snapshot, error) {
	src, opts := p.source(t)
	return probe.Probe(ctx, src, opts)
}

// source gives a target as package probe takes it.
func (p *prober) source(t registry.Target) (probe.Source, probe.Options) {
	src := probe.Source{URL: t.URL, Command: t.Command, Header: http.Header{}}
	for _, h := range t.Headers {
		src.Header.Add(h.Name, h.Value)
	}
	return src, probe.Options{
		// The probe counts bytes itself, and the context has the time.
		Client:        p.guard.Client(outward.Limits{Timeout: -1, MaxBytes: -1}),
		ClientVersion: version(), Now: p.now,
	}
}

// Close ends the connections that are open and unused.
func (p *prober) Close() { p.guard.Close() }
