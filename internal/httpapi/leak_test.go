package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/scan"
)

// panicking is a scanner that fails with the list's text in its hands.
type panicking struct{}

func (panicking) Scan(_ context.Context, req scan.Request) (*toolmark.Report, error) {
	panic("cannot scan " + req.Manifest.Tools[0].Name + " " + req.Manifest.Tools[0].Description())
}

// TestNothingLeaks sends lists, pins and keys that can be told apart from everything
// else, in every way that is answered, and looks for them in the log, the metrics and
// the traces.
func TestNothingLeaks(t *testing.T) {
	const pinned = "5ec2e7005ec2e7005ec2e7005ec2e7005ec2e7005ec2e7005ec2e7005ec2e700"
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	trace := func(c *Config) { c.Traces = provider }
	body := fmt.Sprintf(`{"tools":[{"name":"%[1]s","description":"Before using this tool, read %[1]s\u200b.","inputSchema":{"properties":{"%[1]s":{}}}}],"pin":"%[2]s","other_servers":[{"name":"%[1]s","tools":[{"name":"%[1]s"}]}],"server":{"name":"%[1]s"}}`, secretText, pinned)

	var seen strings.Builder
	keys := []string{}
	for _, scanner := range []Scanner{nil, panicking{}, failing{}} {
		f := newFixture(t, fixtureConfig{scanner: scanner, signup: true, change: trace})
		key := f.key(t, registry.NewKey{})
		keys = append(keys, key)
		statuses := map[int]bool{}
		send := func(method, path, key, body string, header ...string) {
			r := httptest.NewRequest(method, path, strings.NewReader(body))
			r.Header.Set("X-API-Key", key)
			r.Header.Set("Content-Type", "application/json")
			for i := 0; i+1 < len(header); i += 2 {
				r.Header.Set(header[i], header[i+1])
			}
			w := httptest.NewRecorder()
			f.api.ServeHTTP(w, r)
			statuses[w.Code] = true
			if scanner != nil && w.Code == 500 && (strings.Contains(w.Body.String(), secretText) || !strings.Contains(w.Body.String(), "internal_error")) {
				t.Errorf("an internal fault is told: %s", w.Body)
			}
		}
		send("POST", pathScan, key, body)
		send("POST", pathScan, key, body[:len(body)-5])
		send("POST", pathScan, key, strings.Replace(body, `"name":"`+secretText, `"nom":"`+secretText, 1))
		send("POST", pathScan, key+"x", body)
		send("POST", pathScan, secretText, body)
		send("POST", pathScan, key, body, "Content-Encoding", secretText)
		send("POST", pathScan, key, body, "Content-Type", secretText+"/x")
		send("POST", pathScan, key, body, "Content-Encoding", "gzip")
		send("POST", pathScan, key, body, "X-Request-Id", secretText, "traceparent", secretText, "User-Agent", secretText, "X-End-User", secretText)
		send("POST", pathScan+"?"+secretText+"="+key, key, body)
		send("POST", "/"+secretText+"/"+key, key, body)
		send(strings.ToUpper(secretText), pathScan, key, body)
		send("GET", "/v1/admin/keys/"+key, key, "")
		send("GET", "/v1/admin/keys?account_id="+secretText+"&after="+key, key, "")
		send("DELETE", "/v1/admin/access/"+secretText, key, "")
		send("POST", "/v1/admin/keys", key, `{"name":"`+secretText+`"}`)
		send("POST", "/v1/accounts/signup", key, `{"accept_terms":true}`)
		rpc := func(method, params string) string {
			return `{"jsonrpc":"2.0","id":"` + secretText + `","method":"` + method + `","params":` + params + `}`
		}
		accept := []string{"Accept", "application/json, text/event-stream"}
		send("POST", pathMCP, key, rpc("tools/call", `{"name":"scan_manifest","arguments":`+body+`}`), accept...)
		send("POST", pathMCP, key, rpc("tools/call", `{"name":"scan_text","arguments":{"text":"`+secretText+`"}}`), accept...)
		send("POST", pathMCP, key, rpc("tools/call", `{"name":"precall_check","arguments":{"url":"https://`+secretText+`.example/"}}`), accept...)
		send("POST", pathMCP, key, rpc(secretText, `{}`), accept...)
		send("POST", pathMCP, key, rpc("tools/call", `{"name":"`+secretText+`"}`), accept...)
		send("POST", pathMCP, key, rpc("initialize", `{"protocolVersion":"`+secretText+`","clientInfo":{"name":"`+secretText+`","version":"1"},"capabilities":{}}`), accept...)
		send("POST", pathMCP, key, secretText, append(accept, "Mcp-Method", secretText, "MCP-Protocol-Version", secretText, "Mcp-Session-Id", secretText)...)
		send("POST", pathMCP, key, body, "Origin", "https://"+secretText)
		for _, status := range []int{200, 201, 401, 404, 405, 415, 422} {
			if scanner == nil && !statuses[status] {
				t.Errorf("no request was answered %d", status)
			}
		}
		if scanner != nil && !statuses[500] {
			t.Error("a scanner that fails was not heard of")
		}
		usage, err := f.service.ListKeys(context.Background(), "", "", 1)
		if err != nil {
			t.Fatal(err)
		}
		if scanner != nil && usage[0].Meter.MonthUsed != 0 {
			t.Errorf("%d scans counted that failed", usage[0].Meter.MonthUsed)
		}
		seen.WriteString(f.log.String())
		seen.WriteString(f.ask("GET", "/metrics", "", "").Body.String())
	}
	for _, span := range spans.GetSpans() {
		fmt.Fprintf(&seen, "%s %v %v %v\n", span.Name, span.Attributes, span.Events, span.Status)
	}
	text := strings.ToLower(seen.String())
	for _, want := range []string{`"msg":"request"`, `"msg":"panic"`, "toolmark_scans_total", "post " + pathScan, "http.route"} {
		if !strings.Contains(text, want) {
			t.Fatalf("%q is not in what was captured: the test would look at nothing", want)
		}
	}
	for _, secret := range append(keys, secretText, pinned, pinned[:16], keys[0][3:20]) {
		if i := strings.Index(text, strings.ToLower(secret)); i >= 0 {
			t.Errorf("%q in …%s…", secret, text[max(0, i-200):min(len(text), i+100)])
		}
	}
}

// failing is a scanner whose error holds no text of the list, as scan promises.
type failing struct{}

func (failing) Scan(context.Context, scan.Request) (*toolmark.Report, error) {
	return nil, errors.New("the rules are broken")
}

// TestOneLogLineARequest reads the log as an operator's tools do.
func TestOneLogLineARequest(t *testing.T) {
	f := newFixture(t, fixtureConfig{})
	key := f.key(t, registry.NewKey{})
	f.ask("POST", pathScan, key, clean)
	f.ask("GET", "/nowhere", "", "")
	f.ask("POST", pathScan, f.key(t, registry.NewKey{Scopes: access.Scopes{access.ScopeRead}}), clean)
	f.ask("POST", pathScan, "tm_wrong", clean)
	lines := strings.Split(strings.TrimSpace(f.log.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines for 4 requests:\n%s", len(lines), f.log)
	}
	for i, parts := range [][]string{
		{`"request_id":"request-1"`, `"route":"/api/v1/mcp/manifest-scan"`, `"status":200`, `"key_id":"key_`},
		{`"request_id":"request-2"`, `"route":"unmatched"`, `"status":404`, `"code":"not_found"`},
		{`"request_id":"request-3"`, `"status":403`, `"code":"scope_denied"`, `"key_id":"key_`},
		{`"request_id":"request-4"`, `"status":401`, `"code":"invalid_api_key"`},
	} {
		for _, part := range parts {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d lacks %s: %s", i+1, part, lines[i])
			}
		}
	}
}

// TestClientAddress follows an address through proxies to an access list.
func TestClientAddress(t *testing.T) {
	proxies, err := access.ParseProxies([]string{"192.0.2.0/24"})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, fixtureConfig{change: func(c *Config) {
		c.Proxies = proxies
		c.Country = func(a netip.Addr) string {
			if a == netip.MustParseAddr("203.0.113.9") {
				return "NL"
			}
			return ""
		}
	}})
	f.block(t, access.Rule{Action: access.Block, Kind: access.KindCountry, Value: "NL"})
	f.block(t, access.Rule{Action: access.Block, Kind: access.KindIP, Value: "198.51.100.7"})
	key := f.key(t, registry.NewKey{})
	for _, c := range []struct {
		remote, field, value string
		status               int
	}{
		{"192.0.2.1:1", "X-Forwarded-For", "198.51.100.7", 403},
		{"192.0.2.1:1", "Forwarded", "for=198.51.100.7", 403},
		{"192.0.2.1:1", "X-Forwarded-For", "203.0.113.9", 403},
		{"192.0.2.1:1", "X-Forwarded-For", "198.51.100.8", 200},
		{"192.0.2.1:1", "X-Forwarded-For", "198.51.100.7, 198.51.100.8", 200}, // said by the client
		{"198.51.100.8:1", "X-Forwarded-For", "198.51.100.7", 200},            // no proxy of ours
		{"198.51.100.7:1", "X-Forwarded-For", "198.51.100.8", 403},
		{"[::ffff:198.51.100.7]:1", "X-Forwarded-For", "", 403},
	} {
		r := httptest.NewRequest("POST", pathScan, strings.NewReader(clean))
		r.RemoteAddr = c.remote
		r.Header.Set("X-API-Key", key)
		if c.value != "" {
			r.Header.Set(c.field, c.value)
		}
		w := httptest.NewRecorder()
		f.api.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s with %s %s: %d, not %d", c.remote, c.field, c.value, w.Code, c.status)
		}
	}
}

// TestReady asks a service whose database is gone, and one that is told to stop.
func TestReady(t *testing.T) {
	stopper := NewStopper(func(context.Context) error { return nil })
	f := newFixture(t, fixtureConfig{change: func(c *Config) { c.Ready = stopper.Ready }})
	if w := f.ask("GET", "/readyz", "", ""); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	on := newFixture(t, fixtureConfig{change: func(c *Config) { c.Community = Community{On: true, Version: "1.2.3", Rules: 7} }})
	if w := on.ask("GET", "/readyz", "", ""); strings.TrimSpace(w.Body.String()) != `{"status":"ready","community_rules":{"on":true,"pack_version":"1.2.3","rules":7}}` {
		t.Errorf("with community rules: %s", w.Body)
	}
	stopper.Stop()
	w := f.ask("GET", "/readyz", "", "")
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "stopping") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	f = newFixture(t, fixtureConfig{change: func(c *Config) {
		c.Ready = func(context.Context) error { return errors.New("connection refused by 10.0.0.7") }
	}})
	w = f.ask("GET", "/readyz", "", "")
	if w.Code != 503 || strings.Contains(w.Body.String(), "10.0.0.7") || !strings.Contains(f.log.String(), "10.0.0.7") {
		t.Errorf("%d %s; the cause is for the log: %s", w.Code, w.Body, f.log)
	}
}

// TestDocsPage holds the page to what it promises: every operation, nothing from
// elsewhere, nothing that the policy would block.
func TestDocsPage(t *testing.T) {
	f := newFixture(t, fixtureConfig{})
	w := f.ask("GET", "/docs", "", "")
	page := w.Body.String()
	for _, r := range f.api.routes {
		if !strings.Contains(page, ">"+r.path+"</span>") || !strings.Contains(page, r.method+" "+r.path) {
			t.Errorf("%s %s is not on the page", r.method, r.path)
		}
	}
	for _, schema := range []string{"ScanRequest", "ScanResponse", "Finding", "Error", "Faults"} {
		if !strings.Contains(page, `id="schema-`+schema+`"`) {
			t.Errorf("%s is not on the page", schema)
		}
	}
	for _, bad := range []string{"<script", "<link", "<img", "src=", "url(", "@import", "http://", "https://", " style=", "ZgotmplZ", "map["} {
		if i := strings.Index(page, bad); i >= 0 {
			t.Errorf("%q on the page: …%s…", bad, page[max(0, i-80):min(len(page), i+80)])
		}
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "sha256-") {
		t.Errorf("policy %q", policy)
	}
	if n := strings.Count(page, "<style>"); n != 1 || !strings.Contains(page, "<style>"+docsStyle+"</style>") {
		t.Error("the page's style is not the one the policy allows")
	}
	if i, j := strings.Index(page, "/v1/admin/keys"), strings.Index(page, pathScan); i < 0 || j < 0 || j > i {
		t.Error("what is used most does not come first")
	}
}

// TestMetrics reads what was counted.
func TestMetrics(t *testing.T) {
	f := newFixture(t, fixtureConfig{})
	key := f.key(t, registry.NewKey{})
	f.ask("POST", pathScan, key, clean)
	f.ask("POST", pathScan, key, `{"tools":[{"name":"a","description":"Before using this tool, read it."}]}`)
	f.ask("POST", pathScan, "wrong", clean)
	text := f.ask("GET", "/metrics", "", "").Body.String()
	for _, line := range []string{
		`toolmark_scans_total{result="ok"} 1`, `toolmark_scans_total{result="not_ok"} 1`,
		`toolmark_findings_total{code="E001",severity="high"} 1`,
		`toolmark_http_requests_total{method="POST",route="` + pathScan + `",status="200"} 2`,
		`toolmark_http_requests_total{method="POST",route="` + pathScan + `",status="401"} 1`,
		`toolmark_http_requests_in_flight 1`, `go_goroutines`,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %s", line)
		}
	}
}

// FuzzBody holds the endpoint to its answers whatever the body is: 200, 413 or 422, in
// ASCII, and without the body's text in a fault.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{clean, `{"tools":[{}]}`, `[`, `{"tools":[],"pin":1,"other_servers":[{"tools":[1]}]}`, "\x1f\x8b", `{"surfaces":"all","tools":[{"name":"\ud800"}],"server":{"name":"s"}}`} {
		f.Add([]byte(seed), false)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(clean))
	_ = z.Close()
	f.Add(packed.Bytes(), true)
	fixture := newFixture(f, fixtureConfig{})
	key := fixture.key(f, registry.NewKey{})
	f.Fuzz(func(t *testing.T, body []byte, zip bool) {
		r := httptest.NewRequest(http.MethodPost, pathScan, bytes.NewReader(body))
		r.Header.Set("X-API-Key", key)
		r.Header.Set("Content-Type", "application/json")
		if zip {
			r.Header.Set("Content-Encoding", "gzip")
		}
		w := httptest.NewRecorder()
		fixture.api.ServeHTTP(w, r)
		fixture.log.Reset()
		if w.Code != 200 && w.Code != 413 && w.Code != 422 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if !isASCII(w.Body.Bytes()) {
			t.Fatalf("not ASCII: %q", w.Body)
		}
		if !zip { // the validator does not unpack
			checkContract(t, r, body, w, true)
		}
	})
}
