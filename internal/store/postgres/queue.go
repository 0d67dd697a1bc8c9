package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/migration"
)

// Queue gives the database as River works with it, with River's tables brought up to
// date under the lock on migrations.
func (s *Store) Queue(ctx context.Context, log *slog.Logger) (riverdriver.Driver[pgx.Tx], error) {
	driver := riverpgxv5.New(s.pool)
	return driver, migration.River(ctx, driver, s.lock, log)
}

// ClaimDue takes up to limit servers that are due at now, sets when they are due next,
// and hands them to enqueue in the same transaction: either both are stored or none.
// Servers that another replica is taking are left to it.
func (s *Store) ClaimDue(ctx context.Context, now time.Time, limit int, next func(registry.DueServer) time.Time,
	enqueue func(context.Context, pgx.Tx, []registry.DueServer) error,
) (n int, err error) {
	err = s.transact(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT id, host, interval FROM servers WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED", now, limit)
		if err != nil {
			return fmt.Errorf("select servers that are due: %w", err)
		}
		due, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d registry.DueServer, err error) {
			var interval int64
			err = row.Scan(&d.ID, &d.Host, &interval)
			d.Interval = time.Duration(interval) * time.Microsecond
			return d, err
		})
		if err != nil {
			return fmt.Errorf("select servers that are due: %w", err)
		}
		if n = len(due); n == 0 {
			return nil
		}
		ids, times := make([]string, n), make([]time.Time, n)
		for i := range due {
			ids[i], times[i] = due[i].ID, next(due[i])
		}
		if _, err := tx.Exec(ctx, "UPDATE servers s SET due_at = d.due FROM unnest($1::text[], $2::timestamptz[]) AS d (id, due) WHERE s.id = d.id", ids, times); err != nil {
			return fmt.Errorf("set when servers are due: %w", err)
		}
		return enqueue(ctx, tx, due)
	})
	return n, err
}

// Hasten makes servers without an interval of their own, of which none is known to be
// down, due at the latest one interval after their last probe: the service's interval may
// have become shorter.
func (s *Store) Hasten(ctx context.Context, interval time.Duration) error {
	// In the order of their ids, and without those that another replica has, so that two
	// that start at once do not block each other.
	if _, err := s.pool.Exec(ctx, `UPDATE servers SET due_at = probed_at + $1 WHERE id IN (SELECT id FROM servers
		WHERE interval = 0 AND failures = 0 AND due_at > probed_at + $1 ORDER BY id FOR UPDATE SKIP LOCKED)`, interval); err != nil {
		return fmt.Errorf("set when servers are due: %w", err)
	}
	return nil
}
