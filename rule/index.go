package rule

import (
	"strings"
	"unicode/utf8"
)

// index finds, in folded text, every place where one of a fixed list of literals
// stands, in one pass.
//
// It looks up the next four bytes of each place in a bitmap that fits the first
// cache, and compares literals only where that says maybe. That costs a few
// nanoseconds a byte and, unlike an automaton of some ten thousand words in
// thirteen languages, next to nothing to build. The work at a place is bounded by
// the literals that share its four bytes, so a pass is linear in the text.
//
// Most literals are of no use inside a longer word. Where a word goes on, which is
// most places, only the others are asked about.
//
// What wants to know of a literal is an atom: a word of a family, or a text that a
// regular expression cannot do without. An atom that several families or patterns
// have in common is one; each may be in many sets, of which a text holds something
// where it holds one of their atoms. So what a text costs depends on the words in
// it, and hardly on the number of rules.
type index struct {
	literals []literal
	atoms    []atom
	links    []link    // of the atoms
	sets     [][]int32 // the atoms of each set
	start    filter    // of all literals
	inside   filter    // of those that may stand inside a word
	slots    []int32   // by hash of the first four bytes: where its candidates begin; the end of one is the beginning of the next
	long     []candidate
	tiny     []tiny           // by hash of their bytes: literals of up to three
	numbers  map[string]int32 // literals, while it is built
	known    map[string]int32 // atoms, while it is built
}

// filter says of the first bytes of a place whether a literal may begin there.
type filter struct {
	long  [1 << 10]uint64 // of hash4(first four bytes)
	short [1 << 10]uint64 // of the first two bytes, for literals of up to three
}

// tiny is a slot for a literal of up to three bytes.
type tiny struct {
	key     uint32 // its bytes, and their number in the highest one
	literal int32  // plus one
}

// candidate is a literal of four bytes or more, with the first four and the next four of
// them: most that are not there differ in these, and need not be looked up. Of those that
// have no more bytes, literal is ^ of their number: they need not be compared, either.
type candidate struct {
	head, tail, mask uint32
	literal          int32
}

// literal is a folded text and who wants to know of it.
type literal struct {
	text string
	// atom and phrase are its first atoms, plus one: phrases of which the second word
	// is known to begin with some byte have a chain of their own, and seconds has the
	// low six bits of each of these bytes.
	atom, phrase int32
	seconds      uint64
	// left and right: it is of no use to anyone inside a longer word.
	left, right bool
}

// atom is one use of a literal: as a word or phrase (entry), as the beginning of a
// phrase in a pattern (entry and loose), or (entry nil) as it is.
type atom struct {
	next  int32 // atom of the same literal, plus one
	entry *entry
	loose bool
	sets  []int32
	// spaced: white space is a part of the text itself.
	spaced bool
	// second is the first byte of the phrase's second word; 0: it may be any.
	second byte
	// left and right: only where no character of \w stands on that side of it, if it
	// begins, or ends, with one.
	left, right bool
}

// link is what is asked of an atom first, in little memory: most atoms of a literal are
// phrases, and most of these are not there.
type link struct {
	next int32 // atom of the same literal, plus one
	// second is the atom's, previous the last byte of the word before the key; 0: it may
	// be any.
	second, previous byte
}

// padding stands behind the text, so that four bytes can be read anywhere; no UTF-8
// text has this byte.
const padding = 0xff

func hash4(key uint32) uint32 { return key * 0x9e3779b1 >> 16 }

func key4(s []byte) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// newSet makes an empty set.
func (x *index) newSet() int32 {
	x.sets = append(x.sets, nil)
	return int32(len(x.sets) - 1)
}

// addEntry adds a word or phrase to a set.
func (x *index) addEntry(set int32, e *entry) {
	x.add(set, e.identity(), e.key(), atom{
		entry: e, second: e.secondByte(), right: e.plain(),
		// A word of a script with spaces does not begin inside another; see match.
		left: !e.parts[e.rarest].before && !startsDense(e.key()),
	}, !e.parts[e.rarest].after)
}

// addLoose adds a word or phrase as it may stand in a regular expression.
func (x *index) addLoose(set int32, e *entry) {
	left, right := e.edges()
	if len(e.parts) == 1 {
		x.addText(set, e.key(), left, right)
		return
	}
	x.add(set, string([]byte{0, 4 | flag(left, 1)})+e.identity(), e.key(), atom{entry: e, loose: true, left: left, second: e.secondByte()}, false)
}

// addText adds a text to a set.
func (x *index) addText(set int32, text string, left, right bool) {
	x.add(set, string([]byte{0, flag(left, 1) | flag(right, 2)})+text, text, atom{
		left: left, right: right, spaced: strings.ContainsFunc(text, func(r rune) bool { return classOf(r) == classSpace }),
	}, false)
}

// add adds an atom to a set. It is closed where it is of no use before a letter that goes on
// with the word, though its right does not say so.
func (x *index) add(set int32, identity, text string, a atom, closed bool) {
	if x.numbers == nil {
		x.numbers, x.known = map[string]int32{}, map[string]int32{}
	}
	n, ok := x.known[identity]
	if !ok {
		n = int32(len(x.atoms))
		x.known[identity] = n
		number, ok := x.numbers[text]
		if !ok {
			number = int32(len(x.literals))
			x.numbers[text] = number
			x.literals = append(x.literals, literal{text: text, left: true, right: true})
		}
		l := &x.literals[number]
		l.left, l.right = l.left && a.left, l.right && (a.right || closed)
		first := &l.atom
		if a.second != 0 {
			first = &l.phrase
			l.seconds |= 1 << (a.second & 63)
		}
		a.next = *first
		x.atoms = append(x.atoms, a)
		*first = n + 1
	}
	found := &x.atoms[n]
	if k := len(found.sets); k > 0 && found.sets[k-1] == set {
		return // twice in one list; sets are filled one after the other
	}
	found.sets = append(found.sets, set)
	x.sets[set] = append(x.sets[set], n)
}

// build makes the tables, once all literals are there.
func (x *index) build() {
	x.numbers, x.known = nil, nil
	x.links = make([]link, len(x.atoms))
	for i := range x.atoms {
		a := &x.atoms[i]
		x.links[i] = link{next: a.next, second: a.second}
		if a.entry != nil {
			x.links[i].previous = a.entry.previousByte()
		}
	}
	small := 0
	for i := range x.literals {
		if len(x.literals[i].text) < 4 {
			small++
		}
	}
	x.tiny = make([]tiny, tableSize(small))
	size := min(tableSize(len(x.literals)), 1<<16) // hash4 has no more bits
	x.slots = make([]int32, size+1)
	x.long = make([]candidate, len(x.literals)-small)
	for i := range x.literals {
		l := &x.literals[i]
		filters := []*filter{&x.start, &x.inside}
		if l.left {
			filters = filters[:1]
		}
		if len(l.text) < 4 {
			x.addTiny(l.text, int32(i), filters)
			continue
		}
		h := hash4(key4([]byte(l.text[:4])))
		for _, f := range filters {
			f.long[h>>6] |= 1 << (h & 63)
		}
		x.slots[int(h)&(size-1)+1]++
	}
	x.fill(size)
}

// fill makes the lists of candidates from their numbers, which stand in slots, each
// one place further than its list.
func (x *index) fill(size int) {
	for h := range size {
		x.slots[h+1] += x.slots[h]
	}
	for i := len(x.literals) - 1; i >= 0; i-- {
		text := x.literals[i].text
		if len(text) < 4 {
			continue
		}
		c := candidate{head: key4([]byte(text[:4])), literal: int32(i)}
		if len(text) <= 8 {
			c.literal = ^c.literal
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

func (x *index) addTiny(text string, i int32, filters []*filter) {
	first := uint32(text[0])
	for _, f := range filters {
		if len(text) == 1 {
			for second := range uint32(256) {
				f.short[(first|second<<8)>>6] |= 1 << (first & 63)
			}
			continue
		}
		prefix := first | uint32(text[1])<<8
		f.short[prefix>>6] |= 1 << (prefix & 63)
	}
	key := uint32(len(text)) << 24
	for j := range len(text) {
		key |= uint32(text[j]) << (8 * j)
	}
	at := int(hash4(key)) & (len(x.tiny) - 1)
	for x.tiny[at].literal != 0 {
		at = (at + 1) & (len(x.tiny) - 1)
	}
	x.tiny[at] = tiny{key, i + 1}
}

// scan tells a of each literal that stands in its folded text, which must end with
// four bytes of padding, in order of place.
//
// A literal that is left is passed over inside a word. That is safe: found drops it
// there. If it begins with a letter or digit of ASCII, all its atoms ask that none
// stands before it in the text; so the place is inside a word where one does, and
// both are of ASCII and neighbours in the text too, not in its folded form alone. If
// it begins with another letter, all its atoms are words, which begin where no
// letter stands before them in the folded text (wordStarts).
func (x *index) scan(a *analysis) {
	s := a.folded
	n := len(s) - 4
	if len(x.literals) == 0 || n <= 0 {
		return
	}
	key := key4(s) << 8
	ascii := len(a.origin) == 0
	inWord := false // a letter or digit stands right before i
	for i := 0; i < n; i++ {
		if i == 0 {
			key = key4(s)
		} else {
			key = key>>8 | uint32(s[i+3])<<24
		}
		c := s[i]
		f := &x.start
		switch {
		case c < utf8.RuneSelf:
			if alnum := asciiClass[c] == classWord; !alnum {
				inWord = false
			} else {
				if inWord && (ascii || a.besideASCII(i)) {
					f = &x.inside
				}
				inWord = true
			}
		case c < 0xc0:
			continue // inside a character
		default:
			if inWord {
				f = &x.inside
			}
			r, _ := utf8.DecodeRune(s[i:])
			inWord = classOf(r) == classWord
		}
		if short := key & 0xffff; f.short[short>>6]&(1<<(short&63)) != 0 {
			x.scanTiny(a, key, i)
		}
		if h := hash4(key); f.long[h>>6]&(1<<(h&63)) != 0 {
			x.scanLong(a, key, h, i)
		}
	}
}

func (x *index) scanTiny(a *analysis, key uint32, at int) {
	for n, mask := uint32(1), uint32(0xff); n <= 3; n, mask = n+1, mask<<8|0xff {
		k := key&mask | n<<24
		for i := int(hash4(k)) & (len(x.tiny) - 1); x.tiny[i].literal != 0; i = (i + 1) & (len(x.tiny) - 1) {
			if x.tiny[i].key == k {
				a.found(&x.literals[x.tiny[i].literal-1], at)
				break
			}
		}
	}
}

func (x *index) scanLong(a *analysis, key, hash uint32, at int) {
	slot := int(hash) & (len(x.slots) - 2)
	var tail uint32
	if rest := a.folded[at+4:]; len(rest) >= 4 {
		tail = key4(rest)
	} else {
		for j, c := range rest {
			tail |= uint32(c) << (8 * j)
		}
	}
	for i := x.slots[slot]; i < x.slots[slot+1]; i++ {
		c := &x.long[i]
		switch {
		case c.head != key || tail&c.mask != c.tail:
		case c.literal < 0:
			a.found(&x.literals[^c.literal], at)
		default:
			if l := &x.literals[c.literal]; hasPrefix(a.folded[at:], l.text) {
				a.found(l, at)
			}
		}
	}
}
