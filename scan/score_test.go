package scan_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/scan"
)

// scoreRules are signals of one word each: alpha 3, beta 2, gamma 4, against -3.
func scoreRules(t *testing.T) *rule.Set {
	t.Helper()
	files := fstest.MapFS{"words/en.yaml": {Data: []byte("alpha: [alpha]\nbeta: [beta]\ngamma: [gamma]\nagainst: [against]\nplain: [plain]\nweak: [weak]\nquoting: [quoting]\n")}}
	add := func(id, severity, more string) {
		files["rules/"+id+".yaml"] = &fstest.MapFile{Data: []byte("id: " + id + "\ntitle: t\nact: steering\nseverity: " + severity +
			"\nexplain: e\nfix: f\nany:\n- {id: x, near: [" + id + "]}\n" + more +
			"examples:\n  match:\n  - {text: " + id + ", by: x}\n  - {text: the " + id + ", by: x}\n  clean:\n  - {text: a}\n  - {text: b}\n")}
	}
	add("alpha", "signal", "weight: 3\n")
	add("beta", "signal", "weight: 2\n")
	add("gamma", "signal", "weight: 4\n")
	add("against", "signal", "weight: -3\n")
	add("plain", "medium", "")
	add("weak", "high", "downgrade:\n- {near: [quoting]}\n")
	set, err := rule.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func scoreOf(t *testing.T, set *rule.Set, tool string) (toolmark.Severity, *toolmark.Score) {
	t.Helper()
	v, err := canonjson.Parse([]byte(`{"tools":[`+tool+`]}`), canonjson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := toolmark.ReadManifest(v)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scan.New(scan.Config{Rules: set, Budget: -1})
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Scan(context.Background(), scan.Request{Manifest: m, Scope: toolmark.ScopeAll})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if d, ok := f.Details.(toolmark.PoisonDetails); ok {
			return f.Severity, d.Score
		}
	}
	return 0, nil
}

func TestScore(t *testing.T) {
	set := scoreRules(t)
	for _, c := range []struct {
		name, description string
		severity          toolmark.Severity
		total             int // 0: no score
	}{
		{"one signal says nothing", "alpha and alpha.", 0, 0},
		{"two in one sentence", "alpha and beta.", toolmark.Medium, 5},
		{"a signal counts once", "beta and beta and beta.", 0, 0},
		{"a neighbour counts half", "gamma. beta.", toolmark.Medium, 5},
		{"the sentence after the next does not count", "gamma. And so on. beta.", 0, 0},
		{"half of three is one", "gamma. alpha.", toolmark.Medium, 5},
		{"three in one sentence", "alpha, beta and gamma.", toolmark.High, 9},
		{"what speaks against it", "alpha, gamma, against.", 0, 0},
		{"a medium rule and signals", "plain gamma.", toolmark.Medium, 5},
		{"a medium rule by itself has no score", "plain.", toolmark.Medium, 0},
		{"a medium rule elsewhere", "plain. And so on. gamma.", toolmark.Medium, 0},
		{"a sentence about attacks", "quoting weak alpha gamma.", toolmark.Info, 0},
		{"a high rule needs no score", "weak. And so on. beta.", toolmark.High, 0},
	} {
		severity, score := scoreOf(t, set, `{"name":"t","description":"`+c.description+`"}`)
		total := 0
		if score != nil {
			total = score.Total
			sum := 0
			for _, p := range score.Parts {
				sum += p.Weight
				if set.Find(p.Rule) == nil {
					t.Errorf("%s: part %q names no rule", c.name, p.Rule)
				}
			}
			if sum != total || score.Threshold > total {
				t.Errorf("%s: parts %v sum to %d, total %d, threshold %d", c.name, score.Parts, sum, total, score.Threshold)
			}
		}
		if severity != c.severity || total != c.total {
			t.Errorf("%s: severity %v score %d, want %v %d", c.name, severity, total, c.severity, c.total)
		}
	}
}

// TestScoreJoinsANameAndItsDescription: a parameter's name is part of what its
// description says; two descriptions are not.
func TestScoreJoinsANameAndItsDescription(t *testing.T) {
	set := scoreRules(t)
	severity, score := scoreOf(t, set, `{"name":"t","inputSchema":{"type":"object","properties":{"gamma":{"type":"string","description":"It is alpha."}}}}`)
	if severity != toolmark.Medium || score == nil || score.Total != 5 {
		t.Errorf("severity %v, score %v", severity, score)
	}
	severity, score = scoreOf(t, set, `{"name":"t","description":"gamma","inputSchema":{"type":"object","properties":{"p":{"type":"string","description":"It is alpha."}}}}`)
	if severity != 0 || score != nil {
		t.Errorf("two fields: severity %v, score %v", severity, score)
	}
}
