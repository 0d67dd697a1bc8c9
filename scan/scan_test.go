package scan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/rule"
)

// ruleText is one small rule, so that these tests hold whatever the built-in rules say.
const ruleText = `
id: test-open-the-vault
title: Tells the model to open the vault
act: exfiltration
severity: high
explain: A test rule.
fix: Say nothing of vaults.
references: [none]
any:
  - id: open
    regex: '(?i)\bopen the vault\b'
  - id: unlock
    regex: '(?i)\bunlock the vault\b'
examples:
  match:
    - {text: Please open the vault now, by: open}
    - {text: Then unlock the vault, by: unlock}
  clean:
    - {text: Opens a vault file.}
    - {text: The vault is open.}
`

func newScanner(t testing.TB, cfg Config) *Scanner {
	t.Helper()
	set, err := rule.Load(fstest.MapFS{"test-open-the-vault.yaml": {Data: []byte(ruleText)}})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Rules = set
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func manifest(t testing.TB, text string) *toolmark.Manifest {
	t.Helper()
	v, err := canonjson.Parse([]byte(text), canonjson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := toolmark.ReadManifest(v)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func scanText(t testing.TB, s *Scanner, text string, scope toolmark.Scope) *toolmark.Report {
	t.Helper()
	r, err := s.Scan(context.Background(), Request{Manifest: manifest(t, text), Scope: scope, Faults: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outline gives "tool code severity pointer[start:end] reading" for each finding.
func outline(r *toolmark.Report) string {
	var lines []string
	for _, f := range r.Findings {
		line := fmt.Sprintf("%s %s %s", f.Tool, f.Code, f.Severity)
		for _, p := range f.Places() {
			line += fmt.Sprintf(" %s[%d:%d]%s", p.Pointer, p.Start, p.End, p.Reading)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestEverySurfaceIsScanned(t *testing.T) {
	s := newScanner(t, Config{})
	const order = `"open the vault"`
	standard := []struct{ tool, pointer string }{
		{`"description": ` + order, "/description"},
		{`"inputSchema": {"description": ` + order + `}`, "/inputSchema/description"},
		{`"inputSchema": {"properties": {"a": {"description": ` + order + `}}}`, "/inputSchema/properties/a/description"},
		{`"inputSchema": {"properties": {"a": {"title": ` + order + `}}}`, "/inputSchema/properties/a/title"},
		{`"inputSchema": {"properties": {"a": {"enum": ["x", ` + order + `]}}}`, "/inputSchema/properties/a/enum/1"},
		{`"inputSchema": {"properties": {"a": {"const": ` + order + `}}}`, "/inputSchema/properties/a/const"},
		{`"inputSchema": {"properties": {"a": {"default": {"deep": [` + order + `]}}}}`, "/inputSchema/properties/a/default/deep/0"},
		{`"inputSchema": {"properties": {"a": {"examples": [` + order + `]}}}`, "/inputSchema/properties/a/examples/0"},
		{`"inputSchema": {"properties": {"a": {"pattern": ` + order + `}}}`, "/inputSchema/properties/a/pattern"},
		{`"inputSchema": {"$comment": ` + order + `}`, "/inputSchema/$comment"},
		{`"inputSchema": {"x-note": {"any": ` + order + `}}`, "/inputSchema/x-note/any"},
		{`"inputSchema": {"type": ` + order + `}`, "/inputSchema/type"},
		{`"inputSchema": {"required": [` + order + `]}`, "/inputSchema/required/0"},
		{`"inputSchema": {"properties": {` + order + `: {}}}`, "/inputSchema/properties/open the vault"},
		{`"inputSchema": {"properties": {"a": {"items": {"anyOf": [{"description": ` + order + `}]}}}}`, "/inputSchema/properties/a/items/anyOf/0/description"},
		{`"inputSchema": {"$defs": {"d": {"properties": {"__proto__": {"description": ` + order + `}}}}}`, "/inputSchema/$defs/d/properties/__proto__/description"},
		{`"inputSchema": {"properties": {"a/b~c": {"description": ` + order + `}}}`, "/inputSchema/properties/a~1b~0c/description"},
		{`"input_schema": {"description": ` + order + `}`, "/input_schema/description"},
	}
	all := []struct{ tool, pointer string }{
		{`"title": ` + order, "/title"},
		{`"annotations": {"title": ` + order + `}`, "/annotations/title"},
		{`"outputSchema": {"properties": {"a": {"description": ` + order + `}}}`, "/outputSchema/properties/a/description"},
		{`"_meta": {"note": ` + order + `}`, "/_meta/note"},
		{`"unheard": [` + order + `]`, "/unheard/0"},
		{`"icons": [{"src": "https://example.com/i.png", "theme": ` + order + `}]`, "/icons/0/theme"},
	}
	check := func(tool, pointer string, scope toolmark.Scope, want bool) {
		t.Helper()
		r := scanText(t, s, `{"tools": [{"name": "t", `+tool+`}]}`, scope)
		got := outline(r)
		if found := strings.Contains(got, "t E001 high "+pointer+"["); found != want {
			t.Errorf("scope %s, %s: %q", scope, tool, got)
		}
		if r.OK == want {
			t.Errorf("scope %s, %s: ok is %v", scope, tool, r.OK)
		}
	}
	for _, c := range standard {
		check(c.tool, c.pointer, toolmark.ScopeStandard, true)
		check(c.tool, c.pointer, toolmark.ScopeAll, true)
	}
	for _, c := range all {
		check(c.tool, c.pointer, toolmark.ScopeStandard, false)
		check(c.tool, c.pointer, toolmark.ScopeAll, true)
	}
	for _, c := range []struct{ member, pointer string }{
		{`"instructions": ` + order, "/instructions"},
		{`"serverInfo": {"name": "n", "version": "1", "title": ` + order + `}`, "/serverInfo/title"},
		{`"prompts": [{"name": "p", "arguments": [{"name": "a", "description": ` + order + `}]}]`, "/prompts/0/arguments/0/description"},
		{`"resources": [{"name": "r", "description": ` + order + `}]`, "/resources/0/description"},
		{`"resourceTemplates": [{"uriTemplate": "x", "description": ` + order + `}]`, "/resourceTemplates/0/description"},
	} {
		text := `{"tools": [{"name": "t"}], ` + c.member + `}`
		if got := outline(scanText(t, s, text, toolmark.ScopeAll)); !strings.Contains(got, "* E001 high "+c.pointer+"[") {
			t.Errorf("%s: %q", c.member, got)
		}
		if got := outline(scanText(t, s, text, toolmark.ScopeStandard)); got != "" {
			t.Errorf("standard scope read %s: %q", c.member, got)
		}
	}
}

func TestIconPayloadsAreNotText(t *testing.T) {
	s := newScanner(t, Config{})
	text := `{"tools": [{"name": "t", "icons": [{"src": "data:text/plain,open the vault"}]}]}`
	if got := outline(scanText(t, s, text, toolmark.ScopeAll)); got != "" {
		t.Errorf("%q", got)
	}
}

func TestBothValuesOfADuplicateMemberAreScanned(t *testing.T) {
	s := newScanner(t, Config{})
	r := scanText(t, s, `{"tools": [{"name": "t", "description": "open the vault", "description": "A clock."}]}`, toolmark.ScopeStandard)
	if got, want := outline(r), "t E001 high /description[0:14]raw\nt J101 medium /description[0:0]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAReportIsWholeAndOrdered(t *testing.T) {
	s := newScanner(t, Config{})
	m := manifest(t, `{"tools": [
		{"name": "b", "description": "Pays.\u200b Then open the vault."},
		{"name": "a", "description": "Shows 2\u00b2."},
		{"name": "A", "description": "unlock the vault"},
		{"name": "take", "description": "Takes."}]}`)
	pin := strings.Repeat("0", 64)
	r, err := s.Scan(context.Background(), Request{Manifest: m, Pin: pin, OtherServers: []toolmark.OtherServer{{Name: "o", Tools: []string{"take"}}}})
	if err != nil {
		t.Fatal(err)
	}
	want := "b E001 high /description[12:26]raw\nb W021 medium /description[5:6]raw\n" +
		"a W022 medium\nA E001 high /description[0:16]raw\ntake E002 high\n* E301 high"
	if got := outline(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	names := ""
	for _, h := range r.Tools {
		names += string(h.Name) + " "
		if !toolmark.IsPin(h.SHA256) {
			t.Errorf("the hash of %s is %q", h.Name, h.SHA256)
		}
	}
	if names != "b a A take " || r.OK || r.Incomplete || len(r.UnscannedTools) != 0 {
		t.Errorf("%q %v %v %v", names, r.OK, r.Incomplete, r.UnscannedTools)
	}
	// The right pin is silent, and medium findings alone leave a list ok.
	m = manifest(t, `{"tools": [{"name": "b", "description": "Pa\u200bys."}]}`)
	r, err = s.Scan(context.Background(), Request{Manifest: m, Pin: scanText(t, s, `{"tools": [{"description": "Pa\u200Bys.", "name": "b"}]}`, toolmark.ScopeStandard).SHA256})
	if err != nil || outline(r) != "b W021 medium /description[2:3]raw" || !r.OK {
		t.Errorf("%q %v %v", outline(r), r.OK, err)
	}
}

func TestJSONHasTheMembersOfTheAPI(t *testing.T) {
	s := newScanner(t, Config{})
	for text, want := range map[string]string{
		`{"tools": []}`: `{"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","ok":true,"findings":[],"tools":[],"incomplete":false,"unscanned_tools":[]}`,
	} {
		got, err := json.Marshal(scanText(t, s, text, toolmark.ScopeStandard))
		if err != nil || string(got) != want {
			t.Errorf("%s, want %s (%v)", got, want, err)
		}
	}
	with, err := json.Marshal(scanText(t, s, `{"tools": [], "server": {"name": "n", "version": "1"}}`, toolmark.ScopeStandard))
	if err != nil || !strings.Contains(string(with), `,"fingerprint":"tmfp1:`) {
		t.Errorf("no fingerprint where a server is given: %s (%v)", with, err)
	}
}

func TestWrongRequests(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("a scanner without rules was made")
	}
	s := newScanner(t, Config{})
	if _, err := s.Scan(context.Background(), Request{}); err == nil {
		t.Error("nothing was scanned without an error")
	}
	m := manifest(t, `{"tools": []}`)
	for _, pin := range []string{"x", strings.Repeat("A", 64), strings.Repeat("0", 63)} {
		var e *toolmark.Error
		if _, err := s.Scan(context.Background(), Request{Manifest: m, Pin: pin}); !errors.As(err, &e) || e.Code != toolmark.ErrUsage {
			t.Errorf("pin %q: %v", pin, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Scan(ctx, Request{Manifest: m}); !errors.Is(err, context.Canceled) {
		t.Errorf("a scan that was cancelled gave %v", err)
	}
}

func TestCheckSize(t *testing.T) {
	overhead := len(`[{"description":"","input_schema":{},"name":"t"}]`)
	for _, c := range []struct {
		length int
		ok     bool
	}{{toolmark.MaxCharacters - overhead - 4, true}, {toolmark.MaxCharacters - overhead - 3, false}} {
		m := manifest(t, `{"tools": [{"name": "t", "description": "`+strings.Repeat("x", c.length)+`"}], "other_servers": [{"name": "\u00e9\u00e9", "tools": [{"name": "ab"}]}]}`)
		err := CheckSize(m)
		if (err == nil) != c.ok {
			t.Errorf("%d characters more: %v", c.length, err)
		}
	}
}

// TestAtMost: the bound is one, also where a byte grows most in the canonical form.
func TestAtMost(t *testing.T) {
	for _, schema := range []string{
		`{}`, `{"enum":[` + strings.Repeat("1e15,", 99) + `9e15]}`, `{"enum":[` + strings.Repeat("-1E9,", 99) + `0]}`,
		`{"title":"` + strings.Repeat("\\u00e9é漢😀\\n\\u007f", 99) + `"}`, strings.Repeat(`{"é":`, 99) + `1e1` + strings.Repeat("}", 99),
	} {
		for _, text := range []string{"null", `"é"`, `""`} {
			m := manifest(t, `{"tools": [{"name":"é","description":`+text+`,"inputSchema":`+schema+`},{"name":"b"}]}`)
			if size, most := pin.Size(m.Tools), atMost(m.Tools); size > most {
				t.Errorf("%.60s, %s: %d characters, the bound is %d", schema, text, size, most)
			}
		}
	}
}

// ticker is a clock that moves on by a step each time it is read.
type ticker struct {
	t    time.Time
	step time.Duration
}

func (c *ticker) now() time.Time {
	c.t = c.t.Add(c.step)
	return c.t
}

func TestAnIncompleteScanNamesWhatItDidNotReach(t *testing.T) {
	clock := &ticker{step: 100 * time.Microsecond}
	s := newScanner(t, Config{Budget: 200 * time.Millisecond, Now: clock.now})
	s.checks = append([]check{{"delay", func(_ *Scanner, sub *subject, stop func() bool) bool {
		for range 300 { // 30 ms
			if strings.HasPrefix(sub.name, "slow") && stop() {
				return false
			}
		}
		return true
	}}}, s.checks...)
	var list []string
	for i := range 40 {
		name := []string{"slow", "fast"}[i%2] + fmt.Sprint(i)
		list = append(list, fmt.Sprintf(`{"name": %q, "description": "open the vault"}`, name))
	}
	r := scanText(t, s, `{"tools": [`+strings.Join(list, ",")+`]}`, toolmark.ScopeStandard)
	if len(r.Tools) != 40 || r.SHA256 == "" {
		t.Error("pin and hashes must be complete")
	}
	if !r.Incomplete || r.OK || len(r.UnscannedTools) == 0 || len(r.UnscannedTools) > 19 {
		t.Fatalf("incomplete %v, ok %v, %d unscanned: %v", r.Incomplete, r.OK, len(r.UnscannedTools), r.UnscannedTools)
	}
	unscanned := map[toolmark.Text]bool{}
	for _, name := range r.UnscannedTools {
		unscanned[name] = true
	}
	found := map[toolmark.Text]bool{}
	for _, f := range r.Findings {
		found[f.Tool] = true
	}
	for _, h := range r.Tools {
		if found[h.Name] == unscanned[h.Name] || unscanned[h.Name] && strings.HasPrefix(string(h.Name), "fast") {
			t.Errorf("%s: found %v, unscanned %v", h.Name, found[h.Name], unscanned[h.Name])
		}
	}
}

// TestOneToolCannotTakeTheTimeOfOthers puts a tool first whose check never ends.
func TestOneToolCannotTakeTheTimeOfOthers(t *testing.T) {
	clock := &ticker{step: time.Microsecond}
	s := newScanner(t, Config{Budget: time.Second, Now: clock.now})
	s.checks = append([]check{{"delay", func(_ *Scanner, sub *subject, stop func() bool) bool {
		for sub.name == "greedy" && !stop() {
		}
		return sub.name != "greedy"
	}}}, s.checks...)
	r := scanText(t, s, `{"tools": [{"name": "greedy", "description": "open the vault"}, {"name": "b", "description": "open the vault"}, {"name": "c", "description": "unlock the vault"}]}`, toolmark.ScopeStandard)
	if got, want := outline(r), "b E001 high /description[0:14]raw\nc E001 high /description[0:16]raw"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !r.Incomplete || len(r.UnscannedTools) != 1 || r.UnscannedTools[0] != "greedy" {
		t.Errorf("unscanned %v", r.UnscannedTools)
	}
}

func TestAPanickingCheckIsContained(t *testing.T) {
	var told []int
	s := newScanner(t, Config{Fault: func(tool int, _ any, stack []byte) {
		told = append(told, tool)
		if len(stack) == 0 {
			t.Error("no stack")
		}
	}})
	s.checks = append(s.checks, check{"bad luck", func(_ *Scanner, sub *subject, _ func() bool) bool {
		if sub.name == "b" {
			panic("open the vault")
		}
		return true
	}})
	r := scanText(t, s, `{"tools": [{"name": "a", "description": "open the vault"}, {"name": "b", "description": "open the vault"}]}`, toolmark.ScopeStandard)
	if got, want := outline(r), "a E001 high /description[0:14]raw\nb E900 info"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if d := r.Findings[1].Details.(toolmark.UnscannableDetails); strings.Contains(d.Cause, "vault") || !strings.Contains(d.Cause, "bad luck") {
		t.Errorf("cause %q", d.Cause)
	}
	if r.Incomplete || len(told) != 1 || told[0] != 1 {
		t.Errorf("incomplete %v, told %v", r.Incomplete, told)
	}
}

func TestScansAreAlikeAndConcurrent(t *testing.T) {
	s := newScanner(t, Config{})
	m := manifest(t, `{"tools": [{"name": "b", "description": "Pays.\u200b Then open the vault."}, {"name": "B", "inputSchema": {"properties": {"open the vault": {}}}}]}`)
	var first string
	results := make(chan string, 16)
	for range cap(results) {
		go func() {
			r, err := s.Scan(context.Background(), Request{Manifest: m, Scope: toolmark.ScopeAll, Faults: true})
			if err != nil {
				results <- err.Error()
				return
			}
			out, _ := json.Marshal(r)
			results <- string(out)
		}()
	}
	for i := range cap(results) {
		got := <-results
		if i == 0 {
			first = got
		}
		if got != first {
			t.Fatalf("two scans of one list differ:\n%s\n%s", got, first)
		}
	}
}
