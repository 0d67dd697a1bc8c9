package atr

import "math/bits"

// marks is a set of positions of a text: bit i of word i/64 for position i. Only the
// words from lo up to hi count; what the others hold means nothing.
type marks struct {
	w      []uint64
	lo, hi int
}

func (m *marks) empty() bool { return m.lo >= m.hi }

// trim makes lo and hi as narrow as the set.
func (m *marks) trim() {
	for m.lo < m.hi && m.w[m.lo] == 0 {
		m.lo++
	}
	for m.lo < m.hi && m.w[m.hi-1] == 0 {
		m.hi--
	}
}

// first is the smallest position of a set that is not empty.
func (m *marks) first() int {
	for i := m.lo; i < m.hi; i++ {
		if m.w[i] != 0 {
			return i<<6 + bits.TrailingZeros64(m.w[i])
		}
	}
	return -1
}

// set adds the positions from up to and with to.
func (m *marks) set(from, to int) {
	lo, hi := from>>6, to>>6+1
	if m.empty() {
		m.lo, m.hi = lo, lo
	}
	for m.hi < hi {
		m.w[m.hi] = 0
		m.hi++
	}
	for m.lo > lo {
		m.lo--
		m.w[m.lo] = 0
	}
	head, tail := ^uint64(0)<<(from&63), ^uint64(0)>>(63-to&63)
	if lo == hi-1 {
		m.w[lo] |= head & tail
		return
	}
	m.w[lo] |= head
	for i := lo + 1; i < hi-1; i++ {
		m.w[i] = ^uint64(0)
	}
	m.w[hi-1] |= tail
}

// or adds the set o.
func (m *marks) or(o *marks) {
	if o.empty() {
		return
	}
	if m.empty() {
		m.lo, m.hi = o.lo, o.hi
		copy(m.w[o.lo:o.hi], o.w[o.lo:o.hi])
		return
	}
	for ; m.hi < o.lo; m.hi++ {
		m.w[m.hi] = 0
	}
	for ; m.lo > o.hi; m.lo-- {
		m.w[m.lo-1] = 0
	}
	from, to := o.lo, o.hi
	if from < m.lo {
		copy(m.w[from:m.lo], o.w[from:m.lo])
		from, m.lo = m.lo, from
	}
	if to > m.hi {
		copy(m.w[m.hi:to], o.w[m.hi:to])
		to, m.hi = m.hi, to
	}
	if from >= to {
		return
	}
	a, b := m.w[from:to], o.w[from:to]
	for i := range b {
		a[i] |= b[i]
	}
}

// and keeps what o has too.
func (m *marks) and(o *marks) {
	m.lo, m.hi = max(m.lo, o.lo), min(m.hi, o.hi)
	if m.empty() {
		return
	}
	a, b := m.w[m.lo:m.hi], o.w[m.lo:m.hi]
	for i := range b {
		a[i] &= b[i]
	}
	m.trim()
}

// meets reports whether the two have a position in common.
func (m *marks) meets(o *marks) bool {
	for i := max(m.lo, o.lo); i < m.hi && i < o.hi; i++ {
		if m.w[i]&o.w[i] != 0 {
			return true
		}
	}
	return false
}

// without drops what o has.
func (m *marks) without(o *marks) {
	from, to := max(m.lo, o.lo), min(m.hi, o.hi)
	if from < to {
		a, b := m.w[from:to], o.w[from:to]
		for i := range b {
			a[i] &^= b[i]
		}
	}
	m.trim()
}

// up moves every position k up, down every position k down. Positions that leave the
// words of the text are gone; up may leave some beyond the last position (see clip).
func (m *marks) up(k int) {
	if m.empty() || k == 0 {
		return
	}
	words, shift := k>>6, uint(k&63)
	hi := min(m.hi+words+1, len(m.w))
	lo := m.lo + words
	if lo >= hi {
		m.lo, m.hi = 0, 0
		return
	}
	if shift == 0 {
		hi = min(m.hi+words, len(m.w))
		copy(m.w[lo:hi], m.w[m.lo:])
		m.lo, m.hi = lo, hi
		return
	}
	// From the top, so that no word is read after it was written.
	above := uint64(0)
	if j := hi - 1 - words; j < m.hi {
		above = m.w[j]
	}
	for i := hi - 1; i > lo; i-- {
		below := m.w[i-words-1]
		m.w[i] = above<<shift | below>>(64-shift)
		above = below
	}
	m.w[lo] = above << shift
	m.lo, m.hi = lo, hi
}

func (m *marks) down(k int) {
	if m.empty() || k == 0 {
		return
	}
	words, shift := k>>6, uint(k&63)
	lo, hi := max(m.lo-words-1, 0), m.hi-words
	if hi <= 0 {
		m.lo, m.hi = 0, 0
		return
	}
	if shift == 0 {
		lo = max(m.lo-words, 0)
		copy(m.w[lo:hi], m.w[lo+words:m.hi])
		m.lo, m.hi = lo, hi
		return
	}
	below := uint64(0)
	if j := lo + words; j >= m.lo {
		below = m.w[j]
	}
	for i := lo; i < hi-1; i++ {
		above := m.w[i+words+1]
		m.w[i] = below>>shift | above<<(64-shift)
		below = above
	}
	m.w[hi-1] = below >> shift
	m.lo, m.hi = lo, hi
}

// step keeps the positions at which a character of the stream stands and moves them
// behind it.
func (m *marks) step(stream *marks) {
	lo, hi := max(m.lo, stream.lo), min(m.hi, stream.hi)
	if lo >= hi {
		m.lo, m.hi = 0, 0
		return
	}
	carry := uint64(0)
	a, b := m.w[lo:hi], stream.w[lo:hi]
	b = b[:len(a)]
	for i, v := range a {
		v &= b[i]
		a[i] = v<<1 | carry
		carry = v >> 63
	}
	if carry != 0 && hi < len(m.w) {
		m.w[hi] = carry
		hi++
	}
	m.lo, m.hi = lo, hi
	m.trim()
}

// stepBack moves the positions in front of a character of the stream, where one
// stands there.
func (m *marks) stepBack(stream *marks) {
	m.down(1)
	m.and(stream)
}

// hasIn reports whether the set has a position from up to and with to.
func (m *marks) hasIn(from, to int) bool {
	for i := max(from>>6, m.lo); i < m.hi && i <= to>>6; i++ {
		w := m.w[i]
		if i == from>>6 {
			w &= ^uint64(0) << (from & 63)
		}
		if i == to>>6 {
			w &= ^uint64(0) >> (63 - to&63)
		}
		if w != 0 {
			return true
		}
	}
	return false
}
