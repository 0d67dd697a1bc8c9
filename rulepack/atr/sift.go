package atr

import "strings"

// Sifting tells, for nearly every pattern and most tools, that it matches no text of the
// tool and not all of them joined, by looking at the joined text once. What it leaves is
// tried as if it had not been done.
//
// It is safe because it asks less of a match than is needed. Take a match in a text alone.
// The joined text has the same characters at the same distances, and a line feed, or
// nothing, where the text begins and ends. So each need of the pattern is hit there; a
// class takes what it took; \b and \B hold where they held, since a line feed is no word
// character and no more is the end of a text. Only ^, $ and lookarounds can tell the
// difference: sifting takes ^ and $ as holding at every line, of which the ends of texts
// are some, and lookarounds as holding everywhere. A match in the joined text as it is
// passes for the same reasons.
//
// Forms: normalising goes piece by piece between line feeds, so the normal form of the
// joined text is that of the texts, joined. The exception is folding, which one character
// brings about for all others; where it could make a difference nothing is sifted. The
// normal form and, where it is another, the text as it is are both looked at.

// sift marks the patterns that may match, and reports whether there are any. m.sifted
// says whether it was done.
func (m *matcher) sift(joined string) bool {
	normal, changed := normalized(joined)
	if changed && strings.ContainsAny(composed(joined), foldsAlone) {
		return true
	}
	m.sifted = true
	any := m.siftText(normal)
	if changed {
		any = m.siftText(joined) || any
	}
	return any
}

// siftText sifts one form of the joined text.
func (m *matcher) siftText(s string) (any bool) {
	leave := func(n int32, _ *marks) bool {
		m.left[n] = m.calls
		any = true
		return false
	}
	m.form.set(s, false)
	if !m.form.wide {
		m.siftForm(func(*pattern) bool { return true }, leave)
		return any || m.stopped
	}
	m.siftForm(func(p *pattern) bool { return !p.unicode }, leave)
	m.form.set(s, true)
	m.siftForm(func(p *pattern) bool { return p.unicode }, leave)
	return any || m.stopped // once stopped nothing is known
}

// siftForm gives the wanted patterns that may match in the form, with places where matches
// may end, as long as more of these are asked for; nil where nothing is known of them.
// Patterns that are left already are passed over. Where m.stopped is set it is not whole.
func (m *matcher) siftForm(wanted func(*pattern) bool, leave func(n int32, ends *marks) (more bool)) {
	m.joined = false // for places: a match may be anywhere
	m.hits.reset()
	m.pack.index.scan(m.form.folded, &m.hits)
	first, hasFirst := m.form.first, false
	m.candidates(func(n int32) {
		p := m.pack.patterns[n]
		if m.asked++; m.stopped || m.asked&63 == 0 && m.halted() {
			return
		}
		if m.left[n] == m.calls || p.other && len(m.form.values) == 0 || !wanted(p) {
			return
		}
		for i := range p.needs {
			if !m.hits.has(p.needs[i].set) {
				return
			}
		}
		for i := range p.must {
			if !p.must[i].meets(m.form.has) {
				return
			}
		}
		if len(p.head) > 0 {
			if !hasFirst {
				first, hasFirst = m.form.firsts(), true
			}
			if !p.head[0].meets(first) {
				return
			}
		}
		m.mayEnd(n, p, leave)
	})
}

// mayEnd evaluates a pattern loosely on the form.
func (m *matcher) mayEnd(n int32, p *pattern, leave func(n int32, ends *marks) (more bool)) {
	root, err := m.pack.tree(p)
	if err != nil {
		leave(n, nil) // for find to report
		return
	}
	ranges := m.places(p)
	if len(ranges) == 0 {
		return
	}
	k := m.loaded()
	if !k.loose {
		k.loosen()
	}
	for len(ranges) > 0 {
		s, tried := k.together(p, ranges)
		ranges = ranges[len(tried):]
		if root.lead != nil {
			s.and(k.stream(root.lead))
		}
		ends := k.eval(root, s, false)
		more := ends.empty() || leave(n, &ends)
		k.put(ends)
		if !more {
			return
		}
	}
}

// loosen makes eval take ^ and $ as holding at every line, and lookarounds everywhere.
func (m *machine) loosen() {
	m.loose = true
	lines := m.ascii['\n'*m.words : ('\n'+1)*m.words]
	m.begins.w, m.ends.w = grown(m.begins.w, m.words), grown(m.ends.w, m.words)
	carry := uint64(1) // the beginning of the text
	for i, v := range lines {
		m.begins.w[i], m.ends.w[i] = v<<1|carry, v
		carry = v >> 63
	}
	m.ends.w[m.n>>6] |= 1 << (m.n & 63)
	m.begins.lo, m.begins.hi = 0, m.words
	m.ends.lo, m.ends.hi = 0, m.words
}

// firsts gives the characters with which lines begin.
func (f *form) firsts() mask {
	var all mask
	for i, c := range f.lower {
		if i > 0 && f.lower[i-1] != '\n' {
			continue
		}
		if c >= 0x80 {
			all.other = true
		} else {
			all.ascii[c>>6] |= 1 << (c & 63)
		}
	}
	return all
}
