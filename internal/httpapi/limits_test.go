package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/pin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask sends one request without a connection.
func (f *fixture) ask(method, path, key, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if key != "" {
		r.Header.Set("X-API-Key", key)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, r)
	return w
}

// TestLimits asks at every limit exactly and one above it.
func TestLimits(t *testing.T) {
	f := newFixture(t, fixtureConfig{})
	key := f.key(t, registry.NewKey{})
	// What one tool takes of the characters beside its description.
	bare := pin.Size(mustTools(t, `{"tools":[{"name":"a","description":""}]}`))
	description := func(n int) string {
		return fmt.Sprintf(`{"name":"a","description":"%s"}`, strings.Repeat("x", n))
	}
	others := func(n int) string { // names of n characters altogether
		return fmt.Sprintf(`,"other_servers":[{"name":"%s","tools":[{"name":"%s"},{"name":"%s","description":"not counted"}]}]`,
			strings.Repeat("s", 10), strings.Repeat("é", 20), strings.Repeat("t", n-30))
	}
	servers := func(n int) string { return expand(t, fmt.Sprintf(`,"other_servers":[<<servers %d>>]`, n)) }
	for _, c := range []struct {
		name string
		body func(n int) string
		most int
		loc  string
	}{
		{"tools", func(n int) string { return `{"tools":[` + manyTools(n) + `]}` }, 500, `["body","tools"]`},
		{"name", func(n int) string { return `{"tools":[{"name":"` + strings.Repeat("n", n) + `"}]}` }, 256, `["body","tools",0,"name"]`},
		{"name beyond the BMP", func(n int) string { return `{"tools":[{"name":"` + strings.Repeat(`\ud83d\ude00`, n) + `"}]}` }, 256, `["body","tools",0,"name"]`},
		{"name of surrogates", func(n int) string { return `{"tools":[{"name":"` + strings.Repeat(`\udc00`, n) + `"}]}` }, 256, `["body","tools",0,"name"]`},
		{"servers", func(n int) string { return `{"tools":[]` + servers(n) + `}` }, 50, `["body","other_servers"]`},
		{"characters", func(n int) string { return `{"tools":[` + description(n-bare) + `]}` }, 131_072, `["body","tools"]`},
		{"characters with other servers", func(n int) string {
			return `{"tools":[` + description(100_000-bare) + `]` + others(n-100_000) + `}`
		}, 131_072, `["body","tools"]`},
		{"bytes", func(n int) string {
			return `{"tools":[],"ignored":"` + strings.Repeat("x", n-len(`{"tools":[],"ignored":""}`)) + `"}`
		}, 1 << 20, ""},
	} {
		if w := f.ask(http.MethodPost, pathScan, key, c.body(c.most)); w.Code != http.StatusOK {
			t.Errorf("%s: %d at the limit: %s", c.name, w.Code, w.Body)
		}
		w := f.ask(http.MethodPost, pathScan, key, c.body(c.most+1))
		if c.loc == "" {
			if w.Code != http.StatusRequestEntityTooLarge {
				t.Errorf("%s: %d above the limit: %s", c.name, w.Code, w.Body)
			}
			continue
		}
		if w.Code != 422 || !strings.Contains(w.Body.String(), `"loc":`+c.loc) || strings.Count(w.Body.String(), `"loc"`) != 1 {
			t.Errorf("%s: %d above the limit: %s", c.name, w.Code, w.Body)
		}
	}
	// What is ignored counts toward the bytes and not toward the characters.
	ignored := fmt.Sprintf(`{"tools":[{"name":"a","outputSchema":{"x":"%s"}}]}`, strings.Repeat("x", 900_000))
	if w := f.ask(http.MethodPost, pathScan, key, ignored); w.Code != http.StatusOK {
		t.Errorf("%d for members that are ignored: %s", w.Code, w.Body)
	}
}

func mustTools(t *testing.T, body string) []toolmark.Tool {
	t.Helper()
	tree, err := parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	m, err := toolmark.ReadManifest(tree)
	if err != nil {
		t.Fatal(err)
	}
	return m.Tools
}

// TestFaultsAreBounded sends the body with the most faults a megabyte can hold.
func TestFaultsAreBounded(t *testing.T) {
	f := newFixture(t, fixtureConfig{})
	key := f.key(t, registry.NewKey{})
	w := f.ask(http.MethodPost, pathScan, key, `{"tools":[],"other_servers":[{"name":"s","tools":[`+strings.Repeat("1,", 500_000)+`1]}]}`)
	var answer struct{ Detail []struct{ Type string } }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 422 {
		t.Fatalf("%d, %v", w.Code, err)
	}
	if n := len(answer.Detail); n != maxFaults+1 || answer.Detail[n-1].Type != faultTruncated {
		t.Errorf("%d faults, the last %v", n, answer.Detail[n-1])
	}
}

// TestFaultPlacesHoldNoText sends names and values that must not come back.
func TestFaultPlacesHoldNoText(t *testing.T) {
	f := newFixture(t, fixtureConfig{})
	root := f.key(t, registry.NewKey{})
	for path, body := range map[string]string{
		pathScan:           `{"tools":[{"name":5,"` + secretText + `":1}],"pin":"` + secretText + `","surfaces":"` + secretText + `"}`,
		"/v1/admin/keys":   `{"` + secretText + `":1,"scopes":["` + secretText + `"],"expires_at":"` + secretText + `"}`,
		"/v1/admin/access": `{"` + secretText + `":1}`,
		pathScanProxy:      `{"tools":[{"` + secretText + `" 5`,
	} {
		w := f.ask(http.MethodPost, path, root, body)
		if w.Code != 422 || strings.Contains(w.Body.String(), secretText) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

const secretText = "harpsichord"

// A scope that no route checks is no scope. This walks every route that changes
// something, with every key that may not.
func TestCaseG11_EveryMutatingRouteChecksTheScope(t *testing.T) {
	f := newFixture(t, fixtureConfig{signup: true})
	all := []access.Scope{access.ScopeRead, access.ScopeProxy, access.ScopeWrite, access.ScopeAdmin}
	keys := map[access.Scope]string{}
	for _, s := range all {
		keys[s] = f.key(t, registry.NewKey{Scopes: access.Scopes{s}})
	}
	mutating, denied := 0, 0
	for _, r := range f.api.routes {
		path := strings.NewReplacer("{id}", "none", "{snapshot}", "none", "{delivery}", "none").Replace(r.path)
		if r.entry == open {
			// The licence check is a POST that changes nothing; /mcp asks for a key itself.
			if r.method != http.MethodGet && r.path != "/v1/accounts/signup" && r.path != "/v1/licenses/check" && r.path != pathMCP {
				t.Errorf("%s %s changes something and needs no key", r.method, r.path)
			}
			continue
		}
		if w := f.ask(r.method, path, "", ""); w.Code != http.StatusUnauthorized {
			t.Errorf("%s %s without a key: %d", r.method, r.path, w.Code)
		}
		if r.scope == "" {
			t.Errorf("%s %s needs no scope", r.method, r.path)
		}
		if r.method != http.MethodGet {
			mutating++
		}
		for _, s := range all {
			w := f.ask(r.method, path, keys[s], "")
			allowed := access.Scopes{s}.Allow(r.scope)
			if (w.Code == http.StatusForbidden) == allowed || !allowed && !strings.Contains(w.Body.String(), `"code":"scope_denied"`) {
				t.Errorf("%s %s with a key for %s: %d %s", r.method, r.path, s, w.Code, w.Body)
			}
			if !allowed {
				denied++
			}
			// The text check is a POST that changes nothing.
			if s == access.ScopeRead && r.method != http.MethodGet && r.path != pathText && w.Code != http.StatusForbidden {
				t.Errorf("%s %s with a key that may only read: %d", r.method, r.path, w.Code)
			}
		}
	}
	if mutating < 12 || denied < 30 {
		t.Errorf("%d routes that change something, %d refusals: the walk is too short", mutating, denied)
	}
}

// TestOrderOfChecks breaks a request in every way at once and mends it in the order of
// the contract: each answer names the first thing that is still broken.
func TestOrderOfChecks(t *testing.T) {
	one := int64(1)
	f := newFixture(t, fixtureConfig{})
	ask := func(method, key, user, media string, length int64, body string) string {
		r := httptest.NewRequest(method, pathScan, strings.NewReader(body))
		r.ContentLength = length
		r.Header.Set("X-API-Key", key)
		r.Header.Set("X-End-User", user)
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		f.api.ServeHTTP(w, r)
		var answer struct {
			Error  struct{ Code string }
			Detail []struct{ Type string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if len(answer.Detail) > 0 {
			return answer.Detail[0].Type
		}
		if w.Code == http.StatusOK {
			return "ok"
		}
		return answer.Error.Code
	}
	f.block(t, access.Rule{Action: access.Block, Kind: access.KindEndUser, Value: "mallory"})
	reader := f.key(t, registry.NewKey{Scopes: access.Scopes{access.ScopeRead}, Limits: access.Limits{PerMinute: new(int64)}})
	slow := f.key(t, registry.NewKey{Limits: access.Limits{PerMinute: new(int64), PerMonth: new(int64)}})
	poor := f.key(t, registry.NewKey{Limits: access.Limits{PerMonth: new(int64)}})
	rich := f.key(t, registry.NewKey{Limits: access.Limits{PerMonth: &one}})
	const huge = 1 << 30
	for _, step := range []struct{ want, got string }{
		{"method_not_allowed", ask("PUT", "", "mallory", "text/html", huge, "no")},
		{"missing_api_key", ask("POST", "", "mallory", "text/html", huge, "no")},
		{"invalid_api_key", ask("POST", "wrong", "mallory", "text/html", huge, "no")},
		{"access_list_block", ask("POST", reader, "mallory", "text/html", huge, "no")},
		{"scope_denied", ask("POST", reader, "alice", "text/html", huge, "no")},
		{"rate_limit_exceeded", ask("POST", slow, "alice", "text/html", huge, "no")},
		{"request_body_too_large", ask("POST", poor, "alice", "text/html", huge, "no")},
		{"unsupported_media_type", ask("POST", poor, "alice", "text/html", 2, "no")},
		{"json_invalid", ask("POST", poor, "alice", "application/json", 2, "no")},
		{"missing", ask("POST", poor, "alice", "application/json", 2, "{}")},
		{"monthly_quota_exceeded", ask("POST", poor, "alice", "application/json", -1, clean)},
		{"ok", ask("POST", rich, "alice", "application/json", -1, clean)},
		{"monthly_quota_exceeded", ask("POST", rich, "alice", "application/json", -1, clean)},
	} {
		if step.got != step.want {
			t.Errorf("%s; want %s", step.got, step.want)
		}
	}
}

// TestResponsesAreASCII sends text that is not, everywhere text can come back.
func TestResponsesAreASCII(t *testing.T) {
	f := newFixture(t, fixtureConfig{})
	root := f.key(t, registry.NewKey{})
	for path, body := range map[string]string{
		pathScan:           `{"tools":[{"name":"\u202eé\ud800\u007f","description":"é\u200b"},{"name":"\u202eÉ\ud800\u007f"}]}`,
		"/v1/admin/keys":   `{"name":"Schlüssel\u202e","plan":"größer"}`,
		"/v1/admin/access": `{"action":"block","kind":"end_user","value":"Jürgen","note":"é"}`,
	} {
		w := f.ask(http.MethodPost, path, root, body)
		if w.Code >= 300 || !bytes.Contains(w.Body.Bytes(), []byte(`\u00`)) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		for i, c := range w.Body.Bytes() {
			if c != '\n' && (c < 0x20 || c > 0x7e) {
				t.Errorf("%s: byte %#x at %d: %s", path, c, i, w.Body)
				break
			}
		}
	}
}

// Keys of every length and form are refused alike: no length, no byte and no header of
// its own makes the check fail in another way.
func TestCaseG10_KeysOfEveryForm(t *testing.T) {
	f := newFixture(t, fixtureConfig{})
	key := f.key(t, registry.NewKey{})
	for _, wrong := range []string{
		"a", "tm_", key + "1", key[:len(key)-1], key[1:], strings.ToUpper(key), "éééééééééé", "\xff\xfe", strings.Repeat("x", 30_000),
		key + "," + key, strings.Replace(key, "tm_", "tn_", 1), "null", "' OR 1=1 --",
	} {
		w := f.ask(http.MethodPost, pathScan, wrong, clean)
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "invalid_api_key") || strings.Contains(w.Body.String(), key) {
			t.Errorf("%.60q: %d %s", wrong, w.Code, w.Body)
		}
	}
	for _, none := range []string{"", " "} {
		r := httptest.NewRequest(http.MethodPost, pathScan, strings.NewReader(clean))
		r.Header["X-Api-Key"] = []string{none}
		w := httptest.NewRecorder()
		f.api.ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "missing_api_key") {
			t.Errorf("%q: %d %s", none, w.Code, w.Body)
		}
	}
	if w := f.ask(http.MethodPost, pathScan, key, clean); w.Code != http.StatusOK {
		t.Errorf("the right key: %d %s", w.Code, w.Body)
	}
}
