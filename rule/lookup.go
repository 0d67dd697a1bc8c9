package rule

import (
	"encoding/binary"
	"unicode/utf8"
)

// lookup is what the index finds literals by.
//
// Most literals are whole words of ASCII letters, and are of no use inside longer ones:
// the text is cut into runs of ASCII letters and digits, and each run looked up in one
// table. All others ("open" ones, marks, and those of other scripts) are asked about at
// each place where they may begin: two bytes are looked up in a bitmap of two kilobytes,
// four in one of eight, and literals compared only where both say maybe. Inside a run
// only those are asked about that may begin there. So a pass costs a few nanoseconds a
// byte, and next to nothing to build, unlike an automaton of some ten thousand words in
// thirteen languages. The work at a place is bounded by the literals that share its four
// bytes, so a pass is linear in the text.
//
// That is safe. A use of a literal is closed where it does not hold if an ASCII letter
// or digit stands right beside it in the text: it is a word of a family, which
// ends where letters do, or a text with \b on that side (closedLeft, closedRight). What is
// closed on both sides and of ASCII letters and digits alone can hold at whole runs
// only, as long as the letters of a run are neighbours in the text too, and not in its
// folded form alone. Where they are not (ß, dotless i, the sign of Kelvin, Arabic marks
// that fold to nothing), a word may begin and end at each of these seams, and all
// stretches between two of them are looked up (analysis.oddRun). What begins inside
// a run is at no seam, and its closed uses do not hold. TestLookup holds all this
// against asking about every literal at every place.
type lookup struct {
	uses   []use
	places []place
	// allSets are the sets of each atom, and then of each group; setAt says where they begin.
	allSets []int32
	setAt   []int32
	words   []wordSlot
	// longestWord is the most bytes of a literal in words.
	longestWord int

	ascii, wide filter  // of all open literals that begin with such a character
	asciiInside filter  // of those that may stand inside a word
	wideInside  filter  //
	slots       []int32 // by hash of the first four bytes: where its candidates begin; the end of one is the beginning of the next
	long        []candidate
	// tiny has the literals of up to three bytes; tinyAt says for a pair of first bytes
	// where those begin that may stand there, plus one.
	tiny   []tiny
	tinyAt [1 << 14]uint16
}

// place is a literal with those of its uses that are closed, or those that are not.
type place struct {
	seconds uint64 // the low six bits of each first byte of second words, see below
	// group stands for the first uses, up to alone, where they hold together: see exact. -1
	// where there are none.
	group int32
	// The uses of the place begin at from; those up to alone are words and texts without
	// further conditions, those from phrases on are phrases of which the second word is known.
	from, alone, phrases, to int32
	literal                  int32  // its number
	size                     uint16 // bytes of the literal
	// left and right: it is of no use to anyone inside a longer word.
	left, right bool
}

// use is what is asked of an atom first, in little memory: most atoms of a literal are
// phrases, and most of these are not there.
type use struct {
	atom int32
	// want and mask are of the first bytes of the word behind, or the last bytes of the
	// word before the literal, up to four.
	want, mask uint32
	kind       useKind
}

type useKind uint16

const (
	useText        useKind = 1 << iota // a text as it is: entry is nil
	useWord                            // a word of a family, and no more than the literal
	useLoose                           // a phrase in a pattern
	useBefore                          // want is of the word before
	useLeft                            // atom.left is edgeClosed
	useRight                           // atom.right
	useLeftBroken                      // atom.left is edgeBroken
	useRightBroken                     // atom.right
	usePrefix                          // a word of a family that goes on as it likes
)

// wordSlot is a slot for a literal that is a whole word: its first and its last eight
// bytes say all of up to sixteen.
type wordSlot struct {
	first, last uint64
	place       int32 // plus one
	size        int32
}

// filter says of the first bytes of a place whether a literal may begin there.
type filter struct {
	pair  [1 << 8]uint64  // of seven bits each of the first two bytes
	short [1 << 8]uint64  // the same, for literals of up to three
	long  [1 << 10]uint64 // of hash4(first four bytes)
}

// tiny is a literal of up to three bytes. The last one of a list has no place.
type tiny struct {
	key, mask uint32
	place     int32 // plus one
}

// candidate is a literal of four bytes or more, with the first four and the next four of
// them: most that are not there differ in these, and need not be looked up. Of those that
// have no more bytes, place is ^ of their number: they need not be compared, either.
type candidate struct {
	head, tail, mask uint32
	place            int32
}

// padding stands behind the text paddings times, so that sixteen bytes can be read
// anywhere; no UTF-8 text has this byte.
const (
	padding  = 0xff
	paddings = 16
)

func hash4(key uint32) uint32 { return key * 0x9e3779b1 >> 16 }

func key4(s []byte) uint32 { return binary.LittleEndian.Uint32(s) }

func hashWord(first, last uint64, size int) uint32 {
	h := (first ^ last*0x9e3779b97f4a7c15 ^ uint64(size)) * 0xff51afd7ed558ccd
	return uint32(h >> 32)
}

// wordKey gives the first eight bytes of a word and, where it has more, its last eight.
func wordKey(s []byte, from, to int) (first, last uint64) {
	first = binary.LittleEndian.Uint64(s[from:])
	if n := to - from; n < 8 {
		return first & (1<<(8*n) - 1), 0
	} else if n > 8 {
		last = binary.LittleEndian.Uint64(s[to-8:])
	}
	return first, last
}

// isAlnum tells letters and digits of ASCII.
var isAlnum = func() (table [256]bool) {
	for c := range asciiClass {
		table[c] = asciiClass[c] == classWord
	}
	return table
}()

// wholeWord tells texts of ASCII letters and digits alone.
func wholeWord(s string) bool {
	for i := range len(s) {
		if !isAlnum[s[i]] {
			return false
		}
	}
	return true
}

// closedLeft reports whether the atom of a literal does not hold where an ASCII letter or
// digit stands before it, if it begins with one, or any letter, if with another letter.
func (a *atom) closedLeft(text string) bool {
	switch {
	case a.entry == nil:
		return a.left >= edgeBroken && isAlnum[text[0]]
	case startsDense(text):
		return false
	case a.entry.rarest > 0: // white space and the like stand before it
		return true
	case a.loose:
		return a.left >= edgeBroken
	}
	return !a.entry.parts[0].before
}

// closedRight is the same for what stands behind one that ends with one.
func (a *atom) closedRight() bool {
	if a.entry == nil {
		return a.right >= edgeBroken
	}
	p := &a.entry.parts[a.entry.rarest]
	switch {
	case p.after:
		return false
	case a.loose && a.entry.rarest == len(a.entry.parts)-1:
		return isASCIIWord(p.source[len(p.source)-1])
	}
	return true
}

// build makes the tables, once all literals are there.
func (x *index) build() {
	x.numbers, x.known = nil, nil
	x.uses = make([]use, 0, len(x.atoms))
	x.places = make([]place, 0, len(x.literals)+len(x.literals)/8)
	x.flattenSets()
	var closed, open [4][]use // alone, further ones, phrases; the last one is for reuse
	words, small := 0, 0
	var isOpen []bool
	for i := range x.literals {
		l := &x.literals[i]
		for k := range closed {
			closed[k], open[k] = closed[k][:0], open[k][:0]
		}
		whole := wholeWord(l.text)
		left, right := true, true
		for _, first := range [...]int32{l.atom, l.phrase} {
			for n := first; n > 0; n = x.atoms[n-1].next {
				a := &x.atoms[n-1]
				u := a.use(n - 1)
				k := 1
				switch {
				case u.kind&(useText|useWord) != 0:
					k = 0
				case a.second != 0:
					k = 2
				}
				if whole && a.closedLeft(l.text) && a.closedRight() {
					closed[k] = append(closed[k], u)
					continue
				}
				open[k] = append(open[k], u)
				left, right = left && a.closedLeft(l.text), right && a.closedRight()
			}
		}
		if x.addPlace(int32(i), &closed, true, true) {
			isOpen = append(isOpen, false)
			words++
		}
		if x.addPlace(int32(i), &open, left, right) {
			isOpen = append(isOpen, true)
			if len(l.text) < 4 {
				small++
			}
		}
	}
	tinies := map[uint32][]tiny{}
	x.words = make([]wordSlot, tableSize(words))
	long := len(x.places) - words - small
	size := min(tableSize(long), 1<<16) // hash4 has no more bits
	x.slots = make([]int32, size+1)
	x.long = make([]candidate, long)
	for i := range x.places {
		p, text := &x.places[i], x.text(int32(i))
		if !isOpen[i] {
			x.addWord(text, int32(i))
			continue
		}
		start, inside := &x.ascii, &x.asciiInside
		if text[0] >= utf8.RuneSelf {
			start, inside = &x.wide, &x.wideInside
		}
		filters := []*filter{start, inside}
		if p.left {
			filters = filters[:1]
		}
		if len(text) < 4 {
			addTiny(tinies, text, int32(i), filters)
			continue
		}
		h := hash4(key4([]byte(text[:4])))
		for _, f := range filters {
			f.pair[pairOf(text[0], text[1])>>6] |= 1 << (pairOf(text[0], text[1]) & 63)
			f.long[h>>6] |= 1 << (h & 63)
		}
		x.slots[int(h)&(size-1)+1]++
	}
	x.fill(size, isOpen)
	x.fillTiny(tinies)
}

// use gives what is asked of an atom first.
func (a *atom) use(number int32) use {
	u := use{atom: number}
	switch a.left {
	case edgeClosed:
		u.kind |= useLeft
	case edgeBroken:
		u.kind |= useLeftBroken
	}
	switch a.right {
	case edgeClosed:
		u.kind |= useRight
	case edgeBroken:
		u.kind |= useRightBroken
	}
	switch {
	case a.entry == nil:
		u.kind |= useText
		return u
	case a.loose:
		u.kind |= useLoose
	case a.entry.plain():
		u.kind |= useWord
	case len(a.entry.parts) == 1 && !a.entry.parts[0].before:
		u.kind |= usePrefix
	}
	if a.second != 0 {
		text := a.entry.parts[a.entry.rarest+1].text
		for i := range min(len(text), 4) {
			u.want |= uint32(text[i]) << (8 * i)
			u.mask |= 0xff << (8 * i)
		}
	} else if a.entry.rarest > 0 {
		u.kind |= useBefore
		text := a.entry.parts[a.entry.rarest-1].text
		for i := range min(len(text), 4) {
			u.want |= uint32(text[len(text)-1-i]) << (24 - 8*i)
			u.mask |= 0xff << (24 - 8*i)
		}
	}
	return u
}

// addPlace adds a literal with some of its uses, if there are any.
func (x *index) addPlace(literal int32, uses *[4][]use, left, right bool) bool {
	p := place{literal: literal, size: uint16(len(x.literals[literal].text)), group: -1, from: int32(len(x.uses)), left: left, right: right}
	x.uses = append(x.uses, uses[0]...)
	p.alone = int32(len(x.uses))
	x.uses = append(x.uses, uses[1]...)
	p.phrases = int32(len(x.uses))
	x.uses = append(x.uses, uses[2]...)
	p.to = int32(len(x.uses))
	if p.from == p.to {
		return false
	}
	if len(uses[0]) > 0 {
		p.group = x.group(uses[0])
	}
	for _, u := range uses[2] {
		p.seconds |= 1 << (u.want & 63)
	}
	x.places = append(x.places, p)
	return true
}

// text gives the literal of a place.
func (x *index) text(place int32) string { return x.literals[x.places[place].literal].text }

func (x *index) addWord(text string, number int32) {
	x.longestWord = max(x.longestWord, len(text))
	var buffer [paddings]byte
	first, last := uint64(0), uint64(0)
	if len(text) <= 8 {
		copy(buffer[:], text)
		first = binary.LittleEndian.Uint64(buffer[:])
	} else {
		first, last = wordKey([]byte(text), 0, len(text))
	}
	mask := len(x.words) - 1
	at := int(hashWord(first, last, len(text))) & mask
	for x.words[at].place != 0 {
		at = (at + 1) & mask
	}
	x.words[at] = wordSlot{first, last, number + 1, int32(len(text))}
}

// word gives the place of the literal that is the word s[from:to], nil where there is none.
func (x *index) word(s []byte, from, to int) *place {
	first, last := wordKey(s, from, to)
	mask := len(x.words) - 1
	for at := int(hashWord(first, last, to-from)) & mask; ; at = (at + 1) & mask {
		w := &x.words[at]
		if w.place == 0 {
			return nil
		}
		if w.first == first && w.last == last && int(w.size) == to-from {
			if to-from > 16 && x.text(w.place-1) != string(s[from:to]) {
				continue
			}
			return &x.places[w.place-1]
		}
	}
}

// fill makes the lists of candidates from their numbers, which stand in slots, each
// one place further than its list.
func (x *index) fill(size int, isOpen []bool) {
	for h := range size {
		x.slots[h+1] += x.slots[h]
	}
	for i := len(x.places) - 1; i >= 0; i-- {
		text := x.text(int32(i))
		if !isOpen[i] || len(text) < 4 {
			continue
		}
		c := candidate{head: key4([]byte(text[:4])), place: int32(i)}
		if len(text) <= 8 {
			c.place = ^c.place
		}
		for j := 4; j < min(len(text), 8); j++ {
			c.tail |= uint32(text[j]) << (8 * (j - 4))
			c.mask |= 0xff << (8 * (j - 4))
		}
		// Each list is filled from its end; what was its end is then its beginning.
		end := &x.slots[int(hash4(c.head))&(size-1)+1]
		*end--
		x.long[*end] = c
	}
	x.slots = append(x.slots[1:], int32(len(x.long)))
}

func tableSize(n int) int {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return size
}

func pairOf(first, second byte) uint32 { return uint32(first&0x7f)<<7 | uint32(second&0x7f) }

func addTiny(tinies map[uint32][]tiny, text string, i int32, filters []*filter) {
	t := tiny{place: i + 1}
	for j := range len(text) {
		t.key |= uint32(text[j]) << (8 * j)
		t.mask |= 0xff << (8 * j)
	}
	for second := range byte(0x80) {
		if len(text) > 1 && text[1]&0x7f != second {
			continue
		}
		pair := pairOf(text[0], second)
		tinies[pair] = append(tinies[pair], t)
		for _, f := range filters {
			f.pair[pair>>6] |= 1 << (pair & 63)
			f.short[pair>>6] |= 1 << (pair & 63)
		}
	}
}

// fillTiny writes the lists of tiny literals.
func (x *index) fillTiny(tinies map[uint32][]tiny) {
	for pair := range uint32(1 << 14) {
		if list := tinies[pair]; len(list) > 0 {
			x.tinyAt[pair] = uint16(len(x.tiny) + 1)
			x.tiny = append(append(x.tiny, list...), tiny{})
		}
	}
}

// scan tells a of each literal that stands in its folded text, which must end with
// padding, in order of place.
func (x *index) scan(a *analysis) {
	s := a.folded
	n := len(s) - paddings
	if len(x.literals) == 0 || n <= 0 {
		return
	}
	inWord := false // a letter or digit stands right before i
	seams := a.seams
	for i := 0; i < n; {
		c := s[i]
		switch {
		case isAlnum[c]:
			end := i + 1
			for isAlnum[s[end]] {
				end++
			}
			for len(seams) > 0 && int(seams[0]) <= i {
				seams = seams[1:]
			}
			if len(seams) > 0 && int(seams[0]) < end {
				x.oddRun(a, i, end)
			} else {
				if p := x.word(s, i, end); p != nil {
					a.exact(p, i, end)
				}
				if x.ascii.may(s[i], s[i+1]) {
					x.open(a, &x.ascii, i)
				}
				for j := i + 1; j < end; j++ {
					if x.asciiInside.may(s[j], s[j+1]) {
						x.open(a, &x.asciiInside, j)
					}
				}
			}
			inWord = true
			i = end
		case c < utf8.RuneSelf:
			if x.ascii.may(c, s[i+1]) {
				x.open(a, &x.ascii, i)
			}
			inWord = false
			i++
		default:
			f := &x.wide
			if inWord {
				f = &x.wideInside
			}
			if f.may(c, s[i+1]) {
				x.open(a, f, i)
			}
			r, size := utf8.DecodeRune(s[i:])
			inWord = classOf(r) == classWord
			i += size
		}
	}
}

// oddRun looks at a run of ASCII letters and digits of which some come from other
// characters, or have others between them in the text.
func (x *index) oddRun(a *analysis, from, to int) {
	s := a.folded
	seam := func(i int) bool { return i == from || i == to || !a.besideASCII(i) }
	for i := from; i < to; i++ {
		if !seam(i) {
			if x.asciiInside.may(s[i], s[i+1]) {
				x.open(a, &x.asciiInside, i)
			}
			continue
		}
		for end := i + 1; end <= min(to, i+x.longestWord); end++ {
			if !seam(end) {
				continue
			}
			if p := x.word(s, i, end); p != nil {
				a.found(p, i)
			}
		}
		if x.ascii.may(s[i], s[i+1]) {
			x.open(a, &x.ascii, i)
		}
	}
}

// may reports whether a literal may begin with two bytes.
func (f *filter) may(first, second byte) bool {
	pair := pairOf(first, second)
	return f.pair[pair>>6]&(1<<(pair&63)) != 0
}

// open tells a of the open literals at s[at:], where the filter says of the first two
// bytes that there may be some.
func (x *index) open(a *analysis, f *filter, at int) {
	key := key4(a.folded[at:])
	pair := key&0x7f<<7 | key>>8&0x7f
	if f.short[pair>>6]&(1<<(pair&63)) != 0 {
		x.scanTiny(a, key, pair, at)
	}
	if h := hash4(key); f.long[h>>6]&(1<<(h&63)) != 0 {
		x.scanLong(a, key, h, at)
	}
}

func (x *index) scanTiny(a *analysis, key, pair uint32, at int) {
	for i := x.tinyAt[pair] - 1; x.tiny[i].place != 0; i++ {
		if t := &x.tiny[i]; key&t.mask == t.key {
			a.found(&x.places[t.place-1], at)
		}
	}
}

func (x *index) scanLong(a *analysis, key, hash uint32, at int) {
	slot := int(hash) & (len(x.slots) - 2)
	tail := key4(a.folded[at+4:])
	for i := x.slots[slot]; i < x.slots[slot+1]; i++ {
		c := &x.long[i]
		switch {
		case c.head != key || tail&c.mask != c.tail:
		case c.place < 0:
			a.found(&x.places[^c.place], at)
		default:
			if hasPrefix(a.folded[at:], x.text(c.place)) {
				a.found(&x.places[c.place], at)
			}
		}
	}
}
