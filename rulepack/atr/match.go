package atr

import (
	"strings"
)

// Match is a rule that matches the texts of a tool, and the first place that was
// found for it.
type Match struct {
	Rule *Rule
	// Text is the index of the text in which the match begins.
	Text int
	// Joined is set where no text matches by itself, but all of them joined do. The
	// match may then end in a later text; End is clipped to the one it begins in.
	Joined bool
	// Start and End are code points of the text as it was given.
	Start, End int
}

// Result is what one call of [Pack.Match] found.
type Result struct {
	Matches []Match // by rule id, each rule once
	// Complete is false where stop ended the work.
	Complete bool
	// Unfinished are the ids of rules, in order, of which some pattern did not come to
	// an answer in time and that did not match otherwise. They are neither clean nor
	// matched.
	Unfinished []string
}

// separator stands between texts that are read joined.
const separator = "\n"

// Match tries all rules on the texts of one tool, in WTF-8: on each alone, and on all
// of them joined by line feeds. stop, where not nil, is asked now and then and ends the
// work by answering true; what was found until then is given.
//
// Where there are several texts, those that are one plain word (up to 24 letters, digits
// and _ . -), such as the values of an enum, are read joined only: some rules are made
// for a user who types nothing but "key", and fire on honest enums.
//
// The work is linear in the length of the texts. There is no limit on it here; the
// caller caps what it reads.
func (p *Pack) Match(texts []string, stop func() bool) Result {
	m := p.matcher()
	defer p.pool.Put(m)
	m.begin(texts, stop)
	if one, ok := onlyOne(texts); ok {
		m.events(one)
		return m.result()
	}
	joined := strings.Join(texts, separator)
	if m.sift(joined) {
		m.events(joined)
	}
	return m.result()
}

// onlyOne gives the one text that is not empty, or says that there are more.
func onlyOne(texts []string) (text string, ok bool) {
	for _, t := range texts {
		if t == "" {
			continue
		}
		if text != "" {
			return "", false
		}
		text = t
	}
	return text, true
}

// events tries the rules on the texts and on all of them joined; or on the only one that
// is not empty.
func (m *matcher) events(joined string) {
	_, one := onlyOne(m.texts)
	for i, text := range m.texts {
		if text != "" && (one || !plainWord(text)) {
			m.event(i, text, false)
		}
	}
	if !one {
		m.event(0, joined, true)
	}
}

// matcher is the state of one call.
type matcher struct {
	pack     *Pack
	texts    []string
	stop     func() bool
	stopped  bool
	found    []Match // per rule; Rule is nil where it has not matched
	late     []bool  // per rule
	machine  machine
	hits     hits  // in the current form
	number   int32 // of the event
	held     []hold
	hushed   []int32 // per pattern: event in which its first match stood in code
	form     form
	joined   bool
	whole    bool // a joined text is read whole, not only where texts meet
	original string
	asked    int

	meets    []int // positions of the separators in the form
	ranges   [][2]int
	stretch  [][2]int
	text     int
	codeDone bool
	codeList [][2]int

	sifted bool    // only patterns that are left are tried
	left   []int32 // per pattern: the last call in which sifting left it
	calls  int32
}

// hold says in which event a pattern matched, and where.
type hold struct {
	event      int32
	text       int
	start, end int
}

func (p *Pack) matcher() *matcher {
	if m, ok := p.pool.Get().(*matcher); ok {
		return m
	}
	return &matcher{
		pack: p, found: make([]Match, len(p.rules)), late: make([]bool, len(p.rules)),
		hits: newHits(&p.index, p.sets), held: make([]hold, len(p.patterns)), hushed: make([]int32, len(p.patterns)),
		left: make([]int32, len(p.patterns)),
	}
}

func (m *matcher) begin(texts []string, stop func() bool) {
	m.texts, m.stop, m.stopped, m.asked = texts, stop, false, 0
	m.calls++
	m.sifted = false
	clear(m.found)
	clear(m.late)
}

func (m *matcher) result() Result {
	r := Result{Complete: !m.stopped}
	for i := range m.found {
		switch {
		case m.found[i].Rule != nil:
			r.Matches = append(r.Matches, m.found[i])
		case m.late[i]:
			r.Unfinished = append(r.Unfinished, m.pack.rules[i].ID)
		}
	}
	m.texts, m.stop, m.original = nil, nil, ""
	return r
}

// halted asks stop.
func (m *matcher) halted() bool {
	if !m.stopped && m.stop != nil {
		m.stopped = m.stop()
	}
	return m.stopped
}

// event tries all rules on one text.
func (m *matcher) event(text int, s string, joined bool) {
	if m.halted() {
		return
	}
	m.number++
	m.text, m.original, m.joined = text, s, joined
	normal, changed := normalized(s)
	m.whole = joined && changed && strings.ContainsAny(s, foldsAlone)
	m.read(normal, true, changed)
	if changed {
		m.read(s, false, true)
	}
	for _, i := range m.pack.allOf {
		if r := &m.pack.rules[i]; m.found[i].Rule == nil && m.holds(r) {
			m.take(int(i), r.conditions[0])
		}
	}
}

func (m *matcher) holds(r *Rule) bool {
	for _, n := range r.conditions {
		if m.held[n].event != m.number {
			return false
		}
	}
	return true
}

// read tries the patterns on one form of the text: as UTF-16 units, and where that
// makes a difference to patterns with the u flag, as code points.
func (m *matcher) read(s string, normal, changed bool) {
	m.form.set(s, false)
	m.form.normal, m.form.changed, m.codeDone = normal, changed, false
	if !m.form.wide {
		m.try(func(*pattern) bool { return true })
		return
	}
	m.try(func(p *pattern) bool { return !p.unicode })
	m.form.set(s, true)
	m.codeDone = false
	m.try(func(p *pattern) bool { return p.unicode })
}

// try runs the patterns that are asked for on the current form.
func (m *matcher) try(wanted func(*pattern) bool) {
	m.hits.reset()
	m.pack.index.scan(m.form.folded, &m.hits)
	if m.joined {
		m.findMeetings()
	}
	m.candidates(func(n int32) { m.one(n, wanted) })
}

// candidates gives the patterns of which the form has a text of each need, in the order
// in which the first of these was found.
func (m *matcher) candidates(yield func(int32)) {
	for _, n := range m.pack.always {
		yield(n)
	}
	for _, set := range m.hits.touched {
		for _, t := range m.pack.triggered[set] {
			if m.hits.has(t.others[0]) && m.hits.has(t.others[1]) {
				yield(t.pattern)
			}
		}
	}
}

// one tries a pattern, unless nothing depends on it any more.
func (m *matcher) one(n int32, wanted func(*pattern) bool) {
	if m.sifted && m.left[n] != m.calls {
		return
	}
	p := m.pack.patterns[n]
	if m.stopped || p.other && len(m.form.values) == 0 || !wanted(p) || m.held[n].event == m.number || m.hushed[n] == m.number || !m.open(n) {
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
	if len(p.head) > 0 && !p.head[0].meets(m.form.first) {
		return
	}
	if m.asked++; m.asked&63 == 0 && m.halted() {
		return
	}
	start, end, ok := m.find(n, p)
	if !ok {
		return
	}
	if p.suppress && m.form.normal && within(m.code(), start) {
		m.hushed[n] = m.number
		return
	}
	m.held[n].event = m.number
	m.place(&m.held[n], start, end)
	for _, i := range m.pack.usedBy[n] {
		if r := &m.pack.rules[i]; !r.all && m.found[i].Rule == nil {
			m.take(int(i), n)
		}
	}
}

// open reports whether a rule that uses the pattern has not matched yet.
func (m *matcher) open(n int32) bool {
	for _, i := range m.pack.usedBy[n] {
		if m.found[i].Rule == nil {
			return true
		}
	}
	return false
}

func (m *matcher) take(rule int, pattern int32) {
	h := &m.held[pattern]
	m.found[rule] = Match{Rule: &m.pack.rules[rule], Text: h.text, Joined: m.joined, Start: h.start, End: h.end}
}

func (m *matcher) code() [][2]int {
	if !m.codeDone {
		m.codeDone = true
		m.codeList = code(m.form.runes())
	}
	return m.codeList
}
