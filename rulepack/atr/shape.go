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
