package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/rulepack"
	"github.com/toolmark/toolmark/scan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect connects the SDK's client.
func connect(t *testing.T, transport mcp.Transport, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// TestSDKClient asks with the official Go client, over both transports.
func TestSDKClient(t *testing.T) {
	s := newServer(t, nil)
	overHTTP := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.ServeMCP(w, r, registry.Call{}, nil) }))
	t.Cleanup(overHTTP.Close)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(context.Background(), inR, outW) }()
	for name, transport := range map[string]mcp.Transport{
		"http":  &mcp.StreamableClientTransport{Endpoint: overHTTP.URL, MaxRetries: -1},
		"stdio": &mcp.IOTransport{Reader: outR, Writer: inW},
	} {
		t.Run(name, func(t *testing.T) {
			session := connect(t, transport, nil)
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 4 {
				t.Fatalf("%v, %v", list, err)
			}
			for _, tool := range list.Tools {
				if a := tool.Annotations; a == nil || !a.ReadOnlyHint || a.DestructiveHint == nil || *a.DestructiveHint || tool.OutputSchema == nil {
					t.Errorf("%s: %+v", tool.Name, tool)
				}
			}
			if c := session.InitializeResult().Capabilities; c.Tools == nil || c.Tools.ListChanged || c.Prompts != nil || c.Resources != nil {
				t.Errorf("capabilities %+v", c)
			}
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "check_tool_integrity", Arguments: map[string]any{"server": "unreachable"}})
			if err != nil || result.IsError {
				t.Fatalf("%v, %v", result, err)
			}
			if status := result.StructuredContent.(map[string]any)["status"]; status != "unreachable" {
				t.Errorf("status %v", status)
			}
		})
	}
	_ = inW.Close()
	if err := <-done; err != nil {
		t.Errorf("stdio: %v", err)
	}
}

// TestDefinitions holds our own definitions to what we ask of others: plain text, no
// finding of any rule, nothing that varies.
func TestDefinitions(t *testing.T) {
	for _, c := range definitions {
		if c >= 0x7f || c < 0x20 && c != '\n' {
			t.Fatalf("tools.json has a byte 0x%02x", c)
		}
	}
	v, err := canonjson.Parse([]byte(`{"tools":`+string(definitions)+`,"instructions":`+string(toolmark.AppendQuoted(nil, instructions))+`}`), canonjson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := toolmark.ReadManifest(v)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := rulepack.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := scan.New(scan.Config{Rules: rules, Budget: -1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := scanner.Scan(t.Context(), scan.Request{Manifest: m, Scope: toolmark.ScopeAll})
	if err != nil || !r.OK || len(r.Findings) > 0 || r.Unfinished() {
		t.Errorf("%+v, %v", r, err)
	}
	tools, err := readDefinitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if _, found := scopes[tool.Name]; !found {
			t.Errorf("nothing says which scope %s needs", tool.Name)
		}
	}
	if len(tools) != len(scopes) {
		t.Errorf("%d tools, %d scopes", len(tools), len(scopes))
	}
	schemas(t) // compile
}

// Every caller, session and revision is shown the same bytes.
func TestDefinitionsDoNotVary(t *testing.T) {
	s := newServer(t, nil)
	seen := map[string]bool{}
	for _, version := range []string{"", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		for _, language := range []string{"", "de", "zh"} {
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
			r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
			if version == "2026-07-28" {
				body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
				r.Header.Set("Mcp-Method", "tools/list")
			}
			r.Body = io.NopCloser(strings.NewReader(body))
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Accept-Language", language)
			if version != "" {
				r.Header.Set("MCP-Protocol-Version", version)
			}
			var grant *registry.Grant
			if language == "de" {
				grant = &registry.Grant{Account: "acct_x", KeyID: "key_x"}
			}
			w := httptest.NewRecorder()
			s.ServeMCP(w, r, registry.Call{}, grant)
			var message struct {
				Result struct{ Tools json.RawMessage }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &message); err != nil || len(message.Result.Tools) < 1000 {
				t.Fatalf("%s %s: %d %s", version, language, w.Code, w.Body)
			}
			seen[string(message.Result.Tools)] = true
		}
	}
	if len(seen) != 1 {
		t.Errorf("%d different lists", len(seen))
	}
}

// A short text is printable ASCII whatever names a server gives, and stays short. What
// stands between its quotes ends where the quotes do.
func TestShortTextsHoldHostileNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := toolmark.Text(rapid.String().Draw(t, "name"))
		n := rapid.IntRange(1, 600).Draw(t, "how many")
		p := &registry.Precall{Registered: true, Server: &registry.ServerRef{ID: string(name), Name: name}, Reachable: true, Matches: new(bool), Drift: exampleDrift(), Incomplete: true, MoreCollisions: true}
		for range n {
			p.Text = append(p.Text, registry.DefinitionText{Tool: name, Checked: true, Hidden: true})
			p.Collisions = append(p.Collisions, registry.Collision{Tool: name, ServerTool: name})
			p.Findings = append(p.Findings, toolmark.Finding{Code: toolmark.CodePoisoning, Tool: name, Severity: toolmark.High, Reason: "Our words"})
		}
		p.Drift.Tools = append(p.Drift.Tools, p.Drift.Tools...)
		for _, text := range []string{
			precallText(p),
			integrityText(&registry.Integrity{Server: *p.Server, Status: registry.Changed, Drift: p.Drift, NewFindings: p.Findings, Suspicious: string(name), Why: &registry.Why{Message: name}}),
			manifestText(&toolmark.Report{Findings: p.Findings, Incomplete: true, UnscannedTools: slices.Repeat([]toolmark.Text{name}, n)}),
		} {
			if len(text) > 30_000 {
				t.Errorf("a text of %d bytes", len(text))
			}
			for _, c := range []byte(text) {
				if c >= 0x7f || c < 0x20 && c != '\n' {
					t.Fatalf("a byte 0x%02x in %q", c, text)
				}
			}
		}
		quote := quoted(name, longestName)
		var back string
		if err := json.Unmarshal([]byte(quote), &back); err != nil {
			t.Errorf("%s is no JSON string: %v", quote, err)
		}
		if inner := quote[1 : len(quote)-1]; strings.Contains(strings.NewReplacer(`\\`, "", `\"`, "").Replace(inner), `"`) {
			t.Errorf("%s ends early", quote)
		}
	})
}

// A client that leaves ends what is done for it, in every revision.
func TestClientGone(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error, 1)
	s := newServer(t, func(c *Config) { c.Questions = waiting{started: started, ended: ended} })
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		meta, method := "", ""
		if version == "2026-07-28" {
			meta, method = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`, "tools/call"
		}
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"precall_check","arguments":{"url":"https://example.com"}`+meta+`}}`))
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", version)
		if method != "" {
			r.Header.Set("Mcp-Method", method)
			r.Header.Set("Mcp-Name", "precall_check")
		}
		done := make(chan struct{})
		go func() { s.ServeMCP(httptest.NewRecorder(), r, registry.Call{}, nil); close(done) }()
		<-started
		leave()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: ended without a reason", version)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: goes on for nobody", version)
		}
		<-done
	}
}

// waiting answers only once its caller has gone.
type waiting struct {
	fakeQuestions
	started chan struct{}
	ended   chan error
}

func (w waiting) Precall(ctx context.Context, _ registry.Caller, _ string) (*registry.Precall, error) {
	w.started <- struct{}{}
	<-ctx.Done()
	w.ended <- ctx.Err()
	return nil, ctx.Err()
}

// A line that is too long ends the session and not the program's memory.
func TestStdioLineTooLong(t *testing.T) {
	s := newServer(t, nil)
	inR, inW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(t.Context(), inR, nopCloser{io.Discard}) }()
	written := 0
	line := []byte(strings.Repeat("x", 1<<16))
	_, _ = inW.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"`))
	for written < 8*MaxBody {
		n, err := inW.Write(line)
		written += n
		if err != nil {
			break
		}
		select {
		case err := <-done:
			if err == nil {
				t.Error("no error")
			}
			return
		default:
		}
	}
	_ = inW.Close()
	if err := <-done; err == nil {
		t.Errorf("%d bytes of one line are read without an error", written)
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestNew(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("a server without anything to ask")
	}
}

// What is asked before standard input ends is answered: a pipe is a client too.
func TestStdioAnswersWhatWasAsked(t *testing.T) {
	s := newServer(t, nil)
	var out strings.Builder
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"scan_text","arguments":{"text":"a"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"method":"no/such"}`)
	start := time.Now()
	if err := s.ServeStdio(t.Context(), io.NopCloser(in), nopCloser{&out}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{`"id":1,"result"`, `"id":2,"result"`, `"id":3,"error"`} {
		if !strings.Contains(out.String(), id) {
			t.Errorf("no %s in %s", id, out.String())
		}
	}
	if took := time.Since(start); took > drainTime/2 {
		t.Errorf("it took %v to see that everything is answered", took)
	}
}
