package probe

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
)

// legacyServer is a fake of the HTTP+SSE transport: GET /mcp is the stream, POST
// /messages takes messages. refuse answers a POST to the stream's own address. {host} in
// endpoint stands for the server's.
func legacyServer(t *testing.T, endpoint string, refuse func(w http.ResponseWriter)) Source {
	t.Helper()
	out := make(chan string, 16)
	_, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, c call) bool {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, ": welcome\n\nevent: endpoint\ndata: %s\n\n", strings.ReplaceAll(endpoint, "{host}", r.Host))
			w.(http.Flusher).Flush()
			for {
				select {
				case m := <-out:
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", m)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return true
				}
			}
		case r.URL.Path == "/messages" && r.URL.Query().Get("sessionId") == "7":
			if c.ID != nil && c.Method != "" {
				out <- `{"jsonrpc":"2.0","id":"ask","method":"ping"}`
				out <- respond(c, wellBehaved(c))
			}
			w.WriteHeader(http.StatusAccepted)
			io.WriteString(w, "Accepted")
		default:
			refuse(w)
		}
		return true
	})
	return src
}

func TestCaseE03_LegacySSE(t *testing.T) {
	for name, refuse := range map[string]func(w http.ResponseWriter){
		"200 empty": func(w http.ResponseWriter) { w.WriteHeader(200) },
		"202 empty": func(w http.ResponseWriter) { w.WriteHeader(202) },
		"400":       func(w http.ResponseWriter) { http.Error(w, "sessionId is required", 400) },
		"404 html":  func(w http.ResponseWriter) { sayHTML(w, 404) },
		"405":       func(w http.ResponseWriter) { w.WriteHeader(405) },
		"406":       func(w http.ResponseWriter) { w.WriteHeader(406) },
		"411":       func(w http.ResponseWriter) { w.WriteHeader(411) },
	} {
		t.Run(name, func(t *testing.T) {
			s := mustProbe(t, legacyServer(t, "/messages?sessionId=7", refuse), Options{})
			if toolNames(s) != "echo" || len(s.Warnings) > 0 {
				t.Errorf("tools %q, warnings %q", toolNames(s), s.Warnings)
			}
		})
	}
}

func TestLegacyFailures(t *testing.T) {
	refuse := func(w http.ResponseWriter) { w.WriteHeader(405) }
	t.Run("other origin", func(t *testing.T) {
		_, err := Probe(t.Context(), legacyServer(t, "http://127.0.0.1:1/messages?sessionId=7", refuse), Options{})
		wantError(t, err, toolmark.ErrNotMCP, "405")
	})
	t.Run("wrong endpoint", func(t *testing.T) {
		_, err := Probe(t.Context(), legacyServer(t, "/nowhere", refuse), Options{})
		wantError(t, err, toolmark.ErrProtocol, "405", "event stream")
	})
	t.Run("stream of another kind", func(t *testing.T) {
		_, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, _ call) bool {
			if r.Method != http.MethodGet {
				w.WriteHeader(404)
				return true
			}
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return true
		})
		_, err := Probe(t.Context(), src, Options{Timeout: 2 * time.Second})
		wantError(t, err, toolmark.ErrNotMCP, "404")
	})
	t.Run("stream ends", func(t *testing.T) {
		_, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, _ call) bool {
			switch {
			case r.Method == http.MethodGet:
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, "event: endpoint\ndata: /messages\n\n")
			case r.URL.Path == "/messages":
				w.WriteHeader(202)
			default:
				w.WriteHeader(405)
			}
			return true
		})
		_, err := Probe(t.Context(), src, Options{})
		wantError(t, err, toolmark.ErrCannotConnect, "ended before the answer")
	})
	t.Run("endless events", func(t *testing.T) {
		_, src := serveWeb(t, func(w http.ResponseWriter, r *http.Request, _ call) bool {
			switch {
			case r.Method == http.MethodGet:
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, "event: endpoint\ndata: /messages\n\n")
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, "data: "+strings.Repeat("y", 4000)+"\n\n"); err != nil {
						break
					}
				}
			case r.URL.Path == "/messages":
				w.WriteHeader(202)
			default:
				w.WriteHeader(405)
			}
			return true
		})
		_, err := Probe(t.Context(), src, Options{MaxBytes: 100_000})
		wantError(t, err, toolmark.ErrTooLarge, "100000 bytes")
	})
}
