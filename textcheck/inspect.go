package textcheck

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
)

// Options say what a text is. The zero Options are right for prose.
type Options struct {
	// Name: the text is the name of a tool or a parameter. A name that as a whole
	// looks like ASCII is then found even if it is written in one script.
	Name bool
	// Data: the text is data (an icon, an id, a hash), in which base64 is expected
	// and not looked for.
	Data bool
}

// Inspection is what Inspect found in a text.
type Inspection struct {
	// Hits are in order of their start; hits of different kinds may overlap.
	Hits []Hit
	// TagPayload is the ASCII text that the tag characters spell, "" without any.
	TagPayload string
	// Payload is what variation selectors, invisible operators or zero-width
	// characters spell, "" where they spell nothing readable.
	Payload string
	// Sanitized is what Sanitize gives for the text; in a name, look-alikes are then
	// replaced even where all its letters are of one script.
	Sanitized string
}

// Hit is one place of a text that hides something or looks like something else.
type Hit struct {
	Kind Kind
	// Start and End are code points of the text, End exclusive.
	Start, End int
	// Line and Column, from 1, are those of Start; a column is a code point. Lines
	// end at LF, CR or CRLF.
	Line, Column int
	// Name is the number and Unicode name of the first character that was found.
	Name string
	// Decoded is what the place says: the payload, the word with its look-alikes
	// replaced, the body of a comment. "" where it says nothing. It is hostile text.
	Decoded string
}

// MaxHits is the most hits that one inspection gives. Further places are still
// decoded and sanitized.
const MaxHits = 1000

// Hidden reports whether a hit counts for finding W021.
func (in *Inspection) Hidden() bool {
	return slices.ContainsFunc(in.Hits, func(h Hit) bool { return h.Kind.Hidden() })
}

// Inspect finds what is hidden or deceptive in a text in WTF-8. It takes time and
// memory in proportion to the text and gives at most MaxHits hits; characters come
// before comments, padding and base64 where there are more.
func Inspect(s string, opts Options) Inspection { return inspected(s, opts, glance(s)) }

func inspected(s string, opts Options, f feature) Inspection {
	var in Inspection
	x := inspect(s, opts, f)
	if x == nil {
		in.Sanitized = s
		return in
	}
	in.Hits = x.finish()
	in.TagPayload = decodeTags(x.tags.runes)
	in.Payload = x.payload()
	in.Sanitized = s
	switch {
	case len(x.edits) == 0:
	case opts.Name:
		in.Sanitized = Sanitize(x.apply())
	default:
		in.Sanitized = Sanitize(s)
	}
	return in
}

// edit replaces the code points start–end by text.
type edit struct {
	start, end int
	text       string
}

// inspection is one run over a text.
type inspection struct {
	opts  Options
	runes []rune
	hits  []Hit
	edits []edit

	tags      carrier // tag characters that are no flag
	selectors carrier // variation selectors that vary nothing
	bits      carrier // zero-width characters without need
	bidi      []bool  // bidi controls that may stand, by index; nil before the first
}

// carrier is characters of one kind over a whole text, which may spell something.
type carrier struct {
	runes      []rune
	start, end int // from the first to the last, end exclusive
}

func (c *carrier) add(span []rune, start int) {
	if len(c.runes) == 0 {
		c.start = start
	}
	c.runes = append(c.runes, span...)
	c.end = start + len(span)
}

// inspect gives nil for a text in which a glance shows that nothing can be found.
func inspect(s string, opts Options, f feature) *inspection {
	f &= hasControl | hasNonASCII | hasComment | hasBase64 | hasPadding | hasMarkup
	if f == 0 || f == hasBase64 && (opts.Data || len(base64Runs(s)) == 0) {
		return nil
	}
	x := &inspection{opts: opts, runes: decodeRunes(s)}
	if f&(hasControl|hasNonASCII) != 0 {
		x.characters()
	}
	if f&hasNonASCII != 0 {
		x.lookalikes()
	}
	x.comments()
	x.markup()
	if f&(hasPadding|hasControl) != 0 {
		x.padding()
	}
	if !opts.Data && f&hasBase64 != 0 {
		x.base64(s)
	}
	return x
}

// decodeRunes gives the code points of WTF-8 text; a wrong byte is U+FFFD.
func decodeRunes(s string) []rune {
	out := make([]rune, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			out = append(out, rune(s[i]))
			i++
			continue
		}
		r, size := toolmark.DecodeRune(s[i:])
		out = append(out, r)
		i += size
	}
	return out
}

// hit records a place. The first character of the kind is at index at.
func (x *inspection) hit(kind Kind, start, end, at int, decoded string) {
	if len(x.hits) < MaxHits {
		x.hits = append(x.hits, Hit{Kind: kind, Start: start, End: end, Name: runeName(x.runes[at]), Decoded: decoded})
	}
}

func (x *inspection) edit(start, end int, text string) {
	x.edits = append(x.edits, edit{start, end, text})
}

// finish puts the hits in order and gives each its line and column.
func (x *inspection) finish() []Hit {
	slices.SortStableFunc(x.hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	line, column, at := 1, 1, 0
	for i := range x.hits {
		h := &x.hits[i]
		for ; at < h.Start; at++ {
			column++
			switch x.runes[at] {
			case '\r':
				if at+1 < len(x.runes) && x.runes[at+1] == '\n' {
					continue
				}
				line, column = line+1, 1
			case '\n':
				line, column = line+1, 1
			}
		}
		h.Line, h.Column = line, column
	}
	return x.hits
}

// characters judges each character where it stands and joins neighbours of one
// kind to one hit.
func (x *inspection) characters() {
	for i := 0; i < len(x.runes); {
		kind, n := x.judge(i)
		if kind == "" {
			i += n
			continue
		}
		start := i
		for i += n; i < len(x.runes); i += n {
			var next Kind
			if next, n = x.judge(i); next != kind {
				break
			}
		}
		x.found(kind, start, i)
	}
}

// judge gives the kind of what stands at i, "" if it is right there, and over how
// many code points.
func (x *inspection) judge(i int) (Kind, int) {
	r := x.runes[i]
	if r < 0x80 {
		switch {
		case r == 0x1b:
			return KindANSI, ansiLength(x.runes[i:])
		case r == '\t' || r == '\n' || r >= 0x20 && r != 0x7f:
			return "", 1
		case r == '\r' && x.lineEnd(i):
			return "", 1
		}
		return KindControl, 1
	}
	if r < 0xa0 {
		if n := ansiLength(x.runes[i:]); n > 1 {
			return KindANSI, n
		}
		return KindControl, 1
	}
	p := props(r)
	switch {
	case toolmark.IsSurrogate(r):
		return KindLoneSurrogate, 1
	case r == 0x2028 || r == 0x2029:
		return KindLineSeparator, 1
	case category(p) == catCo || isNoncharacter(r):
		return KindPrivateUse, 1
	case !isInvisible(r, p):
		return "", 1
	}
	return x.judgeInvisible(i, r)
}

// lineEnd reports whether the CR at i ends a line: before LF, at the end, or beside
// another line end. A CR before anything else lets a terminal write the rest of the
// line over its beginning.
func (x *inspection) lineEnd(i int) bool {
	next := x.at(i + 1)
	return next < 0 || next == '\n' || next == '\r' || x.at(i-1) == '\n'
}

// found records a stretch of characters of one kind and what to put in its place.
func (x *inspection) found(kind Kind, start, end int) {
	span := x.runes[start:end]
	decoded, instead := "", ""
	switch kind {
	case KindTag:
		x.tags.add(span, start)
		decoded = decodeTags(span)
	case KindVariation:
		x.selectors.add(span, start)
		decoded = decodeSelectors(span)
	case KindZeroWidth:
		x.bits.add(span, start)
		decoded = decodeBits(span)
	case KindFiller:
		instead = " "
	case KindLineSeparator:
		instead = "\n"
	case KindLoneSurrogate, KindPrivateUse:
		instead = strings.Repeat("\ufffd", len(span))
	case KindControl:
		if slices.ContainsFunc(span, func(r rune) bool { return r == '\r' || r == '\v' || r == '\f' || r == 0x85 }) {
			instead = "\n"
		}
	}
	x.hit(kind, start, end, start, decoded)
	x.edit(start, end, instead)
}
