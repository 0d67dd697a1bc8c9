package textcheck

// nearby is how far, in code points, a bidirectional control may stand from the
// right-to-left letter that it serves.
const nearby = 24

func isBidi(r rune) bool {
	return r == 0x61c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// bidiAllowed judges a bidirectional control (UAX #9). Overrides are never
// right: they show text in an order in which it is not written. Marks may stand
// beside right-to-left letters, embeddings and isolates where they are closed on
// the line and have such letters in them or beside them.
func (x *inspection) bidiAllowed(i int) bool {
	if x.bidi == nil {
		x.bidi = make([]bool, len(x.runes))
		x.judgeBidi()
	}
	return x.bidi[i]
}

func (x *inspection) judgeBidi() {
	type open struct {
		at      int
		isolate bool
		allowed bool
	}
	var stack []open
	lastRTL := -1 // the last right-to-left letter
	for i, r := range x.runes {
		switch {
		case r == '\n' || r == '\r' || r == 0x2029:
			stack, lastRTL = stack[:0], -1
		case r < 0x80:
		case r == 0x200e || r == 0x200f || r == 0x61c:
			x.bidi[i] = x.markAllowed(i)
		case r == 0x202a || r == 0x202b || r >= 0x2066 && r <= 0x2068:
			// UAX #9 goes no deeper than 125 levels; nor does honest text.
			if len(stack) < 125 {
				stack = append(stack, open{i, r >= 0x2066, true})
			}
		case r == 0x202d || r == 0x202e:
			if len(stack) < 125 {
				stack = append(stack, open{i, false, false})
			}
		case r == 0x202c || r == 0x2069:
			if len(stack) == 0 || stack[len(stack)-1].isolate != (r == 0x2069) {
				continue
			}
			from := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if from.allowed && (lastRTL > from.at || x.besideRTL(from.at, -1) || x.besideRTL(i, +1)) {
				x.bidi[from.at], x.bidi[i] = true, true
			}
		case props(r)&bitRTL != 0:
			if !isBidi(r) {
				lastRTL = i
			}
		}
	}
}

// markAllowed reports whether the mark at i stands beside a right-to-left letter,
// with at most one other control next to it.
func (x *inspection) markAllowed(i int) bool {
	prev, next := x.at(i-1), x.at(i+1)
	if prev >= 0 && next >= 0 && isWordASCII(prev) && isWordASCII(next) {
		return false
	}
	if isBidi(prev) && (isBidi(next) || isBidi(x.at(i-2))) || isBidi(next) && isBidi(x.at(i+2)) {
		return false
	}
	return x.besideRTL(i, -1) || x.besideRTL(i, +1)
}

func isWordASCII(r rune) bool {
	return r < 0x80 && (isASCIILetter(byte(r)) || r >= '0' && r <= '9' || r == '_')
}

// besideRTL looks from i, at most nearby code points far and on one line, for a
// right-to-left letter.
func (x *inspection) besideRTL(i, step int) bool {
	for n := 1; n <= nearby; n++ {
		r := x.at(i + n*step)
		if r < 0 || r == '\n' || r == '\r' {
			return false
		}
		if r < 0x80 {
			continue
		}
		if p := props(r); p&bitRTL != 0 && !isBidi(r) {
			return true
		}
	}
	return false
}
