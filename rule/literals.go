package rule

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a match of a pattern holds can be read off its syntax tree: a concatenation
// holds what each of its parts holds, in that order; an alternation holds what its
// first branch holds or what its second holds, and so on. So a pattern without
// repetitions is a choice of chains: each match holds all that one of the chains
// asks for, one after the other. What a chain asks for at one place is a need, "one
// of these texts"; a part of the pattern that is not taken apart, such as a
// repetition, gives at most one need.
//
// Texts are folded, and so is what they are looked for in. Folding goes rune by rune
// and makes equal whatever a case-insensitive pattern takes for equal (fold.go), so a
// match always holds one of the texts of each need; the reverse is not so, and need
// not be.

// chain is a list of needs that stand in order in each match of one branch of a
// pattern, at least one.
type chain []need

// need is one of a few literals that a match holds.
type need struct {
	texts *texts // nil in a set that was compiled
	set   int    // of the index
	// before and after bound the part of the match from its beginning to the end of
	// the literal, and from there to its end; gap bounds the stretch from the end of
	// the literal of the need before this one.
	before, after, gap length
}

// length bounds a stretch of text from above: so many runes, and so many of the
// text's longest runs (see runLengths). Unbounded: no bound.
type length struct {
	runes     uint32
	runs      [runKinds]uint16 // how many of each
	unbounded bool
}

// More than tooLong runes no text has, and more than tooMany runs no pattern worth a
// bound. Sums of two stay below what the types hold.
const (
	tooLong = 1 << 30
	tooMany = 1 << 14
)

func (l length) plus(o length) length {
	l.runes += o.runes
	l.unbounded = l.unbounded || o.unbounded || l.runes > tooLong
	for i := range l.runs {
		l.runs[i] += o.runs[i]
		l.unbounded = l.unbounded || l.runs[i] > tooMany
	}
	return l.orNothing()
}

// orNothing says no more than that there is no bound, where there is none.
func (l length) orNothing() length {
	if l.unbounded {
		return length{unbounded: true}
	}
	return l
}

func (l length) times(n int) length {
	if n > 1000 || l.runes > tooLong/1000 || int(slices.Max(l.runs[:]))*n > tooMany {
		return length{unbounded: true}
	}
	l.runes *= uint32(n)
	for i := range l.runs {
		l.runs[i] *= uint16(n)
	}
	return l
}

func (l length) or(o length) length {
	l.runes, l.unbounded = max(l.runes, o.runes), l.unbounded || o.unbounded
	for i := range l.runs {
		l.runs[i] = max(l.runs[i], o.runs[i])
	}
	return l.orNothing()
}

// oneRun is the length of one run.
func oneRun(kind int) length {
	var l length
	l.runs[kind] = 1
	return l
}

// texts is a choice of texts: written out, or words of families.
type texts struct {
	literals []fixed
	families []int
}

func (t texts) none() bool { return len(t.literals) == 0 && len(t.families) == 0 }

// maxTexts is the most literals of one need; a longer list says too little.
const maxTexts = 64

// factor is a part of a pattern's concatenation.
type factor struct {
	needs  texts // none: the part may hold anything
	length length
	exact  bool // the literals are all that the part can be
	// left and right are the places at its beginning and its end.
	left, right edge
}

// literalReader reads needs off a syntax tree.
type literalReader struct{ numbered []*family }

// factors takes a tree apart into the parts of its concatenation. An alternation is
// one part.
func (l *literalReader) factors(re *syntax.Regexp) []factor {
	switch re.Op {
	case syntax.OpCapture:
		return l.factors(re.Sub[0])
	case syntax.OpConcat:
		var list []factor
		for _, sub := range re.Sub {
			list = append(list, l.factors(sub)...)
		}
		return list
	case syntax.OpLiteral:
		return l.literal(re.Rune)
	}
	return []factor{l.part(re)}
}

func (l *literalReader) part(re *syntax.Regexp) factor {
	f := factor{needs: l.choice(re), length: l.length(re), exact: exact(re) != nil}
	f.left, f.right = l.edges(re)
	return f
}

// maxChains is the most chains of one pattern; what would give more is not taken
// apart.
const maxChains = 64

// chains takes a tree apart into its branches, and these into the parts of their
// concatenations. An alternation of a few fixed texts stays one part.
func (l *literalReader) chains(re *syntax.Regexp) [][]factor {
	switch re.Op {
	case syntax.OpCapture:
		return l.chains(re.Sub[0])
	case syntax.OpConcat:
		all := [][]factor{nil}
		for _, sub := range re.Sub {
			branches := l.chains(sub)
			if len(branches)*len(all) > maxChains {
				branches = [][]factor{{l.part(sub)}}
			}
			product := make([][]factor, 0, len(all)*len(branches))
			for _, before := range all {
				for _, branch := range branches {
					product = append(product, slices.Concat(before, branch))
				}
			}
			all = product
		}
		return all
	case syntax.OpLiteral:
		return [][]factor{l.literal(re.Rune)}
	case syntax.OpAlternate:
		if exact(re) != nil {
			break
		}
		var all [][]factor
		for _, sub := range re.Sub {
			all = append(all, l.chains(sub)...)
		}
		if len(all) <= maxChains {
			return all
		}
	}
	return [][]factor{{l.part(re)}}
}

// joinExact makes one part of neighbours that are each one of a few fixed texts, as
// an optional s behind a word.
func joinExact(parts []factor) []factor {
	var joined []factor
	for _, f := range parts {
		n := len(joined) - 1
		if n < 0 || !f.exact || !joined[n].exact || len(f.needs.literals)*len(joined[n].needs.literals) > maxTexts {
			joined = append(joined, f)
			continue
		}
		last := &joined[n]
		last.needs.literals = product(last.needs.literals, f.needs.literals)
		last.length = last.length.plus(f.length)
		last.left, last.right = last.left.or(f.left), f.right.or(last.right)
	}
	return joined
}

// product gives all texts of a text of the first list and one of the second.
func product(first, second []fixed) []fixed {
	all := make([]fixed, 0, len(first)*len(second))
	for _, a := range first {
		for _, b := range second {
			all = append(all, a.join(b))
		}
	}
	return unique(all)
}

// literal splits a literal at the families in it.
func (l *literalReader) literal(runes []rune) []factor {
	var list []factor
	from := 0
	for i := 0; i <= len(runes); i++ {
		if i < len(runes) && runes[i] < placeholder {
			continue
		}
		if from < i {
			left, _ := l.edgesOfRune(runes[from])
			_, right := l.edgesOfRune(runes[i-1])
			list = append(list, factor{
				needs: texts{literals: []fixed{{text: fold(string(runes[from:i]))}}}, length: length{runes: uint32(i - from)},
				exact: true, left: left, right: right,
			})
		}
		if i < len(runes) {
			n := int(runes[i] - placeholder)
			left, right := l.edgesOfFamily(n)
			list = append(list, factor{needs: texts{families: []int{n}}, length: l.family(n), left: left, right: right})
		}
		from = i + 1
	}
	return list
}

// choice gives one list of texts of which each match of re holds one.
func (l *literalReader) choice(re *syntax.Regexp) texts {
	if set := exact(re); set != nil {
		return texts{literals: set}
	}
	switch re.Op {
	case syntax.OpCharClass:
		families, others := familiesIn(re)
		if len(families) > 0 && len(others) == 0 {
			return texts{families: families}
		}
	case syntax.OpCapture:
		return l.choice(re.Sub[0])
	case syntax.OpPlus, syntax.OpRepeat:
		if re.Op == syntax.OpPlus || re.Min > 0 {
			// The first of them: behind it the next may stand.
			all := l.choice(re.Sub[0])
			if re.Max != 1 {
				for i := range all.literals {
					all.literals[i].right = all.literals[i].right.or(edgeOpen)
				}
			}
			return all
		}
	case syntax.OpConcat, syntax.OpLiteral:
		var best texts
		parts := l.factors(re)
		bound(parts, edgeOuter, edgeOuter)
		for _, f := range parts {
			if f.needs.useful() && (best.none() || l.frequency(f.needs) < l.frequency(best)) {
				best = f.needs
			}
		}
		return best
	case syntax.OpAlternate:
		var all texts
		for _, sub := range re.Sub {
			branch := l.choice(sub)
			if !branch.useful() {
				return texts{}
			}
			all.literals = append(all.literals, branch.literals...)
			all.families = append(all.families, branch.families...)
		}
		if len(all.literals) > 4*maxTexts {
			return texts{}
		}
		return all
	}
	return texts{}
}

// useful reports whether the texts are worth looking for: none is empty, white space
// alone, or a single letter or digit of ASCII.
func (t texts) useful() bool {
	for _, p := range t.literals {
		if s := p.text; strings.TrimFunc(s, unicode.IsSpace) == "" || len(s) == 1 && isASCIIWord(s[0]) {
			return false
		}
	}
	return !t.none()
}

// bound says of the literals of each part of a concatenation what stands beside them.
// left and right are the places at both ends of it.
func bound(parts []factor, left, right edge) {
	before := make([]edge, len(parts))
	for i := range parts {
		before[i] = left
		left = parts[i].right.or(left)
	}
	for i := len(parts) - 1; i >= 0; i-- {
		parts[i].needs.literals = within(parts[i].needs.literals, before[i], right)
		right = parts[i].left.or(right)
	}
}

// noisy reports whether one of the texts stands inside many a word.
func (t texts) noisy() bool {
	return slices.ContainsFunc(t.literals, func(p fixed) bool {
		return max(p.left, p.right) < edgeBroken && len(p.text) <= 3 && wholeWord(p.text)
	})
}

// exact gives all texts that re can match, folded, where those are few; nil
// otherwise. An assertion such as \b matches the empty text.
func exact(re *syntax.Regexp) []fixed {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []fixed{{}}
	case syntax.OpWordBoundary:
		return []fixed{{left: edgeClosed, right: edgeClosed}}
	case syntax.OpNoWordBoundary, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return []fixed{{left: edgeOpen, right: edgeOpen}}
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r >= placeholder {
				return nil
			}
		}
		return []fixed{{text: fold(string(re.Rune))}}
	case syntax.OpCharClass:
		return exactClass(re.Rune)
	case syntax.OpCapture:
		return exact(re.Sub[0])
	case syntax.OpQuest:
		if set := exact(re.Sub[0]); set != nil && len(set) < maxTexts {
			return unique(append(slices.Clone(set), fixed{}))
		}
	case syntax.OpConcat:
		all := []fixed{{}}
		for _, sub := range re.Sub {
			set := exact(sub)
			if set == nil || len(set)*len(all) > maxTexts {
				return nil
			}
			all = product(all, set)
		}
		return all
	case syntax.OpAlternate:
		var all []fixed
		for _, sub := range re.Sub {
			set := exact(sub)
			if set == nil || len(all)+len(set) > maxTexts {
				return nil
			}
			all = append(all, set...)
		}
		return unique(all)
	}
	return nil
}

// familiesIn parts a class into the families in it and the other ranges: of families
// alone, (?:{{a}}|{{b}}) is a class to the parser.
func familiesIn(class *syntax.Regexp) (families []int, others []rune) {
	for i := 0; i < len(class.Rune); i += 2 {
		lo, hi := class.Rune[i], class.Rune[i+1]
		if lo < placeholder || hi >= placeholder+maxFamilies {
			others = append(others, lo, hi)
		}
		if hi >= placeholder+maxFamilies {
			continue // [^…] or \pC, in which no family is meant
		}
		for r := max(lo, placeholder); r <= hi; r++ {
			families = append(families, int(r-placeholder))
		}
	}
	return families, others
}

func exactClass(ranges []rune) []fixed {
	if len(ranges) == 0 || ranges[len(ranges)-1] >= placeholder {
		return nil // a family, or nearly anything
	}
	var set []fixed
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > 8 || len(set) > 8 {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			set = append(set, fixed{text: fold(string(r))})
		}
	}
	return unique(set)
}

// length bounds what re matches.
func (l *literalReader) length(re *syntax.Regexp) length {
	switch re.Op {
	case syntax.OpLiteral:
		var sum length
		for _, r := range re.Rune {
			if r >= placeholder {
				sum = sum.plus(l.family(int(r - placeholder)))
			} else {
				sum.runes++
			}
		}
		return sum
	case syntax.OpCharClass:
		most := length{runes: 1}
		families, _ := familiesIn(re)
		for _, n := range families {
			most = most.or(l.family(n))
		}
		return most
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return length{runes: 1}
	case syntax.OpCapture, syntax.OpQuest:
		return l.length(re.Sub[0])
	case syntax.OpConcat:
		var sum length
		for _, sub := range re.Sub {
			sum = sum.plus(l.length(sub))
		}
		return sum
	case syntax.OpAlternate:
		var most length
		for _, sub := range re.Sub {
			most = most.or(l.length(sub))
		}
		return most
	case syntax.OpStar, syntax.OpPlus:
		return endless(re.Sub[0])
	case syntax.OpRepeat:
		if re.Max < 0 {
			return endless(re.Sub[0])
		}
		return l.length(re.Sub[0]).times(re.Max)
	}
	return length{} // assertions
}

// endless bounds a repetition without a bound by the runs of the text.
func endless(sub *syntax.Regexp) length {
	switch kind := kindOf(sub); {
	case kind.gap():
		return length{unbounded: true}
	case kind&runSpace != 0:
		if madeOf(sub, func(r rune) bool { return isPatternSpace(r) }) {
			return oneRun(runOfSpace)
		}
		return oneRun(runOfGlue)
	case madeOf(sub, isWordLike):
		return oneRun(runOfWord)
	default:
		return oneRun(runOfSolid)
	}
}

// madeOf reports whether re is a class of characters that all are of a kind. Of a
// class with wide ranges it does not know.
func madeOf(re *syntax.Regexp, is func(rune) bool) bool {
	if re.Op != syntax.OpCharClass {
		return false
	}
	if families, _ := familiesIn(re); len(families) > 0 {
		return false
	}
	for i := 0; i < len(re.Rune); i += 2 {
		if re.Rune[i+1]-re.Rune[i] > 0x100 {
			return false
		}
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if !is(r) {
				return false
			}
		}
	}
	return true
}

// family bounds a word of a family in a pattern.
func (l *literalReader) family(n int) length {
	var most length
	for _, e := range l.numbered[n].entries {
		var sum length
		for j := range e.parts {
			p := &e.parts[j]
			sum.runes += uint32(utf8.RuneCountInString(p.source) + strings.Count(p.text, "ss")) // ß may be two
			if j > 0 {
				sum.runs[runOfGlue]++
			}
			for _, more := range []bool{p.before, p.after, p.any} {
				if more {
					sum.runs[runOfWord]++
				}
			}
		}
		most = most.or(sum)
	}
	return most
}

// readNeeds finds what every match of the pattern holds.
func (p *pattern) readNeeds(tree *syntax.Regexp, numbered []*family) error {
	reader := literalReader{numbered}
	for _, parts := range reader.chains(tree) {
		c := reader.chain(joinExact(parts))
		if len(c) == 0 {
			return fmt.Errorf("every match must hold some fixed text: two letters or more, a mark, or a word of a family")
		}
		p.chains = append(p.chains, c)
	}
	p.anchored = holdsOp(tree, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpEndText)
	p.begins = holdsOp(tree, syntax.OpBeginText)
	return nil
}

// maxNeeds is the most needs of a chain. A few rare ones say all that there is.
const maxNeeds = 6

// chain chooses the needs among the parts of a branch: the rarest, and none that
// stands in every other sentence where there is another one.
func (l *literalReader) chain(parts []factor) chain {
	var useful []int
	bound(parts, edgeOpen, edgeOpen)
	for i := range parts {
		if parts[i].needs.useful() {
			useful = append(useful, i)
		}
	}
	rarest := slices.Clone(useful)
	slices.SortStableFunc(rarest, func(a, b int) int { return cmp.Compare(l.frequency(parts[a].needs), l.frequency(parts[b].needs)) })
	for len(rarest) > maxNeeds || len(rarest) > 1 && l.frequency(parts[rarest[len(rarest)-1]].needs) > common {
		rarest = rarest[:len(rarest)-1]
	}
	if quiet := slices.DeleteFunc(slices.Clone(rarest), func(i int) bool { return parts[i].needs.noisy() }); len(quiet) > 0 && l.frequency(parts[quiet[0]].needs) < 1 {
		rarest = quiet
	}
	var c chain
	var before length // of the parts so far
	var gap length    // of the parts since the last need's, that one included
	for i := range parts {
		f := &parts[i]
		before, gap = before.plus(f.length), gap.plus(f.length)
		for i := range c {
			c[i].after = c[i].after.plus(f.length)
		}
		if slices.Contains(rarest, i) {
			c = append(c, need{texts: &f.needs, before: before, after: f.length, gap: gap})
			gap = f.length
		}
	}
	return c
}

// common is the frequency, in places of a thousand bytes, from which on a need says
// little.
const common = 8

// frequency estimates at how many of a thousand bytes of ordinary text one of the
// texts stands. It is a guess by length, and only chooses what is looked at first.
func (l *literalReader) frequency(t texts) float64 {
	sum := 0.0
	for _, p := range t.literals {
		sum += frequency(p.text, min(p.left, p.right) >= edgeBroken)
	}
	for _, n := range t.families {
		for _, e := range l.numbered[n].entries {
			sum += frequency(e.key(), true)
		}
	}
	return sum
}

// holdsOp reports whether one of the operators stands in a tree.
func holdsOp(re *syntax.Regexp, ops ...syntax.Op) bool {
	return slices.Contains(ops, re.Op) || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return holdsOp(sub, ops...) })
}

// literalSet gives the set of the index that collects the places of any of the texts.
func (l *loader) literalSet(t texts) int {
	literals, families := unique(slices.Clone(t.literals)), slices.Clone(t.families)
	slices.Sort(families)
	families = slices.Compact(families)
	key := []byte{0}
	for _, n := range families {
		key = append(binary.AppendUvarint(key, uint64(n)), ',')
	}
	for _, p := range literals {
		key = append(append(key, 0, byte(p.left), byte(p.right)), p.text...)
	}
	if set, ok := l.needSets[string(key)]; ok {
		return int(set)
	}
	set := l.set.index.newSet()
	l.needSets[string(key)] = set
	for _, p := range literals {
		l.set.index.addText(set, p.text, p.left, p.right)
	}
	for _, n := range families {
		for _, e := range l.numbered[n].entries {
			l.set.index.addLoose(set, e)
		}
	}
	return int(set)
}
