package atr

// index finds, in folded text, every place where one of a list of literals ends, in
// one pass. It looks up the next four bytes of each place in a bitmap that fits the
// first cache and compares literals only where that says maybe; literals of one to
// three bytes have bitmaps of their own. The work at a place is bounded by the
// literals that share their first four bytes.
type index struct {
	literals []literal
	users    []int32 // sets that want to know of a literal: literal.from up to literal.to
	long     [1 << 11]uint64
	longest  int
	short    [1 << 10]uint64 // by the first two bytes
	slots    []int32
	pairs    []int32       // by the first two bytes: chain of literals of two and three
	ones     [1 << 8]int32 // literals of one byte
}

type literal struct {
	text     string
	at       int32 // where the four bytes stand by which it is found
	key      uint32
	next     int32 // literal of the same slot, plus one
	from, to int32
}

// padding stands behind a folded text so that four bytes can be read anywhere. It is
// a byte that some characters fold to, so a hit may reach into it; see scan.
const padding = 4

func hash4(key uint32) uint32 { return key * 0x9e3779b1 >> 15 }

func key4(s []byte) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func keyOf(t string) uint32 {
	return uint32(t[0]) | uint32(t[1])<<8 | uint32(t[2])<<16 | uint32(t[3])<<24
}

// settle picks, for each literal, the four bytes by which it is found: those that are
// rarest in a sample of honest text, and shared with the fewest other literals.
func (x *index) settle(sample []byte) {
	var common [1 << 17]int32
	for i := 0; i+4 <= len(sample); i++ {
		common[hash4(key4(sample[i:]))] += 4
	}
	for i := range x.literals {
		l := &x.literals[i]
		best := int32(-1)
		for at := 0; at+4 <= len(l.text); at++ {
			if n := common[hash4(keyOf(l.text[at:]))]; best < 0 || n < best {
				best, l.at = n, int32(at)
			}
		}
		if best >= 0 {
			common[hash4(keyOf(l.text[l.at:]))]++
		}
	}
}

func (x *index) build() {
	size := 16
	for size < 2*len(x.literals) {
		size *= 2
	}
	x.slots = make([]int32, size)
	x.pairs = make([]int32, 1<<16)
	for i := range x.literals {
		l := &x.literals[i]
		t := l.text
		x.longest = max(x.longest, len(t))
		switch len(t) {
		case 1:
			x.ones[t[0]] = int32(i) + 1
			for second := range 256 {
				pair := int(t[0]) | second<<8
				x.short[pair>>6] |= 1 << (pair & 63)
			}
		case 2, 3:
			pair := int(t[0]) | int(t[1])<<8
			x.short[pair>>6] |= 1 << (pair & 63)
			l.next, x.pairs[pair] = x.pairs[pair], int32(i)+1
		default:
			l.key = keyOf(t[l.at:])
			h := hash4(l.key)
			x.long[h>>6] |= 1 << (h & 63)
			slot := &x.slots[int(h)&(size-1)]
			l.next, *slot = *slot, int32(i)+1
		}
	}
}

// hits collects where the literals of each set end.
type hits struct {
	ends    [][]int32 // per set
	touched []int32   // sets that have any
}

func (h *hits) reset() {
	for _, set := range h.touched {
		h.ends[set] = h.ends[set][:0]
	}
	h.touched = h.touched[:0]
}

func (h *hits) add(set, end int32) {
	if len(h.ends[set]) == 0 {
		h.touched = append(h.touched, set)
	}
	h.ends[set] = append(h.ends[set], end)
}

// scan adds the hits in s, roughly in order. s has padding behind its end. The ends
// that are noted are shifted.
func (x *index) scan(s []byte, shift int, into *hits) {
	n := len(s) - padding
	if n <= 0 || len(x.literals) == 0 {
		return
	}
	mask := len(x.slots) - 1
	for i := range n {
		key := key4(s[i : i+4 : i+4])
		if pair := key & 0xffff; x.short[pair>>6]&(1<<(pair&63)) != 0 {
			if l := x.ones[s[i]]; l > 0 {
				x.tell(&x.literals[l-1], i+1+shift, into)
			}
			x.compare(x.pairs[pair], s[:n], 0, i, shift, into)
		}
		h := hash4(key)
		if x.long[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		x.compare(x.slots[int(h)&mask], s[:n], key, i, shift, into)
	}
}

// compare goes through a chain of literals, of those with four bytes that are key.
func (x *index) compare(l int32, s []byte, key uint32, at, shift int, into *hits) {
	for l > 0 {
		lit := &x.literals[l-1]
		l = lit.next
		if lit.key != key {
			continue
		}
		start := at - int(lit.at)
		if end := start + len(lit.text); start >= 0 && end <= len(s) && string(s[start:end]) == lit.text {
			x.tell(lit, end+shift, into)
		}
	}
}

func (x *index) tell(l *literal, end int, into *hits) {
	for _, set := range x.users[l.from:l.to] {
		into.add(set, int32(end))
	}
}
