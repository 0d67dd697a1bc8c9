package probe

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
)

// A web is a fake Streamable HTTP server. Where handle does not answer a request it
// does as wellBehaved does, in JSON.
type web struct {
	handle func(w http.ResponseWriter, r *http.Request, c call) bool

	mu   sync.Mutex
	seen []string // "POST tools/list session=… version=…"
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var c call
	body, _ := io.ReadAll(r.Body)
	json.Unmarshal(body, &c)
	s.mu.Lock()
	s.seen = append(s.seen, fmt.Sprintf("%s %s session=%s version=%s", r.Method, c.Method, r.Header.Get("Mcp-Session-Id"), r.Header.Get("MCP-Protocol-Version")))
	s.mu.Unlock()
	if s.handle != nil && s.handle(w, r, c) {
		return
	}
	switch {
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusOK)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case c.ID == nil || c.Method == "":
		w.WriteHeader(http.StatusAccepted)
	default:
		sayJSON(w, http.StatusOK, respond(c, wellBehaved(c)))
	}
}

func (s *web) log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

func sayJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

func sayHTML(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, "<!doctype html><title>Hello\u202e</title>")
}

func serveWeb(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, c call) bool) (*web, Source) {
	t.Helper()
	s := &web{handle: handle}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, Source{URL: server.URL + "/mcp"}
}

// onMethod handles one method of the protocol.
func onMethod(method string, handle func(w http.ResponseWriter, r *http.Request, c call)) func(http.ResponseWriter, *http.Request, call) bool {
	return func(w http.ResponseWriter, r *http.Request, c call) bool {
		if c.Method != method {
			return false
		}
		handle(w, r, c)
		return true
	}
}

func TestHTTPFailures(t *testing.T) {
	type handler = func(w http.ResponseWriter, r *http.Request, c call) bool
	all := func(do func(w http.ResponseWriter)) handler {
		return func(w http.ResponseWriter, _ *http.Request, _ call) bool { do(w); return true }
	}
	for _, tt := range []struct {
		name   string
		handle handler
		opts   Options
		code   toolmark.ErrorCode
		says   []string
	}{
		{"404 html", all(func(w http.ResponseWriter) { sayHTML(w, 404) }), Options{}, toolmark.ErrNotMCP, []string{"404 Not Found", `"text/html"`, "/mcp", `\u202e`}},
		{"405", all(func(w http.ResponseWriter) { w.WriteHeader(405) }), Options{}, toolmark.ErrNotMCP, []string{"405", "no content type"}},
		{"200 html", all(func(w http.ResponseWriter) { sayHTML(w, 200) }), Options{}, toolmark.ErrNotMCP, []string{"200 OK", `"text/html"`}},
		{"200 other json", all(func(w http.ResponseWriter) { sayJSON(w, 200, `{"status":"ok"}`) }), Options{}, toolmark.ErrNotMCP, []string{"JSON-RPC"}},
		{"200 broken json", all(func(w http.ResponseWriter) { sayJSON(w, 200, `{"jsonrpc":"2.0","id":1,`) }), Options{}, toolmark.ErrInvalidJSON, []string{"initialize"}},
		{"403", all(func(w http.ResponseWriter) { w.WriteHeader(403) }), Options{}, toolmark.ErrAuthRequired, []string{"403 Forbidden", "no scheme"}},
		{"500", all(func(w http.ResponseWriter) { w.WriteHeader(500) }), Options{}, toolmark.ErrCannotConnect, []string{"500"}},
		{"503", all(func(w http.ResponseWriter) { w.Header().Set("Retry-After", "30"); w.WriteHeader(503) }), Options{}, toolmark.ErrCannotConnect, []string{"503", `"30"`}},
		{"hangs", func(_ http.ResponseWriter, r *http.Request, _ call) bool { <-r.Context().Done(); return true }, Options{Timeout: time.Second}, toolmark.ErrTimeout, []string{"initialize", "1s"}},
		{"hangs in body", onMethod("tools/list", func(w http.ResponseWriter, r *http.Request, _ call) {
			sayJSON(w, 200, `{"jsonrpc":`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}), Options{Timeout: time.Second}, toolmark.ErrTimeout, []string{"tools/list"}},
		{"cut off", onMethod("tools/list", func(w http.ResponseWriter, _ *http.Request, _ call) {
			w.Header().Set("Content-Length", "100")
			sayJSON(w, 200, `{"jsonrpc":`)
		}), Options{}, toolmark.ErrCannotConnect, []string{"tools/list", "lost"}},
		{"hangs up", onMethod("tools/list", func(w http.ResponseWriter, _ *http.Request, _ call) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.Close()
		}), Options{}, toolmark.ErrCannotConnect, []string{"tools/list", "without an answer"}},
		{"too long", onMethod("tools/list", func(w http.ResponseWriter, _ *http.Request, c call) {
			sayJSON(w, 200, respond(c, `"result":{"tools":[],"x":"`+strings.Repeat("x", 17<<20)+`"}`))
		}), Options{}, toolmark.ErrTooLarge, []string{"16 MiB"}},
		{"gzip bomb", onMethod("tools/list", func(w http.ResponseWriter, _ *http.Request, _ call) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "application/json")
			z := gzip.NewWriter(w)
			zeros := make([]byte, 1<<20)
			for range 64 {
				z.Write(zeros)
			}
			z.Close()
		}), Options{}, toolmark.ErrTooLarge, []string{"16 MiB"}},
		{"false gzip", onMethod("tools/list", func(w http.ResponseWriter, _ *http.Request, _ call) {
			w.Header().Set("Content-Encoding", "gzip")
			sayJSON(w, 200, "not gzip at all")
		}), Options{}, toolmark.ErrProtocol, []string{"gzip"}},
		{"unknown encoding", onMethod("tools/list", func(w http.ResponseWriter, _ *http.Request, _ call) {
			w.Header().Set("Content-Encoding", "br")
			sayJSON(w, 200, "xx")
		}), Options{}, toolmark.ErrProtocol, []string{`"br"`}},
		{"endless stream", onMethod("tools/list", func(w http.ResponseWriter, r *http.Request, _ call) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, ": still there, "+strings.Repeat("x", 8000)+"\n\n"); err != nil {
					return
				}
			}
		}), Options{}, toolmark.ErrTooLarge, []string{"16 MiB"}},
		{"stream ends", onMethod("tools/list", func(w http.ResponseWriter, _ *http.Request, _ call) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
		}), Options{}, toolmark.ErrCannotConnect, []string{"ended before the answer to tools/list"}},
		{"redirect to GET", func(w http.ResponseWriter, r *http.Request, _ call) bool {
			http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
			return true
		}, Options{}, toolmark.ErrNotMCP, []string{"/elsewhere", "POST into GET"}},
		{"redirect loop", func(w http.ResponseWriter, r *http.Request, _ call) bool {
			http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
			return true
		}, Options{}, toolmark.ErrNotMCP, []string{"more than 5 redirects"}},
		{"long session id", onMethod("initialize", func(w http.ResponseWriter, _ *http.Request, c call) {
			w.Header().Set("Mcp-Session-Id", strings.Repeat("s", 5000))
			sayJSON(w, 200, respond(c, wellBehaved(c)))
		}), Options{}, toolmark.ErrProtocol, []string{"5000 bytes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, src := serveWeb(t, tt.handle)
			_, err := Probe(t.Context(), src, tt.opts)
			wantError(t, err, tt.code, tt.says...)
		})
	}
}

// Older servers fail in many ways at a method they do not know.
func TestHTTPDiscoverFailsInManyWays(t *testing.T) {
	for name, say := range map[string]func(w http.ResponseWriter, r *http.Request){
		"400":         func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "Server not initialized", 400) },
		"404":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) },
		"406":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(406) },
		"500":         func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "panic", 500) },
		"200 html":    func(w http.ResponseWriter, _ *http.Request) { sayHTML(w, 200) },
		"202":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) },
		"broken JSON": func(w http.ResponseWriter, _ *http.Request) { sayJSON(w, 200, `{"jsonrpc":"2.0"`) },
		"hangs":       func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			_, src := serveWeb(t, onMethod("server/discover", func(w http.ResponseWriter, r *http.Request, _ call) { say(w, r) }))
			if s := mustProbe(t, src, Options{Timeout: 4 * time.Second}); toolNames(s) != "echo" {
				t.Errorf("tools %q", toolNames(s))
			}
		})
	}
}

func TestHTTPAddresses(t *testing.T) {
	for _, url := range []string{"ftp://host/x", "http://", "http://a b/", "mcp.example"} {
		_, err := Probe(t.Context(), Source{URL: url}, Options{})
		wantError(t, err, toolmark.ErrUsage, "not an http or https URL")
	}
	_, err := Probe(t.Context(), Source{URL: "http://user:hunter2@127.0.0.1:1/mcp"}, Options{})
	wantError(t, err, toolmark.ErrCannotConnect, "127.0.0.1:1")
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the password is in %q", err)
	}
	_, err = Probe(t.Context(), Source{URL: "http://127.0.0.1:1/mcp", Header: http.Header{"X-Key": {"a\nb"}}}, Options{})
	wantError(t, err, toolmark.ErrUsage, "X-Key")
	_, err = Probe(t.Context(), Source{URL: "http://no-such-host.invalid/mcp"}, Options{})
	wantError(t, err, toolmark.ErrCannotConnect, "no-such-host.invalid")
}

func TestHTTPNotHTTP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 4096))
			io.WriteString(conn, "500 what was that?\r\n")
			conn.Close()
		}
	}()
	_, err = Probe(t.Context(), Source{URL: "http://" + l.Addr().String()}, Options{})
	l.Close()
	<-done
	wantError(t, err, toolmark.ErrNotMCP, "does not speak HTTP")
}

func TestHTTPTLS(t *testing.T) {
	server := httptest.NewTLSServer(&web{})
	defer server.Close()
	server.Config.ErrorLog = nil
	_, err := Probe(t.Context(), Source{URL: server.URL}, Options{})
	wantError(t, err, toolmark.ErrTLS, "not trusted")

	plain := httptest.NewServer(&web{})
	defer plain.Close()
	_, err = Probe(t.Context(), Source{URL: strings.Replace(plain.URL, "http:", "https:", 1)}, Options{})
	wantError(t, err, toolmark.ErrTLS, "http://")

	s := mustProbe(t, Source{URL: server.URL}, Options{Client: server.Client()})
	if toolNames(s) != "echo" {
		t.Errorf("tools %q", toolNames(s))
	}
}

func TestHTTPHeaders(t *testing.T) {
	var mu sync.Mutex
	var bad []string
	web, src := serveWeb(t, func(_ http.ResponseWriter, r *http.Request, c call) bool {
		mu.Lock()
		defer mu.Unlock()
		for name, want := range map[string]string{
			"Content-Type":  "application/json",
			"Accept":        "application/json, text/event-stream",
			"Authorization": "Bearer abc",
			"User-Agent":    "toolmark/dev",
		} {
			if got := r.Header.Get(name); got != want {
				bad = append(bad, fmt.Sprintf("%s %s: %q", c.Method, name, got))
			}
		}
		if _, ok := r.Header["X-Empty"]; ok {
			bad = append(bad, "an empty header was sent")
		}
		return false
	})
	src.Header = http.Header{"Authorization": {"Bearer abc"}, "X-Empty": {""}}
	mustProbe(t, src, Options{})
	if len(bad) > 0 {
		t.Error(bad)
	}
	want := []string{
		"POST server/discover session= version=2026-07-28",
		"POST initialize session= version=",
		"POST notifications/initialized session= version=2025-06-18",
		"POST tools/list session= version=2025-06-18",
	}
	if got := web.log(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("requests %q, want %q", got, want)
	}
}

// What identifies us stays with the origin it was given for.
func TestHTTPRedirectToAnotherOrigin(t *testing.T) {
	var got http.Header
	other := httptest.NewServer(&web{handle: func(_ http.ResponseWriter, r *http.Request, _ call) bool {
		got = r.Header.Clone()
		return false
	}})
	defer other.Close()
	_, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, _ call) bool {
		http.Redirect(w, r, other.URL+"/mcp", http.StatusPermanentRedirect)
		return true
	})
	src.Header = http.Header{"Authorization": {"Bearer abc"}, "X-Api-Key": {"k"}}
	s := mustProbe(t, src, Options{})
	if toolNames(s) != "echo" {
		t.Errorf("tools %q", toolNames(s))
	}
	if got.Get("Authorization") != "" || got.Get("X-Api-Key") != "" || got.Get("Accept") == "" {
		t.Errorf("the other origin got %v", got)
	}
}

func TestHTTPEventStreams(t *testing.T) {
	web, src := serveWeb(t, onMethod("tools/list", func(w http.ResponseWriter, _ *http.Request, c call) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "\ufeff: hello\r\n\r\nevent: message\rid: 1\rretry: 10\rdata: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\r\r")
		io.WriteString(w, "event: other\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+string(c.ID)+",\"result\":{\"tools\":[]}}\n\ndata\n\ndata: not json\n\n")
		io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\ndata:\"id\":"+string(c.ID)+",\ndata:  \"result\":{\"tools\":[{\"name\":\"streamed\",\"n\":1.0}]}}\n")
	}))
	s := mustProbe(t, src, Options{})
	if toolNames(s) != "streamed" || !bytes.Contains(s.Bytes, []byte(`"n":1.0`)) {
		t.Errorf("snapshot %s", s.Bytes)
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], `"not json"`) {
		t.Errorf("warnings %q", s.Warnings)
	}
	if log := strings.Join(web.log(), "\n"); !strings.HasSuffix(log, "POST  session= version=2025-06-18") {
		t.Errorf("the ping was not answered: %s", log)
	}
}

func TestHTTPGzip(t *testing.T) {
	_, src := serveWeb(t, onMethod("tools/list", func(w http.ResponseWriter, _ *http.Request, c call) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		z := gzip.NewWriter(w)
		io.WriteString(z, respond(c, `"result":`+oneTool))
		z.Close()
	}))
	for name, client := range map[string]*http.Client{
		"decoded by the client": nil,
		"decoded by us":         {Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}},
	} {
		if s := mustProbe(t, src, Options{Client: client}); toolNames(s) != "echo" {
			t.Errorf("%s: tools %q", name, toolNames(s))
		}
	}
}

func TestHTTPModernServer(t *testing.T) {
	web, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, c call) bool {
		if r.Header.Get("Mcp-Method") != c.Method {
			sayJSON(w, 400, respond(c, `"error":{"code":-32001,"message":"header mismatch"}`))
			return true
		}
		sayJSON(w, 200, respond(c, modern(c)))
		return true
	})
	s := mustProbe(t, src, Options{})
	if toolNames(s) != "m" || s.Manifest.ProtocolVersion != "2026-07-28" || s.Manifest.Server.Name != "modern" {
		t.Errorf("snapshot %s", s.Bytes)
	}
	if log := web.log(); len(log) != 2 {
		t.Errorf("requests %q, want server/discover and tools/list", log)
	}
}

func TestHTTPClientTimeout(t *testing.T) {
	_, src := serveWeb(t, onMethod("initialize", func(_ http.ResponseWriter, r *http.Request, _ call) { <-r.Context().Done() }))
	transport := &http.Transport{DisableKeepAlives: true}
	_, err := Probe(t.Context(), src, Options{Client: &http.Client{Transport: transport, Timeout: 300 * time.Millisecond}})
	wantError(t, err, toolmark.ErrTimeout, "HTTP client allows")
}

func TestCallersDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	_, src := serveWeb(t, onMethod("tools/list", func(_ http.ResponseWriter, r *http.Request, _ call) { <-r.Context().Done() }))
	_, err := Probe(ctx, src, Options{})
	wantError(t, err, toolmark.ErrTimeout, "tools/list within 400ms")
}

func TestHTTPCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, src := serveWeb(t, onMethod("tools/list", func(_ http.ResponseWriter, r *http.Request, _ call) {
		cancel()
		<-r.Context().Done()
	}))
	_, err := Probe(ctx, src, Options{})
	wantError(t, err, toolmark.ErrTimeout, "stopped during tools/list")
}

// The optional GET stream is of no use to a probe, so that a server which answers it
// with 404, 400 or 406 is read like any other.
func TestCaseE02_GetStreamRefused(t *testing.T) {
	for _, status := range []int{400, 404, 406} {
		web, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, _ call) bool {
			if r.Method == http.MethodGet {
				w.WriteHeader(status)
				return true
			}
			return false
		})
		if s := mustProbe(t, src, Options{}); toolNames(s) != "echo" {
			t.Errorf("%d: tools %q", status, toolNames(s))
		}
		for _, l := range web.log() {
			if strings.HasPrefix(l, "GET") {
				t.Errorf("a GET was sent: %s", l)
			}
		}
	}
}

func TestCaseE04_AuthenticationRequired(t *testing.T) {
	_, src := serveWeb(t, func(w http.ResponseWriter, _ *http.Request, _ call) bool {
		w.Header().Set("WWW-Authenticate", `Bearer realm="x", resource_metadata="https://login.example/.well-known/oauth-protected-resource/mcp"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	_, err := Probe(t.Context(), src, Options{})
	wantError(t, err, toolmark.ErrAuthRequired, "authentication required", "401", `"Bearer"`, "https://login.example/.well-known/oauth-protected-resource/mcp", "--header")
}

// After initialize a server refuses the revision in the header that it just agreed to.
func TestCaseE12_VersionHeaderRefused(t *testing.T) {
	for _, tt := range []struct{ name, body, version string }{
		{"names others", "Bad Request: Unsupported protocol version (supported versions: 2024-11-05, 2025-03-26)", "2025-03-26"},
		{"names none", "unsupported MCP-Protocol-Version", "2025-06-18"},
		{"JSON-RPC error", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Unsupported protocol version (supported versions: 2025-03-26)"}}`, "2025-03-26"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, c call) bool {
				if c.Method == "initialize" { // agrees to whatever is offered
					sayJSON(w, 200, respond(c, `"result":{"protocolVersion":"`+c.Params.ProtocolVersion+`","capabilities":{"tools":{}}}`))
					return true
				}
				if v := r.Header.Get("MCP-Protocol-Version"); v != tt.version {
					sayJSON(w, 400, tt.body)
					return true
				}
				return false
			})
			s := mustProbe(t, src, Options{})
			if s.Manifest.ProtocolVersion != tt.version || toolNames(s) != "echo" {
				t.Errorf("version %q, tools %q", s.Manifest.ProtocolVersion, toolNames(s))
			}
		})
	}
}

func TestCaseE13_SessionIDIsCarried(t *testing.T) {
	web, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, c call) bool {
		switch {
		case c.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "session-17")
		case c.Method == "tools/list" && r.Header.Get("Mcp-Session-Id") != "session-17":
			sayJSON(w, 200, respond(c, `"result":{"tools":[]}`))
			return true
		}
		return false
	})
	if s := mustProbe(t, src, Options{}); toolNames(s) != "echo" {
		t.Errorf("tools %q", toolNames(s))
	}
	log := web.log()
	if last := log[len(log)-1]; last != "DELETE  session=session-17 version=2025-06-18" {
		t.Errorf("the session was not ended: %s", last)
	}
}

func TestCaseE14_DeadSession(t *testing.T) {
	for _, status := range []int{400, 404, 429} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			for _, heals := range []bool{true, false} {
				sessions := 0
				web, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, c call) bool {
					switch {
					case c.Method == "initialize":
						sessions++
						w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", sessions))
					case c.Method == "tools/list" && (!heals || r.Header.Get("Mcp-Session-Id") == "s1"):
						sayJSON(w, status, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no valid session"}}`)
						return true
					}
					return false
				})
				s, err := Probe(t.Context(), src, Options{})
				if heals {
					if err != nil || toolNames(s) != "echo" {
						t.Errorf("error %v", err)
					}
				} else {
					wantError(t, err, toolmark.ErrProtocol, fmt.Sprint(status), "no valid session", "tools/list")
				}
				if n := strings.Count(strings.Join(web.log(), "\n"), "POST initialize"); n != 2 {
					t.Errorf("heals %v: %d times initialize, want 2", heals, n)
				}
			}
		})
	}
}

func TestCaseE15_OptionalListsNotOffered(t *testing.T) {
	_, src := serveWeb(t, func(w http.ResponseWriter, _ *http.Request, c call) bool {
		switch c.Method {
		case "initialize":
			sayJSON(w, 200, respond(c, declaring(`{"tools":{},"prompts":{},"resources":{}}`, wellBehaved)(c)))
			return true
		case "prompts/list":
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false // resources/list, resources/templates/list: -32601
	})
	s := mustProbe(t, src, Options{})
	if toolNames(s) != "echo" || s.Manifest.Prompts != nil || s.Manifest.Resources != nil || len(s.Warnings) != 0 {
		t.Errorf("tools %q, warnings %q", toolNames(s), s.Warnings)
	}
}

func TestCaseE18_DeadPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, err = Probe(t.Context(), Source{URL: "http://" + addr + "/mcp", Header: http.Header{"Authorization": {""}}}, Options{})
	wantError(t, err, toolmark.ErrCannotConnect, addr, "Streamable HTTP", "refused")
}
