package atr

import (
	"slices"
)

// What a match of an expression holds can be read off it: a concatenation holds what
// each of its parts holds, in that order; an alternation what one of its branches
// holds. A need is one such "one of these texts". Texts are folded, byte for
// character (foldByte), and so is what they are looked for in; folding makes equal
// whatever the i flag takes for equal. So where the index finds none of the texts of
// a need, the expression does not match, and where it does, a match that holds the
// hit begins no more than before characters in front of the hit's end.

// need is one of a few texts that each match holds.
type need struct {
	texts  []string
	before span // from the beginning of a match to the end of the text
}

const (
	maxTexts = 48 // of an exact part
	maxUnion = 400
	maxGrown = 130
	maxNeeds = 3 // of a pattern
)

// needsOf gives what each match of n holds; none if nothing of use is known. Which of
// them are worth most is for a sample of text to say, see compiler.choose.
func needsOf(n *node) []need {
	for _, l := range []lister{{4}, {3}} {
		var list []need
		var before span
		for _, f := range l.factors(n) {
			before = before.plus(f.width)
			if l.useful(f.texts) {
				list = append(list, need{f.texts, before})
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// lister lists what expressions hold, leaving out texts of less than a weight.
type lister struct{ least int }

// factor is a stretch of a concatenation.
type factor struct {
	texts []string // one of them is in it; nil: not known
	width span
}

// factors takes an expression apart. Neighbours whose texts are all known are joined
// while there are few.
func (l lister) factors(n *node) []factor {
	if n.op != opConcat {
		return []factor{{l.choice(n), n.span()}}
	}
	var list []factor
	texts, width := []string{""}, 0
	flush := func() {
		if width > 0 {
			list = append(list, factor{texts, span{fixed: int32(width)}})
		}
		texts, width = []string{""}, 0
	}
	for i, sub := range n.sub {
		set, w := exact(sub), sub.width()
		switch {
		case set == nil:
			if width > 0 && weak(texts) {
				// The next character makes a short text tell more.
				if more := firsts(n.sub[i:]); more != nil && len(more)*len(texts) <= maxGrown {
					texts = product(texts, more)
					width++
					list = append(list, factor{texts, span{fixed: int32(width)}})
					texts, width = []string{""}, -1
				}
			}
			if width < 0 {
				// That character is counted already, and once more here: a bound.
				width = 0
			} else {
				flush()
			}
			list = append(list, factor{l.choice(sub), sub.span()})
			continue
		case len(set)*len(texts) > maxTexts:
			flush()
		}
		texts, width = product(texts, set), bounded(width+w)
	}
	flush()
	return list
}

// weak reports whether texts are so short that one more character helps.
func weak(texts []string) bool {
	for _, s := range texts {
		if weight(s) < 8 {
			return true
		}
	}
	return false
}

// firsts gives the folded first characters of what a row of nodes can match, if they
// are few and it matches no empty text; nil otherwise.
func firsts(row []*node) []string {
	var all []string
	for _, n := range row {
		body := n
		if n.op == opRepeat {
			body = n.sub[0]
		}
		switch body.op {
		case opLook, opBegin, opEnd, opWord, opNotWord, opEmpty:
			continue
		}
		set := exact(body)
		if set == nil {
			return nil
		}
		empty := n.op == opRepeat && n.min == 0
		for _, s := range set {
			if s == "" {
				empty = true
				continue
			}
			all = append(all, s[:1])
		}
		if !empty {
			return unique(all)
		}
	}
	return nil
}

func product(a, b []string) []string {
	var list []string
	for _, x := range a {
		for _, y := range b {
			list = append(list, x+y)
		}
	}
	return unique(list)
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// exact gives all texts that n can match, where those are few; nil otherwise.
func exact(n *node) []string {
	switch n.op {
	case opEmpty, opBegin, opEnd, opWord, opNotWord, opLook:
		return []string{""}
	case opClass:
		return n.class.bytes()
	case opConcat:
		all := []string{""}
		for _, sub := range n.sub {
			set := exact(sub)
			if set == nil || len(set)*len(all) > maxTexts {
				return nil
			}
			all = product(all, set)
		}
		return all
	case opAlternate:
		var all []string
		for _, sub := range n.sub {
			set := exact(sub)
			if set == nil || len(all)+len(set) > maxTexts {
				return nil
			}
			all = append(all, set...)
		}
		return unique(all)
	case opRepeat:
		if n.max < 0 || n.max > 4 {
			return nil
		}
		set := exact(n.sub[0])
		if set == nil {
			return nil
		}
		all := []string{}
		turn := []string{""}
		for k := 0; k <= n.max; k++ {
			if k >= n.min {
				all = append(all, turn...)
			}
			if len(turn)*len(set)+len(all) > maxTexts {
				return nil
			}
			turn = product(turn, set)
		}
		return unique(all)
	}
	return nil
}

// bytes gives the folded bytes of the members of a class, if they are few.
func (c *class) bytes() []string {
	var list []string
	for r := rune(0); r < 128; r++ {
		if (r < 'A' || r > 'Z') && c.has(r) {
			list = append(list, string([]byte{foldByte(r)}))
		}
	}
	list = unique(list)
	total := len(list)
	for i := 0; i < len(c.other); i += 2 {
		total += int(c.other[i+1]-c.other[i]) + 1
	}
	if total > 40 {
		return nil
	}
	for i := 0; i < len(c.other); i += 2 {
		for r := c.other[i]; r <= c.other[i+1]; r++ {
			list = append(list, string([]byte{foldByte(r)}))
		}
	}
	return unique(list)
}

// choice gives texts of which each match of n holds one; nil if none are known.
func (l lister) choice(n *node) []string {
	if set := exact(n); set != nil {
		return set
	}
	switch n.op {
	case opRepeat:
		if n.min == 0 {
			return nil
		}
		if set := exact(n.sub[0]); set != nil {
			texts := []string{""}
			for k := 0; k < min(n.min, 8) && len(texts)*len(set) <= maxTexts; k++ {
				texts = product(texts, set)
			}
			return texts
		}
		return l.choice(n.sub[0])
	case opConcat:
		var best []string
		for _, f := range l.factors(n) {
			if l.useful(f.texts) && (best == nil || score(f.texts) > score(best)) {
				best = f.texts
			}
		}
		return best
	case opAlternate:
		var all []string
		for _, sub := range n.sub {
			branch := l.choice(sub)
			if !l.useful(branch) || len(all)+len(branch) > maxUnion {
				return nil
			}
			all = append(all, branch...)
		}
		return unique(all)
	}
	return nil
}

// useful reports whether texts are worth looking for.
func (l lister) useful(texts []string) bool {
	for _, s := range texts {
		if weight(s) < l.least {
			return false
		}
	}
	return len(texts) > 0
}

// weight says how rare a text is, roughly: letters count more than spaces, marks
// and what is above ASCII more than letters.
func weight(s string) int {
	w := 0
	for i := 0; i < len(s) && i < 12; i++ {
		switch c := s[i]; {
		case c == ' ' || c == 'e' || c == 't' || c == 'a' || c == 'o' || c == 'i' || c == 'n' || c == 's' || c == 'r':
			w++
		case c == '\n' || c == '.' || c == ',' || c == '-' || c == '"' || c == '\'' || c == '/' || c == '(' || c == ')' || c == ':':
			w += 2
		case c >= 'a' && c <= 'z':
			w += 2
		default:
			w += 4
		}
	}
	return w
}

func score(texts []string) int {
	least := 100
	for _, s := range texts {
		least = min(least, weight(s))
	}
	return 2*least - len(texts)/6
}

// mask is a set of characters: of ASCII, letters in lower case, and all others or none.
type mask struct {
	ascii [2]uint64
	other bool
}

func (c *class) mask() mask { return mask{c.ascii, !c.none} }

func (m mask) meets(o mask) bool {
	return m.ascii[0]&o.ascii[0] != 0 || m.ascii[1]&o.ascii[1] != 0 || m.other && o.other
}

// common are the characters that nearly every text has.
var common = func() (m mask) {
	for _, c := range []byte(" \n.,abcdefghilmnoprstuvwy") {
		m.ascii[c>>6] |= 1 << (c & 63)
	}
	return m
}()

// mustHave gives sets of characters of which each match holds one, as far as they say
// anything; and the set from which a text must begin, where a match does so.
func mustHave(n *node) (list []mask, head mask, hasHead bool) {
	parts := []*node{n}
	if n.op == opConcat {
		parts = n.sub
	}
	for i, part := range parts {
		for part.op == opRepeat && part.min > 0 {
			part = part.sub[0]
		}
		if part.op != opClass {
			continue
		}
		m := part.class.mask()
		if i == 1 && parts[0].op == opBegin {
			head, hasHead = m, true
		}
		if !m.meets(common) && len(list) < 3 {
			list = append(list, m)
		}
	}
	return list, head, hasHead
}
