package textcheck

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// cell is a character of a view and the code points of the original that it comes
// from, to exclusive. Views are made from cells by passes that each take off one
// disguise.
type cell struct {
	r        rune
	from, to int32
}

// cells gives the characters of a view.
func (v view) cells() []cell {
	out := make([]cell, 0, len(v.text))
	c := v.cursor()
	for {
		r, size, from, to := c.step()
		if size == 0 {
			return out
		}
		out = append(out, cell{r, from, to})
	}
}

func toView(cells []cell) view {
	b := builder{buf: make([]byte, 0, len(cells)), runs: []run{}}
	for _, c := range cells {
		b.rune(c.r, c.from, c.to)
	}
	return b.view()
}

func toRunes(cells []cell) []rune {
	out := make([]rune, len(cells))
	for i, c := range cells {
		out[i] = c.r
	}
	return out
}

// Each pass gives the cells that it was given where it changes nothing, so that
// a view is made only where there is something new to see.

func same(a, b []cell) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// normalise gives the NFKC form (UAX #15) of a view. A character of the result comes
// from the whole sequence that was composed. What would grow to more than a few times
// its length is left as it is from there on.
func normalise(v view, cells []cell) []cell {
	if norm.NFKC.IsNormalString(v.text) {
		return cells
	}
	out := make([]cell, 0, len(cells))
	most := 4*len(cells) + 256 // some characters become eighteen
	var seg, buf []byte
	for i := 0; i < len(cells); {
		if len(out) > most {
			return append(out, cells[i:]...)
		}
		if cells[i].r < utf8.RuneSelf && (i+1 == len(cells) || cells[i+1].r < utf8.RuneSelf) {
			out = append(out, cells[i])
			i++
			continue
		}
		// A sequence: a character and what may combine with it.
		start := i
		seg = utf8.AppendRune(seg[:0], cells[i].r)
		for i++; i < len(cells) && i-start < 32 && cells[i].r >= 0x300; i++ {
			n := len(seg)
			seg = utf8.AppendRune(seg, cells[i].r)
			if norm.NFKC.Properties(seg[n:]).BoundaryBefore() {
				seg = seg[:n]
				break
			}
		}
		if norm.NFKC.IsNormal(seg) {
			out = append(out, cells[start:i]...)
			continue
		}
		buf = norm.NFKC.Append(buf[:0], seg...)
		for rest := buf; len(rest) > 0; {
			r, size := utf8.DecodeRune(rest)
			out = append(out, cell{r, cells[start].from, cells[i-1].to})
			rest = rest[size:]
		}
	}
	return out
}

// show removes what shows nothing: invisible characters, controls, escape
// sequences. With a space in their place, what they part stays apart.
func show(cells []cell, space bool) []cell {
	runes := toRunes(cells)
	first := 0
	for first < len(cells) && hiddenLength(runes, first) == 0 {
		first++
	}
	if first == len(cells) {
		return cells
	}
	out := append(make([]cell, 0, len(cells)), cells[:first]...)
	for i := first; i < len(cells); {
		n := hiddenLength(runes, i)
		if n == 0 {
			out = append(out, cells[i])
			i++
			continue
		}
		if space {
			out = append(out, cell{' ', cells[i].from, cells[i+n-1].to})
		}
		i += n
	}
	return out
}

// hiddenLength gives how many characters from i on show nothing; 0 if the one at i
// shows. An emoji keeps its presentation selector.
func hiddenLength(runes []rune, i int) int {
	r := runes[i]
	switch {
	case r == 0x1b || r >= 0x80 && r < 0xa0:
		return ansiLength(runes[i:])
	case r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0x7f:
		return 1
	case r < 0x80:
		return 0
	case r == 0xfe0f && i > 0 && runes[i-1] >= 0x80 && props(runes[i-1])&(bitEmoji|bitPictograph) != 0:
		return 0
	}
	p := props(r)
	if isInvisible(r, p) || category(p) == catCo || isNoncharacter(r) || r == utf8.RuneError {
		return 1
	}
	return 0
}

// fold replaces look-alikes by the ASCII that they are read as: the foreign letters
// of mixed words, letters in another dress, and, where a text is Latin for the most
// part, whole words of look-alikes. Marks on ASCII letters and the tatweel, which only
// lengthens Arabic words, are taken off.
func fold(cells []cell) []cell {
	out := make([]cell, 0, len(cells))
	latin, foreign, regional, changed := 0, 0, false, false
	for _, c := range cells {
		if c.r < 0x80 {
			if isASCIILetter(byte(c.r)) {
				latin++
			}
			out = append(out, c)
			continue
		}
		p := props(c.r)
		if c.r == 0x640 || isMark(p) && len(out) > 0 && isWordASCII(out[len(out)-1].r) {
			changed = true
			continue
		}
		switch {
		case isForeign(p):
			foreign++
		case isCJK(p):
		case isRegional(c.r):
			regional = true
		default:
			b, _ := dress(c.r)
			if b == 0 && script(p) == scriptLatin && c.r != 'ı' {
				b = looksLike(c.r)
			}
			if b != 0 {
				c.r = rune(b)
				changed = true
			}
		}
		out = append(out, c)
	}
	x := inspection{runes: toRunes(out)}
	if regional {
		for i := 0; i < len(out); i++ {
			if n, spells := regionLetters(x.runes, i); n > 0 {
				for j := i; spells && j < i+n; j++ {
					out[j].r = rune(regionLetter(out[j].r))
					changed = true
				}
				i += n - 1
			}
		}
	}
	changed = bare(out) || changed
	if foreign > 0 && latin > 0 {
		changed = foldWords(&x, out, latin > foreign) || changed
	}
	if !changed {
		return cells
	}
	return out
}

// foldWords replaces the look-alikes of mixed words and, if the text is Latin for
// the most part, of words in look-alikes alone.
func foldWords(x *inspection, out []cell, mostlyLatin bool) (changed bool) {
	x.words(func(word []letter) {
		if instead := foldWord(word); instead != nil {
			for i, l := range word {
				if instead[i] != 0 {
					out[l.at].r = instead[i]
					changed = true
				}
			}
			return
		}
		if !mostlyLatin {
			return
		}
		for _, l := range word {
			if looksLike(l.r) == 0 {
				return
			}
		}
		for _, l := range word {
			out[l.at].r = rune(looksLike(l.r))
		}
		changed = true
	})
	return changed
}

// bare takes the accents off words that without them are English.
func bare(cells []cell) (changed bool) {
	var buf [maxEnglish]byte
	n, accents, start := 0, 0, 0
	for i := 0; i <= len(cells); i++ {
		var c byte
		if i < len(cells) {
			if r := cells[i].r; r < 0x80 && isASCIILetter(byte(r)) {
				c = byte(r)
			} else if c = bareLetter(r); c != 0 {
				accents++
			}
		}
		if c != 0 {
			if n < maxEnglish {
				buf[n] = c
			}
			n++
			continue
		}
		if accents > 0 && n > 3 && n <= maxEnglish && english(string(buf[:n])) {
			for j := start; j < i; j++ {
				cells[j].r = rune(buf[j-start])
			}
			changed = true
		}
		n, accents, start = 0, 0, i+1
	}
	return changed
}

// singleSpace makes each stretch of white space one space, and none at the ends.
func singleSpace(cells []cell) []cell {
	first := 0
	for first < len(cells) && (!isSpace(cells[first].r) || cells[first].r == ' ' && (first+1 == len(cells) || !isSpace(cells[first+1].r))) {
		first++
	}
	if first == len(cells) {
		return cells
	}
	out := append(make([]cell, 0, len(cells)), cells[:first]...)
	for i := first; i < len(cells); {
		if !isSpace(cells[i].r) {
			out = append(out, cells[i])
			i++
			continue
		}
		start := i
		for i < len(cells) && isSpace(cells[i].r) {
			i++
		}
		if len(out) > 0 && i < len(cells) {
			out = append(out, cell{' ', cells[start].from, cells[i-1].to})
		}
	}
	return out
}

// isSpace reports white space of any kind.
func isSpace(r rune) bool {
	if r < 0x80 {
		return r == ' ' || r >= '\t' && r <= '\r'
	}
	if r == 0x85 {
		return true
	}
	c := category(props(r))
	return c == catZs || c == catZl || c == catZp
}

// singleSpaceASCII is singleSpace for ASCII text as sent.
func singleSpaceASCII(s string) view {
	b := builder{buf: make([]byte, 0, len(s)), runs: []run{}}
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && class[s[i]]&clSpace == 0 {
			i++
		}
		if i > start {
			b.origin(int32(len(b.buf)), 1, int32(start), int32(start)+1)
			b.runs[len(b.runs)-1].to = int32(i)
			b.buf = append(b.buf, s[start:i]...)
		}
		start = i
		for i < len(s) && class[s[i]]&clSpace != 0 {
			i++
		}
		if i > start && start > 0 && i < len(s) {
			b.rune(' ', int32(start), int32(i))
		}
	}
	return b.view()
}
