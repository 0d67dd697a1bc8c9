package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/store"
	"github.com/toolmark/toolmark/internal/store/storetest"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_DATA_HOME": dir}[name] }
	file := filepath.Join(dir, "own.db")
	for name, want := range map[string]string{
		"":                       filepath.Join(dir, "toolmark", "toolmark.db"),
		"sqlite:" + file:         file,
		"sqlite://" + file:       file, // sqlite:///path, as other programs write it
		storetest.PostgresURL(t): "",
	} {
		s, err := store.Open(t.Context(), name, getenv)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if want != "" {
			if _, err := os.Stat(want); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	for _, name := range []string{"sqlite:", "sqlite://relative.db", "own.db", "mysql://ann:s3cret@host/db", "POSTGRES", ":memory:"} {
		s, err := store.Open(t.Context(), name, getenv)
		var failure *toolmark.Error
		if !errors.As(err, &failure) || failure.Code != toolmark.ErrUsage || s != nil {
			t.Errorf("%q: %v, %v", name, s, err)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the password is in %q", err)
		}
	}
	if s, err := store.Open(t.Context(), "", func(string) string { return "" }); err == nil || s != nil {
		t.Errorf("without a data directory: %v, %v", s, err)
	}
}
