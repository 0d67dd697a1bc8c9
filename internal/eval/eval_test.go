package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/rulepack"
)

// least and most are the thresholds a change of the rules may not pass. They are what
// is promised, not what is reached; docs/detection.md has that.
const (
	leastToolMet    = 0.95  // poisoned, tier tool: expect met
	leastSnippetMet = 0.93  // poisoned, tier snippet
	mostBenignHigh  = 0.001 // benign tools with a high finding
	mostBenign      = 0.005 // benign tools with a medium one
	mostHardMedium  = 0.03  // hard-benign tools with a medium one
)

func TestCorpora(t *testing.T) {
	dir := filepath.Dir(shared.Path(t, "corpus"))
	set, err := rulepack.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := readCorpora(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	results, err := measure(cases, set)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"poisoned cases", in1(results, poisoned), leastPoisoned},
		{"benign servers", in1(results, benign), leastServers},
		{"benign tools", alarms(results, toolmark.High, in(benign)).of, leastBenign},
		{"hard-benign cases", in1(results, hardBenign), leastHardBenign},
	} {
		if c.got < c.want {
			t.Errorf("read %d %s, want at least %d", c.got, c.name, c.want)
		}
	}
	tools := 0
	for i := range results {
		if inTier(poisoned, "tool")(&results[i]) {
			tools++
		}
	}
	if tools < leastTools {
		t.Errorf("read %d poisoned cases of tier tool, want at least %d", tools, leastTools)
	}

	if c := recall(results, inTier(poisoned, "tool")); c.share() < leastToolMet {
		t.Errorf("poisoned, tier tool: %v met, want at least %.0f%%", c, 100*leastToolMet)
	}
	if c := recall(results, inTier(poisoned, "snippet")); c.share() < leastSnippetMet {
		t.Errorf("poisoned, tier snippet: %v met, want at least %.0f%%", c, 100*leastSnippetMet)
	}
	for _, c := range []corpus{benign, history} {
		if n := alarms(results, toolmark.High, in(c)); n.share() > mostBenignHigh {
			t.Errorf("%s: %v of the tools high, want at most %.1f%%", c, n, 100*mostBenignHigh)
		}
		if n := alarms(results, toolmark.Medium, in(c)); n.share() > mostBenign {
			t.Errorf("%s: %v of the tools medium, want at most %.1f%%", c, n, 100*mostBenign)
		}
	}
	if n := alarms(results, toolmark.High, in(hardBenign)); n.n > 0 {
		t.Errorf("hard-benign: %v of the tools high, want none", n)
	}
	if n := alarms(results, toolmark.Medium, in(hardBenign)); n.share() > mostHardMedium {
		t.Errorf("hard-benign: %v of the tools medium, want at most %.0f%%", n, 100*mostHardMedium)
	}

	// The documents hold no text of the corpora: every line they have is ours.
	doc := detectionDocument(results, set)
	if len(doc) < 1000 || bytes.ContainsFunc(doc, func(r rune) bool { return r > 0x7e || r < 0x20 && r != '\n' }) {
		t.Error("the document is too short or holds characters outside ASCII")
	}
}

// TestOwnCases needs nothing beside the checkout.
func TestOwnCases(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "detection")
	if _, err := os.Stat(dir); err != nil {
		t.Fatal("testdata/detection has no cases")
	}
	set, err := rulepack.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := readCorpora("", dir)
	if err != nil {
		t.Fatal(err)
	}
	results, err := measure(cases, set)
	if err != nil {
		t.Fatal(err)
	}
	attacks := poisonings(results, toolmark.Medium, inOwn("seen", "en"))
	if attacks.of < 60 || attacks.share() < 0.8 {
		t.Errorf("English attacks found: %v, want at least 80%% of at least 60", attacks)
	}
	if held := poisonings(results, toolmark.Medium, inOwn("unseen", "en")); held.of < 30 {
		t.Errorf("only %d unseen English attacks were read", held.of)
	}
	want := func(r *result) bool { return r.corpus == ownHonest && r.tier != "blind" }
	if n := alarms(results, toolmark.High, want); n.of < 700 || n.share() > 0.01 {
		t.Errorf("own honest tools high: %v, want at most 1%% of at least 700", n)
	}

	if n := poisonings(results, toolmark.Medium, inOwn("blind", "")); n.of != 461 {
		t.Errorf("%d blind attacks were read", n.of)
	}

	var out bytes.Buffer
	showCases(&out, results, "a-")
	for i := range results {
		if r := &results[i]; (r.tier == "unseen" || r.tier == "blind") && strings.Contains(out.String(), r.id+" ") {
			t.Fatalf("%s is shown, and belongs to the %s part", r.id, r.tier)
		}
	}
}

func TestRulesDocument(t *testing.T) {
	set, err := rulepack.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	want, err := rulesDocument(set)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range set.Rules() {
		if !bytes.Contains(want, []byte("## "+r.ID+"\n")) {
			t.Errorf("rule %s has no section", r.ID)
		}
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/rules.md is not what the rules say: run go run ./internal/eval -rules-doc")
	}
}

func TestCell(t *testing.T) {
	if got, want := cell("a|b`<i>\x1b[31m\u202e"), "a&#124;b&#96;&#60;i&#62;(U+001B)&#91;31m(U+202E)"; got != want {
		t.Errorf("cell = %q, want %q", got, want)
	}
}

func TestBadInput(t *testing.T) {
	if err := run([]string{"-shared", t.TempDir(), "-own", t.TempDir()}, &bytes.Buffer{}); err == nil {
		t.Error("no corpus is no error")
	}
	if err := run([]string{"-no-such-flag"}, &bytes.Buffer{}); err == nil {
		t.Error("an unknown flag is no error")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "seen"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"not JSON":  "{",
		"no tools":  `{"id":"a","lang":"en","label":"attack"}`,
		"bad tools": `{"id":"a","lang":"en","label":"attack","tools":[{"name":1}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, "seen", "attack.en.jsonl"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readCorpora("", dir); err == nil {
			t.Errorf("%s: read without an error", name)
		}
	}
}
