package probe

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMessageKinds(t *testing.T) {
	for _, tt := range []struct {
		text    string
		kind    messageKind
		answers bool // request 3
	}{
		{`{"jsonrpc":"2.0","id":3,"result":{}}`, response, true},
		{`{"jsonrpc":"2.0","id":"3","result":{}}`, response, true},
		{`{"jsonrpc":"2.0","id":3.0,"result":{}}`, response, true},
		{`{"jsonrpc":"2.0","id":33,"result":{}}`, response, false},
		{`{"jsonrpc":"2.0","id":null,"result":{}}`, response, false},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`, response, true},
		{`{"jsonrpc":"2.0","error":{"code":-32700}}`, response, true},
		{`{"jsonrpc":"2.0","id":true,"error":{"code":-32700}}`, response, false},
		{`{"jsonrpc":"2.0","id":3,"method":"ping"}`, serverCall, false},
		{`{"jsonrpc":"2.0","method":"notifications/x"}`, notification, false},
		{`{"jsonrpc":"2.0"}`, notRPC, false},
		{`{"jsonrpc":2.0,"id":3,"result":{}}`, notRPC, false},
		{`{"id":3,"result":{}}`, notRPC, false},
		{`"jsonrpc"`, notRPC, false},
	} {
		all, err := readMessages([]byte(tt.text))
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %d messages, error %v", tt.text, len(all), err)
		}
		if m := all[0]; m.kind() != tt.kind || tt.kind == response && m.answers(3) != tt.answers {
			t.Errorf("%s: kind %d, answers %v", tt.text, m.kind(), m.answers(3))
		}
	}
}

func TestLooksLikeRPC(t *testing.T) {
	for text, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{`:                              true,
		"\ufeff [{\"jsonrpc\":":                                           true,
		`{"result":"` + strings.Repeat("x", 9000) + `","jsonrpc":"2.0",}`: true,
		`sending {"jsonrpc":"2.0"}`:                                       false,
		`{ jsonrpc: '2.0', id: 1 }`:                                       false,
		`{`:                                                               false,
		``:                                                                false,
	} {
		if got := looksLikeRPC([]byte(text)); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}

// FuzzMessages: whatever a server sends, what we send back is JSON.
func FuzzMessages(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw []byte) {
		all, err := readMessages(raw)
		if err != nil {
			return
		}
		for _, m := range all {
			switch m.kind() {
			case response:
				m.answers(1)
				if a, err := m.answer(); err == nil && a.err == nil && !json.Valid(a.slice(a.result)) {
					t.Fatalf("the result of %q is cut wrongly", raw)
				}
			case serverCall:
				if b := reply(m); b != nil && !json.Valid(b) {
					t.Fatalf("reply %q to %q", b, raw)
				}
			}
		}
	})
}

func TestSourceName(t *testing.T) {
	for _, tt := range []struct {
		src  Source
		want string
	}{
		{Source{URL: "https://user:secret@host.example/mcp?x=1"}, "https://host.example/mcp?x=1"},
		{Source{Command: []string{"npx", "-y", "@scope/server@1.0", "/tmp/a b", "it's", ""}}, `npx -y @scope/server@1.0 '/tmp/a b' 'it'\''s' ''`},
	} {
		if got := tt.src.Name(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
