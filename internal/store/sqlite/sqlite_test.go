package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3"

	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/migration"
	"github.com/toolmark/toolmark/internal/store/sqlite"
	"github.com/toolmark/toolmark/internal/store/storetest"
)

func TestStore(t *testing.T) { storetest.Run(t, storetest.SQLite) }

func TestUpgrades(t *testing.T) {
	storetest.Upgrades(t, sqlite.Migrations, func(tb testing.TB) storetest.Raw {
		path := filepath.Join(tb.TempDir(), "toolmark.db")
		with := func(do func(*sql.DB) error) error {
			db, err := driver.Open("file:" + filepath.ToSlash(path))
			if err != nil {
				return err
			}
			return errors.Join(do(db), db.Close())
		}
		return storetest.Raw{
			Open: func(ctx context.Context) (registry.Store, error) { return sqlite.Open(ctx, path) },
			Migrate: func(ctx context.Context, to int64) error {
				return with(func(db *sql.DB) error {
					files, err := fs.Sub(sqlite.Migrations, "migrations")
					if err != nil {
						return err
					}
					provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithTableName(migration.Table))
					if err != nil {
						return err
					}
					_, err = provider.UpTo(ctx, to)
					return err
				})
			},
			Exec: func(ctx context.Context, statements string) error {
				return with(func(db *sql.DB) error {
					_, err := db.ExecContext(ctx, statements)
					return err
				})
			},
		}
	})
}

// TestFilesAreClosedToOthers: the database, its log and its folder, from the first
// moment on and under a umask that takes nothing away.
func TestFilesAreClosedToOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps other users out of a profile by its access lists")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "odd #?% name.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateKey(t.Context(), registry.Key{ID: "key_1", Account: "a", Created: now}, nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		seen[e.Name()] = true
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
	for _, want := range []string{"", "-wal", "-shm"} {
		if !seen[filepath.Base(path)+want] {
			t.Errorf("there is no %q file; there are %v", want, seen)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v (%v)", info.Mode(), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	content := []byte("a letter, and no database at all, long enough to be read as the header of one if nobody looks\n")
	if err := os.WriteFile(text, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"a file of another kind": text, "a folder": dir, "a file in a file": filepath.Join(text, "x.db"), "a name with NUL": "a\x00b",
	} {
		if s, err := sqlite.Open(t.Context(), path); err == nil {
			t.Errorf("%s was opened", name)
			_ = s.Close()
		}
	}
	if got, err := os.ReadFile(text); err != nil || string(got) != string(content) {
		t.Errorf("the file was changed: %q (%v)", got, err)
	}
}

// TestUnavailable holds the lock on writing, as another process would, for longer than a
// caller waits: that is no fault of ours, and what is not there is none of the file's.
func TestUnavailable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolmark.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.KeyByID(t.Context(), "key_none"); err == nil || sqlite.Unavailable(err) {
		t.Errorf("a key that is not there: %v", err)
	}
	other, err := driver.Open("file:" + path + "?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err = s.RevokeKey(ctx, "key_none", now)
	if err == nil || !sqlite.Unavailable(err) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a file that is held: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := s.RevokeKey(t.Context(), "key_none", now); !errors.Is(err, registry.ErrNotFound) || sqlite.Unavailable(err) {
		t.Errorf("a file that is free again: %v", err)
	}
	for _, failure := range []error{sqlite3.BUSY, sqlite3.FULL, sqlite3.IOERR_WRITE, fmt.Errorf("commit: %w", sqlite3.READONLY)} {
		if !sqlite.Unavailable(failure) {
			t.Errorf("%v is taken for a fault of ours", failure)
		}
	}
	for _, failure := range []error{nil, sqlite3.CONSTRAINT_UNIQUE, sqlite3.ERROR, registry.ErrNotFound} {
		if sqlite.Unavailable(failure) {
			t.Errorf("%v is taken for a fault of the file", failure)
		}
	}
}

var now = time.Date(2026, 3, 31, 23, 59, 58, 0, time.UTC)
