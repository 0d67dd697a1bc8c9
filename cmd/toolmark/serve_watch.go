package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/probe"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/postgres"
	"github.com/toolmark/toolmark/internal/store/sqlite"
	"github.com/toolmark/toolmark/internal/watch"
)

// watchFlags say how registered servers are watched.
type watchFlags struct {
	on               bool
	workers, perHost int
	connections      int
}

// Listen holds a connection to a server that announces changes, and reads it again after
// each. A server that offers no way to be told is left to its interval.
func (p *prober) Listen(ctx context.Context, t registry.Target, read func(*toolmark.Snapshot)) error {
	src, opts := p.source(t)
	err := probe.Watch(ctx, src, probe.WatchOptions{Options: opts, MinInterval: announcedWait}, func(e probe.Event) {
		if e.Snapshot != nil {
			read(e.Snapshot)
		}
	})
	if errors.Is(err, probe.ErrNotListening) {
		return nil
	}
	return err
}

// announcedWait is the least time between two readings of a server that announces changes
// all the time.
const announcedWait = 5 * time.Second

// startWatch watches the servers of a database, and gives how to stop it: what runs has
// as long as it is told.
func (p *program) startWatch(ctx context.Context, f watchFlags, interval time.Duration, db registry.Store, service *registry.Service, hold *watch.Holder, log *slog.Logger) (stop func(time.Duration) error, err error) {
	if !f.on {
		return func(time.Duration) error { return nil }, nil
	}
	if f.workers < 1 || f.perHost < 0 || f.connections < 0 {
		return nil, usage("--watch-workers is at least 1, --watch-per-host and --watch-connections at least 0")
	}
	hold.Use(service)
	cfg := watch.Config{Interval: interval, Workers: f.workers, PerHost: f.perHost, Now: p.env.now, Log: log}
	if f.perHost == 0 {
		cfg.PerHost = -1
	}
	var w *watch.Watch
	switch db := db.(type) {
	case *sqlite.Store:
		w, err = watch.Start[*sql.Tx](ctx, db, service, cfg)
	case *postgres.Store:
		w, err = watch.Start[pgx.Tx](ctx, db, service, cfg)
	default:
		return nil, fmt.Errorf("a database of type %T cannot be watched", db)
	}
	if err != nil {
		return nil, fmt.Errorf("watch the registered servers: %w", err)
	}
	return func(wait time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		hold.Close()
		return w.Stop(ctx)
	}, nil
}
