package rule

import (
	"slices"
	"strings"

	"github.com/toolmark/toolmark/textcheck"
)

// joined is the texts of a tool as one text.
type joined struct {
	text   string
	joins  []join
	pieces []piece
}

// piece is the part of the joined text that comes from one field.
type piece struct {
	extent
	field   int
	reading *textcheck.Reading
}

// joinFields joins the texts as sent of the fields whose surfaces are in mask.
func joinFields(fields []Field, mask surfaceMask) joined {
	var j joined
	var b strings.Builder
	for i := range fields {
		f := &fields[i]
		if len(f.Readings) == 0 || f.Readings[0].Text == "" || !mask.has(surfaceBit(f.Surface)) {
			continue
		}
		if b.Len() > 0 {
			j.joins = append(j.joins, join{b.Len(), b.Len() + len(fieldGap)})
			b.WriteString(fieldGap)
		}
		from := b.Len()
		b.WriteString(f.Readings[0].Text)
		j.pieces = append(j.pieces, piece{extent{from, b.Len()}, i, &f.Readings[0]})
	}
	j.text = b.String()
	return j
}

// Most tools need no join. Slow, and right by definition: read the joined texts and
// look at all alternatives with span tool. Fast: first look whether the fields
// together hold what one of these needs (alternative.mayMatch), and if not, do not join.
// That is safe because the joined texts hold nothing else. Where two fields meet there
// is white space, so a word or a text without white space in it that stands in the
// join stands in a field, with no other letters beside it than there; white space
// joins with no character to another in NFC. A phrase that begins in one field and
// ends in a later one was cut off by an end of the field in which its key stands
// (analysis.cut). Of texts
// that hold white space it is not asked: they count as there.

// beginUnions makes the unions those of no field.
func (m *matcher) beginUnions() {
	for _, union := range m.unions {
		copy(union, m.set.spaced)
	}
}

// unite adds the sets of the current text, a field of that surface as sent, to the
// unions of the masks that it is in.
func (m *matcher) unite(surface surfaceMask) {
	for i, mask := range m.set.toolMasks {
		if !mask.has(surface) {
			continue
		}
		union := m.unions[i]
		for _, w := range m.text.filled {
			union[w] |= m.text.present[w]
		}
		for _, atom := range m.text.cut {
			for _, set := range m.set.index.atoms[atom].sets {
				union.add(int(set))
			}
		}
	}
}

// tool matches the alternatives with span tool in the joined texts; false where it
// was stopped.
func (m *matcher) tool(fields []Field) bool {
	if len(fields) < 2 {
		return true
	}
	for i, mask := range m.set.toolMasks {
		if m.stop() {
			return false
		}
		want := func(alt *alternative) bool {
			return alt.span == SpanTool && alt.rule.surfaces == mask && m.strong[alt.rule.index] == 0 && alt.rule.reads(textcheck.Raw)
		}
		if !m.text.exhaustive {
			m.alternatives = m.set.mayMatch(&m.set.tool, m.unions[i], m.everyWord, nil, m.alternatives[:0])
			if !slices.ContainsFunc(m.alternatives, want) {
				continue
			}
		}
		j := joinFields(fields, mask)
		if len(j.pieces) < 2 {
			continue
		}
		m.text.read(j.text, j.joins)
		complete := m.candidates(want, SpanField)
		m.eachBest(func(rule int, o *outcome) {
			places := j.places(m.text, o)
			if len(places) < 2 {
				return // inside one field, where it was found or excused already
			}
			from, to := m.text.reading(o.start), m.text.readingEnd(o.end)
			m.add(rule, m.made(o, j.pieces[0].reading.Name, excerpt(j.text, from, to), places), o.weak)
		})
		if !complete {
			return false
		}
	}
	return true
}

// places maps what was found back to the fields: for each field that holds a part
// of it, the stretch from the first part to the last.
func (j *joined) places(a *analysis, o *outcome) []Place {
	parts := o.parts
	if parts == nil {
		parts = []extent{o.extent}
	}
	var places []Place
	for i := range j.pieces {
		p := &j.pieces[i]
		var in extent
		for _, part := range parts {
			from, to := max(a.reading(part.start), p.start), min(a.readingEnd(part.end), p.end)
			switch {
			case from >= to:
			case in == extent{}:
				in = extent{from, to}
			default:
				in = extent{min(in.start, from), max(in.end, to)}
			}
		}
		if in.start < in.end {
			start, end := p.reading.Origin(in.start-p.start, in.end-p.start)
			places = append(places, Place{p.field, start, end})
		}
	}
	return places
}
