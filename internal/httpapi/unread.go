package httpapi

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// What cannot be read as a request never comes to a handler: net/http answers it itself,
// in one write of plain text without an id. On connections without TLS that write is
// found here by its fixed first bytes, which no answer of a handler has (theirs begin
// with Cache-Control), and our own answer is sent in its place, with an id that stands
// in the log too. Where a version of net/http writes something else, its answer goes
// out as it is, and TestUnreadRequests says so. With TLS the write is not ours to see.

// bareHeader is what follows the status line in such an answer.
const bareHeader = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// tlsWanted is the answer to HTTP on a port that speaks HTTPS.
const tlsWanted = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"

// bareStatus gives the status of an answer that net/http wrote itself, else 0.
func bareStatus(p []byte) int {
	if string(p) == tlsWanted {
		return http.StatusBadRequest
	}
	line, rest, found := bytes.Cut(p, []byte("\r\n"))
	if !found || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) || len(line) < 12 {
		return 0
	}
	status, err := strconv.Atoi(string(line[9:12]))
	switch {
	case err != nil || status < 400:
		return 0
	case status == http.StatusExpectationFailed: // no handler of ours gives it
		return status
	case bytes.HasPrefix(rest, []byte(bareHeader[2:])):
		return status
	}
	return 0
}

// unread logs and counts a request that could not be read, and gives the bytes of its
// answer.
func (a *API) unread(status int, remote string) []byte {
	f := &failure{status: status, code: "malformed_request", message: "These bytes cannot be read as an HTTP request; with TLS on, an address begins with https://."}
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		f.code, f.message = "request_header_too_large", "A request's header has at most "+strconv.Itoa(maxHeader)+" bytes."
	case http.StatusNotImplemented:
		f.code, f.message = "unsupported_transfer_encoding", "Transfer-Encoding may be chunked, once."
	case http.StatusHTTPVersionNotSupported:
		f.code, f.message = "unsupported_http_version", "HTTP/1.0, 1.1 and, over TLS, 2 are spoken here."
	case http.StatusExpectationFailed:
		f.code, f.message = "unsupported_expectation", "Expect may be 100-continue."
	}
	id := a.newID()
	var addr netip.Addr
	if peer, err := netip.ParseAddrPort(remote); err == nil {
		addr = peer.Addr().Unmap()
	}
	a.metrics.requests.WithLabelValues("unmatched", "other", strconv.Itoa(status)).Inc()
	a.log.Info("request", slog.String("request_id", id), slog.String("method", "other"), slog.String("route", "unmatched"),
		slog.Int("status", status), slog.String("client", addr.String()), slog.String("code", f.code))
	body, err := encode(f.body())
	if err != nil { // our own types always have a JSON form
		panic(err)
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n"+
		"Content-Type: application/json; charset=utf-8\r\nDate: %s\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\n\r\n%s",
		status, http.StatusText(status), len(body), a.now().UTC().Format(http.TimeFormat), id, body)
}

// Write sends bytes, or our answer in the place of one that net/http gives by itself.
func (conn *connection) Write(p []byte) (int, error) {
	if conn.owner.unread == nil {
		return conn.Conn.Write(p)
	}
	status := bareStatus(p)
	if status == 0 {
		return conn.Conn.Write(p)
	}
	// Behind 417 a body is waited for that may never come.
	_ = conn.SetReadDeadline(time.Now().Add(drainTime))
	if _, err := conn.Conn.Write(conn.owner.unread(status, conn.RemoteAddr().String())); err != nil {
		return 0, err
	}
	return len(p), nil
}
