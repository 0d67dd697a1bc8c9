package rule

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolmark/toolmark"
)

const good = `id: good
title: A rule
act: concealment
severity: high
explain: why
fix: what instead
references: [a note]
surfaces: [description]
any:
- {id: words, near: [not, tell, user], negated: skip}
- id: pattern
  regex: '(?i)\bkeep {{secret}} hidden\b'
examples:
  match:
  - {text: "Never tell the user.", by: words}
  - {text: "Keep id_rsa hidden.", by: pattern}
  clean:
  - {text: "Tell the user."}
  - {tool: {name: t, description: "Keeps it.", inputSchema: {properties: {a: {description: hidden}}}}}
`

func TestGoodRule(t *testing.T) {
	s := load(t, good)
	if failures := s.Verify(); len(failures) > 0 {
		t.Error(failures)
	}
	r := s.Find(Reference("good"))
	if r == nil || r != s.Find("good") || r.Title != "A rule" || r.Act != ActConcealment || r.Severity != toolmark.High ||
		strings.Join(r.Alternatives(), " ") != "words pattern" || r.File != "rules/good.yaml" {
		t.Errorf("loaded %+v", r)
	}
	if got := Reference("conceal-from-user"); len(got) != 8 || got == Reference("good") {
		t.Errorf("reference %q", got)
	}
	examples, err := r.Examples()
	if err != nil || len(examples.Match) != 2 || len(examples.Clean) != 2 || examples.Match[1].By != "pattern" || examples.Match[0].Line != 15 {
		t.Errorf("examples %+v, %v", examples, err)
	}
}

// TestDeferred: what is left for later is the same, and is not forgotten.
func TestDeferred(t *testing.T) {
	deferred, err := Options{Deferred: true}.Load(rules(t, good))
	if err != nil {
		t.Fatal(err)
	}
	examples, err := deferred.Find("good").Examples()
	if err != nil || len(examples.Match) != 2 || len(examples.Clean) != 2 || examples.Clean[1].Line != 19 {
		t.Errorf("examples %+v, %v", examples, err)
	}
	if failures := deferred.Verify(); len(failures) > 0 {
		t.Error(failures)
	}
	for old, want := range map[string]string{
		"by: words":                      "key \"by\" is missing",
		"- {text: \"Tell the user.\"}\n": "at least 2 examples",
		"  clean:":                       "unknown key \"cleen\"",
	} {
		changed := map[string]string{"by: words": "surface: enum", "- {text: \"Tell the user.\"}\n": "\n", "  clean:": "  cleen:"}[old]
		s, err := Options{Deferred: true}.Load(rules(t, strings.Replace(good, old, changed, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if failures := s.Verify(); len(failures) != 1 || !strings.Contains(failures[0].Error(), want) {
			t.Errorf("%s: %v", old, failures)
		}
	}
}

// TestLoadErrors: each fault is an error that names file, line and rule.
func TestLoadErrors(t *testing.T) {
	for _, c := range []struct{ old, changed, want string }{
		{"title: A rule", "titel: A rule", `good.yaml:2: rule good: unknown key "titel"`},
		{"title: A rule\n", "", `rule good: key "title" is missing`},
		{"title: A rule", "title: A rule\ntitle: Two", `:3: rule good: key "title" stands twice`},
		{"title: A rule", "title: [A]", ":2: rule good: must be text"},
		{"act: concealment", "act: loud", `:3: rule good: unknown act "loud"`},
		{"severity: high", "severity: critical", `:4: rule good: unknown severity "critical"`},
		{"surfaces: [description]", "surfaces: [descriptions]", `:8: rule good: unknown surface`},
		{"id: good", "id: bad", `the file of rule "bad" must be named bad.yaml`},
		{"id: good", "id: Good_1", "an id is lower-case letters"},
		{"near: [not", "nigh: [not", `:10: rule good: unknown key "nigh"`},
		{"near: [not", "near: [knot", `:10: rule good: unknown family "knot"`},
		{"near: [not, tell, user]", "near: []", "must name one to 4 families"},
		{"{{secret}}", "{{secrets}}", `:12: rule good: unknown family "secrets"`},
		{"{{secret}}", "[{{secret}}]", "a family cannot stand inside [ ]"},
		{"{{secret}}", "{{secret", "{{ without }}"},
		{"{{secret}}", `\x{F0001}`, "a private-use character"},
		{"{{secret}}", "(?:{{tell}}|{{user}})+", "unbounded gap"},
		{`{{secret}} hidden\b`, `(hidden`, ":12: rule good: pattern does not compile"},
		{`{{secret}} hidden\b`, `(?=hidden)`, "pattern does not compile"},
		{`\bkeep {{secret}} hidden\b`, `(?:keep)?`, "matches nothing at all"},
		{`\bkeep {{secret}} hidden\b`, `\w+\s`, "must hold some fixed text"},
		{"id: pattern", "id: words", `alternative "words" stands twice`},
		{"negated: skip", "negated: yes", "must be one of skip"},
		{"negated: skip", "within: 61", "must be a number from 1 to 60"},
		{"negated: skip", "order: random", "must be one of given, any"},
		{"negated: skip", "span: line", "must be one of sentence, pair, field, tool"},
		{"negated: skip", "regex: x", `either "regex" or "near"`},
		{"  regex:", "  within: 3\n  regex:", `"within" means nothing beside "regex"`},
		{"near: [not, tell, user], negated: skip", "span: field", `"regex", "near" or "all" is missing`},
		{"near: [not, tell, user], negated: skip", "all: [{near: [not]}]", "two to 4 conditions"},
		{"examples:", "unless:\n- {near: [read], span: pair}\nexamples:", "must be one of sentence, clause, tool"},
		{"examples:", "unless:\n- {near: [read], span: tool}\nexamples:", ":14: rule good: a rule of severity high has no excuse with span tool"},
		{"examples:", "unless:\n- {near: [read], span: clause, around: 3}\nexamples:", `"around" stands in place of "span"`},
		{"examples:", "unless: []\nexamples:", "must be a list of conditions"},
		{"by: words", "of: words", `unknown key "of"`},
		{"by: pattern", "by: pattern, surface: nowhere", `unknown surface "nowhere"`},
		{"- {text: \"Tell the user.\"}\n", "\n", "at least 2 examples"},
		{"{text: \"Tell the user.\"}", "{by: words}", `unknown key "by"`},
		{"id: good", "\tid: good", "good.yaml"},
		{"id: good", "- id: good", "good.yaml"},
	} {
		text := strings.Replace(good, c.old, c.changed, 1)
		if text == good {
			t.Errorf("%q is not in the rule", c.old)
			continue
		}
		files := rules(t)
		files["rules/good.yaml"] = file(text)
		_, err := Load(files)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "rules/good.yaml") {
			t.Errorf("%s → %s: %v\nwant %s", c.old, c.changed, err, c.want)
		}
	}
}

func TestSetErrors(t *testing.T) {
	other := strings.Replace(good, "id: good", "id: other", 1)
	for name, c := range map[string]struct {
		change func(files fstest.MapFS)
		want   string
	}{
		"same id":          {func(f fstest.MapFS) { f["more/good.yaml"] = file(good) }, "the id is that of"},
		"retired id":       {func(f fstest.MapFS) { f["retired.yaml"] = file("[old, good]") }, "the id is retired"},
		"yml":              {func(f fstest.MapFS) { f["rules/x.yml"] = file(other) }, "must end in .yaml"},
		"two documents":    {func(f fstest.MapFS) { f["rules/other.yaml"] = file(other + "---\n" + other) }, "rules/other.yaml"},
		"huge":             {func(f fstest.MapFS) { f["rules/other.yaml"] = file(other + strings.Repeat("#", maxFile)) }, "at most 1048576"},
		"no words":         {func(f fstest.MapFS) { f["words/en.yaml"] = file("not: []") }, `family "not" must be a list`},
		"family twice":     {func(f fstest.MapFS) { f["words/de.yaml"] = file("a: [x]\nb: [y]\na: [z]") }, `words/de.yaml:3: family "a" stands twice`},
		"star inside":      {func(f fstest.MapFS) { f["words/de.yaml"] = file("a: [x*y]") }, "* may stand at the beginning"},
		"star at the end":  {func(f fstest.MapFS) { f["words/de.yaml"] = file("a: [\"x *\"]") }, "begins or ends with a word"},
		"star alone":       {func(f fstest.MapFS) { f["words/de.yaml"] = file("a: [\"*\"]") }, "begins or ends with a word"},
		"short stem":       {func(f fstest.MapFS) { f["words/de.yaml"] = file("a: [x*]") }, "two letters or more"},
		"unknown family":   {func(f fstest.MapFS) { f["words/de.yaml"] = file("a: [\"@b\"]") }, `words/de.yaml:1: unknown family "b"`},
		"word not a word":  {func(f fstest.MapFS) { f["words/de.yaml"] = file("a: [[x]]") }, "a word must be text"},
		"long word":        {func(f fstest.MapFS) { f["words/de.yaml"] = file("a: [" + strings.Repeat("x", 121) + "]") }, "too long"},
		"name of a family": {func(f fstest.MapFS) { f["words/de.yaml"] = file("A b: [x]") }, "the name of a family"},
	} {
		files := rules(t, good)
		c.change(files)
		if _, err := Load(files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	var all fs.FS = rules(t, good, other)
	if s, err := Load(all); err != nil || len(s.Rules()) != 2 {
		t.Errorf("two good rules: %v", err)
	}
}

func TestBase(t *testing.T) {
	base := load(t, good)
	own := fstest.MapFS{"mine.yaml": file(strings.Replace(good, "id: good", "id: mine", 1))}
	if _, err := Load(own); err == nil || !strings.Contains(err.Error(), "unknown family") {
		t.Errorf("without base: %v", err)
	}
	s, err := Options{Base: base}.Load(own)
	if err != nil {
		t.Fatal(err)
	}
	if failures := s.Verify(); len(failures) > 0 {
		t.Error(failures)
	}
	own["good.yaml"] = file(good)
	if _, err := (Options{Base: base}).Load(own); err == nil || !strings.Contains(err.Error(), "built-in rule") {
		t.Errorf("id of the base: %v", err)
	}
}

// TestVerify: an example that does not behave, and an alternative that no example
// needs, are failures that name the place.
func TestVerify(t *testing.T) {
	for _, c := range []struct{ old, changed, want string }{
		{"Never tell the user.", "Never tell.", "good.yaml:15: rule good: the example should match by words, and nothing matches"},
		{"Never tell the user.", "Keep id_rsa hidden.", "should match by words, but only [pattern] match"},
		{"by: pattern", "by: other", `there is no alternative "other"`},
		{"Tell the user.\"}", "Never tell the user.\"}", "good.yaml:18: rule good: the clean example is matched by [words]"},
		{"\"Keeps it.\"", "never tell a user", "the clean example is matched by [words]"},
		{"Keep id_rsa hidden.", "Keep id_rsa hidden, never tell the user.", "good.yaml:11: rule good: no example is matched by pattern alone"},
		{"by: words", "by: words, severity: info", "should match with severity info, not high"},
	} {
		text := strings.Replace(good, c.old, c.changed, 1)
		s := load(t, text)
		err := Check(s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s → %s: %v, want %s", c.old, c.changed, err, c.want)
		}
	}
}
