package httpapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

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
