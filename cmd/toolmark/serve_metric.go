package main

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

// outgoing counts what the service sends: probes and deliveries. Labels are codes and
// states of ours, nothing that a server or a receiver can make up.
type outgoing struct {
	probes       *prometheus.CounterVec
	probeSeconds prometheus.Histogram
	deliveries   *prometheus.CounterVec
}

func newOutgoing() *outgoing {
	return &outgoing{
		probes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolmark_probes_total", Help: "Servers read, by result: read, or the error's code.",
		}, []string{"result"}),
		probeSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "toolmark_probe_seconds", Help: "Time to read a server.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolmark_webhook_attempts_total", Help: "Attempts to deliver an event, by what became of the delivery: delivered, pending (tried again) or dead.",
		}, []string{"state"}),
	}
}

func (m *outgoing) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.probes, m.probeSeconds, m.deliveries}
}

// countedProber counts the probes of a prober.
type countedProber struct {
	registry.Prober
	metrics *outgoing
}

// Probe reads one server, and counts it.
func (p countedProber) Probe(ctx context.Context, t registry.Target) (*toolmark.Snapshot, error) {
	began := time.Now()
	snapshot, err := p.Prober.Probe(ctx, t)
	result := "read"
	var failure *toolmark.Error
	switch {
	case errors.As(err, &failure):
		result = string(failure.Code)
	case err != nil:
		result = "failed"
	}
	p.metrics.probes.WithLabelValues(result).Inc()
	p.metrics.probeSeconds.Observe(time.Since(began).Seconds())
	return snapshot, err
}

// countedDeliveries counts what became of attempts.
type countedDeliveries struct {
	*registry.Service
	metrics *outgoing
}

// Delivered stores what came of an attempt, and counts it.
func (d countedDeliveries) Delivered(ctx context.Context, r registry.DeliveryRecord) error {
	d.metrics.deliveries.WithLabelValues(string(r.State)).Inc()
	return d.Service.Delivered(ctx, r)
}
