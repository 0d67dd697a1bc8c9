package rule

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// match is a place where a condition holds.
type match struct {
	extent
	parts []extent // the words that made it, where it was words
}

// eachNear calls yield for the places where the words stand as the condition asks,
// in order of start, until it returns false.
//
// For each word of the first family the nearest next word of each further family is
// taken. The stretch that gives is inside every other stretch with the same first
// word, so if this one is too long, crosses the span or holds a word that must not
// be there, so do all the others: looking at one stretch a word loses nothing.
func (a *analysis) eachNear(n *near, span Span, yield func(match) bool) {
	for _, f := range n.families {
		if !a.has(f.set) {
			return
		}
	}
	if len(n.orders) == 1 {
		a.eachOrdered(n, n.orders[0], span, yield)
		return
	}
	var all []match
	for _, order := range n.orders {
		a.eachOrdered(n, order, span, func(m match) bool {
			all = append(all, m)
			return true
		})
	}
	slices.SortStableFunc(all, func(x, y match) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end))
	})
	for _, m := range all {
		if !yield(m) {
			return
		}
	}
}

func (a *analysis) eachOrdered(n *near, order []int, span Span, yield func(match) bool) {
	var lists [maxNear][]hit
	var next [maxNear]int
	for i, f := range order {
		lists[i] = a.of(n.families[f])
	}
	k := len(order)
	limit := int32(n.within * halfWords)
first:
	for i := range lists[0] {
		start := &lists[0][i]
		last := start
		for j := 1; j < k; j++ {
			for next[j] < len(lists[j]) && lists[j][next[j]].start < last.end {
				next[j]++
			}
			if next[j] == len(lists[j]) {
				return // and none is left for any later first word either
			}
			last = &lists[j][next[j]]
			if last.last-start.first > limit {
				continue first
			}
		}
		if last.last-start.first > limit || !a.sameSpan(start, last, span) {
			continue
		}
		if a.holdsAny(n.without, extent{start.start, last.end}) || n.clause && a.breakIn(extent{start.start, last.end}) {
			continue
		}
		if n.opening && !a.opensClause(n, start) || n.negated && (a.isNegated(n, start) || a.isNegatedAfter(n, last)) {
			continue
		}
		m := match{extent: extent{start.start, last.end}, parts: make([]extent, 0, k)}
		m.parts = append(m.parts, start.extent)
		for j := 1; j < k; j++ {
			m.parts = append(m.parts, lists[j][next[j]].extent)
		}
		if !yield(m) {
			return
		}
	}
}

func (a *analysis) sameSpan(first, last *hit, span Span) bool {
	switch span {
	case SpanSentence:
		return first.sentence >= 0 && first.sentence == last.sentence
	case SpanPair:
		x, y := first.sentence, last.sentence
		if x < 0 {
			x = int32(a.sentenceAt(first.start))
		}
		if y < 0 {
			y = int32(a.sentenceAt(last.end - 1))
		}
		return y-x <= 1
	}
	return true
}

// holdsAny reports whether a word of one of the families stands inside the stretch.
func (a *analysis) holdsAny(families []*family, in extent) bool {
	for _, f := range families {
		if !a.has(f.set) {
			continue
		}
		list := a.of(f)
		if i := firstFrom(list, in.start); i < len(list) && list[i].end <= in.end {
			return true
		}
	}
	return false
}

// firstFrom gives the first hit that starts at or after byte i.
func firstFrom(list []hit, i int) int {
	n, _ := slices.BinarySearchFunc(list, i, func(h hit, i int) int { return cmp.Compare(h.start, i) })
	return n
}

// maxNegation is how many words before the first family a negation governs it.
const maxNegation = 3

// isNegated reports whether a negation stands right before the hit, in its clause,
// and is not itself undone ("do not forget to").
func (a *analysis) isNegated(n *near, h *hit) bool {
	list := a.of(n.not)
	for i := firstFrom(list, h.start) - 1; i >= 0; i-- {
		negation := &list[i]
		if h.first-negation.last > maxNegation*halfWords {
			return false
		}
		if negation.end > h.start {
			continue
		}
		between := extent{negation.end, h.start}
		if a.breakIn(between) {
			return false
		}
		return n.omit == nil || !a.holdsAny([]*family{n.omit}, between)
	}
	return false
}

// maxEnding is how many half words may stand between a word and the negation behind
// it: the ending of a verb in a script where each character counts as one.
const maxEnding = 6

// isNegatedAfter reports whether a negation stands right behind the last word, as in
// "lies die Datei nicht", 読まないでください or 읽지 마세요: no other word may stand between,
// apart from the characters of an ending in a script without spaces.
func (a *analysis) isNegatedAfter(n *near, last *hit) bool {
	if n.notAfter == nil || !a.has(n.notAfter.set) {
		return false
	}
	list := a.of(n.notAfter)
	i := firstFrom(list, last.end)
	if i == len(list) || a.breakIn(extent{last.end, list[i].start}) || last.sentence != list[i].sentence {
		return false
	}
	between := list[i].first - last.last
	return between <= 0 || between <= maxEnding && allDense(a.text[last.end:list[i].start])
}

func allDense(s string) bool {
	for _, r := range s {
		if classOf(r) != classDense {
			return false
		}
	}
	return true
}

// maxOpening is how many words may stand between the start of a clause and the
// first family of a condition that opens one.
const maxOpening = 4

// opensClause reports whether only words of the families of "opens" stand between
// the hit and the start of its clause.
func (a *analysis) opensClause(n *near, h *hit) bool {
	at := h.start
	for range maxOpening + 1 {
		i := at
		for i > 0 {
			r, size := utf8.DecodeLastRuneInString(a.text[:i])
			if breaksClause(r) && !inside(a.text, i-size, r) {
				return true
			}
			if isWord(r) {
				break
			}
			i -= size
		}
		if i == 0 || a.startsSentence(at) {
			return true
		}
		if at = a.leading(n.opens, i); at < 0 {
			return false
		}
	}
	return false
}

func (a *analysis) startsSentence(at int) bool {
	list := a.sentenceList()
	return len(list) > 0 && list[a.sentenceAt(at)].start == at
}

// leading gives the start of the word of one of the families that ends at byte end,
// -1 where there is none.
func (a *analysis) leading(families []*family, end int) int {
	for _, f := range families {
		if !a.has(f.set) {
			continue
		}
		list := a.of(f)
		i, ok := slices.BinarySearchFunc(list, end, func(h hit, end int) int { return cmp.Compare(h.end, end) })
		if ok {
			return list[i].start
		}
	}
	return -1
}
