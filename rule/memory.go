package rule

import "slices"

// Memory is a Set that remembers, from call to call, fields in which nothing matches: the
// tools of a list share names and descriptions of parameters, half of all fields in real
// lists. It is for one goroutine at a time, and for one list: it keeps the texts.
//
// Slow, and right by definition: look at each field. Fast: where a field has the surface and
// the text of one in which no alternative held anywhere, be it only to be excused, pass it
// over. That is safe because whether one holds depends on the readings alone, and these on
// the text. What else decides which alternatives are looked at:
//   - that a rule has had its most matches: such a field is not remembered;
//   - that signals are left out, which cannot be enough for a sum. In a field without
//     matches that depends, besides, on the signals in the name before it
//     (matcher.mostOfOthers): where there are any the field is looked at.
//
// What such a field holds is still added to what the fields of its tool hold together
// (matcher.unite), for alternatives with span tool.
type Memory struct {
	set   *Set
	least int
	idle  map[fieldKey][]unionWord
}

type fieldKey struct {
	surface surfaceMask
	text    string
}

// unionWord is a word of a union that a field adds something to.
type unionWord struct {
	number int
	bits   uint64
}

// Memory makes an empty memory for sums of at least least, see [Set.MatchScored].
func (s *Set) Memory(least int) *Memory {
	return &Memory{set: s, least: least, idle: map[fieldKey][]unionWord{}}
}

// Match is [Set.MatchScored]. Fields of the same text, in whatever call, must have the
// same readings.
func (r *Memory) Match(fields []Field, stop func() bool) (matches []Match, complete bool) {
	m := r.set.matcher(stop, nil)
	m.least, m.memory = r.least, r
	return m.run(fields)
}

// recall passes a field over that is known to hold nothing.
func (m *matcher) recall(number int, f *Field, bit surfaceMask) bool {
	if m.memory == nil || m.signalsOfName(number) > 0 {
		return false
	}
	words, ok := m.memory.idle[fieldKey{bit, f.Text}]
	if !ok {
		return false
	}
	for i, mask := range m.set.toolMasks {
		if !mask.has(bit) {
			continue
		}
		for _, w := range words {
			m.unions[i][w.number] |= w.bits
		}
	}
	return true
}

// remember keeps a field in which nothing held.
func (m *matcher) remember(f *Field, bit surfaceMask) {
	if m.memory != nil {
		m.memory.idle[fieldKey{bit, f.Text}] = slices.Clone(m.united)
	}
}

// note writes down what the current text adds to unions.
func (m *matcher) note() {
	words := m.united[:0]
	for _, w := range m.text.filled {
		words = append(words, unionWord{w, m.text.present[w]})
	}
	for _, atom := range m.text.cut {
		for _, set := range m.set.index.atoms[atom].sets {
			words = append(words, unionWord{int(set) >> 6, 1 << (set & 63)})
		}
	}
	m.united = words
}
