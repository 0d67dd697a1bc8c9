package atr

// How patterns are evaluated.
//
// Whether an expression without back-references matches somewhere does not depend on
// the order in which a backtracking engine tries things: greedy and lazy, first and
// last branch only decide which match is reported. So an expression is read as a
// function on sets of positions: given the positions at which it may begin, it gives
// those at which it may end. For a character that is one step to the right where that
// character stands; for a concatenation one function after the other; for an
// alternation the union; for a repetition the closure. Read from right to left the
// same expression gives, for positions where it may end, those where it may begin;
// that is what a lookahead asks (does the body begin a match here?), and a lookbehind
// asks the other one. Both are exact, nested or not, because a lookaround's body is
// such an expression itself.
//
// A set is a bit string over the text, so that one machine word carries 64 positions
// at once. The cost of an expression is a number of such operations that its own
// length bounds, times the length of the text; for repetitions see run and closure.
// No text makes it exponential, or quadratic in a bounded expression.
//
// (The technique is that of Parabix, Cameron et al., "Bitwise Data Parallelism in
// Regular Expression Matching", PACT 2014; bounded repetition by doubling as there.)

// machine evaluates expressions over one text.
type machine struct {
	n      int // characters; positions are 0 to n
	words  int
	ascii  []uint64 // bit streams of the ASCII characters, one after the other
	values []rune   // the characters, where some are above ASCII
	others []int32  // the positions of those
	other  marks

	streams  []marks // of classes, by number; valid where round says so
	buffers  [][]uint64
	rounds   []int32
	runs     [][]marks // per class: positions at which 2^k of it stand in a row
	runRound []int32
	runUsed  []int // per class: how many k are valid
	round    int32
	word     marks // \b
	hasWord  bool
	every    marks
	loose    bool            // see sift
	begins   marks           // where loose: the beginnings of lines
	ends     marks           // and their ends
	known    map[*node]marks // see once

	free [][]uint64
}

// load takes a text: its ASCII characters in lower case, and its characters where some are above ASCII.
func (m *machine) load(lower []byte, values []rune) {
	m.n, m.values = len(lower), values
	words := m.n>>6 + 1
	m.words = words
	if need := 128 * words; cap(m.ascii) < need {
		m.ascii = make([]uint64, need)
	} else {
		m.ascii = m.ascii[:need]
		clear(m.ascii)
	}
	m.others = m.others[:0]
	if values == nil {
		for i, c := range lower {
			m.ascii[int(c&127)*words+i>>6] |= 1 << (i & 63)
		}
	} else {
		for i, r := range values {
			if r >= 128 {
				m.others = append(m.others, int32(i))
				continue
			}
			m.ascii[int(asciiLower(byte(r)))*words+i>>6] |= 1 << (i & 63)
		}
	}
	m.other.w = grown(m.other.w, words)
	clear(m.other.w)
	m.other.lo, m.other.hi = 0, words
	for _, i := range m.others {
		m.other.w[i>>6] |= 1 << (i & 63)
	}
	m.every.w = grown(m.every.w, words)
	m.every.lo, m.every.hi = 0, 0
	if m.n > 0 {
		m.every.set(0, m.n-1)
	}
	m.round++
	m.hasWord = false
	m.loose = false
	for n, s := range m.known {
		m.put(s)
		delete(m.known, n)
	}
}

func grown(w []uint64, n int) []uint64 {
	if cap(w) < n {
		return make([]uint64, n, n+n/4)
	}
	return w[:n]
}

func asciiLower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// get gives an empty set to write to; put takes it back.
func (m *machine) get() marks {
	if n := len(m.free); n > 0 {
		w := m.free[n-1]
		m.free = m.free[:n-1]
		return marks{w: grown(w, m.words)}
	}
	return marks{w: make([]uint64, m.words)}
}

func (m *machine) put(s marks) { m.free = append(m.free, s.w) }

func (m *machine) copied(s *marks) marks {
	c := m.get()
	c.lo, c.hi = s.lo, s.hi
	if !s.empty() {
		copy(c.w[s.lo:s.hi], s.w[s.lo:s.hi])
	}
	return c
}

// all gives every position in the words from lo to hi.
func (m *machine) all(lo, hi int) marks {
	s := m.get()
	if from, to := max(lo, 0)<<6, min(hi<<6-1, m.n); from <= to {
		s.set(from, to)
	}
	return s
}

// clip drops positions beyond the end of the text.
func (m *machine) clip(s *marks) {
	if s.hi == m.words && s.lo < s.hi {
		s.w[s.hi-1] &= ^uint64(0) >> (63 - m.n&63)
		s.trim()
	}
}

// stream gives the positions at which a character of the class stands.
func (m *machine) stream(c *class) *marks {
	for c.number >= len(m.streams) {
		m.streams = append(m.streams, marks{})
		m.buffers = append(m.buffers, nil)
		m.runs = append(m.runs, nil)
		m.runRound = append(m.runRound, 0)
		m.runUsed = append(m.runUsed, 0)
		m.rounds = append(m.rounds, 0)
	}
	s := &m.streams[c.number]
	if m.rounds[c.number] == m.round {
		return s
	}
	m.rounds[c.number] = m.round
	s.lo, s.hi = 0, m.words
	if c.single >= 0 {
		s.w = m.ascii[c.single*m.words : (c.single+1)*m.words]
		s.trim()
		return s
	}
	if c.any {
		*s = m.every
		return s
	}
	m.buffers[c.number] = grown(m.buffers[c.number], m.words)
	s.w = m.buffers[c.number]
	clear(s.w)
	for _, r := range c.listed {
		for i, v := range m.ascii[int(r)*m.words : (int(r)+1)*m.words] {
			s.w[i] |= v
		}
	}
	if c.outside {
		for i := range s.w {
			s.w[i] = m.every.w[i] &^ (s.w[i] | m.other.w[i])
		}
	}
	switch {
	case c.none || len(m.others) == 0:
	case c.all:
		for i := range s.w {
			s.w[i] |= m.other.w[i]
		}
	default:
		for _, i := range m.others {
			if c.other.has(m.values[i]) {
				s.w[i>>6] |= 1 << (i & 63)
			}
		}
	}
	s.trim()
	return s
}

// boundaries gives the positions of \b.
func (m *machine) boundaries(words *class) *marks {
	if m.hasWord {
		return &m.word
	}
	m.hasWord = true
	stream := m.stream(words)
	m.word.w = grown(m.word.w, m.words)
	clear(m.word.w)
	m.word.lo, m.word.hi = 0, m.words
	carry := uint64(0)
	for i := stream.lo; i < m.words && i < stream.hi+1; i++ {
		v := uint64(0)
		if i < stream.hi {
			v = stream.w[i]
		}
		m.word.w[i] = v ^ (v<<1 | carry)
		carry = v >> 63
	}
	m.word.trim()
	return &m.word
}

// eval evaluates n on the set s, which it takes over: to the right, or (back) to the
// left.
func (m *machine) eval(n *node, s marks, back bool) marks {
	if s.empty() {
		return s
	}
	switch n.op {
	case opClass:
		if back {
			s.stepBack(m.stream(n.class))
		} else {
			s.step(m.stream(n.class))
		}
	case opConcat:
		for i := range n.sub {
			if back {
				i = len(n.sub) - 1 - i
			}
			if s = m.eval(n.sub[i], s, back); s.empty() {
				break
			}
		}
	case opAlternate:
		union := m.get()
		for _, branch := range n.sub {
			if !back && branch.lead != nil && !s.meets(m.stream(branch.lead)) {
				continue
			}
			part := m.eval(branch, m.copied(&s), back)
			union.or(&part)
			m.put(part)
		}
		m.put(s)
		return union
	case opRepeat:
		return m.repeat(n, s, back)
	case opLook:
		if m.loose {
			break
		}
		mask := m.look(n, s.lo, s.hi)
		if n.negative {
			s.without(&mask)
		} else {
			s.and(&mask)
		}
		m.put(mask)
	case opBegin:
		if m.loose {
			s.and(&m.begins)
			break
		}
		m.only(&s, 0)
	case opEnd:
		if m.loose {
			s.and(&m.ends)
			break
		}
		m.only(&s, m.n)
	case opWord:
		s.and(m.boundaries(n.class))
	case opNotWord:
		s.without(m.boundaries(n.class))
	case opBack:
		// What the group it refers to can take, or nothing: more than the reference.
		if len(n.sub) == 0 {
			return m.beyond(0, s, back)
		}
		part := m.eval(n.sub[0], m.copied(&s), back)
		s.or(&part)
		m.put(part)
	}
	return s
}

// only keeps one position.
func (m *machine) only(s *marks, at int) {
	i := at >> 6
	if i < s.lo || i >= s.hi {
		s.lo, s.hi = 0, 0
		return
	}
	s.w[i] &= 1 << (at & 63)
	s.lo, s.hi = i, i+1
	s.trim()
}

// look gives, of the positions in the words from lo to hi, those at which the body
// of a lookaround holds.
func (m *machine) look(n *node, lo, hi int) marks {
	body := n.sub[0]
	width := body.width()
	if width < 0 {
		return m.once(n, func() marks { return m.eval(body, m.all(0, m.words), !n.behind) })
	}
	if reach := width>>6 + 1; n.behind {
		return m.eval(body, m.all(lo-reach, hi), false)
	} else {
		return m.eval(body, m.all(lo, min(hi+reach, m.words)), true)
	}
}

// once works out a set for the whole text, once: one that has no bound would cost as
// much each time it is asked for a part.
func (m *machine) once(n *node, set func() marks) marks {
	if known, ok := m.known[n]; ok {
		return m.copied(&known)
	}
	s := set()
	if m.known == nil {
		m.known = map[*node]marks{}
	}
	m.known[n] = m.copied(&s)
	return s
}
