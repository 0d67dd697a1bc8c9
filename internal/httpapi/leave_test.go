package httpapi

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

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

// A body that is announced and never sent, to a path that reads none, does not hold its
// connection: whoever holds 2,048 of them would keep everybody out.
func TestUnsentBodies(t *testing.T) {
	l := serveLive(t, fixtureConfig{}, Listen{})
	for _, request := range []string{
		"GET /healthz", "GET /docs", "OPTIONS /healthz", "GET /api/v1/usage/stats", "GET /nowhere", "PUT /healthz", "OPTIONS *",
	} {
		for _, announced := range []string{"Content-Length: 10", "Transfer-Encoding: chunked", "Content-Length: 10\r\nExpect: 100-continue"} {
			t.Run(request+" "+announced, func(t *testing.T) {
				t.Parallel()
				w := l.dial(t)
				w.send(request + " HTTP/1.1\r\nHost: h\r\nX-API-Key: " + l.key + "\r\n" + announced + "\r\n\r\n")
				w.answer()
				w.closed()
			})
		}
	}
}

// A request without a body that takes long is not ended by the time that bodies have.
func TestSlowAnswerWithoutABody(t *testing.T) {
	slow := func(c *Config) {
		c.Ready = func(ctx context.Context) error {
			select {
			case <-time.After(700 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	ln, api := listener(t), newFixture(t, fixtureConfig{change: slow}).api
	server := &http.Server{Handler: api, ReadTimeout: 200 * time.Millisecond, ReadHeaderTimeout: time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(ln) }()
	response, err := http.Get("http://" + ln.Addr().String() + "/readyz")
	if err != nil {
		t.Error(err)
	} else if _ = response.Body.Close(); response.StatusCode != http.StatusOK {
		t.Errorf("%d", response.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	<-done
}

func listener(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
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
	l := serveLive(t, fixtureConfig{}, Listen{MaxConnections: 4, Grace: 50 * time.Millisecond})
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

// A burst of more clients than there may be connections: each of them gets its answer,
// and none is cut off because its request was not read yet.
func TestBurstBeyondTheConnectionLimit(t *testing.T) {
	l := serveLive(t, fixtureConfig{}, Listen{MaxConnections: 4})
	var clients []*wire
	for range 40 {
		clients = append(clients, l.dial(t))
	}
	for _, w := range clients {
		w.send("POST " + pathScan + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-API-Key: " + l.key + "\r\nContent-Length: 12\r\n\r\n" + `{"tools":[]}`)
	}
	for _, w := range clients {
		w.want(http.StatusOK, `"ok":true`)
	}
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
