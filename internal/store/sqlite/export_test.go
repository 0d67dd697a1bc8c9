package sqlite

import (
	"context"
	"database/sql"
)

// Migrations are for tests.
var Migrations = migrations

// Synchronous gives how the writing connection waits for the disk: 2 is FULL.
func (s *Store) Synchronous(ctx context.Context) (level int, err error) {
	err = s.write.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&level)
	return level, err
}

// Soon runs a transaction that does not wait for the disk.
func (s *Store) Soon(ctx context.Context, f func(*sql.Tx) error) error { return s.soon(ctx, f) }
