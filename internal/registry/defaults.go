package registry

import (
	"context"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/scan"
)

// Scanner scans manifests; *scan.Scanner is one.
type Scanner interface {
	Scan(ctx context.Context, req scan.Request) (*toolmark.Report, error)
}

// watchDefaults fills in what belongs to the registry of servers.
func (cfg *Config) watchDefaults() {
	def := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	def(&cfg.Interval, 15*time.Minute)
	def(&cfg.MinInterval, time.Minute)
	def(&cfg.ProbeTime, 30*time.Second)
	def(&cfg.Fresh, 10*time.Second)
	if cfg.MaxProbes == 0 {
		cfg.MaxProbes = 32
	}
	if cfg.MaxServers == 0 {
		cfg.MaxServers = 10_000
	}
}
