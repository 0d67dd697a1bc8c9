package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/migration"
)

// Queue gives the file as River works with it, with River's tables brought up to date
// under the lock on migrations. River has one connection of its own, since it does not
// wait for others; it is closed with the store. A power cut may take back its last
// commits, kill -9 does not: a job that is done again costs a probe.
func (s *Store) Queue(ctx context.Context, log *slog.Logger) (riverdriver.Driver[*sql.Tx], error) {
	if s.queue == nil {
		db, err := open(s.path, "immediate", 1, "synchronous(normal)", "foreign_keys(1)")
		if err != nil {
			return nil, err
		}
		s.queue = db
	}
	driver := riversqlite.New(s.queue)
	return driver, migration.River(ctx, driver, func(ctx context.Context) (func() error, error) { return lock(ctx, s.path+"-migrate") }, log)
}

// ClaimDue takes up to limit servers that are due at now, sets when they are due next,
// and hands them to enqueue in the same transaction: either both are stored or none.
func (s *Store) ClaimDue(ctx context.Context, now time.Time, limit int, next func(registry.DueServer) time.Time,
	enqueue func(context.Context, *sql.Tx, []registry.DueServer) error,
) (n int, err error) {
	var any int // asked by a reader first, so that nobody waits for a writer that has nothing to do
	if err := s.read.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM servers WHERE due_at <= ?)", micros(now)).Scan(&any); err != nil || any == 0 {
		return 0, err
	}
	err = s.transact(ctx, func(tx *sql.Tx) error {
		due, err := dueServers(ctx, tx, now, limit)
		if n = len(due); err != nil || n == 0 {
			return err
		}
		put, err := tx.PrepareContext(ctx, "UPDATE servers SET due_at = ? WHERE id = ?")
		if err != nil {
			return fmt.Errorf("set when servers are due: %w", err)
		}
		defer put.Close()
		for i := range due {
			if _, err := put.ExecContext(ctx, micros(next(due[i])), due[i].ID); err != nil {
				return fmt.Errorf("set when servers are due: %w", err)
			}
		}
		return enqueue(ctx, tx, due)
	})
	return n, err
}

func dueServers(ctx context.Context, tx *sql.Tx, now time.Time, limit int) (due []registry.DueServer, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT id, host, interval FROM servers WHERE due_at <= ? ORDER BY due_at LIMIT ?", micros(now), limit)
	if err != nil {
		return nil, fmt.Errorf("select servers that are due: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var d registry.DueServer
		var interval int64
		if err := rows.Scan(&d.ID, &d.Host, &interval); err != nil {
			return nil, fmt.Errorf("read a server that is due: %w", err)
		}
		d.Interval = time.Duration(interval) * time.Microsecond
		due = append(due, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("select servers that are due: %w", err)
	}
	return due, nil
}

// Hasten makes servers without an interval of their own, of which none is known to be
// down, due at the latest one interval after their last probe: the service's interval may
// have become shorter.
func (s *Store) Hasten(ctx context.Context, interval time.Duration) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE servers SET due_at = probed_at + ?1
			WHERE interval = 0 AND failures = 0 AND due_at > probed_at + ?1`, interval.Microseconds()); err != nil {
			return fmt.Errorf("set when servers are due: %w", err)
		}
		return nil
	})
}
