package probe

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/outward"
)

// guardedProbe serves handle on 127.0.0.2 and gives the options of a service that may
// connect to that address only. sentinel is an address of 127.0.0.1, whose server fails
// the test when it is asked.
func guardedProbe(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, c call) bool) (src Source, opts Options, sentinel string) {
	t.Helper()
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the sentinel was asked") }))
	t.Cleanup(inside.Close)
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("this system has no second loopback address: %v", err)
	}
	server := httptest.NewUnstartedServer(&web{handle: handle})
	server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	nets, err := outward.ParseNets([]string{"127.0.0.2"})
	if err != nil {
		t.Fatal(err)
	}
	guard := outward.New(outward.Options{AllowNet: nets})
	t.Cleanup(guard.Close)
	return Source{URL: server.URL + "/mcp", Header: http.Header{"Authorization": {"Bearer abc"}}},
		Options{Client: guard.Client(outward.Limits{})}, inside.URL
}

func TestCaseG05_ProbeThroughTheGuard(t *testing.T) {
	to := ""
	src, opts, sentinel := guardedProbe(t, func(w http.ResponseWriter, r *http.Request, _ call) bool {
		if to != "" {
			http.Redirect(w, r, to, http.StatusPermanentRedirect)
		}
		return to != ""
	})
	if s := mustProbe(t, src, opts); toolNames(s) != "echo" {
		t.Errorf("tools %s", toolNames(s))
	}
	port := sentinel[strings.LastIndexByte(sentinel, ':'):]
	for _, to = range []string{sentinel + "/", "http://0.0.0.0" + port + "/", "http://[::ffff:127.0.0.1]" + port + "/", "http://[::ffff:7f00:1]" + port + "/", "http://2130706433" + port + "/"} {
		_, err := Probe(t.Context(), src, opts)
		wantError(t, err, toolmark.ErrAddressRefused, "not connected", "rule")
		src := src
		src.URL = to
		_, err = Probe(t.Context(), src, opts)
		wantError(t, err, toolmark.ErrAddressRefused, "not connected", "rule")
	}
}

// What a server names as a further address is told, and not fetched; the address for
// messages of the older transport has to be of the same origin.
func TestCaseG08_DerivedAddressesOfAProbe(t *testing.T) {
	var handle func(w http.ResponseWriter, r *http.Request, c call) bool
	src, opts, sentinel := guardedProbe(t, func(w http.ResponseWriter, r *http.Request, c call) bool { return handle(w, r, c) })
	handle = func(w http.ResponseWriter, _ *http.Request, _ call) bool {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+sentinel+`/"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	_, err := Probe(t.Context(), src, opts)
	wantError(t, err, toolmark.ErrAuthRequired, "resource_metadata", sentinel)

	handle = func(w http.ResponseWriter, r *http.Request, _ call) bool {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return true
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte("event: endpoint\ndata: " + sentinel + "/messages\n\n"))
		return true
	}
	_, err = Probe(t.Context(), src, opts)
	wantError(t, err, toolmark.ErrNotMCP, "405")

	handle = func(w http.ResponseWriter, r *http.Request, c call) bool {
		if r.Method == http.MethodGet {
			http.Redirect(w, r, sentinel+"/sse", http.StatusFound)
			return true
		}
		if c.Method == "initialize" {
			sayJSON(w, 200, respond(c, `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1","icons":[{"src":"`+sentinel+`/icon.png"}]}}`))
			return true
		}
		return false
	}
	mustProbe(t, src, opts)
	// A held connection opens a stream, whose redirect is checked like any other.
	w := startWatch(t, src, WatchOptions{Options: opts})
	w.next(Connected)
	err = w.result()
	if !errors.Is(err, ErrNotListening) {
		t.Error(err)
	}
	wantError(t, err, toolmark.ErrAddressRefused, "not connected")
}
