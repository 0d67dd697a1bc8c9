package rule

// outcome is what an alternative found in a text.
type outcome struct {
	match
	alternative *alternative
	weak        bool // taken down by a downgrade
}

// better reports whether o is to be reported in place of p: a match that nothing
// weakens first, then the earliest, then the shortest.
func (o *outcome) better(p *outcome) bool {
	switch {
	case p.alternative == nil:
		return true
	case o.weak != p.weak:
		return p.weak
	case o.start != p.start:
		return o.start < p.start
	}
	return o.end < p.end
}

// evaluate gives the best match of an alternative in the text. The span is the one
// to use in place of the alternative's own: a tool's joined text is one field.
func (a *analysis) evaluate(alt *alternative, span Span) (best outcome) {
	if span == SpanTool {
		span = SpanField
	}
	a.eachMatch(alt, span, nil, func(m match) bool {
		a.any = true
		if a.excused(alt.unless, m) || a.excused(alt.rule.unless, m) {
			return true
		}
		o := outcome{match: m, alternative: alt}
		o.weak = a.excused(alt.downgrade, m) || a.excused(alt.rule.downgrade, m)
		if o.better(&best) {
			best = o
		}
		return o.weak // go on to look for one that is not
	})
	return best
}

// eachMatch calls yield for the places where an alternative's conditions hold. Units
// that are not wanted may be passed over, see eachRegexp.
func (a *analysis) eachMatch(alt *alternative, span Span, wanted func(unit int) bool, yield func(match) bool) {
	if len(alt.conditions) == 1 {
		a.eachOf(alt.conditions[0], span, wanted, yield)
		return
	}
	a.eachJoint(alt, span, yield)
}

func (a *analysis) eachOf(c *condition, span Span, wanted func(unit int) bool, yield func(match) bool) {
	if c.near != nil {
		a.eachNear(c.near, span, yield)
		return
	}
	a.eachRegexp(c.regex, span, wanted, yield)
}

// eachJoint gives the stretches in which all conditions of an alternative hold, one
// for each unit of the span: the first match of each condition, from the earliest
// start to the last end.
func (a *analysis) eachJoint(alt *alternative, span Span, yield func(match) bool) {
	first := make([]map[int]match, len(alt.conditions))
	find := func(i int, wanted func(unit int) bool) bool {
		first[i] = map[int]match{}
		keep := func(m match) bool {
			from, to := a.units(m.extent, span)
			for u := from; u <= to; u++ {
				if _, ok := first[i][u]; !ok {
					first[i][u] = m
				}
			}
			return true
		}
		if c := alt.conditions[i]; c.near != nil {
			a.eachNear(c.near, span, keep)
		} else {
			a.eachRegexp(c.regex, span, wanted, keep)
		}
		return len(first[i]) > 0
	}
	// Words are found cheaply; patterns are then asked only where these stand.
	for i, c := range alt.conditions {
		if c.near != nil && !find(i, nil) {
			return
		}
	}
	for i, c := range alt.conditions {
		if c.near == nil && !find(i, func(unit int) bool {
			for j, matches := range first {
				_, ok := matches[unit]
				switch {
				case j == i && ok && span != SpanPair: // what stands in a pair may be of the next one, too
					return false
				case j != i && !ok && matches != nil:
					return false
				}
			}
			return true
		}) {
			return
		}
	}
	for u := range max(len(a.sentenceList()), 1) {
		joint, ok := first[0][u]
		parts := appendParts(nil, joint)
		for _, matches := range first[1:] {
			m, has := matches[u]
			ok = ok && has
			joint.start, joint.end = min(joint.start, m.start), max(joint.end, m.end)
			parts = appendParts(parts, m)
		}
		joint.parts = parts
		if ok && !yield(joint) {
			return
		}
	}
}

func appendParts(parts []extent, m match) []extent {
	if m.parts == nil {
		return append(parts, m.extent)
	}
	return append(parts, m.parts...)
}

// units gives the numbers of the units of a span that hold m: sentences, pairs
// (numbered by their first sentence), or the one unit of a whole text.
func (a *analysis) units(m extent, span Span) (from, to int) {
	switch span {
	case SpanSentence:
		n := a.sentenceAt(m.start)
		return n, n
	case SpanPair:
		first, last := a.sentenceAt(m.start), a.sentenceAt(max(m.start, m.end-1))
		return max(last-1, 0), first
	}
	return 0, 0
}
