package probe

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
)

// A changing server of Streamable HTTP: what it lists is t and the number of changes
// announced so far.
type changing struct {
	n       atomic.Int64
	mu      sync.Mutex
	streams []chan string // of open GETs
	opened  chan http.Header
}

// list answers tools/list; the rest is left.
func (s *changing) list(w http.ResponseWriter, c call) bool {
	switch c.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", "s1")
		sayJSON(w, 200, respond(c, `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"changing","version":"1"}}`))
	case "tools/list":
		sayJSON(w, 200, respond(c, fmt.Sprintf(`"result":{"tools":[{"name":"t%d"}]}`, s.n.Load())))
	default:
		return false
	}
	return true
}

// stream serves an event stream until it is told to end it by "".
func (s *changing) stream(w http.ResponseWriter, r *http.Request, first string) {
	events := make(chan string, 16)
	s.mu.Lock()
	s.streams = append(s.streams, events)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, first)
	w.(http.Flusher).Flush()
	s.opened <- r.Header.Clone()
	for {
		select {
		case e := <-events:
			if e == "" {
				return
			}
			fmt.Fprint(w, e)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// say sends an event on the newest stream.
func (s *changing) say(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[len(s.streams)-1] <- event
}

const toolsChanged = `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n\n"

func serveChanging(t *testing.T, handle func(s *changing, w http.ResponseWriter, r *http.Request, c call) bool) (*changing, *web, Source) {
	t.Helper()
	s := &changing{opened: make(chan http.Header, 16)}
	web, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, c call) bool {
		if handle != nil && handle(s, w, r, c) {
			return true
		}
		if r.Method == http.MethodGet {
			s.stream(w, r, ": hello\n\n")
			return true
		}
		return s.list(w, c)
	})
	return s, web, src
}

func TestWatchHTTP(t *testing.T) {
	s, web, src := serveChanging(t, nil)
	opts := quick()
	opts.Client = &http.Client{Timeout: 300 * time.Millisecond} // for answers, not for the stream
	opts.Client.Transport = &http.Transport{}
	defer opts.Client.CloseIdleConnections()
	src.Header = http.Header{"Authorization": {"Bearer abc"}}
	w := startWatch(t, src, opts)
	h := <-s.opened
	if h.Get("Accept") != "text/event-stream" || h.Get("Mcp-Session-Id") != "s1" || h.Get("MCP-Protocol-Version") != "2025-11-25" || h.Get("Authorization") != "Bearer abc" || h.Get("Last-Event-ID") != "" {
		t.Errorf("the stream was asked for with %v", h)
	}
	w.next(Connected)
	time.Sleep(400 * time.Millisecond)
	s.say(`data: {"jsonrpc":"2.0","id":"p","method":"ping"}` + "\n\n")
	s.n.Add(1)
	s.say(toolsChanged)
	if e := w.next(Changed); toolNames(e.Snapshot) != "t1" || !slices.Equal(e.Announced, []string{"tools"}) {
		t.Errorf("%+v", e)
	}
	if err := w.end(); err != nil {
		t.Error(err)
	}
	log := strings.Join(web.log(), "\n")
	if !strings.HasSuffix(log, "DELETE  session=s1 version=2025-11-25") || !strings.Contains(log, "POST  session=s1") {
		t.Errorf("requests:\n%s", log)
	}
}

// A stream that the server ends is opened again in the same session.
func TestWatchHTTPStreamEnds(t *testing.T) {
	t.Run("without ids", func(t *testing.T) {
		s, _, src := serveChanging(t, nil)
		w := startWatch(t, src, quick())
		<-s.opened
		w.next(Connected)
		s.n.Add(1)
		s.say("")
		if e := w.next(Changed); toolNames(e.Snapshot) != "t1" || len(e.Announced) > 0 {
			t.Errorf("%+v", e)
		}
		<-s.opened
		s.n.Add(1)
		s.say(toolsChanged)
		if e := w.next(Changed); toolNames(e.Snapshot) != "t2" {
			t.Errorf("%+v", e)
		}
	})
	t.Run("with ids", func(t *testing.T) {
		s, _, src := serveChanging(t, nil)
		w := startWatch(t, src, quick())
		<-s.opened
		w.next(Connected)
		s.say("id: e-7\nretry: 20\ndata:\n\n")
		s.say("")
		if h := <-s.opened; h.Get("Last-Event-ID") != "e-7" {
			t.Errorf("the stream was asked for with %v", h)
		}
		// Nothing is read until what was missed is told.
		s.n.Add(1)
		s.say(toolsChanged)
		if e := w.next(Changed); toolNames(e.Snapshot) != "t1" || !slices.Equal(e.Announced, []string{"tools"}) {
			t.Errorf("%+v", e)
		}
	})
	t.Run("and is not given again", func(t *testing.T) {
		var gets atomic.Int64
		s, _, src := serveChanging(t, func(s *changing, w http.ResponseWriter, r *http.Request, _ call) bool {
			if r.Method == http.MethodGet && gets.Add(1) > 1 {
				w.WriteHeader(http.StatusNotFound)
				return true
			}
			return false
		})
		w := startWatch(t, src, quick())
		<-s.opened
		w.next(Connected)
		s.say("")
		wantError(t, w.next(Lost).Err, toolmark.ErrCannotConnect, "could not be opened again")
		w.next(Connected)
		if err := w.result(); !errors.Is(err, ErrNotListening) {
			t.Error(err)
		}
	})
}

// The server is restarted: the session is gone, and another is begun.
func TestWatchHTTPSessionLost(t *testing.T) {
	var dead atomic.Bool
	s, _, src := serveChanging(t, func(s *changing, w http.ResponseWriter, r *http.Request, c call) bool {
		if c.Method == "initialize" {
			dead.Store(false)
		}
		if dead.Load() && r.Method == http.MethodPost && c.Method != "server/discover" {
			http.Error(w, "no such session", http.StatusNotFound)
			return true
		}
		return false
	})
	w := startWatch(t, src, quick())
	<-s.opened
	w.next(Connected)
	dead.Store(true)
	s.n.Add(1)
	s.say(toolsChanged)
	wantError(t, w.next(Lost).Err, toolmark.ErrProtocol, "404", "no such session")
	<-s.opened
	if e := w.next(Connected); toolNames(e.Snapshot) != "t1" {
		t.Errorf("%+v", e)
	}
}

// However a server refuses the optional stream, its lists are read.
func TestCaseE02_WatchWithoutStream(t *testing.T) {
	for name, refuse := range map[string]func(w http.ResponseWriter){
		"405": func(w http.ResponseWriter) { w.WriteHeader(405) },
		"404": func(w http.ResponseWriter) { sayHTML(w, 404) },
		"400": func(w http.ResponseWriter) {
			sayJSON(w, 400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad"},"id":null}`)
		},
		"406":      func(w http.ResponseWriter) { w.WriteHeader(406) },
		"401":      func(w http.ResponseWriter) { w.WriteHeader(401) },
		"503":      func(w http.ResponseWriter) { w.WriteHeader(503) },
		"200 JSON": func(w http.ResponseWriter) { sayJSON(w, 200, `{"ok":true}`) },
		"204":      func(w http.ResponseWriter) { w.WriteHeader(204) },
	} {
		t.Run(name, func(t *testing.T) {
			_, _, src := serveChanging(t, func(_ *changing, w http.ResponseWriter, r *http.Request, _ call) bool {
				if r.Method == http.MethodGet {
					refuse(w)
				}
				return r.Method == http.MethodGet
			})
			w := startWatch(t, src, quick())
			if e := w.next(Connected); toolNames(e.Snapshot) != "t0" || len(e.Snapshot.Warnings) > 0 {
				t.Errorf("%+v", e)
			}
			if err := w.result(); !errors.Is(err, ErrNotListening) {
				t.Error(err)
			}
		})
	}
}

func TestWatchLegacy(t *testing.T) {
	s := &changing{opened: make(chan http.Header, 16)}
	_, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, c call) bool {
		switch {
		case r.Method == http.MethodGet:
			s.stream(w, r, "event: endpoint\ndata: /messages\n\n")
		case r.URL.Path != "/messages":
			w.WriteHeader(405)
		case c.Method == "tools/list":
			w.WriteHeader(202)
			s.say("data: " + respond(c, fmt.Sprintf(`"result":{"tools":[{"name":"t%d"}]}`, s.n.Load())) + "\n\n")
		case c.ID != nil && c.Method != "":
			w.WriteHeader(202)
			s.say("data: " + respond(c, wellBehaved(c)) + "\n\n")
		default:
			w.WriteHeader(202)
		}
		return true
	})
	w := startWatch(t, src, quick())
	w.next(Connected)
	s.n.Add(1)
	s.say(toolsChanged)
	if e := w.next(Changed); toolNames(e.Snapshot) != "t1" || !slices.Equal(e.Undeclared, []string{"tools"}) {
		t.Errorf("%+v", e)
	}
	s.say("")
	wantError(t, w.next(Lost).Err, toolmark.ErrCannotConnect, "event stream", "ended")
	w.next(Connected)
}

func TestWatchModernHTTP(t *testing.T) {
	s := &changing{opened: make(chan http.Header, 16)}
	_, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, c call) bool {
		switch c.Method {
		case "subscriptions/listen":
			if string(c.Params.Notifications) != `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}` {
				t.Errorf("asked for %s", c.Params.Notifications)
			}
			s.stream(w, r, `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(c.ID)+`},"notifications":{"toolsListChanged":true}}}`+"\n\n")
		case "tools/list":
			sayJSON(w, 200, respond(c, fmt.Sprintf(`"result":{"resultType":"complete","tools":[{"name":"m%d"}]}`, s.n.Load())))
		case "":
			w.WriteHeader(405)
		default:
			sayJSON(w, 200, respond(c, modern(c)))
		}
		return true
	})
	w := startWatch(t, src, quick())
	h := <-s.opened
	if h.Get("Mcp-Method") != "subscriptions/listen" || h.Get("MCP-Protocol-Version") != "2026-07-28" || h.Get("Mcp-Session-Id") != "" {
		t.Errorf("the stream was asked for with %v", h)
	}
	w.next(Connected)
	s.n.Add(1)
	s.say(toolsChanged)
	if e := w.next(Changed); toolNames(e.Snapshot) != "m1" || !slices.Equal(e.Announced, []string{"tools"}) {
		t.Errorf("%+v", e)
	}
	s.n.Add(1)
	s.say("")
	<-s.opened
	if e := w.next(Changed); toolNames(e.Snapshot) != "m2" || len(e.Announced) > 0 {
		t.Errorf("%+v", e)
	}
}

// A server that sends nothing of its stream, not even the header, until there is
// something to say.
func TestWatchLateStreamHeader(t *testing.T) {
	say := make(chan struct{})
	s, _, src := serveChanging(t, func(s *changing, w http.ResponseWriter, r *http.Request, _ call) bool {
		if r.Method != http.MethodGet {
			return false
		}
		select {
		case <-say:
		case <-r.Context().Done():
			return true
		}
		s.stream(w, r, toolsChanged)
		return true
	})
	opts := quick()
	opts.Timeout = 2 * time.Second
	w := startWatch(t, src, opts)
	w.next(Connected)
	s.n.Add(1)
	close(say)
	if e := w.next(Changed); toolNames(e.Snapshot) != "t1" {
		t.Errorf("%+v", e)
	}
}
