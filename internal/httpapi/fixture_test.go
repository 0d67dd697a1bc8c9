package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/mcpserver"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/secret"
	"github.com/toolmark/toolmark/internal/store/sqlite"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/scan"
)

// testTime is the time at which all tests happen.
var testTime = time.Date(2026, 11, 30, 12, 0, 10, 0, time.UTC)

// stream is a source of the same random bytes in every run. Keys made from it are keys
// of nothing.
type stream struct {
	mu    sync.Mutex
	n     uint64
	block []byte
}

func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range p {
		if len(s.block) == 0 {
			sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("tests"), s.n))
			s.n++
			s.block = sum[:]
		}
		p[i], s.block = s.block[0], s.block[1:]
	}
	return len(p), nil
}

// fixture is the service as the tests run it: all of it but the listener, on a
// database in a temporary folder, with a clock and ids that do not change.
type fixture struct {
	api     *API
	service *registry.Service
	store   *sqlite.Store
	log     *bytes.Buffer
	world   *world
}

type fixtureConfig struct {
	signup   bool
	public   bool // MCP tools without a key
	commands bool // servers may be commands
	scanner  Scanner
	budget   time.Duration
	now      func() time.Time // of the scanner
	change   func(*Config)
}

func newFixture(t testing.TB, cfg fixtureConfig) *fixture {
	t.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "toolmark.db"))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.scanner == nil {
		cfg.scanner = testScanner(t, cfg.budget, cfg.now)
	}
	f := &fixture{log: &bytes.Buffer{}, world: &world{now: testTime, lists: map[string]string{}}}
	ring, err := secret.Parse(strings.Repeat("0a", secret.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	service, err := registry.New(registry.Config{
		Store: store, Now: f.world.clock, Random: &stream{}, AllowSignup: cfg.signup, SignupsPerHour: 2,
		Scanner: cfg.scanner, Probe: f.world, Secrets: ring, Watched: true, AllowCommands: cfg.commands,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		service.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	f.service, f.store = service, store
	var mu sync.Mutex
	n := 0
	config := Config{
		Accounts: service, Admin: service, Scanner: cfg.scanner, Ready: service.Ready,
		Servers: service, Webhooks: service, Questions: service, PublicTools: cfg.public,
		Log: slog.New(slog.NewJSONHandler(lockedWriter{&mu, f.log}, nil)),
		Now: f.world.clock,
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("request-%d", n)
		},
	}
	mcp, err := mcpserver.New(mcpserver.Config{Questions: service, Scanner: cfg.scanner, Accounts: service, Public: cfg.public, Log: config.Log})
	if err != nil {
		t.Fatal(err)
	}
	config.MCP = mcp
	if cfg.change != nil {
		cfg.change(&config)
	}
	if f.api, err = New(config); err != nil {
		t.Fatal(err)
	}
	return f
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// testScanner scans with the one rule of testdata/rules, so that the bytes of an
// answer do not depend on which rules are built in.
func testScanner(t testing.TB, budget time.Duration, now func() time.Time) *scan.Scanner {
	t.Helper()
	rules, err := rule.Options{}.Load(os.DirFS("testdata/rules"))
	if err != nil {
		t.Fatal(err)
	}
	if budget == 0 {
		budget = -1 // a slow machine must not change an answer
	}
	s, err := scan.New(scan.Config{Rules: rules, Budget: budget, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// key makes a key and gives it.
func (f *fixture) key(t testing.TB, k registry.NewKey) string {
	t.Helper()
	made, err := f.service.CreateKey(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	return made.Plain
}

func (f *fixture) block(t testing.TB, rule access.Rule) {
	t.Helper()
	if _, err := f.service.AddAccess(context.Background(), "", rule, ""); err != nil {
		t.Fatal(err)
	}
}

// answering is a scanner that gives the same report for every list.
type answering struct{ report toolmark.Report }

func (a answering) Scan(context.Context, scan.Request) (*toolmark.Report, error) {
	r := a.report
	return &r, nil
}

// blocking is a scanner that waits until it is let go or its caller leaves.
type blocking struct {
	started chan struct{}
	release chan struct{}
	inner   Scanner
}

func (b *blocking) Scan(ctx context.Context, req scan.Request) (*toolmark.Report, error) {
	b.started <- struct{}{}
	select {
	case <-b.release:
		return b.inner.Scan(ctx, req)
	case <-ctx.Done():
		return nil, fmt.Errorf("scan stopped: %w", ctx.Err())
	}
}
