package rule

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
