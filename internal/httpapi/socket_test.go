package httpapi

import (
	"bufio"
	"bytes"
	"compress/gzip"
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

const clean = `{"tools":[{"name":"a","description":"Gives the time."}]}`

// A body without Content-Length is held to the limit while it is read.
func TestCaseG01_ChunkedBodySkipsTheLengthLimit(t *testing.T) {
	l := serveLive(t, fixtureConfig{}, Listen{})
	grown := heap(func() {
		w := l.dial(t)
		w.post(l.key, "Transfer-Encoding: chunked\r\n")
		chunk := "10000\r\n" + strings.Repeat(" ", 0x10000) + "\r\n"
		sent := 0
		for range 800 { // 50 MB
			n, err := io.WriteString(w.conn, chunk)
			sent += n
			if err != nil {
				break // the service has closed: nothing more gets through
			}
		}
		if sent > 20<<20 {
			t.Errorf("the service took %d MB of the body", sent>>20)
		}
		// The answer may be lost to the reset that stops the sending; where it is not,
		// it is a 413.
		if response, err := http.ReadResponse(w.r, nil); err == nil {
			if response.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("%d", response.StatusCode)
			}
			_ = response.Body.Close()
		}
	})
	if grown > 32<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	// A client that sends just one byte too many, and no more, does get the answer.
	w := l.dial(t)
	w.post(l.key, "Transfer-Encoding: chunked\r\n")
	w.send("100001\r\n" + strings.Repeat(" ", 0x100001) + "\r\n0\r\n\r\n")
	w.want(http.StatusRequestEntityTooLarge, "request_body_too_large")
	w.closed()
	// The limit itself is allowed.
	w = l.dial(t)
	w.post(l.key, "Transfer-Encoding: chunked\r\n")
	w.send("100000\r\n" + clean + strings.Repeat(" ", 0x100000-len(clean)) + "\r\n0\r\n\r\n")
	w.want(http.StatusOK, `"ok":true`)
	if n := l.used(t); n != 1 {
		t.Errorf("%d scans counted, not 1", n)
	}
}

// A body longer than it declares is what it declares; what follows is no request, and
// the connection does not survive it.
func TestCaseG02_LyingContentLength(t *testing.T) {
	l := serveLive(t, fixtureConfig{}, Listen{})
	w := l.dial(t)
	w.post(l.key, w.length(1))
	w.send(clean + strings.Repeat("x", 5<<20))
	w.want(http.StatusUnprocessableEntity, "json_invalid")
	w.closed()

	// One that is shorter, because the client has nothing more to say.
	w = l.dial(t)
	w.post(l.key, w.length(500))
	w.send(clean)
	if err := w.conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if response, err := http.ReadResponse(w.r, nil); err == nil {
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%d for a body that is cut short", response.StatusCode)
		}
		_ = response.Body.Close()
	}
	w.closed()
	// Two lengths are no length.
	w = l.dial(t)
	w.post(l.key, w.length(5)+w.length(6))
	w.want(http.StatusBadRequest, "")
	w.closed()
	if n := l.used(t); n != 0 {
		t.Errorf("%d scans counted, not 0", n)
	}
}

func zipped(t *testing.T, head string, zeros int) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(z, head); err != nil {
		t.Fatal(err)
	}
	block := bytes.Repeat([]byte(" "), 1<<20)
	for zeros > 0 {
		n := min(zeros, len(block))
		if _, err := z.Write(block[:n]); err != nil {
			t.Fatal(err)
		}
		zeros -= n
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The limit on a body holds after gzip too.
func TestCaseG04_CompressedBodyInflatesBeyondTheLimit(t *testing.T) {
	l := serveLive(t, fixtureConfig{}, Listen{})
	bomb := zipped(t, "", 200<<20)
	if len(bomb) > 1<<20 {
		t.Fatalf("the bomb has %d bytes: it would be refused for its length", len(bomb))
	}
	grown := heap(func() {
		w := l.dial(t)
		w.post(l.key, "Content-Encoding: gzip\r\n"+w.length(int64(len(bomb))))
		w.send(string(bomb))
		w.want(http.StatusRequestEntityTooLarge, "request_body_too_large")
		w.closed()
	})
	if grown > 32<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	for _, c := range []struct {
		body   []byte
		status int
		part   string
	}{
		{zipped(t, clean, 0x100000-len(clean)), http.StatusOK, `"ok":true`},                               // the limit
		{zipped(t, clean, 0x100001-len(clean)), http.StatusRequestEntityTooLarge, "too_large"},            // and one more
		{append(zipped(t, clean, 0), zipped(t, " ", 0)...), http.StatusOK, `"ok":true`},                   // two members
		{[]byte(clean), http.StatusUnprocessableEntity, "not gzip"},                                       // no gzip
		{zipped(t, clean, 0)[:40], http.StatusUnprocessableEntity, "not gzip"},                            // half of it
		{append(zipped(t, clean, 0), "garbage behind it"...), http.StatusUnprocessableEntity, "not gzip"}, // and more
	} {
		w := l.dial(t)
		w.post(l.key, "Content-Encoding: GZIP\r\n"+w.length(int64(len(c.body))))
		w.send(string(c.body))
		w.want(c.status, c.part)
	}
	if n := l.used(t); n != 2 {
		t.Errorf("%d scans counted, not 2", n)
	}
}

func TestHugeDeclaredBodyIsNotRead(t *testing.T) {
	l := serveLive(t, fixtureConfig{}, Listen{})
	w := l.dial(t)
	w.post(l.key, w.length(2<<30))
	start := time.Now()
	w.want(http.StatusRequestEntityTooLarge, "request_body_too_large")
	w.closed()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the answer took %v", took)
	}
}

// What has to be refused is refused before the client is told to go on.
func TestExpectContinue(t *testing.T) {
	l := serveLive(t, fixtureConfig{}, Listen{})
	w := l.dial(t)
	w.post("wrong", "Expect: 100-continue\r\n"+w.length(int64(len(clean))))
	w.want(http.StatusUnauthorized, "invalid_api_key")
	w.closed()

	w = l.dial(t)
	w.post(l.key, "Expect: 100-continue\r\n"+w.length(2<<20))
	w.want(http.StatusRequestEntityTooLarge, "")
	w.closed()

	w = l.dial(t)
	w.post(l.key, "Expect: 100-continue\r\n"+w.length(int64(len(clean))))
	line, err := w.r.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("%q, %v; want 100 Continue", line, err)
	}
	if line, err = w.r.ReadString('\n'); err != nil || line != "\r\n" {
		t.Fatalf("%q, %v behind 100 Continue", line, err)
	}
	w.send(clean)
	w.want(http.StatusOK, `"ok":true`)
}

// After an early error a short rest of the body is read away and the connection serves
// on; a long rest, or one that does not come, closes it.
func TestKeepAliveAfterEarlyError(t *testing.T) {
	l := serveLive(t, fixtureConfig{}, Listen{})
	w := l.dial(t)
	for range 3 {
		w.post("wrong", w.length(int64(len(clean))))
		w.send(clean)
		w.want(http.StatusUnauthorized, "invalid_api_key")
		w.send("POST " + pathScan + " HTTP/1.1\r\nHost: h\r\nX-API-Key: " + l.key + "\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
		w.want(http.StatusUnsupportedMediaType, "unsupported_media_type")
		w.send("GET " + pathScan + " HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
		w.want(http.StatusMethodNotAllowed, "method_not_allowed")
		w.post(l.key, w.length(int64(len(clean))))
		w.send(clean)
		w.want(http.StatusOK, `"ok":true`)
	}

	w = l.dial(t)
	w.post("wrong", w.length(600_000))
	w.send(strings.Repeat(" ", 600_000))
	w.want(http.StatusUnauthorized, "invalid_api_key")
	w.closed()

	w = l.dial(t)
	w.post("wrong", w.length(1000))
	start := time.Now()
	w.want(http.StatusUnauthorized, "invalid_api_key")
	w.closed()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("a client that sends no body is waited for %v", took)
	}
}

// A body that comes too slowly ends with 408, and a header with nothing.
func TestSlowClients(t *testing.T) {
	l := serveLive(t, fixtureConfig{change: func(c *Config) { c.BodyTimeout = 300 * time.Millisecond }}, Listen{HeaderTimeout: 300 * time.Millisecond})
	w := l.dial(t)
	w.post(l.key, w.length(int64(len(clean))))
	for i := range 6 {
		w.send(clean[i : i+1])
		time.Sleep(60 * time.Millisecond)
	}
	w.want(http.StatusRequestTimeout, "request_timeout")
	w.closed()

	w = l.dial(t)
	w.send("POST " + pathScan + " HTTP/1.1\r\nHost: h\r\n")
	w.closed()
	if n := l.used(t); n != 0 {
		t.Errorf("%d scans counted, not 0", n)
	}
	// A slow scan is not a slow body: its client must not seem to have gone.
	b := &blocking{started: make(chan struct{}, 1), release: make(chan struct{}), inner: testScanner(t, 0, nil)}
	l = serveLive(t, fixtureConfig{scanner: b, change: func(c *Config) { c.BodyTimeout = 300 * time.Millisecond }}, Listen{})
	w = l.dial(t)
	w.post(l.key, w.length(int64(len(clean))))
	w.send(clean)
	<-b.started
	time.Sleep(500 * time.Millisecond)
	close(b.release)
	w.want(http.StatusOK, `"ok":true`)
}

// A client that hangs up ends its scan, which is then not counted.
func TestHangUp(t *testing.T) {
	b := &blocking{started: make(chan struct{}, 1), release: make(chan struct{}), inner: testScanner(t, 0, nil)}
	l := serveLive(t, fixtureConfig{scanner: b}, Listen{})
	w := l.dial(t)
	w.post(l.key, w.length(int64(len(clean))))
	w.send(clean)
	<-b.started
	if n := l.used(t); n != 1 {
		t.Errorf("%d scans counted while one runs, not 1", n)
	}
	if err := w.conn.Close(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); l.used(t) != 0; {
		if time.Now().After(end) {
			t.Fatal("the scan of a client that left stays counted")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// More than may run and wait is answered 503, and the service goes on.
func TestOverload(t *testing.T) {
	b := &blocking{started: make(chan struct{}, 4), release: make(chan struct{}), inner: testScanner(t, 0, nil)}
	l := serveLive(t, fixtureConfig{scanner: b, change: func(c *Config) {
		c.Concurrency, c.Queue, c.QueueWait = 1, 1, 300*time.Millisecond
	}}, Listen{})
	send := func() *wire {
		w := l.dial(t)
		w.post(l.key, w.length(int64(len(clean))))
		w.send(clean)
		return w
	}
	running := send()
	<-b.started
	waiting := send() // gets no turn in time
	if r := waiting.want(http.StatusServiceUnavailable, "overloaded"); r.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	for end := time.Now().Add(10 * time.Second); ; { // of two, one waits and one is too many
		one, two := send(), send()
		_, first := one.answer()
		_, second := two.answer()
		if strings.Contains(first+second, "too many scans are waiting") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("nobody was too many: %s %s", first, second)
		}
	}
	close(b.release)
	running.want(http.StatusOK, `"ok":true`)
	w := send()
	w.want(http.StatusOK, `"ok":true`)
}

// Connections that do nothing do not keep others out.
func TestConnectionLimit(t *testing.T) {
	l := serveLive(t, fixtureConfig{}, Listen{MaxConnections: 4})
	var idle []*wire
	for range 12 {
		w := l.dial(t)
		idle = append(idle, w)
	}
	w := l.dial(t)
	w.post(l.key, w.length(int64(len(clean))))
	w.send(clean)
	w.want(http.StatusOK, `"ok":true`)
	idle[0].closed()
}

// A service that is told to stop answers what it has begun.
func TestDrain(t *testing.T) {
	b := &blocking{started: make(chan struct{}, 1), release: make(chan struct{}), inner: testScanner(t, 0, nil)}
	l := serveLive(t, fixtureConfig{scanner: b}, Listen{})
	w := l.dial(t)
	w.post(l.key, w.length(int64(len(clean))))
	w.send(clean)
	<-b.started
	stopped := make(chan error, 1)
	go func() { stopped <- l.stop() }()
	for end := time.Now().Add(5 * time.Second); ; {
		conn, err := net.Dial("tcp", l.addr)
		if err != nil {
			break // no longer listening
		}
		_ = conn.Close()
		if time.Now().After(end) {
			t.Fatal("a service that stops still takes connections")
		}
		time.Sleep(5 * time.Millisecond)
	}
	close(b.release)
	w.want(http.StatusOK, `"ok":true`)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A scan that does not end within the time to drain is cut off, and that is an error.
func TestDrainTimeout(t *testing.T) {
	b := &blocking{started: make(chan struct{}, 1), release: make(chan struct{}), inner: testScanner(t, 0, nil)}
	l := serveLive(t, fixtureConfig{scanner: b}, Listen{Drain: 100 * time.Millisecond})
	w := l.dial(t)
	w.post(l.key, w.length(int64(len(clean))))
	w.send(clean)
	<-b.started
	if err := l.stop(); err == nil {
		t.Error("a request was cut off, and nobody says so")
	}
	w.closed()
}

// The one thing that is not ours to answer still gets our answer's form: OPTIONS *.
func TestOptionsStar(t *testing.T) {
	l := serveLive(t, fixtureConfig{}, Listen{})
	w := l.dial(t)
	w.send("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n")
	if r := w.want(http.StatusNoContent, ""); r.Header.Get("X-Request-Id") == "" || r.Header.Get("Allow") == "" {
		t.Errorf("%v", r.Header)
	}
	w.send("HEAD /docs HTTP/1.1\r\nHost: h\r\n\r\n")
	response, err := http.ReadResponse(w.r, &http.Request{Method: http.MethodHead})
	if err != nil || response.StatusCode != http.StatusOK || response.ContentLength < 1000 {
		t.Errorf("%v, %v", response, err)
	}
	_ = response.Body.Close()
	w.send("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
	w.want(http.StatusOK, "ok") // HEAD sent no body
}
