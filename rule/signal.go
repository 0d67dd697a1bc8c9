package rule

import "github.com/toolmark/toolmark"

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

// signals sights the alternatives of signals in the current text; false where it was
// stopped.
func (m *matcher) signals(list []*alternative) bool {
	if !m.enough(list) {
		return true
	}
	for _, alt := range list {
		if m.stop() {
			return false
		}
		m.sight(alt)
	}
	return true
}

// enough reports whether the weights of signals in the current text may come to as much as
// is asked for, see MatchScored.
//
// Most texts hold a word or two of a signal, so this is what most need not be matched
// with any. It is safe as the sum is of one reading: all that is summed up stands in the
// text, or is of a match that was found, or of the name, of which all are given. Values of
// one word are read twice, as they are and taken apart, and readings of the same name count
// together: of these all are given, too.
func (m *matcher) enough(list []*alternative) bool {
	if m.least <= 0 {
		return true
	}
	f := &m.fields[m.number]
	same := 0
	for i := range f.Readings {
		if f.Readings[i].Name == m.reading.Name {
			same++
		}
	}
	if same > 1 || f.Surface == toolmark.SurfaceParameterName || isName(f.Surface, m.reading.Text) {
		return true
	}
	sum := len(m.bestList) + len(m.fieldList)
	var last *Rule // those of a rule stand together
	for _, alt := range list {
		if alt.rule != last && alt.rule.Weight > 0 {
			sum += alt.rule.Weight
		}
		last = alt.rule
	}
	if m.number > 0 && m.fields[m.number-1].Surface == toolmark.SurfaceParameterName {
		for i := len(m.matches) - 1; i >= 0 && m.matches[i].Field >= m.number-1; i-- {
			if m.matches[i].Field == m.number-1 {
				sum += max(m.matches[i].Rule.Weight/2, 0)
			}
		}
	}
	return sum >= m.least
}

// sight takes the sentences in which an alternative of a signal matches into the
// answer, each once for its rule.
func (m *matcher) sight(alt *alternative) {
	r := alt.rule
	wanted := func(sentence int) bool { return !m.sighted[sighting{r.index, sentence}] }
	m.text.eachMatch(alt, SpanSentence, wanted, func(x match) bool {
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
