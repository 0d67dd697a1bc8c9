package probe

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
)

// The kinds of the reports of servers that misbehave, beyond the one input each report
// gave. The first of each are in http_test.go, legacy_test.go and stdio_test.go.

// A server of the older transport names the address for messages in many spellings.
func TestCaseE03_EndpointSpellings(t *testing.T) {
	refuse := func(w http.ResponseWriter) { w.WriteHeader(405) }
	for name, endpoint := range map[string]string{
		"path":         "/messages?sessionId=7",
		"relative":     "messages?sessionId=7",
		"dots":         "./x/../messages?sessionId=7",
		"fragment":     "/messages?sessionId=7#top",
		"white space":  "  /messages?sessionId=7\t",
		"whole":        "http://{host}/messages?sessionId=7",
		"no scheme":    "//{host}/messages?sessionId=7",
		"more fields":  "/messages?sessionId=7\nid: 1\nretry: 10",
		"another word": "/messages?sessionId=7\n\nevent: ready\ndata: {}",
	} {
		t.Run(name, func(t *testing.T) {
			if s := mustProbe(t, legacyServer(t, endpoint, refuse), Options{}); toolNames(s) != "echo" {
				t.Errorf("tools %q", toolNames(s))
			}
		})
	}
}

// Wherever on the way credentials are asked for, that is what the error says.
func TestCaseE04_AtEveryStep(t *testing.T) {
	for _, step := range []string{"server/discover", "initialize", "tools/list", "GET", "/messages"} {
		for challenge, says := range map[string]string{
			"": "no scheme",
			`Basic realm="a, b", Bearer error="invalid_token"`: `"Basic"`,
			`bearer`: `"bearer"`,
			"Bearer resource_metadata=http://127.0.0.1:1/\u009b2J": `resource_metadata`,
		} {
			t.Run(step+" "+challenge, func(t *testing.T) {
				refused := func(w http.ResponseWriter) {
					if challenge != "" {
						w.Header()["Www-Authenticate"] = []string{challenge}
					}
					w.WriteHeader(http.StatusUnauthorized)
				}
				legacy := step == "GET" || step == "/messages"
				_, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, c call) bool {
					switch {
					case c.Method == step || r.Method == step || r.URL.Path == step:
						refused(w)
					case legacy && r.Method == http.MethodGet:
						w.Header().Set("Content-Type", "text/event-stream")
						io.WriteString(w, "event: endpoint\ndata: /messages\n\n")
						w.(http.Flusher).Flush()
						<-r.Context().Done()
					case legacy:
						w.WriteHeader(405)
					default:
						return false
					}
					return true
				})
				_, err := Probe(t.Context(), src, Options{})
				wantError(t, err, toolmark.ErrAuthRequired, "authentication required", says)
			})
		}
	}
}

// What else a server writes to its stdout, and in which ways it ends its lines.
func TestCaseE07_KindsOfNoise(t *testing.T) {
	for name, skipped := range map[string]bool{"noise-bom": false, "noise-crlf": false, "noise-every": true, "noise-no-newline-at-end": false, "noise-json-log": true} {
		t.Run(name, func(t *testing.T) {
			s := mustProbe(t, fakeSource(t, name), Options{})
			if toolNames(s) != "echo" || (len(s.Warnings) == 1) != skipped || len(s.Warnings) > 1 {
				t.Errorf("tools %q, warnings %q", toolNames(s), s.Warnings)
			}
		})
	}
	// A message in pieces is not put together: a line is a message.
	_, err := Probe(t.Context(), fakeSource(t, "noise-split-message"), Options{})
	wantError(t, err, toolmark.ErrInvalidJSON, "tools/list")
	_, err = Probe(t.Context(), fakeSource(t, "noise-utf16"), Options{Timeout: 800 * time.Millisecond})
	wantError(t, err, toolmark.ErrTimeout, "initialize")
}

// server/discover refused by HTTP status and body, with the revisions that are spoken.
func TestCaseE12_DiscoverRefusedOverHTTP(t *testing.T) {
	for _, status := range []int{200, 400} {
		_, src := serveWeb(t, func(w http.ResponseWriter, _ *http.Request, c call) bool {
			switch {
			case c.Method == "server/discover":
				sayJSON(w, status, respond(c, `"error":{"code":-32022,"message":"no","data":{"supported":["2025-03-26","2024-11-05"],"requested":"2026-07-28"}}`))
			case c.Method == "initialize" && c.Params.ProtocolVersion != "2025-03-26":
				sayJSON(w, 400, respond(c, `"error":{"code":-32602,"message":"wrong revision"}`))
			case c.Method == "initialize":
				sayJSON(w, 200, respond(c, `"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}}}`))
			default:
				return false
			}
			return true
		})
		if s := mustProbe(t, src, Options{}); s.Manifest.ProtocolVersion != "2025-03-26" || toolNames(s) != "echo" {
			t.Errorf("%d: version %q, tools %q", status, s.Manifest.ProtocolVersion, toolNames(s))
		}
	}
}

// Every request after initialize carries the session, whatever the server says later.
func TestCaseE13_EveryRequestCarriesTheSession(t *testing.T) {
	const id = `s-1 !"#$%&'()*+,-./:;<=>?@[\]^_{|}~`
	page := 0
	web, src := serveWeb(t, func(w http.ResponseWriter, _ *http.Request, c call) bool {
		if c.Method != "server/discover" {
			w.Header().Set("Mcp-Session-Id", id)
		}
		switch c.Method {
		case "tools/list":
			w.Header().Set("Mcp-Session-Id", "another")
			if page++; page < 3 {
				sayJSON(w, 200, respond(c, fmt.Sprintf(`"result":{"tools":[{"name":"p%d"}],"nextCursor":"%d"}`, page, page)))
				return true
			}
			sayJSON(w, 200, respond(c, `"result":{"tools":[]}`))
			return true
		}
		return false
	})
	if s := mustProbe(t, src, Options{}); toolNames(s) != "p1 p2" {
		t.Errorf("tools %q", toolNames(s))
	}
	log := web.log()
	if len(log) != 7 {
		t.Fatalf("requests %q", log)
	}
	for _, l := range log[2:] {
		if !strings.Contains(l, "session="+id+" ") {
			t.Errorf("request %s", l)
		}
	}
}

// A session that dies between two pages: the list is read from its start again, never
// put together from two sessions.
func TestCaseE14_SessionDiesBetweenPages(t *testing.T) {
	var sessions atomic.Int64
	_, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, c call) bool {
		session := r.Header.Get("Mcp-Session-Id")
		switch {
		case c.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", sessions.Add(1)))
			return false
		case c.Method != "tools/list":
			return false
		case c.Params.Cursor == nil:
			sayJSON(w, 200, respond(c, `"result":{"tools":[{"name":"`+session+`-a"}],"nextCursor":"n"}`))
		case session == "s1":
			w.WriteHeader(http.StatusNotFound)
		default:
			sayJSON(w, 200, respond(c, `"result":{"tools":[{"name":"`+session+`-b"}]}`))
		}
		return true
	})
	if s := mustProbe(t, src, Options{}); toolNames(s) != "s2-a s2-b" {
		t.Errorf("tools %q", toolNames(s))
	}
}

// In which ways a server says that it has no prompts or resources after declaring them.
func TestCaseE15_WaysOfNotOffering(t *testing.T) {
	for name, tt := range map[string]struct {
		say     func(w http.ResponseWriter, c call)
		leftOut bool // it said something else than that it has none
	}{
		"404":      {func(w http.ResponseWriter, _ call) { w.WriteHeader(404) }, false},
		"404 html": {func(w http.ResponseWriter, _ call) { sayHTML(w, 404) }, false},
		"-32601": {func(w http.ResponseWriter, c call) {
			sayJSON(w, 200, respond(c, `"error":{"code":-32601,"message":"x"}`))
		}, false},
		"-32601 with 400": {func(w http.ResponseWriter, c call) {
			sayJSON(w, 400, respond(c, `"error":{"code":-32601,"message":"x"}`))
		}, false},
		"-32601 with 404": {func(w http.ResponseWriter, c call) {
			sayJSON(w, 404, respond(c, `"error":{"code":-32601,"message":"x"}`))
		}, false},
		"400": {func(w http.ResponseWriter, _ call) { w.WriteHeader(400) }, true},
		"500": {func(w http.ResponseWriter, _ call) { w.WriteHeader(500) }, true},
		"401": {func(w http.ResponseWriter, _ call) { w.WriteHeader(401) }, true},
		"-32603": {func(w http.ResponseWriter, c call) {
			sayJSON(w, 200, respond(c, `"error":{"code":-32603,"message":"x"}`))
		}, true},
		"no array":      {func(w http.ResponseWriter, c call) { sayJSON(w, 200, respond(c, `"result":{}`)) }, true},
		"an empty body": {func(w http.ResponseWriter, _ call) { sayJSON(w, 200, "") }, true},
		"a page that never comes": {func(w http.ResponseWriter, c call) {
			sayJSON(w, 200, respond(c, `"result":{"prompts":[],"nextCursor":"x"}`))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, src := serveWeb(t, func(w http.ResponseWriter, _ *http.Request, c call) bool {
				switch c.Method {
				case "initialize":
					sayJSON(w, 200, respond(c, declaring(`{"tools":{},"prompts":{}}`, wellBehaved)(c)))
				case "prompts/list":
					tt.say(w, c)
				default:
					return false
				}
				return true
			})
			s := mustProbe(t, src, Options{})
			if toolNames(s) != "echo" || s.Manifest.Prompts != nil {
				t.Errorf("tools %q, prompts %v", toolNames(s), s.Manifest.Prompts)
			}
			if slices.Contains(s.LeftOut, "prompts/list") != tt.leftOut || (len(s.Warnings) > 0) != tt.leftOut {
				t.Errorf("left out %q, warnings %q", s.LeftOut, s.Warnings)
			}
		})
	}
}

// Why a server over HTTP cannot be reached names host, transport and cause.
func TestCaseE18_KindsOfUnreachable(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	resets, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := resets.Accept()
			if err != nil {
				return
			}
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	}()
	defer func() { resets.Close(); <-done }()
	plain := httptest.NewServer(&web{})
	defer plain.Close()
	for name, tt := range map[string]struct {
		url  string
		code toolmark.ErrorCode
		says []string
	}{
		"never answers":     {"http://" + silent.Addr().String() + "/mcp", toolmark.ErrTimeout, []string{silent.Addr().String(), "initialize", "1s"}},
		"hangs up":          {"http://" + resets.Addr().String() + "/mcp", toolmark.ErrCannotConnect, []string{resets.Addr().String()}},
		"no TLS there":      {strings.Replace(plain.URL, "http:", "https:", 1), toolmark.ErrTLS, []string{strings.TrimPrefix(plain.URL, "http://"), "http://"}},
		"no such name":      {"http://nothing.invalid/mcp", toolmark.ErrCannotConnect, []string{"nothing.invalid", "Streamable HTTP", "not resolved"}},
		"not a port":        {"http://127.0.0.1:99999/mcp", toolmark.ErrCannotConnect, []string{"127.0.0.1:99999", "Streamable HTTP"}},
		"an empty header":   {"http://127.0.0.1:1/mcp", toolmark.ErrCannotConnect, []string{"127.0.0.1:1", "Streamable HTTP", "refused"}},
		"the wrong address": {plain.URL + "/\u202e", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			src := Source{URL: tt.url, Header: http.Header{"Authorization": {""}, "": {""}}}
			delete(src.Header, "")
			_, err := Probe(t.Context(), src, Options{Timeout: time.Second})
			if tt.code == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, tt.code, tt.says...)
		})
	}
}
