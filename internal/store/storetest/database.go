// Package storetest holds every store to the same behaviour: one suite, run against
// SQLite and against a real PostgreSQL. It is for tests only.
package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/postgres"
	"github.com/toolmark/toolmark/internal/store/sqlite"
)

// Env names the variable with the URL of a PostgreSQL in which tests may create
// databases. Without it scripts/postgres.sh starts one.
const Env = "TOOLMARK_TEST_POSTGRES"

// Opener opens one more store on one database, as another process would. The store is
// closed with the test.
type Opener func(tb testing.TB) registry.Store

// Each runs a test against a fresh database of each kind.
func Each(t *testing.T, test func(t *testing.T, open Opener)) {
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, Postgres(t)) })
}

// SQLite gives a fresh file.
func SQLite(tb testing.TB) Opener {
	path := filepath.Join(tb.TempDir(), "toolmark.db")
	return func(tb testing.TB) registry.Store {
		tb.Helper()
		return opened(tb, func(ctx context.Context) (registry.Store, error) { return sqlite.Open(ctx, path) })
	}
}

// Postgres gives a fresh database, which is dropped with the test.
func Postgres(tb testing.TB) Opener {
	tb.Helper()
	url := PostgresURL(tb)
	return func(tb testing.TB) registry.Store {
		tb.Helper()
		return opened(tb, func(ctx context.Context) (registry.Store, error) { return postgres.Open(ctx, url) })
	}
}

func opened(tb testing.TB, open func(context.Context) (registry.Store, error)) registry.Store {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := open(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close the store: %v", err)
		}
	})
	return s
}

// PostgresURL gives the URL of a fresh, empty database, which is dropped with the test.
// Where no PostgreSQL can be had the test is skipped; with CI=true it fails.
func PostgresURL(tb testing.TB) string {
	tb.Helper()
	base := server(tb)
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		tb.Fatal(err)
	}
	name := "toolmark_test_" + hex.EncodeToString(random[:])
	admin(tb, base, `CREATE DATABASE "`+name+`"`)
	tb.Cleanup(func() { admin(tb, base, `DROP DATABASE "`+name+`" WITH (FORCE)`) })
	return withDatabase(tb, base, name)
}

func admin(tb testing.TB, url, statement string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		tb.Fatalf("connect to the PostgreSQL of %s: %v", Env, err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}

// withDatabase puts another database's name into a URL.
func withDatabase(tb testing.TB, url, name string) string {
	tb.Helper()
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		tb.Fatalf("%s is no URL", Env)
	}
	rest, query, _ := strings.Cut(rest, "?")
	host, _, _ := strings.Cut(rest, "/")
	if query != "" {
		query = "?" + query
	}
	return scheme + "://" + host + "/" + name + query
}

// started is what scripts/postgres.sh gave, once for a test binary.
var started = sync.OnceValues(func() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return "", errors.New("the tests were built without paths (-trimpath): start one with scripts/postgres.sh start and set " + Env)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(filepath.Dir(file), "..", "..", "..", "scripts", "postgres.sh"), "start")
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", errors.New(err.Error() + "\n" + strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
})

func server(tb testing.TB) string {
	tb.Helper()
	if url := os.Getenv(Env); url != "" {
		return url
	}
	url, err := started()
	if err == nil {
		return url
	}
	if ci := os.Getenv("CI"); ci == "true" || ci == "1" {
		tb.Fatalf("there must be a PostgreSQL in CI: %v", err)
	}
	tb.Skipf("needs a PostgreSQL (set %s): %v", Env, err)
	return ""
}
