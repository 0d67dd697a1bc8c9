package rule

import (
	"cmp"
	"slices"
	"sort"
	"unicode/utf8"
)

// The fast path of patterns.
//
// Slow, and right by definition: run the pattern over each unit of its span (each
// sentence, say) from beginning to end. Fast: run it over windows only, and give the
// same matches. That is safe because
//
//  1. every match holds one literal of each need of one of the pattern's chains, in
//     order, and the index finds every literal (literals.go, fold.go). So the literals
//     of a match are hits in order: each ends behind the one before, no further than
//     the gap between them allows. Hits without such neighbours are dropped; those of
//     a match never are.
//  2. A match reaches no further to both sides of its literal than the bounds say
//     that come with the need. So the window of that many bytes around the hit holds
//     the whole match, and any other match that starts at the same place too: each
//     brings its own hit, be it by another chain, and windows of a unit that meet
//     become one.
//  3. Windows are widened to where the character outside is none of \w, or the unit
//     ends. \b and \B say the same there whether the text goes on or not. Patterns that
//     ask for the end of the text or for lines get the whole unit instead; those that
//     ask for its beginning are told, by another pattern, in windows that do not
//     begin where the unit does (pattern.behind).
//
// So what the pattern finds in a window is what it finds there in the unit, and it
// finds nothing elsewhere. Where a bound is not known the window is the rest of the
// unit: when in doubt, the slow path. Whether it finds anything there is asked of an
// automaton first (automaton.go).

// windowBuffers are kept between texts.
type windowBuffers struct {
	alive [][]int32
	list  []window
}

// window is a stretch of a unit.
type window struct {
	extent
	unit int
}

// mayMatch reports whether the text holds a literal of each need of a chain.
func (a *analysis) mayMatch(p *pattern) bool {
	return a.exhaustive || slices.ContainsFunc(p.needed(), func(c chain) bool { return c.isIn(a.present) })
}

// eachRegexp calls yield for the matches of a pattern in each unit of the span that is
// wanted; wanted may be nil, and is asked again after each match.
func (a *analysis) eachRegexp(p *pattern, span Span, wanted func(unit int) bool, yield func(match) bool) {
	if !a.mayMatch(p) {
		return
	}
	units := a.unitList(span)
	for _, w := range a.windows(p, span) {
		if wanted != nil && !wanted(w.unit) {
			continue
		}
		text := a.text[w.start:w.end]
		beginning := w.start == units[w.unit].start
		if !a.exhaustive && !a.matches(p, text, beginning) {
			continue
		}
		// Most callers want one match only, and most windows have no more: others are
		// looked for a few at a time.
		re := p.at(beginning)
		at := re.FindStringIndex(text)
		found := [][]int{at}
		for n, known := 0, 1; at != nil; n++ {
			if n == len(found) {
				if n < known || !a.goesOn(p, text, found[n-1][1]) {
					break
				}
				known *= 8
				if found = re.FindAllStringIndex(text, known); n == len(found) {
					break
				}
			}
			if !yield(match{extent: extent{w.start + found[n][0], w.start + found[n][1]}}) {
				return
			}
			if wanted != nil && !wanted(w.unit) {
				break
			}
		}
	}
}

// shortText is the most bytes of a text of which all units are windows: to look for
// smaller ones costs more than to run an automaton over them.
const shortText = 300

// windows gives the stretches of the text in which p may match, in order.
func (a *analysis) windows(p *pattern, span Span) []window {
	units := a.unitList(span)
	list := a.window.list[:0]
	if a.exhaustive || len(a.text) <= shortText {
		for i, u := range units {
			list = append(list, window{u, i})
		}
		a.window.list = list
		return list
	}
	chains := 0
	for _, c := range p.needed() {
		if !c.isIn(a.present) {
			continue
		}
		before := len(list)
		if list = a.appendWindows(list, p, c, units, span); len(list) > before {
			chains++
		}
	}
	if chains > 1 {
		slices.SortFunc(list, func(x, y window) int {
			return cmp.Or(cmp.Compare(x.unit, y.unit), cmp.Compare(x.start, y.start))
		})
		kept := list[:1]
		for _, w := range list[1:] {
			if last := &kept[len(kept)-1]; w.unit == last.unit && w.start <= last.end {
				last.end = max(last.end, w.end)
				continue
			}
			kept = append(kept, w)
		}
		list = kept
	}
	a.window.list = list
	return list
}

// appendWindows adds the windows for one chain.
func (a *analysis) appendWindows(list []window, p *pattern, c chain, units []extent, span Span) []window {
	hits, need := a.chained(c)
	before, after := a.bytes(need.before), a.bytes(need.after)
	next := 0 // hits before it end before the unit
	for u := 0; u < len(units) && len(hits) > 0; u++ {
		unit := units[u]
		if next < len(hits) && span != SpanPair && int(hits[next]) > unit.end {
			// Units without a hit are passed over in one step.
			u += sort.Search(len(units)-u, func(n int) bool { return units[u+n].end >= int(hits[next]) })
			if u == len(units) {
				break
			}
			unit = units[u]
		}
		if span == SpanPair {
			next, _ = slices.BinarySearch(hits, int32(unit.start))
		}
		for next < len(hits) && int(hits[next]) <= unit.start {
			next++
		}
		if next == len(hits) {
			break
		}
		first := len(list)
		for ; next < len(hits) && int(hits[next]) <= unit.end; next++ {
			if p.anchored {
				list = append(list[:first], window{unit, u})
				continue
			}
			hit := int(hits[next])
			end := min(hit+after, unit.end)
			if n := len(list); n > first && hit-before <= list[n-1].end {
				list[n-1].end = max(list[n-1].end, end)
				continue
			}
			// The window before this one is done: both are widened, and may meet.
			start := max(hit-before, unit.start)
			if n := len(list); n > first {
				last := &list[n-1]
				last.end = a.widenRight(last.end, unit.end)
				if start > last.end {
					start = a.widenLeft(start, last.end)
				}
				if start <= last.end {
					last.end = max(last.end, end)
					continue
				}
			} else {
				start = a.widenLeft(start, unit.start)
			}
			list = append(list, window{extent{start, end}, u})
		}
		if n := len(list); n > first {
			list[n-1].end = a.widenRight(list[n-1].end, unit.end)
		}
	}
	return list
}

// widenLeft moves i to the left, no further than limit, until no word character of
// \w stands before it.
func (a *analysis) widenLeft(i, limit int) int {
	for i > limit && (isASCIIWord(a.text[i-1]) || !utf8.RuneStart(a.text[i])) {
		i--
	}
	return i
}

// widenRight moves i to the right in the same way.
func (a *analysis) widenRight(i, limit int) int {
	for i < limit && (isASCIIWord(a.text[i]) || !utf8.RuneStart(a.text[i])) {
		i++
	}
	return i
}

// bytes gives the most bytes of the current text that a length stands for.
func (a *analysis) bytes(l length) int {
	if l.unbounded {
		return len(a.text)
	}
	n := int(l.runes)
	if l.runs != [runKinds]uint16{} {
		for kind, longest := range a.runLengths() {
			n += int(l.runs[kind]) * longest
		}
	}
	if len(a.origin) > 0 {
		n *= utf8.UTFMax
	}
	return min(n, len(a.text))
}

// chained gives, for the need of c with the fewest, the hits that have hits of all
// other needs around them as the gaps allow.
func (a *analysis) chained(c chain) ([]int32, *need) {
	alive := a.window.alive[:0]
	for i := range c {
		n := &c[i]
		ends := a.endsOf(n.set)
		if i > 0 {
			ends = reachable(ends, alive[i-1], a.bytes(n.gap), 1)
		}
		alive = append(alive, ends)
	}
	best := len(alive) - 1
	for i := len(alive) - 2; i >= 0; i-- {
		alive[i] = reachable(alive[i], alive[i+1], a.bytes(c[i+1].gap), -1)
		if len(alive[i]) < len(alive[best]) {
			best = i
		}
	}
	a.window.alive = alive
	return alive[best], &c[best]
}

// reachable gives those of hits that stand behind (direction 1) or before (-1) one
// of others, at most gap bytes away. Both are in order.
func reachable(hits, others []int32, gap, direction int) []int32 {
	var kept []int32
	next := 0
	for _, h := range hits {
		if direction > 0 {
			// others[next-1] is the nearest one before h.
			for next < len(others) && others[next] < h {
				next++
			}
			if next > 0 && int(h-others[next-1]) <= gap {
				kept = append(kept, h)
			}
			continue
		}
		for next < len(others) && others[next] <= h {
			next++
		}
		if next < len(others) && int(others[next]-h) <= gap {
			kept = append(kept, h)
		}
	}
	return kept
}

// unitList gives the stretches of the text that a span names.
func (a *analysis) unitList(span Span) []extent {
	switch span {
	case SpanSentence:
		return a.sentenceList()
	case SpanPair:
		list := a.sentenceList()
		if len(list) < 2 {
			return list
		}
		pairs := make([]extent, len(list)-1)
		for i := range pairs {
			pairs[i] = extent{list[i].start, list[i+1].end}
		}
		return pairs
	}
	return []extent{{0, len(a.text)}}
}
