package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/postgres"
	"github.com/toolmark/toolmark/internal/store/sqlite"
	"github.com/toolmark/toolmark/internal/watch"
)

// watchFlags say how registered servers are watched.
type watchFlags struct {
	on               bool
	workers, perHost int
}

// startWatch watches the servers of a database, and gives how to stop it: what runs has
// as long as it is told.
func (p *program) startWatch(ctx context.Context, f watchFlags, interval time.Duration, db registry.Store, service *registry.Service, log *slog.Logger) (stop func(time.Duration) error, err error) {
	if !f.on {
		return func(time.Duration) error { return nil }, nil
	}
	if f.workers < 1 || f.perHost < 0 {
		return nil, usage("--watch-workers is at least 1, --watch-per-host at least 0")
	}
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
		return w.Stop(ctx)
	}, nil
}
