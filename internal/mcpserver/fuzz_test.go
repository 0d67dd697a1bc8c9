package mcpserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolmark/toolmark/internal/registry"
)

// FuzzServeMCP: whatever is posted, in whatever revision, is answered, and never with a
// fault of ours. A panic in one of the SDK's goroutines would end the service.
func FuzzServeMCP(f *testing.F) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":null}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"scan_text","arguments":{"text":"\ud800"}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"},1]`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"scan_manifest","arguments":{"tools":[]},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"x","_meta":{"progressToken":[]}}}`,
		`{"JSONRPC":"2.0","id":1,"id":2,"method":"tools/list"}`,
	} {
		f.Add("2025-11-25", "tools/call", body)
		f.Add("2026-07-28", "tools/list", body)
		f.Add("", "", body)
	}
	s := newServer(f, nil)
	f.Fuzz(func(t *testing.T, version, method, body string) {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", version)
		r.Header.Set("Mcp-Method", method)
		w := httptest.NewRecorder()
		s.ServeMCP(w, r, registry.Call{}, nil)
		if w.Code >= 500 || w.Code < 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
