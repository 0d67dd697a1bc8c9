package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/postgres"
	"github.com/toolmark/toolmark/internal/store/storetest"
)

// line is a connection to the server that a test can cut, or hold without cutting it.
type line struct {
	net.Listener
	network, addr string

	mu    sync.Mutex
	conns []net.Conn
	held  sync.RWMutex // for writing while nothing gets through
	group sync.WaitGroup
}

// newLine listens on the loopback address and gives the URL of the database through it.
func newLine(t *testing.T, direct string) (l *line, through string) {
	t.Helper()
	cfg, err := pgconn.ParseConfig(direct)
	if err != nil {
		t.Fatal(err)
	}
	l = &line{}
	l.network, l.addr = pgconn.NetworkAddress(cfg.Host, cfg.Port)
	if l.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	l.group.Go(l.accept)
	t.Cleanup(func() {
		_ = l.Close()
		l.cut()
		l.group.Wait()
	})
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: l.Addr().String(),
		Path: "/" + cfg.Database, RawQuery: "sslmode=disable",
	}
	return l, u.String()
}

func (l *line) accept() {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(l.network, l.addr)
		if err != nil {
			_ = client.Close()
			continue
		}
		l.mu.Lock()
		l.conns = append(l.conns, client, server)
		l.mu.Unlock()
		l.group.Go(func() { l.pass(server, client) })
		l.group.Go(func() { l.pass(client, server) })
	}
}

func (l *line) pass(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		l.held.RLock()
		_, failed := to.Write(buf[:n])
		l.held.RUnlock()
		if err != nil || failed != nil {
			return
		}
	}
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

// TestUnavailable takes the server away from a store, in the ways in which that happens,
// and gives it back: each is told apart from a fault of ours, and the store goes on.
func TestUnavailable(t *testing.T) {
	direct := storetest.PostgresURL(t)
	l, through := newLine(t, direct)
	s, err := postgres.Open(t.Context(), through)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	there := func(when string) {
		t.Helper()
		if _, err := s.KeyByID(t.Context(), "key_none"); !errors.Is(err, registry.ErrNotFound) || postgres.Unavailable(err) {
			t.Errorf("%s: %v", when, err)
		}
	}
	there("at the start")
	l.cut()
	for range 10 { // more often than there were connections
		if _, err := s.KeyByID(t.Context(), "key_none"); !errors.Is(err, registry.ErrNotFound) && !postgres.Unavailable(err) {
			t.Errorf("a connection that was cut: %v", err)
		}
	}
	there("after a cut")

	l.held.Lock()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	_, err = s.KeyByID(ctx, "key_none")
	cancel()
	l.held.Unlock()
	if !postgres.Unavailable(err) {
		t.Errorf("a server that does not answer: %v", err)
	}
	there("after a silence")

	_ = l.Close()
	l.cut()
	for range 10 {
		_, err = s.KeyByID(t.Context(), "key_none")
	}
	if !postgres.Unavailable(err) {
		t.Errorf("a server that is not there: %v", err)
	}
	for code, want := range map[string]bool{
		"57P01": true, "57P03": true, "53300": true, "08006": true, "58030": true, "23505": false, "57014": false, "42P01": false, "": false,
	} {
		if postgres.Unavailable(fmt.Errorf("read: %w", &pgconn.PgError{Code: code})) != want {
			t.Errorf("SQLSTATE %q", code)
		}
	}
	if postgres.Unavailable(nil) || postgres.Unavailable(registry.ErrNotFound) || !postgres.Unavailable(io.ErrUnexpectedEOF) {
		t.Error("errors without a server")
	}
}
