package rule

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/textcheck"
)

// Field is one text of a tool, or of another part of a manifest.
type Field struct {
	Surface toolmark.Surface
	Pointer string // JSON Pointer of the string
	Text    string // as sent, WTF-8
	// Readings are the views of Text to match in; the first one is the text as sent.
	Readings []textcheck.Reading
}

// Place is a stretch of a field's text as sent, in code points, End exclusive.
type Place struct{ Field, Start, End int }

// Match is a place where a rule matched.
type Match struct {
	Rule *Rule
	By   string // the alternative's id
	// Severity is the rule's, or toolmark.Info where a downgrade weakened the match.
	Severity toolmark.Severity
	// Field is the number of the field, Start and End the place in its text as sent,
	// in code points, End exclusive. For a match that reaches over several fields it
	// is the first of Places.
	Field      int
	Start, End int
	// Reading is the name of the reading in which it matched.
	Reading string
	// Sentence is the number of the sentence of that reading in which it starts.
	Sentence int
	// Excerpt is at most MaxExcerpt code points of that reading around the place.
	// Hostile: escape it before printing.
	Excerpt string
	// Places has one entry for each field in which a part of the match stands, in the
	// order of the fields; at least one.
	Places []Place
}

const (
	// MaxExcerpt is the most code points of an excerpt.
	MaxExcerpt = 160
	// MaxMatchesPerRule is the most matches of one rule that one call of Match gives;
	// those that a downgrade weakened are counted apart.
	MaxMatchesPerRule = 16
	// fieldGap is what stands between two fields of a tool's joined text. White space
	// in a pattern passes it; it costs four of a pattern's bounded gap.
	fieldGap = "    "
)

// Match gives the matches of all rules in fields: the texts of one tool, or of one
// other part of a manifest. For each rule and field there is at most one, the best:
// one that no downgrade weakens before one that is, then by the order of the
// readings, then the earliest and shortest. A signal is given once for each sentence of
// each reading in which it stands. Alternatives with span tool are also
// tried on the joined texts of all fields that the rule reads, where the rule
// matched in none of them alone.
//
// stop, which may be nil, is asked before each rule that may match and before each
// field; once it says true, Match returns what it has, and complete is false.
// Matches are in order of field, place and rule id. Match may be called from
// several goroutines at once.
func (s *Set) Match(fields []Field, stop func() bool) (matches []Match, complete bool) {
	return s.MatchScored(fields, 0, stop)
}

// MatchScored is Match for who adds up weights and wants no sum below least: signals of a
// reading are left out where the weights of all that may stand in it come to less, each
// match of another rule counted as one, and half the weights in the name of the parameter
// that the field describes. So no signal is left out that is part of a sum of least, if that
// is of one reading of one field, and signals of the name count half.
func (s *Set) MatchScored(fields []Field, least int, stop func() bool) (matches []Match, complete bool) {
	m := s.matcher(stop, nil)
	m.least = least
	return m.run(fields)
}

// matcher is the state of one call.
type matcher struct {
	set     *Set
	stop    func() bool
	only    *alternative // look at no other; nil: look at all
	least   int          // see MatchScored
	text    *analysis
	matches []Match

	memory *Memory     // nil: nothing is remembered
	united []unionWord // what the current field added to unions; for reuse
	passed bool        // some alternative was not looked at in the current field, as its rule has enough

	alternatives []*alternative // that may match the current text

	// fields are those of the call; whole is their joined text, for excuses that look
	// at the whole tool, and excuses what they said: 0 not asked, 1 no, 2 yes.
	fields  []Field
	number  int                // of the current field
	reading *textcheck.Reading // the current one
	sighted map[sighting]bool  // signals found in it
	groups  []signalGroup      // for reuse
	whole   *analysis
	joined  bool
	excuses []uint8

	unions    []bitset // per mask of span tool: the sets of which its fields hold something
	everyWord []int    // the numbers of the words of each

	strong []int // matches of each rule so far that nothing weakens
	weak   []int // and the others

	// The best of each rule in one reading, and in the readings of one field so far;
	// the lists name the rules that have one.
	best      []outcome
	bestList  []int
	field     []fieldMatch
	fieldList []int
}

type fieldMatch struct {
	Match
	has, weak bool
}

func (s *Set) matcher(stop func() bool, only *alternative) *matcher {
	m, _ := s.pool.Get().(*matcher)
	if m == nil {
		n := len(s.rules)
		m = &matcher{
			set: s, text: newAnalysis(s), strong: make([]int, n), weak: make([]int, n),
			best: make([]outcome, n), field: make([]fieldMatch, n), excuses: make([]uint8, s.excuses),
			sighted: map[sighting]bool{},
		}
		m.text.toolExcuse = m.toolExcuse
		for range s.toolMasks {
			m.unions = append(m.unions, newBitset(s.index.sets))
		}
		for i := range newBitset(s.index.sets) {
			m.everyWord = append(m.everyWord, i)
		}
	}
	if stop == nil {
		stop = func() bool { return false }
	}
	m.stop, m.only, m.matches, m.least, m.memory = stop, only, nil, 0, nil
	clear(m.strong)
	clear(m.weak)
	clear(m.excuses)
	return m
}

// maxKept is the most bytes of text whose buffers are kept for the next call.
const maxKept = 1 << 20

func (m *matcher) run(fields []Field) (matches []Match, complete bool) {
	complete = true
	m.fields, m.joined = fields, false
	m.beginUnions()
	for i := 0; i < len(fields) && complete; i++ {
		complete = m.oneField(i, &fields[i])
	}
	complete = complete && m.tool(fields)
	matches = m.matches
	slices.SortStableFunc(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Rule.ID, b.Rule.ID))
	})
	// Not deferred: after a panic the matcher is in no state to be used again.
	m.stop, m.matches, m.fields, m.memory = nil, nil, nil, nil
	if cap(m.text.folded) <= maxKept {
		m.set.pool.Put(m)
	}
	return matches, complete
}

// oneField matches all rules in one field; false where it was stopped.
func (m *matcher) oneField(number int, f *Field) bool {
	bit := surfaceBit(f.Surface)
	if m.recall(number, f, bit) {
		return true
	}
	complete := true
	m.passed, m.text.any = false, false
	for i := 0; i < len(f.Readings) && complete; i++ {
		reading := &f.Readings[i]
		if complete = !m.stop(); !complete {
			break
		}
		m.text.read(reading.Text, nil)
		m.number, m.reading = number, reading
		clear(m.sighted)
		if i == 0 {
			m.unite(bit)
			if m.memory != nil {
				m.note()
			}
		}
		complete = m.oneText(number, bit, reading)
		if complete && isName(f.Surface, reading.Text) && m.text.splitNames() {
			complete = m.oneText(number, bit, reading)
		}
	}
	if complete && !m.passed && !m.text.any {
		m.remember(f, bit)
	}
	for _, rule := range m.fieldList {
		f := &m.field[rule]
		m.add(rule, f.Match, f.weak)
		*f = fieldMatch{}
	}
	m.fieldList = m.fieldList[:0]
	return complete
}

// oneText matches all rules in the current text, a reading of a field; false where
// it was stopped.
func (m *matcher) oneText(number int, bit surfaceMask, reading *textcheck.Reading) bool {
	complete := m.candidates(func(alt *alternative) bool {
		r := alt.rule
		if !r.surfaces.has(bit) || !r.reads(reading.Name) {
			return false
		}
		if m.strong[r.index] >= r.most() {
			m.passed = true
			return false
		}
		old := &m.field[r.index]
		return !old.has || old.weak
	}, "")
	m.eachBest(func(rule int, o *outcome) {
		old := &m.field[rule]
		switch {
		case !old.has:
			m.fieldList = append(m.fieldList, rule)
		case o.weak || !old.weak:
			return
		}
		*old = fieldMatch{m.match(o, number, reading), true, o.weak}
	})
	return complete
}

// toolExcuse reports whether an excuse with span tool stands in any of the fields.
func (m *matcher) toolExcuse(e *excuse) bool {
	if m.excuses[e.number-1] == 0 {
		if m.whole == nil {
			m.whole = newAnalysis(m.set)
		}
		if !m.joined {
			m.joined = true
			j := joinFields(m.fields, 0)
			m.whole.read(j.text, j.joins)
		}
		m.excuses[e.number-1] = 1
		if m.whole.excusesAll(e) {
			m.excuses[e.number-1] = 2
		}
	}
	return m.excuses[e.number-1] == 2
}

// eachBest gives what candidates found, once.
func (m *matcher) eachBest(use func(rule int, o *outcome)) {
	for _, rule := range m.bestList {
		use(rule, &m.best[rule])
		m.best[rule] = outcome{}
	}
	m.bestList = m.bestList[:0]
}

// add takes a match into the answer. Weak matches are counted apart: no number of
// them may keep a match that nothing weakens from being looked for.
func (m *matcher) add(rule int, match Match, weak bool) {
	count := &m.strong[rule]
	if weak {
		count = &m.weak[rule]
	}
	if *count < MaxMatchesPerRule {
		*count++
		m.matches = append(m.matches, match)
	}
}

// candidates evaluates the alternatives that may match the current text and that
// want lets through; false where it was stopped. Those that hold nothing of one of
// their sets cannot match, and are not even looked at.
func (m *matcher) candidates(want func(*alternative) bool, span Span) bool {
	m.alternatives = m.alternatives[:0]
	if m.text.exhaustive {
		m.alternatives = append(m.alternatives, m.set.alternatives...)
	}
	if !m.text.exhaustive {
		var text *analysis
		if len(m.text.text) > shortText && span == "" {
			text = m.text
		}
		m.alternatives = m.set.mayMatch(&m.set.all, m.text.present, m.text.filled, text, m.alternatives)
	}
	kept := m.alternatives[:0]
	for _, alt := range m.alternatives {
		if m.only != nil && m.only != alt || !want(alt) {
			continue
		}
		if alt.rule.Weight != 0 {
			kept = append(kept, alt) // later
			continue
		}
		if m.stop() {
			return false
		}
		use := alt.span
		if span != "" {
			use = span
		}
		o := m.text.evaluate(alt, use)
		if o.alternative == nil {
			continue
		}
		n := alt.rule.index
		if m.best[n].alternative == nil {
			m.bestList = append(m.bestList, n)
		}
		if o.better(&m.best[n]) {
			m.best[n] = o
		}
	}
	return m.signals(kept)
}

// triggers say of sets which alternatives may match.
type triggers struct {
	quick []quickTrigger
	at    []int32 // per set of the index: where its triggers begin in quick
	some  bitset  // the sets that have some
	sets  []int32 // of all triggers
}

// mayMatch appends to list the alternatives that may match a text with something of
// each of the sets present, in order. filled are the words of present that are not 0, or
// some more. The text, where it is given, is asked whether they stand in one sentence.
func (s *Set) mayMatch(t *triggers, present bitset, filled []int, text *analysis, list []*alternative) []*alternative {
	var buffer [64]int32
	orders := buffer[:0]
	for _, i := range filled {
		for word := present[i] & t.some[i]; word != 0; word &= word - 1 {
			set := i<<6 + bits.TrailingZeros64(word)
			for n := t.at[set]; n < t.at[set+1]; n++ {
				q := &t.quick[n]
				if !t.holds(q, present) {
					continue
				}
				alt := s.alternatives[q.alt]
				if len(alt.conditions) > 1 && !alt.mayMatch(present) {
					continue
				}
				if text != nil && q.sentence && !text.inOneSentence(set, t.sets[q.from:q.to]) {
					continue
				}
				orders = append(orders, q.alt)
			}
		}
	}
	slices.Sort(orders)
	for _, order := range slices.Compact(orders) { // one may be filed under several sets
		list = append(list, s.alternatives[order])
	}
	return list
}

// match makes a Match of what was found in a reading of one field.
func (m *matcher) match(o *outcome, number int, reading *textcheck.Reading) Match {
	from, to := m.text.reading(o.start), m.text.readingEnd(o.end)
	start, end := reading.Origin(from, to)
	place := Place{Field: number, Start: start, End: end}
	made := m.made(o, reading.Name, excerpt(reading.Text, from, to), []Place{place})
	made.Sentence = m.text.sentenceAt(o.start)
	return made
}

func (m *matcher) made(o *outcome, reading, text string, places []Place) Match {
	severity := o.alternative.rule.Severity
	if o.weak {
		severity = toolmark.Info
	}
	return Match{
		Rule: o.alternative.rule, By: o.alternative.id, Severity: severity, Reading: reading,
		Field: places[0].Field, Start: places[0].Start, End: places[0].End, Excerpt: text, Places: places,
	}
}

func (r *Rule) reads(name string) bool {
	return len(r.Readings) == 0 || slices.Contains(r.Readings, name)
}

// reading gives the byte of the reading from which byte i of the text comes.
func (a *analysis) reading(i int) int {
	if a.back == nil {
		return i
	}
	return int(a.back[i])
}

// readingEnd gives the byte of the reading up to which the text before byte i comes.
func (a *analysis) readingEnd(i int) int {
	if a.back == nil {
		return i
	}
	for i > 0 && i < len(a.text) && a.back[i] == a.back[i-1] {
		i++ // inside what was composed from one stretch
	}
	return int(a.back[i])
}

// excerpt gives at most MaxExcerpt code points of text around a stretch of it, or
// the beginning of the stretch where that alone is longer.
func excerpt(text string, start, end int) string {
	n := utf8.RuneCountInString(text[start:min(end, start+4*MaxExcerpt)])
	spare := max(MaxExcerpt-n, 0)
	for range spare / 2 {
		if start == 0 {
			break
		}
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	to := start
	for range MaxExcerpt {
		if to == len(text) {
			break
		}
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	return text[start:to]
}

// Set is a set of rules, ready to match. It does not change.
type Set struct {
	rules        []*Rule
	byID         map[string]*Rule
	alternatives []*alternative
	families     map[string]*family
	retired      map[string]bool
	index        index
	spaced       bitset      // sets of the index with a text that holds white space
	triggers     [][]trigger // per set of the index
	all, tool    triggers    // as they are read; those with span tool
	excuses      int
	toolMasks    []surfaceMask
	pool         sync.Pool
	automata     atomic.Int64 // bytes of the states of the patterns' automata
}

// Rules gives all rules in order of their ids.
func (s *Set) Rules() []*Rule { return slices.Clone(s.rules) }

// Find gives the rule with an id or an opaque reference, nil where there is none.
func (s *Set) Find(id string) *Rule {
	if r := s.byID[id]; r != nil {
		return r
	}
	for _, r := range s.rules {
		if Reference(r.ID) == id {
			return r
		}
	}
	return nil
}
