package atr

import (
	"slices"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
)

// findMeetings finds the separators in a form of the joined text, and the places of the
// texts that were not read alone. No line feed comes or goes in normalising, so the
// separators are told by counting.
func (m *matcher) findMeetings() {
	m.meets = m.meets[:0]
	at, lower := 0, m.form.lower
	for _, text := range m.texts {
		if plainWord(text) {
			for range len(text) { // ASCII: a position for a byte
				m.meets = append(m.meets, at)
				at++
			}
		} else {
			for lines := strings.Count(text, separator); ; lines-- {
				for at < len(lower) && lower[at] != separator[0] {
					at++
				}
				if lines == 0 {
					break
				}
				at++
			}
		}
		if at < len(lower) {
			m.meets = append(m.meets, at)
		}
		at++
	}
}

// find gives the first match of a pattern in the form: where it begins, and the
// nearest place where it may end.
func (m *matcher) find(n int32, p *pattern) (start, end int, ok bool) {
	root, err := m.pack.tree(p)
	if err != nil {
		m.delay(n)
		return 0, 0, false
	}
	ranges := m.places(p)
	if len(ranges) == 0 {
		return 0, 0, false
	}
	k := m.loaded()
	for len(ranges) > 0 {
		s, tried := k.together(p, ranges)
		ranges = ranges[len(tried):]
		if root.lead != nil {
			// Most places are not even the beginning of a match.
			if s.and(k.stream(root.lead)); s.empty() {
				k.put(s)
				continue
			}
		}
		ends := k.eval(root, s, false)
		if !ends.empty() {
			starts := k.get()
			for _, r := range tried {
				starts.set(r[0], r[1])
			}
			if p.backrefs {
				from := k.eval(root, ends, true)
				from.and(&starts)
				start, end, ok = m.backtrack(n, p, &from)
				k.put(from)
				k.put(starts)
				if ok {
					return start, end, true
				}
				continue
			}
			from := k.eval(root, ends, true)
			from.and(&starts)
			start = from.first()
			from.lo, from.hi = 0, 0
			from.set(start, start)
			k.put(starts)
			ends = k.eval(root, from, false)
			end = ends.first()
			ok = true
		}
		k.put(ends)
		if ok {
			return start, end, true
		}
	}
	return 0, 0, false
}

// loaded gives the machine with the form in it.
func (m *matcher) loaded() *machine {
	if !m.form.loaded {
		m.form.loaded = true
		values := m.form.values
		if len(values) == 0 {
			values = nil
		}
		m.machine.load(m.form.lower, values)
	}
	return &m.machine
}

// shortText is the most words of a text in which all ranges are tried in one go.
const shortText = 24

// togetherGap is how far apart, in characters, ranges are tried in one go. To begin anew costs as
// much as some tens of words that hold nothing.
const togetherGap = 2048

// together gives the first of some ranges, with those so near to it that they are
// tried in one go; all of them where a match may go on to the end of the text.
func (m *machine) together(p *pattern, ranges [][2]int) (s marks, tried [][2]int) {
	s = m.get()
	n := 0
	for n == 0 || n < len(ranges) && (!p.width.bounded() || m.words <= shortText || ranges[n][0] < s.hi<<6+togetherGap) {
		s.set(ranges[n][0], ranges[n][1])
		n++
	}
	return s, ranges[:n]
}

// backtrack tries a pattern with back-references at the positions at which it matches
// if these are left open.
func (m *matcher) backtrack(n int32, p *pattern, starts *marks) (start, end int, ok bool) {
	values := m.form.runes()
	deadline := m.pack.patience
	for !starts.empty() {
		at := starts.first()
		began := time.Now()
		end, ok, err := p.slow.at(values, at, deadline)
		if err != nil {
			m.delay(n)
			return 0, 0, false
		}
		if ok {
			return at, end, true
		}
		if deadline -= time.Since(began); deadline <= 0 {
			m.delay(n)
			return 0, 0, false
		}
		starts.w[at>>6] &^= 1 << (at & 63)
		starts.trim()
	}
	return 0, 0, false
}

func (m *matcher) delay(n int32) {
	for _, i := range m.pack.usedBy[n] {
		m.late[i] = true
	}
}

// places gives the stretches of positions, in order and apart, in which a match of
// the pattern may begin.
//
// Fast, and safe for these reasons: each match holds a text of each need, the index
// finds all of those, and a match begins at most so many characters before the end of
// the text as the need says; where no need has such a bound, any place up to the last
// hit will do. In a joined text a match that neither touches a separator nor looks as
// far as one was there already when its text was read alone.
func (m *matcher) places(p *pattern) [][2]int {
	m.ranges = m.ranges[:0]
	length := m.form.length()
	best := -1
	for i := range p.needs {
		if p.needs[i].before.bounded() && (best < 0 || len(m.hits.ends(p.needs[i].set)) < len(m.hits.ends(p.needs[best].set))) {
			best = i
		}
	}
	if best < 0 {
		until := length
		for i := range p.needs {
			list := m.hits.ends(p.needs[i].set)
			until = min(until, int(list[len(list)-1]))
		}
		m.ranges = append(m.ranges, [2]int{0, until})
	} else {
		ends, before := m.hits.ends(p.needs[best].set), p.needs[best].before.in(&m.form)
		for _, e := range ends {
			from := max(int(e)-before, 0)
			if !m.company(p, best, from, int(e)) {
				continue
			}
			if n := len(m.ranges); n > 0 && from <= m.ranges[n-1][1]+1 {
				m.ranges[n-1][1] = int(e)
				continue
			}
			m.ranges = append(m.ranges, [2]int{from, int(e)})
		}
	}
	if !m.joined || m.whole || p.suppress || p.backrefs || !p.width.bounded() || p.sight < 0 {
		return m.ranges
	}
	// Where texts meet only.
	m.stretch = m.stretch[:0]
	reach, sight := p.width.in(&m.form)+int(p.sight)+1, int(p.sight)+1
	next := 0
	for _, at := range m.meets {
		from, to := max(at-reach, 0), min(at+sight, length)
		for next < len(m.ranges) && m.ranges[next][1] < from {
			next++
		}
		for i := next; i < len(m.ranges) && m.ranges[i][0] <= to; i++ {
			lo, hi := max(from, m.ranges[i][0]), min(to, m.ranges[i][1])
			if n := len(m.stretch); n > 0 && lo <= m.stretch[n-1][1]+1 {
				m.stretch[n-1][1] = max(m.stretch[n-1][1], hi)
				continue
			}
			m.stretch = append(m.stretch, [2]int{lo, hi})
		}
	}
	return m.stretch
}

// company reports whether a hit of each other need stands where a match could hold it
// that begins at from or later and holds the hit that ends at end.
func (m *matcher) company(p *pattern, best, from, end int) bool {
	until := m.form.length()
	if width := p.width.in(&m.form); width >= 0 {
		until = min(until, end+width)
	}
	for i := range p.needs {
		if i == best {
			continue
		}
		list := m.hits.ends(p.needs[i].set)
		k, _ := slices.BinarySearch(list, int32(from))
		if k == len(list) || int(list[k]) > until {
			return false
		}
	}
	return true
}

// place turns positions of the form into code points of the text they come from.
func (m *matcher) place(h *hold, start, end int) {
	if m.form.wide && !m.form.codePoints {
		start, end = codePointsBefore(m.form.values, start), codePointsBefore(m.form.values, end)
	}
	if m.form.normal && m.form.changed {
		back := origins(m.original)
		last := len(back) - 1
		start = back[min(start, last)]
		if end > 0 && end <= last {
			// Behind the character from which the last one of the match comes.
			if at := back[end-1]; back[end] == at {
				end = at + 1
			} else {
				end = back[end]
			}
		} else {
			end = back[last]
		}
	}
	h.text = m.text
	if m.joined {
		for h.text = 0; h.text < len(m.texts)-1; h.text++ {
			length := toolmark.CodePoints(m.texts[h.text])
			if start <= length {
				end = min(end, length)
				break
			}
			start, end = start-length-1, end-length-1
		}
	}
	h.start, h.end = start, max(end, start)
}
