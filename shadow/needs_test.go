package shadow

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestNeedsLoseNothing holds the words that decide whether a pattern is tried at all
// against trying every pattern, on sentences made of the patterns' own words.
func TestNeedsLoseNothing(t *testing.T) {
	vocabulary := strings.Fields(`when whenever if once each time before after as soon is are was gets has been called invoked
		run executed triggered used present available requested change set include send pass add copy use you the agent model
		calls every any all call request must should shall have to need needs always side effect effects on over precedence
		modifies behaviour behavior of output also previously declared other server's supersedes shadows overrides returns
		incomplete wrong reroute redirect all through for instead rather than in place do not never call using trust don't
		no longer deprecated broken statt anstelle von en lugar de au lieu de вместо 代替 の代わりに yerine then first prior
		tool ` + markForeign + " " + markForeign + " " + markForeign + "’s " + markOwn)
	random := rand.New(rand.NewPCG(1, 2))
	matched := make([]int, len(sways()))
	for range 10_000 {
		words := make([]string, 2+random.IntN(11))
		for i := range words {
			words[i] = vocabulary[random.IntN(len(vocabulary))]
			if random.IntN(4) == 0 {
				words[i] = markForeign
			}
		}
		text := strings.Join(words, " ")
		lower := strings.ToLower(text)
		found := swayWords().in(text)
		for i, sw := range sways() {
			if !sw.pattern().MatchString(text) {
				continue
			}
			matched[i]++
			if !hasAll(lower, sw.needs) || !sw.known && !swayWords().swaysUnknown(&found) {
				t.Fatalf("%q matches %s and has not its words", text, sw.pattern())
			}
		}
	}
	often := 0
	for _, n := range matched {
		if n > 0 {
			often++
		}
	}
	if often < len(matched)-4 {
		t.Errorf("only %d of %d patterns matched any sentence: %v", often, len(matched), matched)
	}
}

// TestVocabulary holds the automaton against strings.Contains.
func TestVocabulary(t *testing.T) {
	l := swayWords()
	random := rand.New(rand.NewPCG(3, 4))
	var list []string
	for w := range l.number {
		list = append(list, w)
	}
	if len(list) < 100 {
		t.Fatalf("only %d words", len(list))
	}
	for range 3000 {
		var text strings.Builder
		for range 1 + random.IntN(6) {
			w := list[random.IntN(len(list))]
			from := random.IntN(len(w))
			switch random.IntN(4) {
			case 0:
				w = w[from:]
			case 1:
				w = w[:from]
			case 2:
				w = strings.ToUpper(w[:1]) + w[1:] + " "
			}
			text.WriteString(w)
		}
		lower := strings.ToLower(text.String())
		found := l.in(lowered(text.String()))
		for w, n := range l.number {
			if one := l.set([]string{w}); one.meets(&found) != strings.Contains(lower, w) {
				t.Fatalf("%q and %q (%d): %v", lower, w, n, !strings.Contains(lower, w))
			}
		}
	}
}

// TestMayName: no sentence in which a token counts as a name fails the cheap test.
func TestMayName(t *testing.T) {
	parts := []string{"read", "File", "a", " ", "_", "-", ".", ":", "::", "/", "'", "`", `"`, "é", "9", "--"}
	random := rand.New(rand.NewPCG(5, 6))
	n := NewNames(nil, nil)
	named := 0
	for range 50_000 {
		var text strings.Builder
		for range 1 + random.IntN(8) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		for _, s := range sentences(text.String()) {
			marked, mentions := n.mark(text.String(), s)
			if len(mentions) == 0 {
				continue
			}
			named++
			if !mayName(text.String()[s.start:s.end]) {
				t.Fatalf("%q is marked %q", text.String(), marked)
			}
		}
	}
	if named < 1000 {
		t.Errorf("only %d names", named)
	}
}
