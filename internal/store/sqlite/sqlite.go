// Package sqlite keeps the service's records in one SQLite file (version 3.37 or newer
// of the format: STRICT tables, write-ahead log).
//
// One connection writes, a few read beside it. Every transaction that writes begins
// with BEGIN IMMEDIATE, so that several processes on one file wait for each other
// rather than fail, and is on the disk (synchronous=FULL) before the method returns:
// neither kill -9 nor a power cut loses what was acknowledged. Only that a server is being
// probed, and was found as before, is left to the system to write: see soon.
//
// It is for one machine: the file must not be on a network file system.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3"

	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/migration"
)

//go:embed migrations/*.sql
var migrations embed.FS

// readers is how many connections read at once.
const readers = 4

// busy is how long a statement waits for another process, in milliseconds.
const busy = "10000"

// Store is a registry.Store in a file.
type Store struct {
	path        string
	write, read *sql.DB
	queue       *sql.DB // River's own; nil until it is asked for
	// What every request runs is prepared once for each connection: reading the SQL
	// takes longer than running it.
	byHash, byID, readMeter, writeMeter *sql.Stmt
	// So is what every probe runs.
	serverByID, contentOf, claim, revision, status *sql.Stmt
}

var _ registry.Store = (*Store)(nil)

// Open opens the file, which is made with mode 0600 where there is none, with its
// folder (0700), and brings its schema up to date.
func Open(ctx context.Context, path string) (_ *Store, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if err := create(path); err != nil {
		return nil, fmt.Errorf("open the database: %w; --database sqlite:PATH names another file", err)
	}
	s := &Store{path: path}
	defer func() {
		if err != nil {
			_ = s.Close() // the first error says more
			err = fmt.Errorf("open the database %s: %w", path, err)
		}
	}()
	if s.write, err = open(path, "immediate", 1, "synchronous(full)", "foreign_keys(1)", "journal_size_limit(67108864)"); err != nil {
		return nil, err
	}
	if s.read, err = open(path, "deferred", readers, "query_only(1)"); err != nil {
		return nil, err
	}
	if err := s.useLog(ctx, path); err != nil {
		return nil, err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	if err := migration.Up(ctx, migration.Database{
		DB: s.write, Dialect: goose.DialectSQLite3, Files: files, Version: s.version,
		Lock: func(ctx context.Context) (func() error, error) { return lock(ctx, path+"-migrate") },
	}); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	// The index of the write-ahead log holds no data, but is nobody else's to write.
	if err := os.Chmod(path+"-shm", 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) error {
	for _, p := range []struct {
		db    *sql.DB
		stmt  **sql.Stmt
		query string
	}{
		{s.read, &s.byHash, selectKey + "WHERE k.hash = ?"},
		{s.read, &s.byID, selectKey + "WHERE k.id = ?"},
		{s.write, &s.readMeter, selectMeter},
		{s.write, &s.writeMeter, updateMeter},
		{s.read, &s.serverByID, selectServer + "WHERE s.id = ?"},
		{s.read, &s.contentOf, selectContent},
		{s.write, &s.claim, claimServer},
		{s.write, &s.revision, "SELECT revision FROM servers WHERE id = ?"},
		{s.write, &s.status, updateStatus},
	} {
		stmt, err := p.db.PrepareContext(ctx, p.query)
		if err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
		*p.stmt = stmt
	}
	return nil
}

// create makes the file, so that it never had another mode than 0600.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func open(path, txlock string, connections int, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"_txlock": {txlock}, "_pragma": append([]string{"busy_timeout(" + busy + ")"}, pragmas...)}
	query.Set("modeof", path) // the log gets the mode of the file
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") { // C:/… on Windows
		slashed = "/" + slashed
	}
	// SQLite takes a + in a query for itself.
	encoded := strings.ReplaceAll(query.Encode(), "+", "%20")
	db, err := driver.Open((&url.URL{Scheme: "file", Path: slashed, RawQuery: encoded}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// useLog makes sure that the file is a database with a write-ahead log. A file is
// switched to it once, by one process: SQLite does not wait for another one here.
func (s *Store) useLog(ctx context.Context, path string) error {
	var mode string
	if err := s.write.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		if errors.Is(err, sqlite3.NOTADB) {
			return errors.New("the file is not an SQLite database; it was left as it is")
		}
		return err
	}
	if mode == "wal" {
		return nil
	}
	unlock, err := lock(ctx, path+"-migrate")
	if err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		err = s.write.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode)
		if !errors.Is(err, sqlite3.BUSY) || tries == 1000 {
			break
		}
		time.Sleep(10 * time.Millisecond) // another process reads the mode
	}
	if err := errors.Join(err, unlock()); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system cannot hold a write-ahead log (journal mode %q): use a local disk", mode)
	}
	return nil
}

func (s *Store) version(ctx context.Context) (version int64, err error) {
	var tables int
	if err := s.write.QueryRowContext(ctx,
		"SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '"+migration.Table+"'").Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	err = s.write.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+migration.Table+" WHERE is_applied").Scan(&version)
	return version, err
}

// lock holds a lock that all processes on the database share: an exclusive transaction
// in a second, empty database, which ends with its process. goose needs the first one's
// only writing connection for itself.
func lock(ctx context.Context, path string) (unlock func() error, err error) {
	if err := create(path); err != nil {
		return nil, err
	}
	db, err := open(path, "exclusive", 1, "busy_timeout(60000)")
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return func() error { return errors.Join(tx.Rollback(), db.Close()) }, nil
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := s.read.QueryRowContext(ctx, "SELECT 1 FROM accounts LIMIT 1").Scan(&one); err != nil {
		return fmt.Errorf("read the database: %w", err)
	}
	return nil
}

// Close closes the file.
func (s *Store) Close() error {
	var err error
	for _, stmt := range []*sql.Stmt{
		s.byHash, s.byID, s.readMeter, s.writeMeter, s.serverByID, s.contentOf, s.claim, s.revision, s.status,
	} {
		if stmt != nil {
			err = errors.Join(err, stmt.Close())
		}
	}
	// The writer last: the last connection moves the log into the file.
	for _, db := range []*sql.DB{s.queue, s.read, s.write} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// transact runs f in a transaction that writes.
func (s *Store) transact(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return finish(tx, f)
}

// finish runs f in a transaction and commits it.
func finish(tx *sql.Tx, f func(*sql.Tx) error) (err error) {
	defer func() {
		if rollback := tx.Rollback(); err == nil && rollback != nil && !errors.Is(rollback, sql.ErrTxDone) {
			err = rollback
		}
	}()
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Unavailable reports whether the file cannot be read or written now: another process
// holds it, the disk is full or fails, or the file is gone.
func Unavailable(err error) bool {
	for _, code := range []sqlite3.ErrorCode{
		sqlite3.BUSY, sqlite3.LOCKED, sqlite3.IOERR, sqlite3.FULL, sqlite3.CANTOPEN, sqlite3.READONLY, sqlite3.PROTOCOL,
	} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// taken reports whether an error is a row that exists already.
func taken(err error) bool {
	return errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) || errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY)
}
