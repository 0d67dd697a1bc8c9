package scan

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/rulepack"
	"github.com/toolmark/toolmark/textcheck"
)

// TestSignalsLeftOutChangeNoScore: what a sum is made of is the same whether signals that
// cannot be enough are left out or not, in texts made of what the signals look for, and
// in names beside them.
func TestSignalsLeftOutChangeNoScore(t *testing.T) {
	set, err := rulepack.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var signals, others []string
	for _, r := range set.Rules() {
		examples, err := r.Examples()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range examples.Match {
			switch {
			case e.Text == "" || len(e.Text) > 200:
			case r.Weight != 0:
				signals = append(signals, e.Text)
			case r.Severity < toolmark.High:
				others = append(others, e.Text)
			}
		}
	}
	if len(signals) < 50 || len(others) < 20 {
		t.Fatalf("%d signals and %d others to make texts of", len(signals), len(others))
	}
	random := rand.New(rand.NewPCG(8, 8))
	text := func() string {
		var b strings.Builder
		for range 1 + random.IntN(5) {
			from := signals
			if random.IntN(6) == 0 {
				from = others
			}
			b.WriteString(strings.TrimRight(from[random.IntN(len(from))], ". "))
			b.WriteString([]string{". ", ", ", "\n\n", ";  ", "_"}[random.IntN(5)])
		}
		return b.String()
	}
	field := func(surface toolmark.Surface, pointer, text string) rule.Field {
		return rule.Field{Surface: surface, Pointer: pointer, Text: text, Readings: textcheck.Readings(text)}
	}
	scores, left := 0, 0
	for range 600 {
		name := strings.NewReplacer(" ", "_", ".", "", ",", "").Replace(signals[random.IntN(len(signals))])
		sub := &subject{fields: []rule.Field{
			field(toolmark.SurfaceDescription, "/description", text()),
			field(toolmark.SurfaceParameterName, "/inputSchema/properties/x", name),
			field(toolmark.SurfaceParameter, "/inputSchema/properties/x/description", text()),
			field(toolmark.SurfaceEnum, "/inputSchema/properties/x/enum/0", name),
		}}
		all, _ := set.Match(sub.fields, nil)
		few, _ := set.MatchScored(sub.fields, MediumScore, nil)
		left += len(all) - len(few)
		findings, signals := split(all)
		score, parts := sub.weigh(findings, signals)
		same, of := split(few)
		if !reflect.DeepEqual(findings, same) {
			t.Fatalf("other findings in %q %q", sub.fields[0].Text, sub.fields[2].Text)
		}
		again, others := sub.weigh(same, of)
		if !reflect.DeepEqual(score, again) || !reflect.DeepEqual(parts, others) {
			t.Fatalf("score %+v, without what was left out %+v of %q %q", score, again, sub.fields[0].Text, sub.fields[2].Text)
		}
		if score != nil {
			scores++
		}
	}
	if scores < 100 || left < 100 {
		t.Errorf("%d scores, %d signals left out: the comparison says nothing", scores, left)
	}
}
