package rule

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// edge says of a place in a pattern's match whether the characters on both sides of it
// may be of \w. Where they cannot, a literal that begins or ends there is of no use
// inside a longer word, which is where most literals stand in most texts.
type edge uint8

const (
	edgeOuter  edge = iota // what the place before (or behind) the part is
	edgeOpen               // they may
	edgeBroken             // they cannot, but for an underscore, which is of \w too
	edgeClosed             // they cannot: beside \b, white space or a mark
)

// or gives the edge behind (or before) a part, of which the other side is outer.
func (e edge) or(outer edge) edge {
	if e == edgeOuter {
		return outer
	}
	return e
}

// fixed is a fixed text that a match holds, and what stands beside it. An empty one is a place between two
// characters, and its left tells what that is.
type fixed struct {
	text        string
	left, right edge
}

func (p fixed) compare(q fixed) int {
	return cmp.Or(cmp.Compare(p.text, q.text), cmp.Compare(p.left, q.left), cmp.Compare(p.right, q.right))
}

// join gives the literal of two parts of a concatenation.
func (p fixed) join(q fixed) fixed {
	switch {
	case p.text == "" && q.text == "":
		e := max(p.left, q.left)
		return fixed{left: e, right: e}
	case p.text == "":
		q.left = max(p.left, q.left)
		return q
	case q.text == "":
		p.right = max(p.right, q.right)
		return p
	}
	return fixed{p.text + q.text, p.left, q.right}
}

// within gives the pieces of a part that stands between two places.
func within(list []fixed, left, right edge) []fixed {
	list = slices.Clone(list)
	for i := range list {
		list[i].left, list[i].right = list[i].left.or(left), list[i].right.or(right)
	}
	return unique(list)
}

func unique(list []fixed) []fixed {
	slices.SortFunc(list, fixed.compare)
	return slices.Compact(list)
}

// edges gives the places at the beginning and the end of each match of re.
func (l *literalReader) edges(re *syntax.Regexp) (left, right edge) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return edgeOuter, edgeOuter
	case syntax.OpWordBoundary:
		return edgeClosed, edgeClosed
	case syntax.OpLiteral:
		left, _ = l.edgesOfRune(re.Rune[0])
		_, right = l.edgesOfRune(re.Rune[len(re.Rune)-1])
		return left, right
	case syntax.OpCharClass:
		return l.edgesOfClass(re)
	case syntax.OpCapture:
		return l.edges(re.Sub[0])
	case syntax.OpStar, syntax.OpQuest:
		return l.edgesOfOptional(re.Sub[0])
	case syntax.OpPlus:
		return l.edges(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min == 0 {
			return l.edgesOfOptional(re.Sub[0])
		}
		return l.edges(re.Sub[0])
	case syntax.OpConcat:
		for i := range re.Sub {
			_, e := l.edges(re.Sub[i])
			right = e.or(right)
			e, _ = l.edges(re.Sub[len(re.Sub)-1-i])
			left = e.or(left)
		}
		return left, right
	case syntax.OpAlternate:
		left, right = edgeClosed, edgeClosed
		for _, sub := range re.Sub {
			x, y := l.edges(sub)
			left, right = left.weaker(x), right.weaker(y)
		}
		return left, right
	}
	// Any character; \B; ^ and $, which hold at the ends of an excuse's stretch too.
	return edgeOpen, edgeOpen
}

// weaker gives what both edges promise.
func (e edge) weaker(f edge) edge {
	if e == edgeOpen || f == edgeOpen {
		return edgeOpen
	}
	return min(e, f)
}

func (l *literalReader) edgesOfOptional(re *syntax.Regexp) (left, right edge) {
	left, right = l.edges(re)
	return left.weaker(edgeOuter), right.weaker(edgeOuter)
}

// edgesOfRune gives the places beside a character, or a word of a family.
func (l *literalReader) edgesOfRune(r rune) (left, right edge) {
	if r >= placeholder {
		return l.edgesOfFamily(int(r - placeholder))
	}
	if r == '_' {
		return edgeBroken, edgeBroken
	}
	if mayBeWord(r) {
		return edgeOpen, edgeOpen
	}
	return edgeClosed, edgeClosed
}

// mayBeWord reports whether r, in whatever case, is a character of \w.
func mayBeWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIIWord(byte(r))
	}
	folded := appendFold(nil, r)
	return len(folded) == 0 || isASCIIWord(folded[0])
}

func (l *literalReader) edgesOfClass(class *syntax.Regexp) (left, right edge) {
	families, _ := familiesIn(class)
	left, right = edgeClosed, edgeClosed
	for _, n := range families {
		x, y := l.edgesOfFamily(n)
		left, right = left.weaker(x), right.weaker(y)
	}
	for i := 0; i < len(class.Rune); i += 2 {
		for _, word := range [...][2]rune{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}} {
			if class.Rune[i] <= word[1] && word[0] <= class.Rune[i+1] {
				return edgeOpen, edgeOpen
			}
		}
		if class.Rune[i] <= '_' && '_' <= class.Rune[i+1] {
			left, right = left.weaker(edgeBroken), right.weaker(edgeBroken)
		}
	}
	return left, right
}

// edgesOfFamily gives the places beside a word of a family, as entry.regex writes it: \b
// stands beside a letter or digit of ASCII, unless other letters may follow.
func (l *literalReader) edgesOfFamily(n int) (left, right edge) {
	left, right = edgeClosed, edgeClosed
	for _, e := range l.numbered[n].entries {
		first, last := &e.parts[0], &e.parts[len(e.parts)-1]
		if r, _ := utf8.DecodeRuneInString(first.source); first.before || r >= utf8.RuneSelf && mayBeWord(r) {
			left = edgeOpen
		}
		if r, _ := utf8.DecodeLastRuneInString(last.source); last.after || r >= utf8.RuneSelf && mayBeWord(r) || e.turkish {
			right = edgeOpen
		}
		if e.turkish {
			left = edgeOpen
		}
	}
	return left, right
}
