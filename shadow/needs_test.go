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
		for i, sw := range sways() {
			if !sw.pattern.MatchString(text) {
				continue
			}
			matched[i]++
			if !hasAll(lower, sw.needs) || !sw.known && !swaysUnknown(lower) {
				t.Fatalf("%q matches %s and has not its words", text, sw.pattern)
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
