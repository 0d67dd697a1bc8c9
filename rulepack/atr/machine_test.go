package atr

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// naive matches an expression the slow way: it tries every choice in turn, and has
// nothing of the machine in it.
func naive(n *node, text []rune, at int, next func(int) bool) bool {
	isWord := func(i int) bool { return i >= 0 && i < len(text) && n.class.has(text[i]) }
	switch n.op {
	case opEmpty:
		return next(at)
	case opClass:
		return at < len(text) && n.class.has(text[at]) && next(at+1)
	case opConcat:
		if len(n.sub) == 0 {
			return next(at)
		}
		rest := &node{op: opConcat, sub: n.sub[1:]}
		return naive(n.sub[0], text, at, func(i int) bool { return naive(rest, text, i, next) })
	case opAlternate:
		return slices.ContainsFunc(n.sub, func(b *node) bool { return naive(b, text, at, next) })
	case opRepeat:
		if n.min > 0 {
			less := &node{op: opRepeat, sub: n.sub, min: n.min - 1, max: max(n.max-1, -1)}
			return naive(n.sub[0], text, at, func(i int) bool { return naive(less, text, i, next) })
		}
		if next(at) {
			return true
		}
		less := &node{op: opRepeat, sub: n.sub, max: max(n.max-1, -1)}
		return n.max != 0 && naive(n.sub[0], text, at, func(i int) bool { return i > at && naive(less, text, i, next) })
	case opLook:
		holds := false
		if n.behind {
			for from := 0; from <= at && !holds; from++ {
				holds = naive(n.sub[0], text, from, func(i int) bool { return i == at })
			}
		} else {
			holds = naive(n.sub[0], text, at, func(int) bool { return true })
		}
		return holds != n.negative && next(at)
	case opBegin:
		return at == 0 && next(at)
	case opEnd:
		return at == len(text) && next(at)
	case opWord:
		return isWord(at-1) != isWord(at) && next(at)
	case opNotWord:
		return isWord(at-1) == isWord(at) && next(at)
	}
	panic("not for this")
}

// first gives where the first match of an expression begins, -1 where there is none.
func naiveFirst(n *node, text []rune) int {
	for at := 0; at <= len(text); at++ {
		if naive(n, text, at, func(int) bool { return true }) {
			return at
		}
	}
	return -1
}

// single makes a pack of one rule with one pattern.
func single(tb testing.TB, pattern string) *Pack {
	tb.Helper()
	r := &ruleFile{ID: "T-1", Title: "t"}
	r.Detection.Condition = "any"
	r.Detection.Conditions = []conditionFile{{Field: "content", Operator: "regex", Value: &pattern}}
	p, err := compile("1", []*ruleFile{r}, fieldsRead...)
	if err != nil {
		tb.Fatalf("%q: %v", pattern, err)
	}
	return p
}

// patternOf draws an expression over a small alphabet.
func patternOf(look bool) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string { return drawPattern(t, 3, look) })
}

func drawPattern(t *rapid.T, depth int, look bool) string {
	atoms := []string{"a", "b", "ab", "abc", "bca", `\s`, `\w`, "[^a]", "[ab]", `\b`, ".", `[\s\S]`, "-", `\B`, "ca b"}
	if depth == 0 {
		return rapid.SampledFrom(atoms).Draw(t, "atom")
	}
	sub := func() string { return drawPattern(t, depth-1, look) }
	kinds := 6
	if look {
		kinds = 9
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return sub()
	case 1:
		return "(?:" + sub() + "|" + sub() + ")"
	case 2:
		s := sub()
		if strings.HasSuffix(s, `\b`) || strings.HasSuffix(s, `\B`) {
			return s
		}
		return "(?:" + s + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,5}?", "*?"}).Draw(t, "times")
	case 3:
		return rapid.SampledFrom([]string{"a", "b", `\s`, `\w`, "[^ab]", `[\s\S]`}).Draw(t, "char") +
			rapid.SampledFrom([]string{"*", "+", "{0,7}", "{3,9}", "{2,}", "{5}"}).Draw(t, "times")
	case 6:
		return "(?=" + sub() + ")" + sub()
	case 7:
		return sub() + "(?!" + sub() + ")"
	case 8:
		return rapid.SampledFrom([]string{"(?<=", "(?<!"}).Draw(t, "behind") + sub() + ")" + sub()
	}
	return sub() + sub()
}

var smallText = rapid.StringOfN(rapid.SampledFrom([]rune("aabbc -\nA")), 0, 90, -1)

// longText has rows of one character that are longer than a machine word.
var longText = rapid.Custom(func(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(1, 9).Draw(t, "rows") {
		row := rapid.SampledFrom([]string{"a", "b", "c", " ", "-", "ab", "bc a", "\n"}).Draw(t, "of")
		b.WriteString(strings.Repeat(row, rapid.IntRange(1, 150).Draw(t, "times")))
	}
	return b.String()
})

// TestMatchesAsTheSlowWay holds the fast way (index, needs, sets of positions) against
// trying everything.
func TestMatchesAsTheSlowWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := patternOf(true).Draw(t, "pattern")
		text := smallText.Draw(t, "text")
		root, _, err := parse(pattern, false, new(interner))
		if err != nil {
			t.Skip(err) // such as a quantifier behind \b
		}
		compareSlow(t, pattern, root, text)
	})
}

func compareSlow(t interface{ Fatalf(string, ...any) }, pattern string, root *node, text string) {
	r := &ruleFile{ID: "T-1", Title: "t"}
	r.Detection.Condition = "any"
	r.Detection.Conditions = []conditionFile{{Field: "content", Operator: "regex", Value: &pattern}}
	p, err := compile("1", []*ruleFile{r}, fieldsRead...)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	if text == "" {
		return // nothing is tried on no text
	}
	want := naiveFirst(root, units(text, false))
	got := p.Match([]string{text}, nil).Matches
	if (want >= 0) != (len(got) > 0) {
		t.Fatalf("%q on %q: the slow way finds %d, the fast way %v", pattern, text, want, got)
	}
	if len(got) > 0 && root.op != opAlternate && got[0].Start != want {
		t.Fatalf("%q on %q: begins at %d, the fast way says %d", pattern, text, want, got[0].Start)
	}
}

func FuzzFastAgainstSlow(f *testing.F) {
	f.Add(`(?:a|bc)+(?!\s*-)`, "abcbc - a")
	f.Add(`(?<=\bab)[\s\S]{0,5}c`, "ab\n\n c")
	f.Add(`(?:(?!-->)[\s\S]){2,9}?-->`, "abc-->")
	f.Add(`^\s*key\s*$`, " key\n")
	f.Add(`(?=[^ ]*\d)\w{3,}`, "abc1 ab1c")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 24 || len(text) > 48 || strings.Count(pattern, "*")+strings.Count(pattern, "+")+strings.Count(pattern, "{") > 2 ||
			strings.ToValidUTF8(pattern, "") != pattern || strings.ToValidUTF8(text, "") != text {
			t.Skip("the slow way would take too long")
		}
		if normal, changed := normalized(text); changed || normal != text || hasUnicodeFlag(pattern) || plain(pattern) != pattern {
			t.Skip("not what is compared here")
		}
		root, backrefs, err := parse(pattern, false, new(interner))
		if err != nil || backrefs {
			t.Skip()
		}
		compareSlow(t, pattern, root, text)
	})
}

// TestMatchesAsRE2 holds the machine against regexp of the standard library, where
// both read a pattern alike.
func TestMatchesAsRE2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := patternOf(false).Draw(t, "pattern")
		text := rapid.OneOf(smallText, longText).Draw(t, "text")
		re, err := regexp.Compile("(?i)" + pattern)
		if err != nil {
			t.Skip(err)
		}
		root, _, err := parse(pattern, false, new(interner))
		if err != nil || text == "" {
			t.Skip(err)
		}
		r := &ruleFile{ID: "T-1", Title: "t"}
		r.Detection.Condition = "any"
		r.Detection.Conditions = []conditionFile{{Field: "content", Operator: "regex", Value: &pattern}}
		p, err := compile("1", []*ruleFile{r}, fieldsRead...)
		if err != nil {
			t.Fatal(err)
		}
		got, want := p.Match([]string{text}, nil).Matches, re.FindStringIndex(text)
		if (len(got) > 0) != (want != nil) {
			t.Fatalf("%q on %q: %v, regexp says %v", pattern, text, got, want)
		}
		if len(got) > 0 && root.op != opAlternate && got[0].Start != want[0] {
			t.Fatalf("%q on %q: begins at %d, regexp says %d", pattern, text, got[0].Start, want[0])
		}
	})
}

// TestPatterns has what ECMAScript says and others do not.
func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{`^a.c$`, "a\u2028c", false},
		{`^a.c$`, "a\u0085c", true},
		{`^.$`, "\U0001f600", false},
		{`^..$`, "\U0001f600", true},
		{`^\u{1F600}$`, "\U0001f600", true},
		{`\ud83d[\ude00-\ude4f]`, "x\U0001f600", true},
		{`[\ud800-\udfff]`, "plain", false},
		{`a\sb`, "a\ufeffb", true},
		{`a\sb`, "a\u180eb", false},
		{`\x41\u0042`, "xab", true},
		{`a{,3}`, "A{,3}", true},
		{`[\w-x]+!`, "-!", true},
		{`\bkey\b`, "the\u00e9key", true},
		{`\cJx`, "\nx", true},
		{`(?:a|b)\1`, "a\x01", true},
		{`(a|b)\1c`, "aac", true},
		{`(a|b)\1c`, "abc", false},
		{`(ab|c)\1x`, "ABabx", true},
		{`stra\u00dfe`, "STRA\u1e9eE", false},
		{`\u0434\u0430`, "\u0414\u0410", true},
		{`\u03c3`, "\u03c2", true},
		{`[^]x`, "\nx", true},
		{`(?<!no )limit`, "no limit", false},
		{`(?<!no )limit`, "a limit", true},
		{`$(?!a)`, "ab", true},
	} {
		r := single(t, test.pattern).Match([]string{test.text}, nil)
		if got := len(r.Matches) > 0; got != test.want || len(r.Unfinished) > 0 {
			t.Errorf("%q on %q: %v, want %v %v", test.pattern, test.text, got, test.want, r.Unfinished)
		}
	}
	for _, bad := range []string{`a(`, `a)`, `[b-a]`, `*a`, `a{3,1}`, `(?<n`, `(?!(a)\1)b`, `a\`, `[a`, `(?i:a)`} {
		if _, _, err := parse(bad, false, new(interner)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestFoldByte holds what the index rests on, for every character: what the i flag
// takes for equal folds to one byte.
func TestFoldByte(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		fold := foldByte(r)
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if foldByte(f) != fold {
				t.Fatalf("%U and %U are one letter but fold to %#x and %#x", r, f, fold, foldByte(f))
			}
			in := false
			for i := 0; i < len(cased); i += 2 {
				in = in || r >= cased[i] && r <= cased[i+1]
			}
			if !in {
				t.Fatalf("%U has case, but is in no stretch of cased", r)
			}
		}
		if r <= 0xffff && foldByte(canonicalUnit(r)) != fold {
			t.Fatalf("%U and its canonical form fold to different bytes", r)
		}
	}
}
