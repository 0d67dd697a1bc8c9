package rule

import (
	"slices"
	"sort"
	"unicode/utf8"
)

// hit is one place where a word of a family stands.
type hit struct {
	extent
	// first and last are the place of its first word and the place behind its last
	// one, in half words from the beginning of the text.
	first, last int32
	sentence    int32 // the sentence that holds it, -1 where it crosses an end
}

// position is a word of the text: where it starts, and how many half words stand
// before it.
type position struct{ start, units int32 }

// join is a place where two fields of a tool meet in their joined text.
type join struct{ start, end int }

const (
	halfWords = 2
	// joinUnits is how many half words apart the meeting of two fields sets the words
	// on its two sides.
	joinUnits = 3 * halfWords
)

// analysis is what one text is matched from. It is made anew for each text; the
// slices are kept. What a text may not need is computed when first asked for.
type analysis struct {
	set *Set
	// exhaustive is the slow path: every alternative on every unit, no literals asked.
	exhaustive bool

	// toolExcuse answers for excuses that look at the whole tool; nil: they never hold.
	toolExcuse func(*excuse) bool

	any bool // an alternative held somewhere, be it only to be excused

	text  string  // in NFC
	back  []int32 // byte of text to byte of the reading; nil where they are the same
	joins []join  // of a tool's joined text

	folded []byte
	origin []int32 // byte of folded to byte of text; nil where they are the same
	seams  []int32 // places in folded beside what ASCII other characters became, or where some were dropped

	spots   []spot  // places of atoms and groups
	last    []int32 // per atom and group: its last spot, plus one; 0: none
	touched []int32 // those with spots
	held    []held  // for each set the atoms and groups with spots, of
	sorted  int     // so many of the touched ones
	heldBy  []int32 // per set: the last of its held, plus one; 0: none
	present bitset  // sets with some; filled has the numbers of its words that are not 0
	filled  []int
	// cut are atoms of phrases that an end of the text cut off: more text might have
	// made them whole.
	cut      []int32
	sets     []setState
	usedSets []int

	sentences   []extent
	hasSentence bool
	positions   []position
	hasPosition bool
	words       []extent      // for reuse
	excuses     []excuseState // per excuse of the set
	usedExcuses []int         // those that have a state
	window      windowBuffers
	split       splitBuffers
	breaks      []extent
	hasBreaks   bool
	quotes      []extent
	hasQuotes   bool
	runs        runLengths
	hasRuns     bool
}

// setState is what has been computed of a set in the current text.
type setState struct {
	hits      []hit   // of a family's: sorted, shortest only
	ends      []int32 // of literals: where they end in text
	sentences uint64  // in which it has something: a bit for each, of the 64th the first again
	located   bool    // hits is there
	placed    bool    // sentences is there
	collected bool    // ends is there
}

// spot is a place of an atom or group, with the one before.
type spot struct{ start, end, previous int32 }

// held is an atom or group that a set has in the text, with the number of the next one.
type held struct{ atom, set, next int32 }

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset    { return make(bitset, (n+63)/64) }
func (b bitset) add(n int)      { b[n>>6] |= 1 << (n & 63) }
func (b bitset) has(n int) bool { return b[n>>6]&(1<<(n&63)) != 0 }

func newAnalysis(s *Set) *analysis {
	return &analysis{
		set: s, last: make([]int32, len(s.index.setAt)-1), heldBy: make([]int32, s.index.sets),
		sets: make([]setState, s.index.sets), present: newBitset(s.index.sets), excuses: make([]excuseState, s.excuses),
	}
}

// read takes a new text and finds the words of all families in it.
func (a *analysis) read(text string, joins []join) {
	composed, back := composed(text)
	if composed == a.text && joins == nil && a.joins == nil && len(a.folded) > 0 {
		a.back = back // a name taken apart is often a reading, too
		return
	}
	if back != nil {
		// The joins are places of the text as it was.
		moved := make([]join, len(joins))
		place := func(at int) int {
			return sort.Search(len(back), func(i int) bool { return int(back[i]) >= at })
		}
		for i, j := range joins {
			moved[i] = join{place(j.start), place(j.end)}
		}
		joins = moved
	}
	a.take(composed, back, joins)
}

func (a *analysis) take(text string, back []int32, joins []join) {
	for _, number := range a.touched {
		a.last[number] = 0
	}
	for i := range a.held {
		a.heldBy[a.held[i].set] = 0
	}
	a.spots, a.held, a.sorted = a.spots[:0], a.held[:0], 0
	for _, set := range a.usedSets {
		a.sets[set] = setState{hits: a.sets[set].hits[:0], ends: a.sets[set].ends[:0]}
	}
	clear(a.present)
	a.filled = a.filled[:0]
	a.touched, a.usedSets, a.cut = a.touched[:0], a.usedSets[:0], a.cut[:0]
	for _, n := range a.usedExcuses {
		a.excuses[n] = excuseState{}
	}
	a.usedExcuses = a.usedExcuses[:0]
	a.hasSentence, a.hasPosition, a.hasQuotes, a.hasRuns, a.hasBreaks = false, false, false, false, false
	a.text, a.back, a.joins = text, back, joins
	a.fold()
	a.set.index.scan(a)
	for i, word := range a.present {
		if word != 0 {
			a.filled = append(a.filled, i)
		}
	}
}

// fold writes the folded text, with padding, and the way back.
func (a *analysis) fold() {
	n := len(a.text)
	a.folded, a.origin, a.seams = slices.Grow(a.folded[:0], n+paddings)[:n], a.origin[:0], a.seams[:0]
	i := 0
	for ; i < n && a.text[i] < utf8.RuneSelf; i++ {
		a.folded[i] = asciiFold[a.text[i]]
	}
	a.folded = a.folded[:i]
	if i < n {
		a.foldFrom(i)
	}
	for range paddings {
		a.folded = append(a.folded, padding)
	}
}

func (a *analysis) foldFrom(i int) {
	a.origin = slices.Grow(a.origin, len(a.text)+1)
	for j := range i {
		a.origin = append(a.origin, int32(j))
	}
	for i < len(a.text) {
		if c := a.text[i]; c < utf8.RuneSelf {
			a.folded = append(a.folded, asciiFold[c])
			a.origin = append(a.origin, int32(i))
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(a.text[i:])
		at := len(a.folded)
		a.folded = appendFold(a.folded, r)
		if at == len(a.folded) || isAlnum[a.folded[at]] {
			a.seams = append(a.seams, int32(at), int32(len(a.folded)))
		}
		for len(a.origin) < len(a.folded) {
			a.origin = append(a.origin, int32(i))
		}
		i += size
	}
	a.origin = append(a.origin, int32(len(a.text)))
}

// at gives the byte of the text from which byte i of the folded text comes.
func (a *analysis) at(i int) int {
	if len(a.origin) == 0 {
		return i
	}
	return int(a.origin[i])
}

// endAt gives the byte of the text up to which the folded text before byte i comes.
func (a *analysis) endAt(i int) int {
	if len(a.origin) == 0 || i == 0 {
		return i
	}
	// The last byte of the stretch tells its rune; the stretch ends behind that.
	from := int(a.origin[i-1])
	_, size := utf8.DecodeRuneInString(a.text[from:])
	return from + size
}

// besideASCII reports whether bytes i-1 and i of the folded text come from two
// characters of ASCII that stand side by side in the text.
func (a *analysis) besideASCII(i int) bool {
	before, at := a.origin[i-1], a.origin[i]
	return at == before+1 && a.text[before] < utf8.RuneSelf && a.text[at] < utf8.RuneSelf
}

// exact tells the atoms of a literal that it is the run of ASCII letters and digits at
// bytes at to end of the folded text. All words and texts among them hold, unless
// something stands beside it that may be a part of the word: another letter, or what \w
// has more.
func (a *analysis) exact(p *place, at, end int) {
	if before := a.before(at); before == '_' || before >= utf8.RuneSelf || a.folded[end] == '_' || a.folded[end] >= utf8.RuneSelf && end < len(a.folded)-paddings {
		a.found(p, at)
		return
	}
	where := extent{a.at(at), a.endAt(end)}
	if p.group >= 0 {
		a.keep(p.group, where)
	}
	if p.alone < p.to {
		a.foundPhrases(p, at, where, false)
	}
}

// before gives the byte before byte i of the folded text, a space where that begins.
func (a *analysis) before(i int) byte {
	if i == 0 {
		return ' '
	}
	return a.folded[i-1]
}

// found tells the atoms of a literal that it stands at byte at of the folded text.
//
// Whether a longer word goes on beside it is asked of the text, not of its folded
// form: \b sees the text. Where letter or digit of ASCII stand on both sides of an
// edge, neither \b nor a word of a family begins or ends there.
func (a *analysis) found(p *place, at int) {
	start, end := a.at(at), a.endAt(at+int(p.size))
	left := start > 0 && isASCIIWord(a.text[start-1]) && isASCIIWord(a.text[start]) && !a.closesBefore(start)
	right := end < len(a.text) && isASCIIWord(a.text[end]) && isASCIIWord(a.text[end-1])
	leftInside := left && a.text[start-1] != '_' && a.text[start] != '_'
	rightInside := right && a.text[end] != '_' && a.text[end-1] != '_'
	if leftInside && p.left || rightInside && p.right {
		return
	}
	var without useKind // uses that do not hold here
	if left {
		without |= useLeft
	}
	if right {
		without |= useRight
	}
	if leftInside {
		without |= useLeftBroken
	}
	if rightInside {
		without |= useRightBroken
	}
	where := extent{start, end}
	for _, u := range a.set.index.uses[p.from:p.alone] {
		switch {
		case u.kind&useText != 0:
			if u.kind&without == 0 {
				a.keep(u.atom, where)
			}
		default:
			a.phrase(u.atom, at, where)
		}
	}
	if p.alone < p.to {
		a.foundPhrases(p, at, where, left)
	}
}

// closesBefore reports whether underscores before byte i may be part of the end of a
// sentence, as in 。_the: then the next one begins at i, and so does \b there.
func (a *analysis) closesBefore(i int) bool {
	if a.text[i-1] != '_' {
		return false
	}
	for i > 0 && a.text[i-1] == '_' {
		i--
	}
	return i > 0 && !isAlnum[a.text[i-1]]
}

// foundPhrases is the part of found for what needs more than the literal.
func (a *analysis) foundPhrases(p *place, at int, where extent, left bool) {
	s := a.folded
	behind := at + int(p.size)
	next := s[behind:] // with padding
	// The bytes before the one space that stands before the literal, if it is one.
	var previous uint32
	hasPrevious := at >= 2 && s[at-1] == ' ' && !asciiGlue(s[at-2])
	if hasPrevious {
		if at >= 5 {
			previous = key4(s[at-5:])
		} else {
			for _, c := range s[:at-1] {
				previous = previous>>8 | uint32(c)<<24
			}
		}
	}
	uses := a.set.index.uses
	for i := p.alone; i < p.phrases; i++ {
		switch u := &uses[i]; {
		case u.kind&useBefore != 0 && hasPrevious && previous&u.mask != u.want:
		case u.kind&usePrefix != 0:
			a.prefix(u.atom, at, behind, where)
		case u.kind&useLoose != 0 && left && u.kind&useLeft != 0:
		default:
			a.phrase(u.atom, at, where)
		}
	}
	if p.phrases == p.to || next[0] < utf8.RuneSelf && !isGlue(rune(next[0])) {
		return // no further word can follow here
	}
	known := next[0] == ' ' && !asciiGlue(next[1])
	second := key4(next[1:])
	if known && p.seconds&(1<<(second&63)) == 0 {
		return // the next word is another one: most candidates end here
	}
	for i := p.phrases; i < p.to; i++ {
		if u := &uses[i]; known && second&u.mask != u.want || u.kind&useLoose != 0 && left && u.kind&useLeft != 0 {
			continue
		}
		a.phrase(uses[i].atom, at, where)
	}
}

// phrase looks whether the word or phrase of an atom stands where its literal does,
// which is at key.
func (a *analysis) phrase(number int32, at int, key extent) {
	u := &a.set.index.atoms[number]
	text := a.folded[:len(a.folded)-paddings]
	start, ok, cut := u.entry.back(text, at)
	if cut {
		a.cut = append(a.cut, number)
	}
	if !ok {
		return
	}
	if u.loose {
		switch follows, cut := u.entry.follows(text, at+len(u.entry.key())); {
		case cut:
			a.cut = append(a.cut, number)
		case follows:
			a.keep(number, key)
		}
		return
	}
	from, to, ok := u.entry.match(text, start)
	switch {
	case ok:
		a.keep(number, extent{a.at(from), a.endAt(to)})
	case to == len(a.folded)-paddings:
		a.cut = append(a.cut, number)
	}
}

// prefix is phrase for a word of a family that goes on as it likes. Among letters of
// ASCII it need not look at the entry.
func (a *analysis) prefix(number int32, at, behind int, key extent) {
	s := a.folded
	before := a.before(at)
	if before < utf8.RuneSelf && isAlnum[s[at]] && isAlnum[s[behind-1]] {
		if isAlnum[before] {
			return
		}
		for isAlnum[s[behind]] {
			behind++
		}
		if s[behind] < utf8.RuneSelf && s[behind] != '\'' || behind == len(s)-paddings {
			a.keep(number, extent{key.start, a.endAt(behind)})
			return
		}
	}
	a.phrase(number, at, key)
}

// asciiGlue reports whether c is a glue character, or may be the beginning of one.
func asciiGlue(c byte) bool { return c >= utf8.RuneSelf || isGlue(rune(c)) }

// keep records a place of an atom, or a group of them.
func (a *analysis) keep(number int32, where extent) {
	last := a.last[number]
	if last == 0 {
		a.touched = append(a.touched, number)
		for _, set := range a.set.index.setsOf(number) {
			a.present.add(int(set))
		}
	}
	a.spots = append(a.spots, spot{int32(where.start), int32(where.end), last})
	a.last[number] = int32(len(a.spots))
}

// hold sorts the atoms with spots by their sets. Most texts need not know.
func (a *analysis) hold() {
	for ; a.sorted < len(a.touched); a.sorted++ {
		number := a.touched[a.sorted]
		for _, set := range a.set.index.setsOf(number) {
			a.held = append(a.held, held{number, set, a.heldBy[set]})
			a.heldBy[set] = int32(len(a.held))
		}
	}
}

// has reports whether anything of the set stands in the text.
func (a *analysis) has(set int) bool { return a.present.has(set) }

// of gives the places of a family's words in order. Where two overlap so that one
// holds the other, only the shorter counts.
func (a *analysis) of(f *family) []hit {
	set := f.set
	if state := &a.sets[set]; !state.located && a.has(set) {
		a.use(set)
		state.located = true
		a.hold()
		words := a.words[:0]
		for n := a.heldBy[set]; n > 0; n = a.held[n-1].next {
			for k := a.last[a.held[n-1].atom]; k > 0; k = a.spots[k-1].previous {
				words = append(words, extent{int(a.spots[k-1].start), int(a.spots[k-1].end)})
			}
		}
		a.words = words
		a.locate(set, shortest(words))
	}
	return a.sets[set].hits
}

// endsOf gives the places where the texts of a set end, in order.
func (a *analysis) endsOf(set int) []int32 {
	if state := &a.sets[set]; !state.collected && a.has(set) {
		a.use(set)
		state.collected = true
		a.hold()
		for n := a.heldBy[set]; n > 0; n = a.held[n-1].next {
			for k := a.last[a.held[n-1].atom]; k > 0; k = a.spots[k-1].previous {
				state.ends = append(state.ends, a.spots[k-1].end)
			}
		}
		slices.Sort(state.ends)
	}
	return a.sets[set].ends
}

// inOneSentence reports whether something of all sets may stand in one sentence. A match
// in a sentence has its words, and the literals of its needs, in there whole, so each of
// them ends there.
func (a *analysis) inOneSentence(set int, others []int32) bool {
	in := a.sentencesWith(set)
	for _, other := range others {
		if in == 0 {
			return false
		}
		in &= a.sentencesWith(int(other))
	}
	return in != 0
}

func (a *analysis) sentencesWith(set int) uint64 {
	state := &a.sets[set]
	if state.placed {
		return state.sentences
	}
	a.use(set)
	state.placed = true
	a.hold()
	for n := a.heldBy[set]; n > 0; n = a.held[n-1].next {
		for k := a.last[a.held[n-1].atom]; k > 0; k = a.spots[k-1].previous {
			state.sentences |= 1 << (a.sentenceAt(int(a.spots[k-1].end)-1) & 63)
		}
	}
	return state.sentences
}

// use marks the state of a set as one to clear before the next text.
func (a *analysis) use(set int) {
	if state := &a.sets[set]; !state.located && !state.collected && !state.placed {
		a.usedSets = append(a.usedSets, set)
	}
}

func (a *analysis) locate(set int, words []extent) {
	positions, sentences := a.wordPositions(), a.sentenceList()
	w, s := 0, 0
	hits := a.sets[set].hits
	for _, e := range words {
		// Starts ascend, so the search only goes on.
		w = lastUpTo(positions, w, int32(e.start))
		first := w
		if r, _ := utf8.DecodeRuneInString(a.text[e.start:]); !isWord(r) &&
			w+1 < len(positions) && int(positions[w].start) < e.start && int(positions[w+1].start) < e.end {
			first++ // the phrase starts with a mark, and its first word comes after it
		}
		last := first
		for last+1 < len(positions) && int(positions[last+1].start) < e.end {
			last++
		}
		h := hit{extent: e, sentence: -1}
		if len(positions) > 0 {
			h.first, h.last = positions[first].units, positions[last].units+unitsAt(a.text, int(positions[last].start))
		}
		if s < len(sentences) && sentences[s].end <= e.start {
			s += sort.Search(len(sentences)-s, func(n int) bool { return sentences[s+n].end > e.start })
		}
		if s < len(sentences) && sentences[s].holds(e) {
			h.sentence = int32(s)
		}
		hits = append(hits, h)
	}
	a.sets[set].hits = hits
}

// lastUpTo gives the last of the positions from w on that starts at or before a byte, w
// where none does: in steps that double, as the next one is near or far.
func lastUpTo(positions []position, w int, at int32) int {
	step := 1
	for w+step < len(positions) && positions[w+step].start <= at {
		w += step
		step *= 2
	}
	for ; step > 0; step /= 2 {
		if w+step < len(positions) && positions[w+step].start <= at {
			w += step
		}
	}
	return w
}

func unitsAt(text string, i int) int32 {
	r, _ := utf8.DecodeRuneInString(text[i:])
	if classOf(r) == classDense {
		return 1
	}
	return halfWords
}

// wordPositions counts the words of the text.
func (a *analysis) wordPositions() []position {
	if a.hasPosition {
		return a.positions
	}
	a.hasPosition = true
	a.positions = a.positions[:0]
	units, inWord, nextJoin := int32(0), false, 0
	s := a.text
	for i := 0; i < len(s); {
		if nextJoin < len(a.joins) && i >= a.joins[nextJoin].start {
			units += joinUnits
			nextJoin++
			inWord = false
		}
		var class charClass
		size := 1
		if c := s[i]; c < utf8.RuneSelf {
			class = asciiClass[c]
			if c == '\'' && inWord && i+1 < len(s) && s[i+1] < utf8.RuneSelf && asciiClass[s[i+1]] == classWord {
				class = classWord
			}
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			class = classOf(r)
			if inWord && isApostrophe(r) {
				if next, _ := utf8.DecodeRuneInString(s[i+size:]); classOf(next) == classWord {
					class = classWord
				}
			}
		}
		switch {
		case class == classDense:
			a.positions = append(a.positions, position{int32(i), units})
			units++
			inWord = false
		case class != classWord:
			inWord = false
		case !inWord:
			a.positions = append(a.positions, position{int32(i), units})
			units += halfWords
			inWord = true
		}
		i += size
	}
	return a.positions
}

func (a *analysis) sentenceList() []extent {
	if !a.hasSentence {
		a.hasSentence = true
		a.sentences = a.sentences[:0]
		from := 0
		for _, j := range a.joins {
			// A match may reach over the meeting of two fields; an excuse may not.
			a.appendSentences(from, min(j.start, len(a.text)))
			from = min(j.end, len(a.text))
		}
		a.appendSentences(from, len(a.text))
	}
	return a.sentences
}

func (a *analysis) appendSentences(from, to int) {
	n := len(a.sentences)
	a.sentences = appendSentences(a.sentences, a.text[from:to])
	for i := n; i < len(a.sentences); i++ {
		a.sentences[i].start += from
		a.sentences[i].end += from
	}
}

// sentenceAt gives the sentence in which byte i stands, or the next one.
func (a *analysis) sentenceAt(i int) int {
	list := a.sentenceList()
	return min(sort.Search(len(list), func(n int) bool { return list[n].end > i }), max(len(list)-1, 0))
}

// sentencesOf gives the stretch of the sentences that m touches.
func (a *analysis) sentencesOf(m extent) extent {
	list := a.sentenceList()
	if len(list) == 0 {
		return m
	}
	first, last := list[a.sentenceAt(m.start)], list[a.sentenceAt(max(m.start, m.end-1))]
	return extent{min(first.start, m.start), max(last.end, m.end)}
}

// clauseBreaks gives the marks that end clauses, in order.
func (a *analysis) clauseBreaks() []extent {
	if a.hasBreaks {
		return a.breaks
	}
	a.hasBreaks, a.breaks = true, a.breaks[:0]
	for i, r := range a.text {
		if breaksClause(r) && !inside(a.text, i, r) {
			a.breaks = append(a.breaks, extent{i, i + utf8.RuneLen(r)})
		}
	}
	return a.breaks
}

// breakIn reports whether a clause ends inside a stretch.
func (a *analysis) breakIn(in extent) bool {
	list := a.clauseBreaks()
	i := sort.Search(len(list), func(n int) bool { return list[n].start >= in.start })
	return i < len(list) && list[i].start < in.end
}

// clauseAround narrows the sentence in which m stands to its clause: from the last
// break before it to the first one after it.
func (a *analysis) clauseAround(sentence, m extent) extent {
	list := a.clauseBreaks()
	before := sort.Search(len(list), func(n int) bool { return list[n].end > m.start }) - 1
	after := sort.Search(len(list), func(n int) bool { return list[n].start >= m.end })
	if before >= 0 {
		sentence.start = max(sentence.start, list[before].end)
	}
	if after < len(list) {
		sentence.end = min(sentence.end, list[after].start)
	}
	return sentence
}

// runLengths are the longest runs, in characters, of what a pattern may repeat
// without a bound.
type runLengths [runKinds]int

// The kinds of runs, of
const (
	runOfSpace = iota // what \s is
	runOfGlue         // what joins the words of a phrase, see isGlue, and what \s is
	runOfWord         // letters, marks, digits, underscores and apostrophes
	runOfSolid        // all but what \s is
	runKinds
)

// isPatternSpace tells what \s is.
func isPatternSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\f' || r == '\r' }

func isWordLike(r rune) bool { return isWord(r) || r == '_' || isApostrophe(r) }

func (a *analysis) runLengths() runLengths {
	if a.hasRuns {
		return a.runs
	}
	a.hasRuns, a.runs = true, runLengths{}
	var now runLengths
	for i := 0; i < len(a.text); {
		// Most characters are of the same kinds as the one before.
		var kinds uint8
		n := 0
		if c := a.text[i]; c < utf8.RuneSelf {
			kinds = asciiRuns[c]
			for i < len(a.text) && a.text[i] < utf8.RuneSelf && asciiRuns[a.text[i]] == kinds {
				i++
				n++
			}
		} else {
			r, size := utf8.DecodeRuneInString(a.text[i:])
			kinds = runsOf(r)
			i += size
			n = 1
		}
		for kind := range now {
			if kinds&(1<<kind) == 0 {
				now[kind] = 0
				continue
			}
			now[kind] += n
			a.runs[kind] = max(a.runs[kind], now[kind])
		}
	}
	return a.runs
}

// runsOf has a bit for each kind of run that a character may stand in.
func runsOf(r rune) (kinds uint8) {
	space := isPatternSpace(r)
	for kind, is := range [...]bool{runOfSpace: space, runOfGlue: space || isGlue(r), runOfWord: isWordLike(r), runOfSolid: !space} {
		if is {
			kinds |= 1 << kind
		}
	}
	return kinds
}

var asciiRuns = func() (table [utf8.RuneSelf]uint8) {
	for c := range table {
		table[c] = runsOf(rune(c))
	}
	return table
}()

var quotePairs = map[rune]rune{
	'"': '"', '“': '”', '„': '“', '«': '»', '‘': '’', '`': '`', '「': '」', '『': '』', '\'': '\'', '»': '«',
}

// quoteList gives the stretches inside quotation marks, no longer than a sentence.
// Marks that are also apostrophes, or close other quotations, open one only where no
// letter stands before them, apart from those of scripts without spaces.
func (a *analysis) quoteList() []extent {
	if a.hasQuotes {
		return a.quotes
	}
	a.hasQuotes = true
	a.quotes = a.quotes[:0]
	for _, sentence := range a.sentenceList() {
		var open rune
		from := 0
		for i := sentence.start; i < sentence.end; {
			r, size := utf8.DecodeRuneInString(a.text[i:])
			before, _ := utf8.DecodeLastRuneInString(a.text[:i])
			after, _ := utf8.DecodeRuneInString(a.text[i+size:])
			switch {
			case open == 0:
				if closing := quotePairs[r]; closing != 0 && (i == 0 || classOf(before) != classWord || opensAnywhere(r)) {
					open, from = closing, i+size
				}
			case r == open || open == '“' && r == '”':
				if r == '\'' && isWord(after) {
					break // an apostrophe
				}
				a.quotes = append(a.quotes, extent{from, i})
				open = 0
			}
			i += size
		}
	}
	return a.quotes
}

func opensAnywhere(r rune) bool {
	return r == '“' || r == '„' || r == '«' || r == '「' || r == '『'
}

func (a *analysis) quoted(m extent) bool {
	list := a.quoteList()
	i := sort.Search(len(list), func(n int) bool { return list[n].end >= m.end })
	return i < len(list) && list[i].holds(m)
}
