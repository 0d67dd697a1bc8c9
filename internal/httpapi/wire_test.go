package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/registry"
)

// live is a service on a real socket.
type live struct {
	*fixture
	addr string
	key  string
	stop func() error
}

func serveLive(t *testing.T, cfg fixtureConfig, listen Listen) *live {
	t.Helper()
	l := &live{fixture: newFixture(t, cfg)}
	l.key = l.fixture.key(t, registry.NewKey{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, ln, l.api, listen) }()
	stopped := false
	l.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if err := l.stop(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// used gives the scans that were counted against the key.
func (l *live) used(t *testing.T) int64 {
	t.Helper()
	keys, err := l.service.ListKeys(context.Background(), "", "", 0)
	if err != nil || len(keys) == 0 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	return keys[0].Meter.MonthUsed
}

// wire is one connection, written and read by hand.
type wire struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func (l *live) dial(t *testing.T) *wire {
	t.Helper()
	conn, err := net.Dial("tcp", l.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &wire{t, conn, bufio.NewReader(conn)}
}

// send writes; a peer that has closed already is no error here.
func (w *wire) send(text string) { _, _ = io.WriteString(w.conn, text) }

// post writes the header of a scan. Fields end with \r\n each.
func (w *wire) post(key, fields string) {
	w.send("POST " + pathScan + " HTTP/1.1\r\nHost: toolmark\r\nX-API-Key: " + key + "\r\nContent-Type: application/json\r\n" + fields + "\r\n")
}

// answer reads one response with its body.
func (w *wire) answer() (*http.Response, string) {
	w.t.Helper()
	response, err := http.ReadResponse(w.r, nil)
	if err != nil {
		w.t.Fatalf("no response: %v", err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatalf("read the response: %v", err)
	}
	_ = response.Body.Close()
	return response, string(body)
}

// want reads one response and holds it to a status and a part of its body.
func (w *wire) want(status int, part string) *http.Response {
	w.t.Helper()
	response, body := w.answer()
	if response.StatusCode != status || !strings.Contains(body, part) {
		w.t.Fatalf("%d %s; want %d with %q", response.StatusCode, body, status, part)
	}
	return response
}

// closed holds the connection to being closed by the service.
func (w *wire) closed() {
	w.t.Helper()
	if err := w.conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		w.t.Fatal(err)
	}
	for {
		_, err := w.r.ReadByte()
		if ne, ok := err.(net.Error); ok && ne.Timeout() { //nolint:errorlint // a plain socket's error
			w.t.Fatal("the connection stays open")
		}
		if err != nil {
			return
		}
	}
}

func (w *wire) length(n int64) string { return fmt.Sprintf("Content-Length: %d\r\n", n) }

// heap gives the most memory the heap had while f ran.
func heap(f func()) uint64 {
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	most := before.HeapAlloc
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			}
		}
	}()
	f()
	close(done)
	<-finished
	return most - before.HeapAlloc
}
