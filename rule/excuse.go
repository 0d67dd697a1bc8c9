package rule

import (
	"cmp"
	"slices"
	"sort"
	"unicode/utf8"
)

// excuseState is what is known of an excuse in the current text, so that a text
// with many matches does not have the same sentence asked about for each of them.
type excuseState struct {
	used bool
	// where is the stretch last asked about, and held the answer.
	where extent
	asked bool
	held  bool
	// near are the stretches where words near each other make the excuse: in order,
	// the shortest only, so that starts and ends both ascend.
	near []extent
	// windows are the stretches of the text in which the pattern may match.
	windows []window
}

// excused reports whether one of the excuses holds for m.
func (a *analysis) excused(excuses []*excuse, m match) bool {
	for _, e := range excuses {
		if a.excusedBy(e, m) {
			return true
		}
	}
	return false
}

func (a *analysis) excusedBy(e *excuse, m match) bool {
	if e.quoted && !a.quoted(m.extent) {
		return false
	}
	if e.regex == nil && e.near == nil {
		return e.quoted
	}
	if e.scope == scopeTool {
		return a.toolExcuse != nil && a.toolExcuse(e)
	}
	if e.regex != nil && !a.mayMatch(e.regex) {
		return false
	}
	state := a.excuseState(e)
	if e.around > 0 {
		return a.excuseIn(e, state, a.around(m.extent, e.around))
	}
	where := a.sentencesOf(m.extent)
	if e.scope == scopeClause {
		where = a.clauseAround(where, m.extent)
	}
	if !state.asked || state.where != where {
		state.where, state.asked, state.held = where, true, a.excuseIn(e, state, where)
	}
	return state.held
}

func (a *analysis) excuseState(e *excuse) *excuseState {
	state := &a.excuses[e.number-1]
	if state.used {
		return state
	}
	state.used = true
	a.usedExcuses = append(a.usedExcuses, e.number-1)
	if e.near != nil {
		a.eachNear(e.near, SpanField, func(m match) bool {
			state.near = append(state.near, m.extent)
			return true
		})
		state.near = shortest(state.near)
	}
	if e.regex != nil {
		// The match that is asked about may come from windows, which are still in use.
		buffers := a.window
		a.window = windowBuffers{}
		state.windows = a.windows(e.regex, SpanField)
		a.window = buffers
	}
	return state
}

// excusesAll reports whether the excuse stands anywhere in the text.
func (a *analysis) excusesAll(e *excuse) bool {
	if e.regex != nil && !a.mayMatch(e.regex) {
		return false
	}
	return a.excuseIn(e, a.excuseState(e), extent{0, len(a.text)})
}

// excuseIn reports whether the excuse stands inside a stretch.
func (a *analysis) excuseIn(e *excuse, state *excuseState, where extent) bool {
	if e.regex != nil {
		return a.matchesIn(e.regex, state.windows, where)
	}
	i, _ := slices.BinarySearchFunc(state.near, where.start, func(e extent, at int) int { return cmp.Compare(e.start, at) })
	return i < len(state.near) && state.near[i].end <= where.end
}

// matchesIn reports whether a pattern matches inside a stretch of the text: in what
// the stretch has of the windows. That is safe for the reasons given in window.go: a
// match in the stretch has its literals there, so its window holds it, and an end of
// a window is no worse a place to cut than an end of the stretch.
func (a *analysis) matchesIn(p *pattern, windows []window, where extent) bool {
	i := sort.Search(len(windows), func(i int) bool { return windows[i].end >= where.start })
	for ; i < len(windows) && windows[i].start <= where.end; i++ {
		from, to := max(windows[i].start, where.start), min(windows[i].end, where.end)
		if from > to {
			continue
		}
		if a.matches(p, a.text[from:to], from == where.start) {
			return true
		}
	}
	return false
}

// shortest sorts stretches and drops those that hold another one. Of what is left
// starts and ends both ascend.
func shortest(found []extent) []extent {
	// By start, the longer first, so that a stretch comes before what it holds.
	slices.SortFunc(found, func(x, y extent) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(y.end, x.end))
	})
	kept := found[:0]
	for _, e := range found {
		for len(kept) > 0 && kept[len(kept)-1].holds(e) {
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, e)
	}
	return kept
}

// around widens m by n code points on both sides.
func (a *analysis) around(m extent, n int) extent {
	for range n {
		_, size := utf8.DecodeLastRuneInString(a.text[:m.start])
		m.start -= size
		_, size = utf8.DecodeRuneInString(a.text[m.end:])
		m.end += size
	}
	return m
}
