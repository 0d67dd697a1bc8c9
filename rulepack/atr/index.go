package atr

import "slices"

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
	members  []int32       // literals of each set: from begin of it to begin of the next
	begin    []int32
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

func (x *index) build(sets int) {
	x.begin = make([]int32, sets+1)
	for _, set := range x.users {
		x.begin[set+1]++
	}
	for i := range sets {
		x.begin[i+1] += x.begin[i]
	}
	x.members = make([]int32, len(x.users))
	next := slices.Clone(x.begin)
	for l := range x.literals {
		for _, set := range x.users[x.literals[l].from:x.literals[l].to] {
			x.members[next[set]] = int32(l)
			next[set]++
		}
	}
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

// hits collects where literals end, and with them those of each set. A literal that
// stands in a text many times costs its sets no more than one that stands there once:
// where the texts of a set end is worked out when it is asked for.
type hits struct {
	index   *index
	round   int32
	seen    []seenLiteral
	places  []hitPlace
	sets    []seenSet
	touched []int32 // sets that have any, in the order of their first hit
}

// seenLiteral is valid where round is that of the hits.
type seenLiteral struct{ round, last int32 } // last: its last place, plus one

type hitPlace struct{ end, before int32 } // before: the place before it of that literal, plus one

type seenSet struct {
	round  int32 // of the last hit
	listed int32 // round in which ends was made
	ends   []int32
}

func newHits(x *index, sets int) hits {
	return hits{index: x, seen: make([]seenLiteral, len(x.literals)), sets: make([]seenSet, sets)}
}

func (h *hits) reset() {
	h.round++
	h.places, h.touched = h.places[:0], h.touched[:0]
}

func (h *hits) add(l, end int32) {
	s := &h.seen[l]
	if s.round != h.round {
		*s = seenLiteral{round: h.round}
		lit := &h.index.literals[l]
		for _, set := range h.index.users[lit.from:lit.to] {
			if h.sets[set].round != h.round {
				h.sets[set].round = h.round
				h.touched = append(h.touched, set)
			}
		}
	}
	h.places = append(h.places, hitPlace{end, s.last})
	s.last = int32(len(h.places))
}

// has reports whether a text of the set was found.
func (h *hits) has(set int32) bool { return h.sets[set].round == h.round }

// ends gives where the texts of a set end, in order.
func (h *hits) ends(set int32) []int32 {
	s := &h.sets[set]
	if s.listed == h.round || s.round != h.round {
		if s.round != h.round {
			return nil
		}
		return s.ends
	}
	s.listed, s.ends = h.round, s.ends[:0]
	for _, l := range h.index.members[h.index.begin[set]:h.index.begin[set+1]] {
		if h.seen[l].round != h.round {
			continue
		}
		for at := h.seen[l].last; at > 0; at = h.places[at-1].before {
			s.ends = append(s.ends, h.places[at-1].end)
		}
	}
	slices.Sort(s.ends)
	return s.ends
}

// scan adds the hits in s, roughly in order. s has padding behind its end.
func (x *index) scan(s []byte, into *hits) {
	n := len(s) - padding
	if n <= 0 || len(x.literals) == 0 {
		return
	}
	mask := len(x.slots) - 1
	for i := range n {
		key := key4(s[i : i+4 : i+4])
		if pair := key & 0xffff; x.short[pair>>6]&(1<<(pair&63)) != 0 {
			if l := x.ones[s[i]]; l > 0 {
				into.add(l-1, int32(i+1))
			}
			x.compare(x.pairs[pair], s[:n], 0, i, into)
		}
		h := hash4(key)
		if x.long[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		x.compare(x.slots[int(h)&mask], s[:n], key, i, into)
	}
}

// compare goes through a chain of literals, of those with four bytes that are key.
func (x *index) compare(l int32, s []byte, key uint32, at int, into *hits) {
	for l > 0 {
		number := l - 1
		lit := &x.literals[number]
		l = lit.next
		if lit.key != key {
			continue
		}
		start := at - int(lit.at)
		if end := start + len(lit.text); start >= 0 && end <= len(s) && string(s[start:end]) == lit.text {
			into.add(number, int32(end))
		}
	}
}
