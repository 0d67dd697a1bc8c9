package atr

// index finds, in folded text, every place where one of a list of literals ends, in
// one pass. It looks up the next four bytes of each place in a bitmap that fits the
// first cache and compares literals only where that says maybe; literals of one to
// three bytes have bitmaps of their own. The work at a place is bounded by the
// literals that share their first four bytes.
type index struct {
	literals []literal
	users    []int32 // sets that want to know of a literal: literal.from up to literal.to
	long     [1 << 10]uint64
	short    [1 << 10]uint64 // by the first two bytes
	slots    []int32
	tiny     map[uint32]int32
}

type literal struct {
	text     string
	next     int32 // literal of the same slot, plus one
	from, to int32
}

// padding stands behind a folded text so that four bytes can be read anywhere. It is
// a byte that some characters fold to, so a hit may reach into it; see scan.
const padding = 4

func hash4(key uint32) uint32 { return key * 0x9e3779b1 >> 16 }

func key4(s []byte) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func (x *index) build() {
	size := 16
	for size < 2*len(x.literals) {
		size *= 2
	}
	x.slots = make([]int32, size)
	x.tiny = map[uint32]int32{}
	for i := range x.literals {
		l := &x.literals[i]
		if t := l.text; len(t) >= 4 {
			h := hash4(uint32(t[0]) | uint32(t[1])<<8 | uint32(t[2])<<16 | uint32(t[3])<<24)
			x.long[h>>6] |= 1 << (h & 63)
			slot := &x.slots[int(h)&(size-1)]
			l.next, *slot = *slot, int32(i)+1
			continue
		}
		key := uint32(0)
		for j := range len(l.text) {
			key |= uint32(l.text[j]) << (8 * j)
		}
		x.tiny[key|uint32(len(l.text))<<24] = int32(i) + 1
		if len(l.text) > 1 {
			key &= 0xffff
			x.short[key>>6] |= 1 << (key & 63)
			continue
		}
		for second := uint32(0); second < 256; second++ {
			pair := key | second<<8
			x.short[pair>>6] |= 1 << (pair & 63)
		}
	}
}

// scan calls found with each set that wants to know of a literal, and where the
// literal ends, in order of where it begins. s has padding behind its end.
func (x *index) scan(s []byte, found func(set int32, end int32)) {
	n := len(s) - padding
	if n <= 0 || len(x.literals) == 0 {
		return
	}
	for i := range n {
		key := key4(s[i : i+4])
		if pair := key & 0xffff; x.short[pair>>6]&(1<<(pair&63)) != 0 {
			for length := 1; length <= 3; length++ {
				if l := x.tiny[key&(1<<(8*length)-1)|uint32(length)<<24]; l > 0 && i+length <= n {
					x.tell(&x.literals[l-1], i+length, found)
				}
			}
		}
		h := hash4(key)
		if x.long[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for l := x.slots[int(h)&(len(x.slots)-1)]; l > 0; {
			lit := &x.literals[l-1]
			if end := i + len(lit.text); end <= n && string(s[i:end]) == lit.text {
				x.tell(lit, end, found)
			}
			l = lit.next
		}
	}
}

func (x *index) tell(l *literal, end int, found func(set int32, end int32)) {
	for _, set := range x.users[l.from:l.to] {
		found(set, int32(end))
	}
}
