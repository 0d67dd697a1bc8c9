package rule

// index finds, in folded text, every place where one of a fixed list of literals
// stands, in one pass.
//
// It looks up the next four bytes of each place in a bitmap that fits the first
// cache, and compares literals only where that says maybe. That costs a few
// nanoseconds a byte and, unlike an automaton of some ten thousand words in
// thirteen languages, next to nothing to build. The work at a place is bounded by
// the literals that share its four bytes, so a pass is linear in the text.
type index struct {
	literals []literal
	users    []user
	long     [1 << 10]uint64 // of hash(first four bytes)
	short    [1 << 10]uint64 // of the first two bytes, for literals of up to three
	slots    []int32         // by hash of the first four bytes: first literal of a chain, plus one
	tiny     map[uint32]int32
	numbers  map[string]int32 // while it is built
}

// literal is a folded text and who wants to know of it.
type literal struct {
	text string
	next int32 // literal of the same slot, plus one
	user int32 // its first user, plus one
	// left and right: it is of no use to anyone inside a longer word of ASCII.
	left, right bool
}

// user is one use of a literal: a word of a family, or (entry nil) a text that a
// regular expression cannot do without.
type user struct {
	set   int32
	next  int32 // user of the same literal, plus one
	entry *entry
	plain bool // the entry is the literal, as a whole word
	// second is the first byte of the phrase's second word; 0: it may be any.
	second byte
	// left and right: only where no character of \w stands on that side of it, if it
	// begins, or ends, with one.
	left, right bool
}

// padding stands behind the text, so that four bytes can be read anywhere; no UTF-8
// text has this byte.
const padding = 0xff

func hash4(key uint32) uint32 { return key * 0x9e3779b1 >> 16 }

func key4(s []byte) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// add gives a literal one more user.
func (x *index) add(text string, u user) {
	if x.numbers == nil {
		x.numbers = map[string]int32{}
	}
	n, ok := x.numbers[text]
	if !ok {
		n = int32(len(x.literals))
		x.numbers[text] = n
		x.literals = append(x.literals, literal{text: text, left: true, right: true})
	}
	l := &x.literals[n]
	if u.entry != nil {
		// A word of a script with spaces does not begin inside another; see match.
		u.plain = u.entry.plain()
		u.left = !u.entry.parts[0].before && !startsDense(text)
		u.right = u.plain
		u.second = u.entry.secondByte()
	}
	l.left, l.right = l.left && u.left, l.right && u.right
	u.next = l.user
	x.users = append(x.users, u)
	l.user = int32(len(x.users))
}

// build makes the tables, once all literals are there.
func (x *index) build() {
	x.numbers = nil
	size := 16
	for size < 2*len(x.literals) {
		size *= 2
	}
	x.slots = make([]int32, size)
	x.tiny = map[uint32]int32{}
	for i := range x.literals {
		l := &x.literals[i]
		if len(l.text) < 4 {
			x.addTiny(l.text, int32(i))
			continue
		}
		h := hash4(key4([]byte(l.text[:4])))
		x.long[h>>6] |= 1 << (h & 63)
		slot := &x.slots[int(h)&(size-1)]
		l.next, *slot = *slot, int32(i)+1
	}
}

func (x *index) addTiny(text string, i int32) {
	first := uint32(text[0])
	if len(text) == 1 {
		for second := uint32(0); second < 256; second++ {
			x.short[(first|second<<8)>>6] |= 1 << (first & 63)
		}
	} else {
		prefix := first | uint32(text[1])<<8
		x.short[prefix>>6] |= 1 << (prefix & 63)
	}
	key := uint32(0)
	for j := range len(text) {
		key |= uint32(text[j]) << (8 * j)
	}
	x.tiny[key] = i + 1
}

// scan calls found for each literal that stands in s, which must end with four
// bytes of padding, in order of place.
func (x *index) scan(s []byte, found func(l *literal, at int)) {
	if len(x.literals) == 0 {
		return
	}
	n := len(s) - 4
	if n <= 0 {
		return
	}
	key := key4(s) << 8
	for i := 0; i < n; i++ {
		key = key>>8 | uint32(s[i+3])<<24
		if i == 0 {
			key = key4(s)
		}
		if short := key & 0xffff; x.short[short>>6]&(1<<(short&63)) != 0 {
			x.scanTiny(key, i, found)
		}
		if h := hash4(key); x.long[h>>6]&(1<<(h&63)) != 0 {
			x.scanLong(s, key, i, found)
		}
	}
}

func (x *index) scanTiny(key uint32, at int, found func(l *literal, at int)) {
	for _, k := range [...]uint32{key & 0xff, key & 0xffff, key & 0xffffff} {
		if i := x.tiny[k]; i > 0 {
			found(&x.literals[i-1], at)
		}
	}
}

func (x *index) scanLong(s []byte, key uint32, at int, found func(l *literal, at int)) {
	for i := x.slots[int(hash4(key))&(len(x.slots)-1)]; i > 0; {
		l := &x.literals[i-1]
		if hasPrefix(s[at:], l.text) {
			found(l, at)
		}
		i = l.next
	}
}
