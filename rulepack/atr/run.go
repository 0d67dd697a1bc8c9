package atr

import (
	"math/bits"
)

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
