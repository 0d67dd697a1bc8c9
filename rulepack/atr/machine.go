package atr

import (
	"math/bits"
	"sync"
)

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
		mask := m.look(n, s.lo, s.hi)
		if n.negative {
			s.without(&mask)
		} else {
			s.and(&mask)
		}
		m.put(mask)
	case opBegin:
		m.only(&s, 0)
	case opEnd:
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

// repeat evaluates a repetition. A body that is one character wide (a class, or a
// class with lookaround before or behind it) is a run; others are iterated.
func (m *machine) repeat(n *node, s marks, back bool) marks {
	body := n.sub[0]
	if body.op == opClass {
		return m.run(m.stream(body.class), body.class, n.min, n.max, s, back)
	}
	if n.max == 1 && n.min == 0 {
		part := m.eval(body, m.copied(&s), back)
		s.or(&part)
		m.put(part)
		return s
	}
	if narrow(body) {
		lo, hi := 0, m.words
		if n.max >= 0 {
			if reach := n.max>>6 + 1; back {
				lo = max(s.lo-reach, 0)
			} else {
				hi = min(s.hi+reach, m.words)
			}
		}
		if back {
			hi = s.hi
		} else {
			lo = s.lo
		}
		var mask marks
		if n.max < 0 {
			mask = m.once(body, func() marks { return m.eval(body, m.all(0, m.words), true) })
		} else {
			mask = m.eval(body, m.all(lo, min(hi+1, m.words)), true)
		}
		s = m.run(&mask, nil, n.min, n.max, s, back)
		m.put(mask)
		return s
	}
	return m.closure(body, n.min, n.max, s, back)
}

// run goes over between low and high (negative: any number of) characters of the
// stream, in steps that double: after covering up to k characters, going on over
// exactly j ≤ k+1 more covers up to k+j. Positions where j of them stand in a row are
// found by doubling too.
func (m *machine) run(stream *marks, c *class, low, high int, s marks, back bool) marks {
	anyChar := c != nil && c.any
	move := func(x *marks, mask *marks, k int) {
		if back {
			x.down(k)
			if mask != nil {
				x.and(mask)
			}
			return
		}
		if mask != nil {
			x.and(mask)
		}
		x.up(k)
		m.clip(x)
	}
	if anyChar && high < 0 {
		return m.beyond(low, s, back)
	}
	extra := 0 // without a bound: see star
	if high >= 0 {
		extra = min(high-low, m.n)
	}
	if low > m.n {
		s.lo, s.hi = 0, 0
		return s
	}
	// masks[k] has the positions at which 2^k characters of the stream follow. Only
	// those in reach count.
	var masks [32]marks
	made := 0
	lo, hi := s.lo, s.hi
	if reach := (low+extra)>>6 + 1; back {
		lo = max(lo-reach, 0)
	} else {
		hi = min(hi+reach, m.words)
	}
	mask := func(k int) *marks {
		if anyChar {
			return nil
		}
		if c != nil && m.words <= keepRuns {
			return m.inRow(c, k)
		}
		for ; made <= k; made++ {
			if made == 0 {
				masks[0] = m.get()
				masks[0].lo, masks[0].hi = max(lo, stream.lo), min(hi, stream.hi)
				if !masks[0].empty() {
					copy(masks[0].w[masks[0].lo:masks[0].hi], stream.w[masks[0].lo:masks[0].hi])
				}
				continue
			}
			next := m.copied(&masks[made-1])
			next.down(1 << (made - 1))
			next.and(&masks[made-1])
			masks[made] = next
		}
		return &masks[k]
	}
	for k := 0; 1<<k <= low; k++ {
		if low&(1<<k) != 0 && !s.empty() {
			move(&s, mask(k), 1<<k)
			s.trim()
		}
	}
	for covered := 0; covered < extra && !s.empty(); {
		k := 0
		for 2<<k <= min(covered+1, extra-covered) {
			k++
		}
		run := mask(k)
		if run != nil && run.empty() {
			if k == 0 {
				break
			}
			// No run that long: the shorter ones, one by one, until they are used up.
			for k--; k >= 0 && mask(k).empty(); k-- {
			}
			if k < 0 {
				break
			}
			run = mask(k)
		}
		more := m.copied(&s)
		move(&more, run, 1<<k)
		grew := s.adds(&more)
		s.or(&more)
		m.put(more)
		if !grew {
			break
		}
		covered += 1 << k
	}
	for i := range made {
		m.put(masks[i])
	}
	if high < 0 && !s.empty() {
		m.star(stream, &s, back)
	}
	return s
}

// star goes over any number of characters of the stream. Adding the positions to the
// stream as if both were numbers makes a carry run through each row of characters
// from where a position stands in it; what the sum has changed are the positions that
// are reached. It ends where the last carry does.
func (m *machine) star(stream, s *marks, back bool) {
	carry := uint64(0)
	if !back {
		for i := s.lo; i < m.words && (i < s.hi || carry != 0); i++ {
			c, at := uint64(0), uint64(0)
			if i >= stream.lo && i < stream.hi {
				c = stream.w[i]
			}
			if i < s.hi {
				at = s.w[i]
			} else {
				s.hi = i + 1
			}
			var sum uint64
			sum, carry = bits.Add64(at&c, c, carry)
			s.w[i] = sum ^ c | at
		}
		s.trim()
		return
	}
	// To the left the bits are read in reverse, and a character stands before the
	// position from which it is gone over.
	for i := s.hi - 1; i >= 0 && (i >= s.lo || carry != 0); i-- {
		c, at := uint64(0), uint64(0)
		if i >= stream.lo && i < stream.hi {
			c = stream.w[i] << 1
		}
		if i-1 >= stream.lo && i-1 < stream.hi {
			c |= stream.w[i-1] >> 63
		}
		if i >= s.lo {
			at = s.w[i]
		} else {
			s.lo = i
		}
		c, at = bits.Reverse64(c), bits.Reverse64(at)
		var sum uint64
		sum, carry = bits.Add64(at&c, c, carry)
		s.w[i] = bits.Reverse64(sum ^ c | at)
	}
	s.trim()
}

// keepRuns is the most words of a text for which runs are kept, so that they take tens
// of megabytes at the very most; in longer ones they are worked out where they are asked.
const keepRuns = 2100

// inRow gives the positions at which 2^k characters of a class stand in a row. They
// are worked out once for a text.
func (m *machine) inRow(c *class, k int) *marks {
	stream := m.stream(c)
	if k == 0 {
		return stream
	}
	i := c.number
	if m.runRound[i] != m.round {
		m.runRound[i], m.runUsed[i] = m.round, 0
	}
	for m.runUsed[i] < k {
		last := stream
		if n := m.runUsed[i]; n > 0 {
			last = &m.runs[i][n-1]
		}
		if m.runUsed[i] == len(m.runs[i]) {
			m.runs[i] = append(m.runs[i], marks{})
			if m.runUsed[i] > 0 {
				last = &m.runs[i][m.runUsed[i]-1]
			}
		}
		next := &m.runs[i][m.runUsed[i]]
		next.w = grown(next.w, m.words)
		next.lo, next.hi = last.lo, last.hi
		if !last.empty() {
			copy(next.w[last.lo:last.hi], last.w[last.lo:last.hi])
			next.down(1 << m.runUsed[i])
			next.and(last)
		}
		m.runUsed[i]++
	}
	return &m.runs[i][k-1]
}

// adds reports whether o has anything that m has not.
func (m *marks) adds(o *marks) bool {
	for i := o.lo; i < o.hi; i++ {
		v := o.w[i]
		if i >= m.lo && i < m.hi {
			v &^= m.w[i]
		}
		if v != 0 {
			return true
		}
	}
	return false
}

// beyond gives every position at least low characters away.
func (m *machine) beyond(low int, s marks, back bool) marks {
	s.trim()
	if s.empty() {
		return s
	}
	if back {
		i := s.hi - 1
		at := i << 6
		for v := s.w[i]; v > 1; v >>= 1 {
			at++
		}
		s.lo, s.hi = 0, 0
		if at -= low; at >= 0 {
			s.set(0, at)
		}
		return s
	}
	at := s.first() + low
	s.lo, s.hi = 0, 0
	if at <= m.n {
		s.set(at, m.n)
	}
	return s
}

// closure iterates a body: low times, then on from what is new as long as there is
// something new. What is reached in the fewest turns is reached first, so nothing is
// lost by going on from new positions only.
func (m *machine) closure(body *node, low, high int, s marks, back bool) marks {
	for range low {
		if s = m.eval(body, s, back); s.empty() {
			return s
		}
	}
	fresh := m.copied(&s)
	for turn := low; (high < 0 || turn < high) && !fresh.empty(); turn++ {
		fresh = m.eval(body, fresh, back)
		fresh.without(&s)
		s.or(&fresh)
	}
	m.put(fresh)
	return s
}

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

var machines = sync.Pool{New: func() any { return new(machine) }}
