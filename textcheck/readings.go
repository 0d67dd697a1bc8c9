package textcheck

import (
	"strings"
)

// Names of readings that others ask for; ReadingNames has all.
const (
	Raw    = "raw"         // the text as sent
	Folded = "folded"      // white space, invisible characters and look-alikes undone
	Tag    = "decoded:tag" // what tag characters spell
	// DecodedPrefix begins the name of each reading that was decoded; the name of the
	// encoding follows.
	DecodedPrefix = "decoded:"
)

const (
	readingSpace     = "space"                      // white space made single spaces
	readingNFKC      = "nfkc"                       // compatibility characters replaced (UAX #15)
	readingVisible   = "visible"                    // what shows nothing removed
	readingWords     = "words"                      // names and joined words parted by spaces
	readingSpaced    = "spaced"                     // letters that stand one by one closed up
	readingLeet      = "leet"                       // digits that stand for letters replaced
	readingComment   = "comment"                    // the body of an HTML comment
	readingVariation = "decoded:variation-selector" // what variation selectors spell
	readingBits      = "decoded:bits"               // what zero-width characters spell
	readingEntities  = "decoded:entities"           // character references of HTML replaced
	readingEscapes   = "decoded:escapes"            // \u and \x escapes replaced
	readingPercent   = "decoded:percent"            // percent-encoding replaced
	readingBase64    = "decoded:base64"             // what a base64 run decodes to
	readingHex       = "decoded:hex"                // what a hex run decodes to
	readingRot13     = "decoded:rot13"              // letters turned by 13 places
)

// ReadingNames lists the names that a reading can have.
func ReadingNames() []string {
	return []string{
		Raw, readingSpace, readingNFKC, readingVisible, Folded, readingWords, readingSpaced,
		readingLeet, readingComment, Tag, readingVariation, readingBits, readingEntities,
		readingEscapes, readingPercent, readingBase64, readingHex, readingRot13,
	}
}

// Encoded reports the name of a reading that is not the text in another form but
// what an encoding in it, or characters that do not show, decode to.
func Encoded(reading string) bool { return strings.HasPrefix(reading, DecodedPrefix) }

const (
	// MaxReadings is the most readings that one text gives.
	MaxReadings = 40
	// maxDepth is how deep encodings are undone inside each other.
	maxDepth = 3
	// maxRuns is the most runs of one encoding in one view that become readings of
	// their own; the further ones are joined to one.
	maxRuns = 8
)

// Readings gives the views of a text in WTF-8 that a rule should read: first the
// text as sent, named raw, then each view that differs from those before it. Plain
// text has no other view than raw, or raw and space. All views together are at most
// seven times as long as the text and 4 KiB, and there are at most MaxReadings.
func Readings(s string) []Reading { return readings(s, glance(s)) }

// Examine gives what Inspect and Readings give, at less than the cost of both.
func Examine(s string, opts Options) (Inspection, []Reading) {
	f := glance(s)
	return inspected(s, opts, f), readings(s, f)
}

func readings(s string, f feature) []Reading {
	if namesRot13(s) {
		f |= hasRot13
	}
	raw := Reading{Name: Raw, Text: s}
	if f&hasNonASCII != 0 {
		v := rawView(s)
		raw.Text, raw.runs = v.text, v.runs
	}
	out := []Reading{raw}
	const plainText = hasComment | hasMarkup | hasBlank | hasPadding | hasJoint
	rest := f &^ plainText
	if rest == 0 && (f&hasJoint == 0 || f&hasBlank != 0) && f&hasComment == 0 {
		return out
	}
	p := pass{readings: out, budget: 6*len(s) + 1<<12}
	p.view(view{raw.Text, raw.runs}, f)
	return p.readings
}

// pass collects the readings of one text.
type pass struct {
	readings []Reading
	budget   int // bytes that further readings may take
}

// add records a reading unless it says nothing new or there are enough.
func (p *pass) add(name string, v view) bool {
	if v.text == "" || len(p.readings) >= MaxReadings || len(v.text) > p.budget {
		return false
	}
	for i := range p.readings {
		if p.readings[i].Text == v.text {
			return false
		}
	}
	if name == readingSpace && strings.TrimSpace(p.readings[0].Text) == v.text {
		return false
	}
	p.budget -= len(v.text)
	p.readings = append(p.readings, Reading{name, v.text, v.runs})
	return true
}

// addCells records a reading made from cells that differ from those before.
func (p *pass) addCells(name string, cells, before []cell) {
	if !same(cells, before) {
		p.add(name, toView(cells))
	}
}

// view adds the readings of the text as sent, which is itself recorded.
func (p *pass) view(v view, f feature) {
	if f&hasComment != 0 {
		p.comments(v)
	}
	if f&(hasNonASCII|hasControl) == 0 {
		p.ascii(v, f)
		p.decode(v, f, 1)
		return
	}
	cells := v.cells()
	single := singleSpace(cells)
	p.addCells(readingSpace, single, cells)
	nfkc := normalise(v, cells)
	p.addCells(readingNFKC, nfkc, cells)
	seen := show(nfkc, false)
	shown := v
	if !same(seen, cells) {
		shown = toView(seen)
		p.add(readingVisible, shown)
		f = glance(shown.text)
		if f&hasComment != 0 {
			p.comments(shown)
		}
	}
	if !same(seen, nfkc) {
		p.payloads(cells, 1)
	}
	folded := fold(seen)
	g := f
	if !same(folded, seen) {
		p.add(Folded, toView(singleSpace(folded)))
		g = glance(toView(folded).text)
	} else if !same(seen, nfkc) || !same(nfkc, cells) {
		p.add(Folded, toView(singleSpace(folded)))
	}
	if !same(seen, nfkc) || joined(g) || symbolJoined(cells) {
		p.add(readingWords, toView(singleSpace(splitWords(fold(show(nfkc, true))))))
	}
	p.spaced(folded, readingSpaced)
	if g&hasLeet != 0 {
		p.leet(folded, readingLeet)
	}
	p.decode(shown, f, 1)
}

// ascii adds the readings of ASCII text.
func (p *pass) ascii(v view, f feature) {
	if f&(hasSpace|hasSpaced|hasLeet) == 0 && !joined(f) {
		return
	}
	if f&hasSpace != 0 {
		p.add(readingSpace, singleSpaceASCII(v.text))
		if f&(hasSpaced|hasLeet) == 0 && !joined(f) {
			return
		}
	}
	cells := v.cells()
	if joined(f) {
		p.add(readingWords, toView(singleSpace(splitWords(cells))))
	}
	if f&hasSpaced != 0 {
		p.spaced(cells, readingSpaced)
	}
	if f&hasLeet != 0 {
		p.leet(cells, readingLeet)
	}
}

// joined reports text of which words are joined to names of four and more, or that
// is one name.
func joined(f feature) bool { return f&hasJoined != 0 || f&(hasJoint|hasBlank) == hasJoint }

// decoded adds what a decoded view says with every disguise off. It keeps the name
// of what it was decoded from.
func (p *pass) decoded(v view, f feature, name string, depth int) {
	shown := v
	if f&(hasNonASCII|hasControl|hasSpaced|hasLeet) != 0 {
		cells := v.cells()
		p.payloads(cells, depth+1)
		seen := show(normalise(v, cells), false)
		if !same(seen, cells) {
			shown = toView(seen)
		}
		folded := fold(seen)
		p.addCells(name, singleSpace(folded), cells)
		p.spaced(folded, name)
		p.leet(folded, name)
		f = glance(shown.text)
	}
	if depth < maxDepth {
		p.decode(shown, f, depth+1)
	}
}

// symbolJoined reports letters joined by an emoji or another symbol.
func symbolJoined(cells []cell) bool {
	for i, c := range cells {
		if c.r < 0x80 || i == 0 || !isTextLetter(cells[i-1].r) {
			continue
		}
		switch category(props(c.r)) {
		case catSo, catSm, catSk, catSc, catPo, catPd:
			for j := i + 1; j < len(cells) && j < i+4; j++ {
				if isTextLetter(cells[j].r) {
					return true
				}
				if isSpace(cells[j].r) {
					break
				}
			}
		}
	}
	return false
}

func (p *pass) spaced(cells []cell, name string) {
	if out, ok := closeUp(cells); ok {
		p.add(name, toView(singleSpace(out)))
		if again, ok := unleet(out); ok {
			p.add(name, toView(singleSpace(again)))
		}
	}
}

func (p *pass) leet(cells []cell, name string) {
	if out, ok := unleet(cells); ok {
		p.add(name, toView(singleSpace(out)))
	}
}

// further adds a decoded view and its own readings.
func (p *pass) further(name string, v view, depth int) {
	if p.add(name, v) {
		p.decoded(v, glance(v.text), name, depth)
	}
}

// comments adds the bodies of HTML comments.
func (p *pass) comments(v view) {
	for at, n := 0, 0; n < maxRuns; n++ {
		i := strings.Index(v.text[at:], "<!--")
		if i < 0 {
			return
		}
		start := at + i + 4
		end := len(v.text)
		at = end
		if j := strings.Index(v.text[start:], "-->"); j >= 0 {
			end = start + j
			at = end + 3
		}
		body := v.slice(start, end)
		p.add(readingComment, toView(singleSpace(body.cells())))
	}
}

// slice gives a part of a view.
func (v view) slice(start, end int) view {
	c := v.cursor()
	var b builder
	for {
		off := c.off
		r, size, from, to := c.step()
		if size == 0 || off >= end {
			return b.view()
		}
		if off >= start {
			b.rune(r, from, to)
		}
	}
}

// payloads adds what invisible characters spell.
func (p *pass) payloads(cells []cell, depth int) {
	if depth > maxDepth {
		return
	}
	x := inspection{runes: toRunes(cells)}
	x.characters()
	for _, set := range []struct {
		name string
		text string
		of   *carrier
	}{
		{Tag, decodeTags(x.tags.runes), &x.tags},
		{readingVariation, decodeSelectors(x.selectors.runes), &x.selectors},
		{readingBits, decodeBits(x.bits.runes), &x.bits},
	} {
		if set.text == "" {
			continue
		}
		from, to := cells[set.of.start].from, cells[set.of.end-1].to
		var b builder
		b.string(strings.ToValidUTF8(set.text, "\ufffd"), from, to)
		p.further(set.name, b.view(), depth)
	}
}

// decode adds what the encodings in a view decode to.
func (p *pass) decode(v view, f feature, depth int) {
	if f&hasEntity != 0 {
		p.inPlace(readingEntities, v, entityRuns(v.text), depth)
	}
	if f&hasEscape != 0 {
		p.inPlace(readingEscapes, v, escapeRuns(v.text), depth)
	}
	if f&hasPercent != 0 {
		p.inPlace(readingPercent, v, percentRuns(v.text), depth)
	}
	if f&hasBase64 != 0 {
		p.alone(readingBase64, v, base64Runs(v.text), depth)
	}
	if f&hasHex != 0 {
		p.alone(readingHex, v, hexRuns(v.text), depth)
	}
	if f&hasRot13 != 0 {
		if namesRot13(v.text) {
			p.further(readingRot13, view{rot13(v.text), v.runs}, depth)
		}
		for _, d := range rot13Runs(v.text) {
			part := v.slice(d.start, d.end)
			p.further(readingRot13, view{d.text, part.runs}, depth)
		}
	}
}

// inPlace adds the view with each run replaced by what it decodes to.
func (p *pass) inPlace(name string, v view, runs []decodedRun, depth int) {
	if len(runs) == 0 {
		return
	}
	c := v.cursor()
	b := builder{buf: make([]byte, 0, len(v.text)), runs: []run{}}
	n := 0
	for {
		off := c.off
		r, size, from, to := c.step()
		if size == 0 {
			break
		}
		if n < len(runs) && off == runs[n].start {
			for c.off < runs[n].end {
				_, _, _, to = c.step()
			}
			b.string(strings.ToValidUTF8(runs[n].text, "\ufffd"), from, to)
			n++
			continue
		}
		b.rune(r, from, to)
	}
	p.further(name, b.view(), depth)
}

// alone adds what each run decodes to.
func (p *pass) alone(name string, v view, runs []decodedRun, depth int) {
	r := Reading{Text: v.text, runs: v.runs}
	if len(runs) > maxRuns {
		var b builder
		for i, d := range runs {
			from, to := r.Origin(d.start, d.end)
			if i > 0 {
				b.rune('\n', int32(from), int32(from))
			}
			b.string(d.text, int32(from), int32(to))
		}
		p.further(name, b.view(), depth)
		return
	}
	for _, d := range runs {
		from, to := r.Origin(d.start, d.end)
		var b builder
		b.string(d.text, int32(from), int32(to))
		p.further(name, b.view(), depth)
	}
}
