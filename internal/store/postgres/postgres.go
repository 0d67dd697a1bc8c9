// Package postgres keeps the service's records in a PostgreSQL database (13 or newer),
// which any number of processes on any number of machines may share.
//
// Rows that are counted are locked, in the order of their keys, from before they are
// read until the commit: counts are exact, and two replicas cannot block each other.
// Commits are as durable as the database is set to make them (synchronous_commit).
package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/migration"
)

//go:embed migrations/*.sql
var migrations embed.FS

// connections is how many connections a process opens at most, where the URL does not
// say (pool_max_conns): a dozen replicas fit into PostgreSQL's default of 100.
const connections = 8

// migrationLock is the advisory lock for migrations: any number, as long as it is one.
const migrationLock int64 = 0x746f6f6c6d61726b // "toolmark"

// Store is a registry.Store in a PostgreSQL database.
type Store struct {
	pool *pgxpool.Pool
}

var _ registry.Store = (*Store)(nil)

// Open connects and brings the schema up to date. url is as pgxpool.ParseConfig reads
// it: a postgres:// URL with pool_max_conns and the like as extra parameters, and the
// PG* variables of libpq for what it leaves out.
func Open(ctx context.Context, url string) (_ *Store, err error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err) // pgx leaves the password out
	}
	if given, err := pgconn.ParseConfig(url); err != nil || given.RuntimeParams["pool_max_conns"] == "" {
		cfg.MaxConns = connections
	}
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "toolmark"
	}
	// A session must see what others have committed while it waited for a row's lock.
	cfg.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed"
	where := fmt.Sprintf("%q on %s", cfg.ConnConfig.Database, cfg.ConnConfig.Host)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", where, err)
	}
	s := &Store{pool: pool}
	if err := s.migrate(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open the database %s: %w", where, err)
	}
	return s, nil
}

func (s *Store) migrate(ctx context.Context) (err error) {
	if err := s.pool.Ping(ctx); err != nil {
		return err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(s.pool)
	defer func() {
		if closing := db.Close(); err == nil && closing != nil {
			err = closing
		}
	}()
	return migration.Up(ctx, migration.Database{
		DB: db, Dialect: goose.DialectPostgres, Files: files, Version: s.version, Lock: s.lock,
	})
}

func (s *Store) version(ctx context.Context) (version int64, err error) {
	var exists bool
	if err := s.pool.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", migration.Table).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	err = s.pool.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM "+migration.Table+" WHERE is_applied").Scan(&version)
	return version, err
}

// lock takes an advisory lock, which PostgreSQL takes back when the session ends.
func (s *Store) lock(ctx context.Context) (unlock func() error, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		conn.Release()
		return nil, err
	}
	return func() error {
		defer conn.Release()
		_, err := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
		return err
	}, nil
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := s.pool.QueryRow(ctx, "SELECT 1 FROM accounts LIMIT 1").Scan(&one); err != nil {
		return fmt.Errorf("read the database: %w", err)
	}
	return nil
}

// Close closes all connections once they are no longer used.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// transact runs f in a transaction.
func (s *Store) transact(ctx context.Context, f func(pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, s.pool, f)
	if err != nil {
		return fmt.Errorf("change the database: %w", err)
	}
	return nil
}

// Unavailable reports whether the server cannot be reached, does not answer in time,
// or says that it cannot work now (SQLSTATE classes 08, 53, 57P and 58).
func Unavailable(err error) bool {
	var connecting *pgconn.ConnectError
	var network net.Error
	var failure *pgconn.PgError
	switch {
	case errors.As(err, &failure):
		class, code := failure.Code[:min(2, len(failure.Code))], failure.Code
		return class == "08" || class == "53" || class == "58" || strings.HasPrefix(code, "57P")
	case errors.As(err, &connecting), errors.As(err, &network):
		return true
	}
	// What is left of a connection whose other end went away in the midst of it.
	return pgconn.Timeout(err) || pgconn.SafeToRetry(err) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// taken reports whether an error is a row that exists already (unique_violation).
func taken(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && failure.Code == "23505"
}
