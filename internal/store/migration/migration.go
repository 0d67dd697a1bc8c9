// Package migration brings a database to the schema a program needs: forward only, one
// process at a time, and never one that a newer program has changed.
package migration

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"github.com/toolmark/toolmark/internal/registry"
)

// Table is where goose keeps the versions a database has been brought to.
const Table = "toolmark_schema_version"

// Database is a database as a migration needs it.
type Database struct {
	DB      *sql.DB
	Dialect goose.Dialect
	// Files hold the migrations in goose's form, NNNN_name.sql, at their root.
	Files fs.FS
	// Version reads the version the database has now, without changing anything: 0 is
	// an empty database.
	Version func(ctx context.Context) (int64, error)
	// Lock waits until no other process migrates this database. The lock must end with
	// the process that holds it.
	Lock func(ctx context.Context) (unlock func() error, err error)
}

// Up applies what is missing, each migration in a transaction of its own. A database
// that needs nothing is only read. One with a version that Files does not know gives
// registry.ErrNewerSchema and is left as it is.
func Up(ctx context.Context, d Database) (err error) {
	provider, err := goose.NewProvider(d.Dialect, d.DB, d.Files, goose.WithTableName(Table))
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	sources := provider.ListSources()
	latest := sources[len(sources)-1].Version // goose gives no provider without sources
	missing, err := behind(ctx, d, latest)
	if err != nil || !missing {
		return err
	}
	unlock, err := d.Lock(ctx)
	if err != nil {
		return fmt.Errorf("wait for the lock on migrations: %w", err)
	}
	defer func() {
		if unlockErr := unlock(); err == nil && unlockErr != nil {
			err = fmt.Errorf("release the lock on migrations: %w", unlockErr)
		}
	}()
	// Another process may have done it while we waited.
	if missing, err = behind(ctx, d, latest); err != nil || !missing {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}

func behind(ctx context.Context, d Database, latest int64) (bool, error) {
	version, err := d.Version(ctx)
	if err != nil {
		return false, fmt.Errorf("read the version of the database: %w", err)
	}
	if version > latest {
		return false, fmt.Errorf("%w: it has schema version %d and this program knows versions up to %d; use the newer toolmark, or a backup from before the upgrade",
			registry.ErrNewerSchema, version, latest)
	}
	return version < latest, nil
}
