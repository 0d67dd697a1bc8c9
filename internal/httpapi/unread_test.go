package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestUnreadRequests sends bytes that never come to a handler. They are answered in our
// form all the same, with an id that the log knows, and nothing of them is written down.
func TestUnreadRequests(t *testing.T) {
	for name, c := range map[string]struct {
		sent   string
		status int
		code   string
	}{
		"no HTTP":                {"\x16\x03\x01\x02\x00\x01 " + secretText + "\r\n\r\n", 400, "malformed_request"},
		"a header without colon": {"GET / HTTP/1.1\r\nHost: h\r\n" + secretText + "\r\n\r\n", 400, "malformed_request"},
		"no Host":                {"GET /" + secretText + " HTTP/1.1\r\n\r\n", 400, "malformed_request"},
		"two lengths":            {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400, "malformed_request"},
		"a length that is none":  {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400, "malformed_request"},
		"a long header":          {"GET / HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", 431, "request_header_too_large"},
		"another coding":         {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: " + secretText + "\r\n\r\n", 501, "unsupported_transfer_encoding"},
		"another version":        {"GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505, "unsupported_http_version"},
		"another expectation":    {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: " + secretText + "\r\n\r\n", 417, "unsupported_expectation"},
	} {
		t.Run(name, func(t *testing.T) {
			l := serveLive(t, fixtureConfig{}, Listen{})
			w := l.dial(t)
			w.send(c.sent)
			response, body := w.answer()
			var answer struct {
				Error struct{ Code, Message, Type string }
			}
			if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Error.Code != c.code || answer.Error.Message == "" {
				t.Errorf("%q: %v", body, err)
			}
			if response.StatusCode != c.status || !response.Close || response.Header.Get("Content-Type") != "application/json; charset=utf-8" {
				t.Errorf("%d %v", response.StatusCode, response.Header)
			}
			w.closed()
			if err := l.stop(); err != nil {
				t.Error(err)
			}
			id := response.Header.Get("X-Request-Id")
			if id == "" || !strings.Contains(l.log.String(), `"request_id":"`+id+`"`) || strings.Contains(l.log.String(), secretText) {
				t.Errorf("id %q, log %s", id, l.log)
			}
			if text := l.ask(http.MethodGet, "/metrics", "", "").Body.String(); !strings.Contains(text, `toolmark_http_requests_total{method="other",route="unmatched",status="`+response.Status[:3]+`"} 1`) {
				t.Error("it was not counted")
			}
		})
	}
}

// TestAnswersAreNotMistaken: what a handler writes is sent as it is, whatever it looks like.
func TestAnswersAreNotMistaken(t *testing.T) {
	for _, text := range []string{
		"HTTP/1.1 400 Bad Request\r\nCache-Control: no-store\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request",
		"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n",
		"HTTP/1.1 400 Bad Request", "HTTP/1.1 4", "HTTP/1.1 \r\n", "HTTP/1.1 100 Continue\r\n\r\n", `{"name":"HTTP/1.1 417 x"}`, "",
	} {
		if status := bareStatus([]byte(text)); status != 0 {
			t.Errorf("%q is taken for net/http's own %d", text, status)
		}
	}
}
