package atr

// width is the most characters the node takes, -1 where there is no bound.
// Lookaround counts with what it looks at, so that the width also bounds how far
// around a match it can see; see sight.
func (n *node) width() int {
	most := 0
	switch n.op {
	case opClass:
		return 1
	case opConcat:
		for _, sub := range n.sub {
			w := sub.width()
			if w < 0 {
				return -1
			}
			most = bounded(most + w)
			if most < 0 {
				return -1
			}
		}
	case opAlternate:
		for _, sub := range n.sub {
			w := sub.width()
			if w < 0 {
				return -1
			}
			most = max(most, w)
		}
	case opRepeat:
		w := n.sub[0].width()
		if w == 0 {
			return 0
		}
		if w < 0 || n.max < 0 {
			return -1
		}
		return bounded(w * n.max)
	case opLook, opBegin, opEnd, opWord, opNotWord, opEmpty:
		return 0
	case opBack:
		return -1
	}
	return most
}

// span bounds how many characters something takes: so many, and so many times the longest
// row of white space and of word characters that the text has. A repetition without a
// bound of its own has that one, if all it takes is white space, or word characters.
type span struct{ fixed, spaces, words int32 }

// endless is the span of what has no bound.
var endless = span{fixed: -1}

func (a span) bounded() bool { return a.fixed >= 0 }

// plus gives the span of both together, times that of so many repetitions.
func (a span) plus(b span) span {
	if !a.bounded() || !b.bounded() {
		return endless
	}
	return capped(int(a.fixed)+int(b.fixed), int(a.spaces)+int(b.spaces), int(a.words)+int(b.words))
}

func (a span) times(n int) span {
	if !a.bounded() || n < 0 || n > maxWidth {
		return endless
	}
	return capped(int(a.fixed)*n, int(a.spaces)*n, int(a.words)*n)
}

func capped(fixed, spaces, words int) span {
	if max(fixed, spaces, words) > maxWidth {
		return endless
	}
	return span{int32(fixed), int32(spaces), int32(words)}
}

// in gives the span in a text with such rows; -1 where it has no bound.
func (a span) in(f *form) int {
	if !a.bounded() {
		return -1
	}
	n := int(a.fixed)
	if a.spaces|a.words != 0 {
		spaces, words := f.rows()
		n += int(a.spaces)*spaces + int(a.words)*words
	}
	return n
}

// span bounds what the node takes; see width.
func (n *node) span() span {
	var sum span
	switch n.op {
	case opClass:
		return span{fixed: 1}
	case opConcat:
		for _, sub := range n.sub {
			sum = sum.plus(sub.span())
		}
	case opAlternate:
		for _, sub := range n.sub {
			s := sub.span()
			if !s.bounded() {
				return endless
			}
			sum = span{max(sum.fixed, s.fixed), max(sum.spaces, s.spaces), max(sum.words, s.words)}
		}
	case opRepeat:
		body := n.sub[0]
		switch {
		case n.max >= 0:
			return body.span().times(n.max)
		case body.width() == 0:
			return span{}
		case body.op == opClass && body.class.within(isSpace):
			return span{spaces: 1}
		case body.op == opClass && body.class.within(isWord):
			return span{words: 1}
		}
		return endless
	case opBack:
		return endless
	}
	return sum
}

// within reports whether all members of a class are of a kind.
func (c *class) within(kind func(rune) bool) bool {
	for r := rune(0); r < 128; r++ {
		if c.has(r) && !kind(r) {
			return false
		}
	}
	if c.none {
		return true
	}
	members := 0
	for i := 0; i+1 < len(c.other); i += 2 {
		if members += int(c.other[i+1]-c.other[i]) + 1; members > 64 {
			return false
		}
		for r := c.other[i]; r <= c.other[i+1]; r++ {
			if !kind(r) {
				return false
			}
		}
	}
	return !c.all
}

func isSpace(r rune) bool { return set(whiteSpace).has(r) }

// isWord reports what \w may take: with the flags i and u, two letters that fold to ASCII
// besides (ECMA-262, WordCharacters).
func isWord(r rune) bool {
	return r < 128 && (asciiLower(byte(r)) >= 'a' && asciiLower(byte(r)) <= 'z' || r >= '0' && r <= '9' || r == '_') || r == 0x17f || r == 0x212a
}

// maxWidth is more than any text has.
const maxWidth = 1 << 24

func bounded(w int) int {
	if w > maxWidth {
		return -1
	}
	return w
}

// sight bounds how far beyond its own match the node looks: the lookarounds, \b, ^
// and $ in it. -1 where there is no bound.
func (n *node) sight() int {
	most := 0
	switch n.op {
	case opWord, opNotWord, opBegin, opEnd:
		return 1
	case opLook:
		w, s := n.sub[0].width(), n.sub[0].sight()
		if w < 0 || s < 0 {
			return -1
		}
		return w + s
	}
	for _, sub := range n.sub {
		s := sub.sight()
		if s < 0 {
			return -1
		}
		most = max(most, s)
	}
	return most
}

// narrow reports whether the node takes exactly one character.
func narrow(n *node) bool {
	switch n.op {
	case opClass:
		return true
	case opConcat:
		one := false
		for _, sub := range n.sub {
			switch {
			case sub.op == opLook || sub.op == opWord || sub.op == opNotWord || sub.op == opBegin || sub.op == opEnd:
			case narrow(sub) && !one:
				one = true
			default:
				return false
			}
		}
		return one
	case opAlternate:
		for _, sub := range n.sub {
			if !narrow(sub) {
				return false
			}
		}
		return true
	}
	return false
}
