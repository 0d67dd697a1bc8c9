package suppression

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolmark/toolmark"
)

func at(pointer, rule string) toolmark.Location {
	return toolmark.Location{Pointer: toolmark.Text(pointer), Rule: rule}
}

func poison(tool string, locations ...toolmark.Location) toolmark.Finding {
	d := toolmark.PoisonDetails{Locations: locations}
	for _, l := range locations {
		d.MatchedRules = append(d.MatchedRules, l.Rule)
	}
	return toolmark.Finding{Code: toolmark.CodePoisoning, Tool: toolmark.Text(tool), Severity: toolmark.High, Details: d}
}

var day = time.Date(2026, 5, 2, 13, 0, 0, 0, time.UTC)

func apply(t *testing.T, list string, f toolmark.Finding, now time.Time) (suppressed bool, warnings []string) {
	t.Helper()
	l, err := Parse([]byte(list), "t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	use := l.Begin(now, func(ref string) string {
		if ref == "aaaaaaaa" {
			return "rule-a"
		}
		return ""
	})
	kept, gone := use.Apply("srv", []toolmark.Finding{f})
	if len(kept)+len(gone) != 1 {
		t.Fatalf("%d kept and %d suppressed of 1", len(kept), len(gone))
	}
	return len(gone) == 1, use.Warnings(true)
}

func TestApply(t *testing.T) {
	one := poison("x", at("/description", "aaaaaaaa"))
	two := poison("x", at("/description", "aaaaaaaa"), at("/title", "bbbbbbbb"))
	unlisted := poison("x", at("/description", "aaaaaaaa"))
	d := unlisted.Details.(toolmark.PoisonDetails)
	d.MatchedRules = append(d.MatchedRules, "cccccccc")
	unlisted.Details = d
	name := toolmark.Finding{Code: toolmark.CodeDuplicateName, Tool: "x", Details: toolmark.DuplicateNameDetails{Count: 2}}
	pinned := toolmark.Finding{Code: toolmark.CodeRugPull, Tool: "*", Index: -1}
	for _, test := range []struct {
		name, list string
		finding    toolmark.Finding
		want       bool
	}{
		{"place", `{code: E001, tool: x, place: /description, reason: r}`, one, true},
		{"rule by reference", `{code: E001, tool: x, rule: aaaaaaaa, reason: r}`, one, true},
		{"rule by id", `{code: E001, tool: x, rule: rule-a, reason: r}`, one, true},
		{"place and rule", `{code: E001, tool: x, place: /description, rule: rule-a, reason: r}`, one, true},
		{"its server", `{code: E001, tool: x, place: /description, server: srv, reason: r}`, one, true},
		{"another server", `{code: E001, tool: x, place: /description, server: other, reason: r}`, one, false},
		{"another tool", `{code: E001, tool: y, place: /description, reason: r}`, one, false},
		{"another code", `{code: W021, tool: x, place: /description, reason: r}`, one, false},
		{"another place", `{code: E001, tool: x, place: /title, reason: r}`, one, false},
		{"another rule", `{code: E001, tool: x, rule: bbbbbbbb, reason: r}`, one, false},
		{"only one of two places", `{code: E001, tool: x, place: /description, reason: r}`, two, false},
		{"both places by two entries", "{code: E001, tool: x, place: /description, reason: r}\n  - {code: E001, tool: x, rule: bbbbbbbb, reason: r}", two, true},
		{"a rule without a listed place", `{code: E001, tool: x, place: /description, reason: r}`, unlisted, false},
		{"no place", `{code: W022, tool: x, reason: r}`, name, true},
		{"lasts the whole last day", `{code: W022, tool: x, reason: r, expires: 2026-05-02}`, name, true},
		{"over the day after", `{code: W022, tool: x, reason: r, expires: 2026-05-01}`, name, false},
		{"never a pin", `{code: W022, tool: "*", reason: r}`, pinned, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, _ := apply(t, "suppressions:\n  - "+test.list+"\n", test.finding, day); got != test.want {
				t.Errorf("suppressed is %v, want %v", got, test.want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	_, got := apply(t, `suppressions:
  - {code: W022, tool: x, reason: used}
  - {code: W022, tool: x, reason: late, expires: 2026-01-01}
  - {code: E001, tool: x, place: /a, rule: r, reason: unused}
`, toolmark.Finding{Code: toolmark.CodeDuplicateName, Tool: "x"}, day)
	want := []string{
		`t.yaml:3: the suppression of W022 for tool "x" expired on 2026-01-01 and no longer holds`,
		`t.yaml:4: the suppression of E001 for tool "x" at /a, rule r names nothing that was found; remove it`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	// Where something was not scanned, nobody can say that an entry names nothing.
	l, err := Parse([]byte("suppressions: [{code: W022, tool: x, reason: r}]"), "t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Begin(day, nil).Warnings(false); got != nil {
		t.Errorf("warnings of an incomplete run: %q", got)
	}
}

func TestParseRefuses(t *testing.T) {
	for list, want := range map[string]string{
		"suppressions: 7":   "t.yaml: line 1",
		"suppressions: [7]": "t.yaml:1: a suppression is a mapping",
		"other: []":         "field other not found",
		"suppressions: []\n---\nsuppressions: []":                               "more than one YAML document",
		"suppressions: [{tool: x, reason: r}]":                                  "has no code",
		"suppressions: [{code: e001, tool: x, reason: r}]":                      `unknown code "e001"`,
		"suppressions: [{code: E001, place: /a, reason: r}]":                    "names no tool",
		"suppressions: [{code: E001, tool: x, place: /a}]":                      "has no reason",
		"suppressions: [{code: E001, tool: x, reason: r}]":                      "names a place or a rule",
		"suppressions: [{code: W021, tool: x, reason: r}]":                      "names a place or a rule",
		"suppressions: [{code: E301, tool: '*', reason: r}]":                    "cannot be suppressed",
		"suppressions: [{code: W022, tool: [x], reason: r}]":                    "t.yaml:1: ",
		"suppressions: [{code: W022, tool: x, reason: r, x: y}]":                `unknown key "x"`,
		"suppressions: [{code: E001, tool: x, place: description, reason: r}]":  "is no JSON Pointer",
		"suppressions: [{code: W022, tool: x, reason: r, expires: 2026-02-30}]": "is no date",
		"suppressions: [{code: W022, tool: x, tool: y, reason: r}]":             "t.yaml:1: ",
		"a: &a [*a]":                        "t.yaml: ",
		strings.Repeat("#", MaxBytes+1):     "at most",
		"suppressions:\n  - code: \"\xff\"": "t.yaml: ",
	} {
		l, err := Parse([]byte(list), "t.yaml")
		var failure *toolmark.Error
		if !errors.As(err, &failure) || failure.Code != toolmark.ErrUsage {
			t.Errorf("%.60q gave %v, %v", list, l, err)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q gave %q, which does not say %q", list, err, want)
		}
	}
}

func TestParseEmpty(t *testing.T) {
	for _, data := range []string{"", "# nothing\n", "suppressions: []", "suppressions:"} {
		l, err := Parse([]byte(data), "t.yaml")
		if err != nil || len(l.Entries) != 0 {
			t.Errorf("%q gave %v, %v", data, l, err)
		}
	}
}

// Apply never loses or changes a finding, and without entries suppresses none.
func TestApplyPartsTheFindings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
		var findings []toolmark.Finding
		for range rapid.IntRange(0, 5).Draw(t, "findings") {
			findings = append(findings, poison(pick("tool", "x", "y"), at(pick("place", "/a", "/b"), pick("rule", "r", "s"))))
		}
		var list List
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			list.Entries = append(list.Entries, Entry{Code: toolmark.CodePoisoning, Tool: pick("tool", "x", "y"), Place: pick("place", "", "/a"), Rule: pick("rule", "", "r"), Reason: "r"})
		}
		kept, gone := list.Begin(day, nil).Apply("s", findings)
		if len(list.Entries) == 0 && len(gone) > 0 {
			t.Fatal("suppressed without an entry")
		}
		i, j := 0, 0
		for _, f := range findings {
			switch {
			case i < len(kept) && cmp.Equal(kept[i], f):
				i++
			case j < len(gone) && cmp.Equal(gone[j].Finding, f) && gone[j].Entry.Tool == string(f.Tool):
				j++
			default:
				t.Fatalf("%v is neither kept nor suppressed", f)
			}
		}
		if i != len(kept) || j != len(gone) {
			t.Fatal("findings that were not there")
		}
	})
}
