package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// handler answers one MCP request; false leaves it to a server with the tool echo.
type handler func(w http.ResponseWriter, r *http.Request, method, id string) bool

// scripted is an MCP server whose answers a test can take over.
type scripted struct {
	*httptest.Server
	mu     sync.Mutex
	handle handler
	calls  []string // methods, or the verb of what is no call
}

func newScripted(t *testing.T) *scripted {
	s := &scripted{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *scripted) use(h handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handle, s.calls = h, nil
}

func (s *scripted) count(method string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c == method {
			n++
		}
	}
	return n
}

// ServeHTTP answers as MCP 2025-06-18 has it.
func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request rpcRequest
	if r.Method == http.MethodPost {
		_ = json.NewDecoder(r.Body).Decode(&request) // what cannot be read is no call
	}
	s.mu.Lock()
	s.calls = append(s.calls, max(request.Method, r.Method))
	handle := s.handle
	s.mu.Unlock()
	if handle != nil && handle(w, r, request.Method, string(request.ID)) {
		return
	}
	if r.Method != http.MethodPost {
		http.Error(w, "no stream", http.StatusMethodNotAllowed)
		return
	}
	answer := request.answer(`{"protocolVersion":"2025-06-18","tools":[{"name":"echo","description":"Says it again."}]}`)
	if answer == "" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, answer)
}

// serviceFor starts the service, without a watch, for servers on the given networks.
func serviceFor(t *testing.T, nets ...string) *caller {
	t.Helper()
	args := []string{"--addr", "127.0.0.1:0", "--database", "sqlite:" + filepath.Join(t.TempDir(), "t.db"), "--log-format", "off", "--fetch-rules=false", "--watch=false"}
	for _, n := range nets {
		args = append(args, "--allow-net", n)
	}
	s := startServe(t, nil, args...)
	return &caller{t: t, url: s.url, key: s.key}
}

func (c *caller) register(url string, want int) (id string, answer json.RawMessage) {
	c.t.Helper()
	c.call(http.MethodPost, "/v1/servers", fmt.Sprintf(`{"url":%q}`, url), want, &answer)
	var server struct{ ID string }
	if err := json.Unmarshal(answer, &server); err != nil {
		c.t.Fatal(err)
	}
	return server.ID, answer
}

// TestCaseE04_LoginOverREST: a server that begins to want a login is told apart from one
// that is down and from one that serves nothing, and its record stays.
func TestCaseE04_LoginOverREST(t *testing.T) {
	server := newScripted(t)
	api := serviceFor(t, "127.0.0.1")
	id, _ := api.register(server.URL+"/mcp", http.StatusCreated)
	before := api.check(id)
	server.use(func(w http.ResponseWriter, _ *http.Request, _, _ string) bool {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://auth.example/.well-known/oauth-protected-resource"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	got := api.check(id)
	if got.Status != "unreachable" || got.Why == nil || got.Why.Code != "auth_required" || got.Baseline != before.Baseline || got.Current != before.Current || string(got.Drift) != "null" {
		t.Errorf("%+v, before %+v", got, before)
	}
	_, answer := api.register(server.URL+"/other", http.StatusBadGateway)
	if text := string(answer); !strings.Contains(text, "auth_required") || !strings.Contains(text, "Bearer") {
		t.Errorf("registered anew: %s", text)
	}
	var page struct{ Servers []struct{ ID string } }
	if api.call(http.MethodGet, "/v1/servers", "", http.StatusOK, &page); len(page.Servers) != 1 {
		t.Errorf("%d servers are recorded", len(page.Servers))
	}
	server.use(nil)
	if got := api.check(id); got.Status != "unchanged" || got.Why != nil {
		t.Errorf("open again: %+v", got)
	}
}

// TestCaseE13_SessionOverREST: a server that lists nothing to those who do not carry its
// session is registered with its tools; where it loses sessions, the empty list does not
// become the record.
func TestCaseE13_SessionOverREST(t *testing.T) {
	server := newScripted(t)
	lost := atomic.Bool{}
	server.use(func(w http.ResponseWriter, r *http.Request, method, id string) bool {
		switch {
		case method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
		case method == "tools/list" && (lost.Load() || r.Header.Get("Mcp-Session-Id") != "s1"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`, id)
			return true
		}
		return false
	})
	api := serviceFor(t, "127.0.0.1")
	id, _ := api.register(server.URL+"/mcp", http.StatusCreated)
	first := api.check(id)
	if first.Status != "unchanged" || first.Current.Tools != 1 {
		t.Fatalf("%+v", first)
	}
	lost.Store(true)
	for range 2 {
		got := api.check(id)
		if got.Status != "changed" || got.Suspicious == "" || got.Baseline != first.Baseline || got.Current.Tools != 0 {
			t.Errorf("suddenly empty: %+v", got)
		}
	}
	lost.Store(false)
	if got := api.check(id); got.Status != "unchanged" || got.Suspicious != "" {
		t.Errorf("back: %+v", got)
	}
}

// TestCaseE14_DeadSessionOverREST: where a server was restarted and answers a dead session
// with anything, one fresh start is made; where that does not help, the record says why.
func TestCaseE14_DeadSessionOverREST(t *testing.T) {
	server := newScripted(t)
	api := serviceFor(t, "127.0.0.1")
	id, _ := api.register(server.URL+"/mcp", http.StatusCreated)
	for _, status := range []int{400, 404, 429} {
		for _, heals := range []bool{true, false} {
			sessions := atomic.Int64{}
			server.use(func(w http.ResponseWriter, r *http.Request, method, id string) bool {
				switch {
				case method == "initialize":
					w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", sessions.Add(1)))
				case method == "tools/list" && (!heals || r.Header.Get("Mcp-Session-Id") == "s1"):
					http.Error(w, "no valid session", status)
					return true
				}
				return false
			})
			got := api.check(id)
			if heals && got.Status != "unchanged" || !heals && (got.Status != "unreachable" || got.Why == nil || !strings.Contains(got.Why.Message, fmt.Sprint(status))) {
				t.Errorf("%d, heals %v: %+v", status, heals, got)
			}
			if n := server.count("initialize"); n != 2 {
				t.Errorf("%d, heals %v: initialize %d times, want 2", status, heals, n)
			}
		}
	}
}

// sentinel listens where nobody may connect, and counts who does.
func sentinel(t *testing.T) (port string, met *atomic.Int64) {
	t.Helper()
	met = &atomic.Int64{}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			met.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	response, err := http.Get(server.URL) // it does count
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if met.Swap(0) != 1 {
		t.Fatal("the sentinel sees nobody")
	}
	return server.URL[strings.LastIndexByte(server.URL, ':'):], met
}

// TestCaseG05_ForbiddenAddressesOverREST: no form of an address that is not public is
// connected to, whatever is asked, by itself or behind a redirect.
func TestCaseG05_ForbiddenAddressesOverREST(t *testing.T) {
	port, met := sentinel(t)
	forms := []string{
		"http://127.0.0.1", "http://0.0.0.0", "http://[::ffff:127.0.0.1]", "http://[::ffff:7f00:1]", "http://[::1]", "http://[::]",
		"http://2130706433", "http://0x7f000001", "http://0177.0.0.1", "http://127.1", "http://localhost", "http://[64:ff9b::127.0.0.1]",
	}
	t.Run("asked for", func(t *testing.T) {
		api := serviceFor(t)
		for _, form := range forms {
			url := form + port + "/mcp"
			if _, answer := api.register(url, http.StatusUnprocessableEntity); strings.Contains(string(answer), "srv_") {
				t.Errorf("%s: %s", url, answer)
			}
			var precall struct {
				Reachable bool
				Why       struct{ Code string }
			}
			api.call(http.MethodPost, "/v1/precall-check", fmt.Sprintf(`{"url":%q}`, url), http.StatusOK, &precall)
			if precall.Reachable || precall.Why.Code != "address_refused" {
				t.Errorf("%s: %+v", url, precall)
			}
		}
	})
	t.Run("behind a redirect", func(t *testing.T) {
		server, api, id := besideSentinel(t)
		for _, form := range forms {
			to := form + port + "/"
			server.use(func(w http.ResponseWriter, r *http.Request, _, _ string) bool {
				http.Redirect(w, r, to, http.StatusPermanentRedirect)
				return true
			})
			if got := api.check(id); got.Status != "unreachable" || got.Why == nil || got.Why.Code != "address_refused" {
				t.Errorf("to %s: %+v", to, got)
			}
		}
	})
	if n := met.Load(); n > 0 {
		t.Errorf("%d connections to where nobody may connect", n)
	}
}

// besideSentinel registers a server at 127.0.0.2, which is all that the service may reach:
// a sentinel at 127.0.0.1 is not.
func besideSentinel(t *testing.T) (server *scripted, api *caller, id string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("this system has no 127.0.0.2: %v", err)
	}
	server = &scripted{}
	server.Server = &httptest.Server{Listener: ln, Config: &http.Server{Handler: server}}
	server.Start()
	t.Cleanup(server.Close)
	api = serviceFor(t, "127.0.0.2")
	id, _ = api.register(server.URL+"/mcp", http.StatusCreated)
	return server, api, id
}

// TestCaseG08_DerivedAddressesOverREST: what a server names as the address of its
// metadata, of its messages or of its icon is not fetched where it is not allowed.
func TestCaseG08_DerivedAddressesOverREST(t *testing.T) {
	port, met := sentinel(t)
	inside := "http://127.0.0.1" + port
	server, api, id := besideSentinel(t)
	for name, c := range map[string]struct {
		handle handler
		status string
		code   string
	}{
		"OAuth metadata": {func(w http.ResponseWriter, _ *http.Request, _, _ string) bool {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+inside+`/.well-known/oauth-protected-resource"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}, "unreachable", "auth_required"},
		"cloud metadata": {func(w http.ResponseWriter, _ *http.Request, _, _ string) bool {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://169.254.169.254/"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}, "unreachable", "auth_required"},
		"endpoint event": {func(w http.ResponseWriter, r *http.Request, _, _ string) bool {
			if r.Method != http.MethodGet {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return true
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", inside)
			return true
		}, "unreachable", "not_mcp"},
		"icon": {func(w http.ResponseWriter, _ *http.Request, method, id string) bool {
			if method != "initialize" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1","icons":[{"src":"%s/i.png"}]}}}`, id, inside)
			return true
		}, "changed", ""},
	} {
		server.use(c.handle)
		got := api.check(id)
		code := ""
		if got.Why != nil {
			code = got.Why.Code
		}
		if got.Status != c.status || code != c.code {
			t.Errorf("%s: %+v", name, got)
		}
		if c.code == "not_mcp" && server.count(http.MethodGet) == 0 {
			t.Errorf("%s: the stream was not opened", name)
		}
	}
	if n := met.Load(); n > 0 {
		t.Errorf("%d connections to where nobody may connect", n)
	}
}
