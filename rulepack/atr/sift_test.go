package atr

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// unsifted is Match without sifting.
func unsifted(p *Pack, texts []string) Result {
	m := p.matcher()
	defer p.pool.Put(m)
	m.begin(texts, nil)
	filled := 0
	for _, text := range texts {
		if text != "" {
			filled++
		}
	}
	for i, text := range texts {
		if text != "" && (filled == 1 || !plainWord(text)) {
			m.event(i, text, false)
		}
	}
	if filled > 1 {
		m.event(0, strings.Join(texts, separator), true)
	}
	return m.result()
}

// TestSiftingLosesNothing tries the pack on tools made of its own test texts, whole and
// in pieces, and on real tools.
func TestSiftingLosesNothing(t *testing.T) {
	p := real(t)
	texts := realTexts(t)
	random := rand.New(rand.NewPCG(7, 8))
	var tools [][]string
	for range 1500 {
		var tool []string
		for range 2 + random.IntN(5) {
			text := texts[random.IntN(len(texts))]
			if len(text) > 400 {
				text = text[:400]
			}
			switch random.IntN(4) {
			case 0:
				tool = append(tool, strings.Fields(text)...)
			case 1:
				if at := strings.IndexByte(text, ' '); at >= 0 {
					tool = append(tool, text[:at], text[at+1:])
				}
			case 2:
				tool = append(tool, text[random.IntN(len(text)):], "")
			default:
				tool = append(tool, text)
			}
		}
		tools = append(tools, tool)
	}
	tools = append(tools, benignTexts(t)...)
	matches := 0
	for _, tool := range tools {
		got, want := p.Match(tool, nil), unsifted(p, tool)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q:\n%+v, unsifted %+v", tool, got.Matches, want.Matches)
		}
		matches += len(got.Matches)
	}
	if matches < 1000 {
		t.Errorf("only %d matches", matches)
	}
}

// TestBatchAgainstMatch scans lists made of test texts and real tools, in one go and tool by
// tool.
func TestBatchAgainstMatch(t *testing.T) {
	p := real(t)
	texts := realTexts(t)
	random := rand.New(rand.NewPCG(9, 10))
	lists := [][][]string{benignTexts(t), {{"", ""}, nil, {"x"}}, nil}
	for range 60 {
		var list [][]string
		for range random.IntN(40) {
			var tool []string
			for range random.IntN(4) {
				text := texts[random.IntN(len(texts))]
				if random.IntN(3) == 0 {
					tool = append(tool, strings.Fields(text[:min(len(text), 200)])...)
				} else {
					tool = append(tool, text[:min(len(text), 50+random.IntN(600))])
				}
			}
			list = append(list, tool)
		}
		lists = append(lists, list)
	}
	matches, sifted := 0, 0
	for _, list := range lists {
		b := p.Batch(list, nil)
		for i, tool := range list {
			got, want := b.Match(i, nil), unsifted(p, tool)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%q:\n%+v, alone %+v", tool, got.Matches, want.Matches)
			}
			matches += len(got.Matches)
			if b.wait[i] == 0 {
				sifted++
			}
		}
	}
	if matches < 500 || sifted < 500 {
		t.Errorf("only %d matches, %d tools sifted together", matches, sifted)
	}
	left := 3
	b := p.Batch(lists[0], func() bool { left--; return left < 0 })
	for i, tool := range lists[0][:50] {
		if got, want := b.Match(i, nil), p.Match(tool, nil); !reflect.DeepEqual(got, want) {
			t.Fatalf("after a stop: %q: %+v, alone %+v", tool, got, want)
		}
	}
	b = p.Batch(lists[0], nil)
	for i := range lists[0][:50] {
		if r := b.Match(i, func() bool { return true }); r.Complete && b.wait[i] == 0 {
			t.Fatalf("tool %d is complete though stopped", i)
		}
	}
}

func benignTexts(tb testing.TB) (list [][]string) {
	for i, t := range benign(tb) {
		if i%4 == 0 && len(t.texts) > 0 {
			list = append(list, t.texts)
		}
	}
	return list
}

// TestSiftingPatterns does the same with made-up patterns, in which lookarounds and
// anchors stand where no author would put them.
func TestSiftingPatterns(t *testing.T) {
	matched := 0
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom([]string{"", "", "^", `(?:^|\n)`, `(?!^)`}).Draw(t, "before") +
			patternOf(true).Draw(t, "pattern") + rapid.SampledFrom([]string{"", "", "$", `(?:\s|$)`, `(?!$)`}).Draw(t, "behind")
		r := &ruleFile{ID: "T-1", Title: "t"}
		r.Detection.Condition = "any"
		r.Detection.Conditions = []conditionFile{{Field: "content", Operator: "regex", Value: &pattern}}
		p, err := compile("1", []*ruleFile{r}, fieldsRead...)
		if err != nil {
			t.Skip(err)
		}
		// Characters that normalising makes others, drops, and folds.
		text := rapid.OneOf(smallText, rapid.StringOfN(rapid.SampledFrom([]rune("aab -\nａ，а\u200bɡΩ…\U0001F600")), 0, 30, -1))
		texts := rapid.SliceOfN(text, 1, 5).Draw(t, "texts")
		got, want := p.Match(texts, nil), unsifted(p, texts)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s on %q: %+v, unsifted %+v", pattern, texts, got, want)
		}
		matched += len(got.Matches)
		list := [][]string{texts, {text.Draw(t, "other")}, texts[1:], {"aab -"}}
		b := p.Batch(list, nil)
		for i, tool := range list {
			if got, want := b.Match(i, nil), unsifted(p, tool); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s on %q of %q: %+v, unsifted %+v", pattern, tool, list, got, want)
			}
		}
	})
	if matched == 0 {
		t.Error("nothing matched")
	}
}
