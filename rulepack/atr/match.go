package atr

import (
	"slices"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
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
	filled := 0
	for _, text := range texts {
		if text != "" {
			filled++
		}
	}
	for i, text := range texts {
		if text != "" && (filled == 1 || !plainWord(text)) {
			m.event(i, text, false)
		}
	}
	if filled > 1 {
		m.event(0, strings.Join(texts, separator), true)
	}
	return m.result()
}

// longestPlainWord is the most bytes of a text that is not read alone.
const longestPlainWord = 24

func plainWord(text string) bool {
	if len(text) > longestPlainWord {
		return false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if lower := asciiLower(c); (lower < 'a' || lower > 'z') && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
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
}

// hold says in which event a pattern matched, and where.
type hold struct {
	event      int32
	text       int
	start, end int
}

// form is a text in the shape in which patterns see it.
type form struct {
	has, first mask   // what characters it has, and begins with
	folded     []byte // for the index, with padding
	lower      []byte // ASCII letters in lower case; anything above ASCII is 0x80
	values     []rune // empty: all ASCII
	spelt      []rune // see runes
	codePoints bool   // else UTF-16 units
	wide       bool   // it has characters above U+FFFF
	normal     bool   // normalised
	changed    bool   // and that is not the text itself
	loaded     bool
}

func (f *form) length() int { return len(f.lower) }

func (p *Pack) matcher() *matcher {
	if m, ok := p.pool.Get().(*matcher); ok {
		return m
	}
	return &matcher{
		pack: p, found: make([]Match, len(p.rules)), late: make([]bool, len(p.rules)),
		hits: hits{ends: make([][]int32, p.sets)}, held: make([]hold, len(p.patterns)), hushed: make([]int32, len(p.patterns)),
	}
}

func (m *matcher) begin(texts []string, stop func() bool) {
	m.texts, m.stop, m.stopped, m.asked = texts, stop, false, 0
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

func (f *form) set(s string, codePoints bool) {
	f.lower = f.lower[:0]
	f.folded, f.codePoints, f.wide, f.loaded = f.folded[:0], codePoints, false, false
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			ascii = false
			break
		}
		f.lower = append(f.lower, asciiLower(s[i]))
		f.folded = append(f.folded, asciiFold[s[i]])
	}
	f.values, f.spelt = f.values[:0], f.spelt[:0]
	if !ascii {
		f.folded, f.lower = f.folded[:0], f.lower[:0]
		add := func(r rune) {
			f.values = append(f.values, r)
			f.folded = append(f.folded, foldByte(r))
			if r < 0x80 {
				f.lower = append(f.lower, asciiLower(byte(r)))
			} else {
				f.lower = append(f.lower, 0x80)
			}
		}
		for i := 0; i < len(s); {
			r, size := toolmark.DecodeRune(s[i:])
			i += size
			if r > 0xffff {
				f.wide = true
				if !codePoints {
					add(0xd800 + (r-0x10000)>>10)
					add(0xdc00 + (r-0x10000)&0x3ff)
					continue
				}
			}
			add(r)
		}
	}
	f.folded = append(f.folded, 0, 0, 0, 0)
	f.has, f.first = mask{}, mask{}
	for i, c := range f.lower {
		if c >= 0x80 {
			f.has.other = true
		} else {
			f.has.ascii[c>>6] |= 1 << (c & 63)
		}
		if i == 0 {
			f.first = f.has
		}
	}
}

// try runs the patterns that are asked for on the current form.
func (m *matcher) try(wanted func(*pattern) bool) {
	m.hits.reset()
	m.pack.index.scan(m.form.folded, 0, &m.hits)
	if m.joined {
		m.findMeetings()
	}
	for _, n := range m.pack.always {
		m.one(n, wanted)
	}
	for _, set := range m.hits.touched {
		for _, n := range m.pack.triggered[set] {
			m.one(n, wanted)
		}
	}
}

// runes gives the characters; ASCII letters perhaps in lower case.
func (f *form) runes() []rune {
	if len(f.values) > 0 {
		return f.values
	}
	if len(f.spelt) != len(f.lower) {
		f.spelt = f.spelt[:0]
		for _, c := range f.lower {
			f.spelt = append(f.spelt, rune(c))
		}
	}
	return f.spelt
}

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

// one tries a pattern, unless nothing depends on it any more.
func (m *matcher) one(n int32, wanted func(*pattern) bool) {
	p := m.pack.patterns[n]
	if m.stopped || p.other && len(m.form.values) == 0 || !wanted(p) || m.held[n].event == m.number || m.hushed[n] == m.number || !m.open(n) {
		return
	}
	for i := range p.needs {
		if len(m.hits.ends[p.needs[i].set]) == 0 {
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
	k := &m.machine
	if !m.form.loaded {
		m.form.loaded = true
		values := m.form.values
		if len(values) == 0 {
			values = nil
		}
		k.load(m.form.lower, values)
	}
	for len(ranges) > 0 {
		// Ranges that are near to each other are tried in one go; all of them where a
		// match may go on to the end of the text.
		s, first := k.get(), ranges
		for s.empty() || len(ranges) > 0 && (p.width < 0 || ranges[0][0] < s.hi<<6+256) {
			s.set(ranges[0][0], ranges[0][1])
			ranges = ranges[1:]
		}
		tried := first[:len(first)-len(ranges)]
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

// backtrack tries a pattern with back-references at the positions at which it matches
// if these are left open.
func (m *matcher) backtrack(n int32, p *pattern, starts *marks) (start, end int, ok bool) {
	values := m.form.runes()
	deadline := backtrackTime
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
		if p.needs[i].before >= 0 && (best < 0 || len(m.hits.ends[p.needs[i].set]) < len(m.hits.ends[p.needs[best].set])) {
			best = i
		}
	}
	if best < 0 {
		until := length
		for i := range p.needs {
			until = min(until, int(slices.Max(m.hits.ends[p.needs[i].set])))
		}
		m.ranges = append(m.ranges, [2]int{0, until})
	} else {
		ends, before := m.hits.ends[p.needs[best].set], int(p.needs[best].before)
		for i := range p.needs {
			if list := m.hits.ends[p.needs[i].set]; !slices.IsSorted(list) {
				slices.Sort(list)
			}
		}
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
	if !m.joined || m.whole || p.suppress || p.backrefs || p.width < 0 || p.sight < 0 {
		return m.ranges
	}
	// Where texts meet only.
	m.stretch = m.stretch[:0]
	reach, sight := int(p.width+p.sight)+1, int(p.sight)+1
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
	if p.width >= 0 {
		until = min(until, end+int(p.width))
	}
	for i := range p.needs {
		if i == best {
			continue
		}
		list := m.hits.ends[p.needs[i].set]
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

// codePointsBefore counts the code points of UTF-16 units before a position.
func codePointsBefore(values []rune, at int) int {
	n := 0
	for i := 0; i < at; i++ {
		if values[i] >= 0xdc00 && values[i] <= 0xdfff && i > 0 && values[i-1] >= 0xd800 && values[i-1] <= 0xdbff {
			continue
		}
		n++
	}
	return n
}
