package atr

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolmark/toolmark"
)

// ruleSet makes a pack of rules written as YAML.
func ruleSet(tb testing.TB, bodies ...string) *Pack {
	tb.Helper()
	var rules []*ruleFile
	for _, b := range bodies {
		r, err := readRule([]byte(b))
		if err != nil {
			tb.Fatal(err)
		}
		rules = append(rules, r)
	}
	p, err := compile("9.9.9", rules, fieldsRead...)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// written gives a rule with the first word of each line of changes set.
func written(id, members, detection string) string {
	return "id: " + id + "\ntitle: " + id + " title\n" + members + "\ndetection:\n" + detection
}

const (
	steady = "status: stable\nmaturity: stable\nseverity: high\ntags: {confidence: high}"
	whale  = "  condition: any\n  conditions: [{field: content, operator: regex, value: 'white\\s+whale'}]\n"
)

func ids(r Result) (list []string) {
	for _, m := range r.Matches {
		list = append(list, m.Rule.ID)
	}
	return list
}

func TestWhichRulesRun(t *testing.T) {
	p := ruleSet(t,
		written("A-plain", steady, whale),
		written("B-draft", strings.Replace(steady, "status: stable", "status: draft", 1), whale),
		written("C-deprecated", strings.Replace(steady, "status: stable", "status: deprecated", 1), whale),
		written("D-trace", steady, "  method: trace\n"+whale),
		written("E-behavioral", steady, "  method: behavioral\n"+whale),
		written("F-semantic", steady, "  method: semantic\n  semantic: {fallback_method: pattern}\n"+whale),
		written("G-judged", steady, "  method: semantic\n"+whale),
		written("H-described", steady, strings.Replace(whale, "field: content", "field: tool_description", 1)),
		written("I-named", steady, strings.Replace(whale, "field: content", "field: tool_name", 1)),
		written("J-draft-maturity", strings.Replace(steady, "maturity: stable", "maturity: draft", 1), whale),
		written("K-both", steady, "  condition: all\n  conditions: [{field: content, operator: regex, value: 'white\\s+whale'}, {field: content, operator: regex, value: '(?i)harpoon'}]\n"),
		written("L-both-fields", steady, "  condition: all\n  conditions: [{field: content, operator: regex, value: 'white\\s+whale'}, {field: tool_args, operator: regex, value: 'whale'}]\n"),
	)
	if got, want := ids(p.Match([]string{"the White  WHALE"}, nil)), []string{"A-plain", "F-semantic", "H-described", "J-draft-maturity"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := ids(p.Match([]string{"Harpoon: white whale"}, nil)); !slices.Contains(got, "K-both") || slices.Contains(got, "L-both-fields") {
		t.Errorf("all: %v", got)
	}
	if p.Total() != 12 || p.Version() != "9.9.9" {
		t.Errorf("%d rules of %s", p.Total(), p.Version())
	}
}

func TestGrade(t *testing.T) {
	for _, test := range []struct {
		maturity, confidence string
		want                 toolmark.Severity
	}{
		{"stable", "high", toolmark.Medium},
		{"test", "high", toolmark.Medium},
		{"experimental", "high", toolmark.Info},
		{"draft", "high", toolmark.Info},
		{"stable", "medium", toolmark.Info},
		{"test", "low", toolmark.Info},
	} {
		p := ruleSet(t, written("A", "status: stable\nseverity: critical\nmaturity: "+test.maturity+"\ntags: {confidence: "+test.confidence+"}", whale))
		if got := p.Rules()[0].Grade(); got != test.want {
			t.Errorf("%s %s: %v (confidence %v), want %v", test.maturity, test.confidence, got, p.Rules()[0].Confidence, test.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	p := ruleSet(t, written("A", steady, whale))
	for name, test := range map[string]struct {
		texts      []string
		text       int
		joined     bool
		start, end int
	}{
		"plain":                      {[]string{"a white whale."}, 0, false, 2, 13},
		"in the second text":         {[]string{"calm", "😀 white whale"}, 1, false, 2, 13},
		"full-width":                 {[]string{"ｗｈｉｔｅ whale"}, 0, false, 0, 11},
		"zero-width inside":          {[]string{"é wh\u200bite wh\u200dale"}, 0, false, 2, 15},
		"Cyrillic letters":           {[]string{"wh\u0456t\u0435 whale"}, 0, false, 0, 11},
		"after a ligature":           {[]string{"ﬁne white whale"}, 0, false, 4, 15},
		"after a lone surrogate":     {[]string{"\xed\xa0\x80 é white whale"}, 0, false, 4, 15},
		"over two texts":             {[]string{"all white", "whale here"}, 0, true, 4, 9},
		"over two, behind an astral": {[]string{"x", "😀 white", "whale"}, 1, true, 2, 7},
	} {
		t.Run(name, func(t *testing.T) {
			r := p.Match(test.texts, nil)
			if len(r.Matches) != 1 {
				t.Fatalf("%+v", r)
			}
			if m := r.Matches[0]; m.Text != test.text || m.Joined != test.joined || m.Start != test.start || m.End != test.end {
				t.Errorf("got %d %v %d–%d, want %d %v %d–%d", m.Text, m.Joined, m.Start, m.End, test.text, test.joined, test.start, test.end)
			}
		})
	}
}

func TestNormalisedThenRaw(t *testing.T) {
	p := ruleSet(t, written("A", steady, "  condition: any\n  conditions: [{field: content, operator: regex, value: '[\\u200b\\u200c]{2,}|colou?r'}]\n"))
	for text, want := range map[string]bool{"co\u200blor": true, "x\u200b\u200cy": true, "x\u200by": false, "ｃｏｌｏｒ": true} {
		if got := len(p.Match([]string{text}, nil).Matches) > 0; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestCodeIsLeftOutWhereTheRuleSaysSo(t *testing.T) {
	p := ruleSet(t, written("A", strings.Replace(steady, "{confidence: high}", "{confidence: high, suppress_in_code_blocks: true}", 1), whale))
	for text, want := range map[string]bool{
		"white whale":                              true,
		"see `white whale`":                        false,
		"```\nwhite whale\n```\n":                  false,
		"```\nwhite whale":                         false,
		"  ```sh\nx\n```\nwhite whale":             true,
		"| a | \"white whale\" |":                  false,
		"a | \"white whale\" |":                    true,
		"`white whale` and white whale":            false, // the first one decides
		"white whale and `white whale`":            true,
		"`` white whale":                           true,
		"`code\nwhite whale`":                      true,
		"white\u200b \u200bwhale in `white whale`": true,
	} {
		if got := len(p.Match([]string{text}, nil).Matches) > 0; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestLongTexts shows that there is no length at which a text passes unread.
func TestLongTexts(t *testing.T) {
	p := ruleSet(t, written("A", steady, whale))
	text := strings.Repeat("calm sea ", 60_000) + "white whale"
	r := p.Match([]string{text}, nil)
	if len(r.Matches) != 1 || r.Matches[0].Start != 540_000 || r.Matches[0].End != 540_011 {
		t.Errorf("%+v", r.Matches)
	}
}

func TestStop(t *testing.T) {
	p := ruleSet(t, written("A", steady, whale))
	left := 1
	r := p.Match([]string{"white whale", "white whale"}, func() bool { left--; return left < 0 })
	if r.Complete || len(r.Matches) != 1 {
		t.Errorf("%+v", r)
	}
	if r = p.Match([]string{"calm"}, func() bool { return true }); r.Complete {
		t.Error("complete though stopped at once")
	}
	if r = p.Match(nil, nil); !r.Complete || len(r.Matches) > 0 {
		t.Errorf("no texts: %+v", r)
	}
}

// TestTimeoutIsReported has a pattern with a back-reference that takes for ever.
func TestTimeoutIsReported(t *testing.T) {
	p := ruleSet(t, written("A", steady, "  condition: any\n  conditions: [{field: content, operator: regex, value: '(a|b)(?:x+x+)+\\1!'}]\n"))
	if p.patience != backtrackTime {
		t.Fatalf("the limit is %v", p.patience)
	}
	start := time.Now()
	r := p.Match([]string{"a" + strings.Repeat("x", 200) + "b!"}, nil)
	if len(r.Matches) > 0 || !slices.Equal(r.Unfinished, []string{"A"}) {
		t.Errorf("neither clean nor matched is right: %+v", r)
	}
	took := time.Since(start)
	p.patience = 30 * time.Second
	if r = p.Match([]string{"axxxa!"}, nil); len(r.Matches) != 1 || len(r.Unfinished) > 0 {
		t.Errorf("%+v", r)
	}
	if took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestJoinedAgainstOneText holds the short cut for joined texts (only where they meet)
// against reading the joined text alone.
func TestJoinedAgainstOneText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := patternOf(true).Draw(t, "pattern")
		texts := rapid.SliceOfN(smallText, 2, 5).Draw(t, "texts")
		r := &ruleFile{ID: "T-1", Title: "t"}
		r.Detection.Condition = "any"
		r.Detection.Conditions = []conditionFile{{Field: "content", Operator: "regex", Value: &pattern}}
		p, err := compile("1", []*ruleFile{r}, fieldsRead...)
		if err != nil {
			t.Skip(err)
		}
		want := false
		filled := 0
		for _, text := range texts {
			if text != "" {
				filled++
			}
		}
		for _, text := range texts {
			if filled == 1 || !plainWord(text) {
				want = want || len(p.Match([]string{text}, nil).Matches) > 0
			}
		}
		if filled > 1 {
			want = want || len(p.Match([]string{strings.Join(texts, separator)}, nil).Matches) > 0
		}
		if got := len(p.Match(texts, nil).Matches) > 0; got != want {
			t.Fatalf("%q on %q: %v, one by one %v", pattern, texts, got, want)
		}
	})
}

func TestIndexFile(t *testing.T) {
	p := ruleSet(t, written("A", steady, whale), written("B", strings.Replace(steady, "high}", "medium}", 1), "  condition: all\n  conditions: [{field: content, operator: regex, value: '(ab|c)\\1'}]\n"))
	data := p.encode()
	q, err := decodePack(data)
	if err != nil {
		t.Fatal(err)
	}
	if again := q.encode(); !slices.Equal(again, data) {
		t.Error("reading and writing changes the file")
	}
	if got := ids(q.Match([]string{"CC white whale"}, nil)); !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("%v", got)
	}
	for cut := range data {
		if _, err := decodePack(data[:cut]); err == nil {
			t.Fatalf("cut at %d: taken", cut)
		}
		changed := slices.Clone(data)
		changed[cut] ^= 0x10
		if _, err := decodePack(changed); err == nil {
			t.Fatalf("changed at %d: taken", cut)
		}
	}
}

// TestSideBySide uses one pack from several goroutines, patterns being read as they go.
func TestSideBySide(t *testing.T) {
	p := ruleSet(t, written("A", steady, whale), written("B", steady, "  condition: any\n  conditions: [{field: content, operator: regex, value: '(ab|c)\\1'}]\n"))
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				if got := ids(p.Match([]string{"abab", "white whale"}, nil)); !slices.Equal(got, []string{"A", "B"}) {
					t.Error(got)
				}
			}
		})
	}
	wait.Wait()
}
