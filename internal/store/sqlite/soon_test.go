package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/toolmark/toolmark/internal/store/sqlite"
)

// TestSoon: what does not wait for the disk leaves a connection that does, however it ends.
func TestSoon(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	broken := errors.New("broken")
	ended, cancel := context.WithCancel(t.Context())
	for name, c := range map[string]struct {
		ctx  context.Context
		f    func(*sql.Tx) error
		want error
	}{
		"committed": {t.Context(), func(tx *sql.Tx) error {
			var level int
			if err := tx.QueryRow("PRAGMA synchronous").Scan(&level); err != nil || level != 1 {
				t.Errorf("level %d (%v), want 1, which is NORMAL", level, err)
			}
			_, err := tx.Exec("CREATE TABLE kept (n INTEGER)")
			return err
		}, nil},
		"taken back": {t.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec("CREATE TABLE gone (n INTEGER)")
			return errors.Join(err, broken)
		}, broken},
		"cut short": {ended, func(*sql.Tx) error {
			cancel()
			return ended.Err()
		}, context.Canceled},
	} {
		if err := s.Soon(c.ctx, c.f); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if level, err := s.Synchronous(t.Context()); err != nil || level != 2 {
			t.Errorf("%s: the connection is left at level %d (%v), want 2, which is FULL", name, level, err)
		}
	}
}
