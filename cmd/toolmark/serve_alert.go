package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark/internal/alert"
	"github.com/toolmark/toolmark/internal/outward"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/postgres"
	"github.com/toolmark/toolmark/internal/store/sqlite"
)

// startAlerts sends the events of a database to webhooks, through the guard of the prober,
// and gives how to stop it. It runs where the watch does: what nobody sends would pile up.
func (p *program) startAlerts(ctx context.Context, f watchFlags, db registry.Store, deliveries alert.Deliveries, prober *prober, log *slog.Logger) (stop func(time.Duration) error, err error) {
	if !f.on {
		return func(time.Duration) error { return nil }, nil
	}
	cfg := alert.Config{
		// The sender has its own time; an answer is read to its first bytes only.
		Client:  prober.guard.Client(outward.Limits{Timeout: -1, MaxBytes: -1}),
		Version: version(), Now: p.env.now, Log: log,
	}
	var s *alert.Sender
	switch db := db.(type) {
	case *sqlite.Store:
		s, err = alert.Start[*sql.Tx](ctx, db, deliveries, cfg)
	case *postgres.Store:
		s, err = alert.Start[pgx.Tx](ctx, db, deliveries, cfg)
	default:
		return nil, fmt.Errorf("a database of type %T has no queue for webhooks", db)
	}
	if err != nil {
		return nil, fmt.Errorf("send events to webhooks: %w", err)
	}
	return func(wait time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		return s.Stop(ctx)
	}, nil
}
