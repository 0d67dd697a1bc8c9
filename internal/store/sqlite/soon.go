package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// soon is transact for what every probe writes and nobody misses: that a server is being
// read, and that it served the same once more. The disk is not waited for, which would
// take longer than all else and bound the probes of a machine by its disk. kill -9 takes
// nothing back (the write is with the system); a power cut may, and the server is probed
// again. It never takes back what another transaction wrote, and a later one of those
// puts it on the disk too (SQLite, PRAGMA synchronous: NORMAL in WAL mode).
func (s *Store) soon(ctx context.Context, f func(*sql.Tx) error) (err error) {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = normal"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() {
		// A connection that would not wait for the disk must not be used for anything else.
		if _, back := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA synchronous = full"); back != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // closes it, and says so
		}
	}()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return finish(tx, f)
}
