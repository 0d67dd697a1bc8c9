package rule

import (
	"slices"

	"github.com/toolmark/toolmark"
)

// A signal is a rule of severity "signal": words that an attack and an honest text
// both use, of which an attack uses several close together. It says nothing by itself.
// Who asks for matches adds the weights of different signals up; package scan says how.

const (
	signalSeverity = "signal"
	// MaxWeight is the greatest weight of a signal; the least is -MaxWeight.
	MaxWeight = 5
	// MaxSightings is the most places of one signal that one call of Match gives.
	MaxSightings = 64
)

// sighting is a signal in a sentence of the current reading.
type sighting struct{ rule, sentence int }

// signals sights the alternatives of signals in the current text, those of a rule one
// after the other; false where it was stopped.
//
// Most texts hold a word or two of a signal, and that is not enough for any sum, see
// MatchScored: then no more of them are looked at. That is safe as the sum is of one
// reading: all that is summed up stands in the text, or is of a match that was found, or of
// the name, of which all are given. The heaviest are looked at first, so that the sum
// of what may still be there falls quickly.
func (m *matcher) signals(list []*alternative) bool {
	if len(list) == 0 {
		return true
	}
	most, all := m.mostOfOthers()
	groups := m.groups[:0]
	for i := 0; i < len(list); {
		g := signalGroup{from: i, weight: list[i].rule.Weight}
		for ; i < len(list) && list[i].rule == list[g.from].rule; i++ {
		}
		g.to = i
		most += max(g.weight, 0)
		groups = append(groups, g)
	}
	m.groups = groups
	slices.SortStableFunc(groups, func(a, b signalGroup) int { return b.weight - a.weight })
	for _, g := range groups {
		if !all && most < m.least {
			return true
		}
		r := list[g.from].rule
		before := m.strong[r.index]
		for _, alt := range list[g.from:g.to] {
			if m.stop() {
				return false
			}
			m.sight(alt)
		}
		if m.strong[r.index] == before {
			most -= max(g.weight, 0)
		}
	}
	return true
}

// signalGroup is the alternatives of one rule in a list.
type signalGroup struct{ from, to, weight int }

// mostOfOthers gives what may come to the weights of the signals in a sum of the current
// reading, or that all are to be given: values of one word are read twice, as they are and
// taken apart, and readings of the same name count together.
func (m *matcher) mostOfOthers() (most int, all bool) {
	if m.least <= 0 {
		return 0, true
	}
	f := &m.fields[m.number]
	same := 0
	for i := range f.Readings {
		if f.Readings[i].Name == m.reading.Name {
			same++
		}
	}
	if same > 1 || f.Surface == toolmark.SurfaceParameterName || isName(f.Surface, m.reading.Text) {
		return 0, true
	}
	return len(m.bestList) + len(m.fieldList) + m.signalsOfName(m.number), false
}

// signalsOfName gives what the signals in the name of the parameter that a field describes
// may add to a sum in it.
func (m *matcher) signalsOfName(number int) (most int) {
	if number == 0 || m.fields[number-1].Surface != toolmark.SurfaceParameterName {
		return 0
	}
	for i := len(m.matches) - 1; i >= 0 && m.matches[i].Field >= number-1; i-- {
		if m.matches[i].Field == number-1 {
			most += max(m.matches[i].Rule.Weight/2, 0)
		}
	}
	return most
}

// sight takes the sentences in which an alternative of a signal matches into the
// answer, each once for its rule.
func (m *matcher) sight(alt *alternative) {
	r := alt.rule
	wanted := func(sentence int) bool { return !m.sighted[sighting{r.index, sentence}] }
	m.text.eachMatch(alt, SpanSentence, wanted, func(x match) bool {
		m.text.any = true
		at := sighting{r.index, m.text.sentenceAt(x.start)}
		if m.sighted[at] || m.text.excused(alt.unless, x) || m.text.excused(r.unless, x) {
			return true
		}
		m.sighted[at] = true
		m.strong[r.index]++
		m.matches = append(m.matches, m.match(&outcome{match: x, alternative: alt}, m.number, m.reading))
		return m.strong[r.index] < MaxSightings
	})
}

// signalOnly refuses what a signal cannot have: it is found sentence by sentence, and
// there is nothing to weaken.
func (r *reader) signalOnly(rule *Rule) {
	for _, alt := range rule.alternatives {
		if alt.span != SpanSentence {
			r.fault(alt.line, "a signal is looked for in each sentence: it has no other span")
		}
		if len(alt.downgrade) > 0 {
			r.fault(alt.line, "a signal has nothing to downgrade")
		}
	}
	if len(rule.downgrade) > 0 {
		r.fault(1, "a signal has nothing to downgrade")
	}
}

// most is the most matches of the rule that one call of Match gives.
func (r *Rule) most() int {
	if r.Weight != 0 {
		return MaxSightings
	}
	return MaxMatchesPerRule
}
