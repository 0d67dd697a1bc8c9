package atr

import (
	"slices"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
)

// longestPlainWord is the most bytes of a text that is not read alone.
const longestPlainWord = 24

func plainWord(text string) bool {
	if len(text) > longestPlainWord {
		return false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if lower := asciiLower(c); (lower < 'a' || lower > 'z') && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

// form is a text in the shape in which patterns see it.
type form struct {
	has, first mask   // what characters it has, and begins with
	folded     []byte // for the index, with padding
	lower      []byte // ASCII letters in lower case; anything above ASCII is 0x80
	values     []rune // empty: all ASCII
	spelt      []rune // see runes
	codePoints bool   // else UTF-16 units
	wide       bool   // it has characters above U+FFFF
	normal     bool   // normalised
	changed    bool   // and that is not the text itself
	loaded     bool
	counted    bool // what follows is
	spaces     int  // longest row of white space
	words      int  // longest row of word characters
}

func (f *form) length() int { return len(f.lower) }

func (f *form) set(s string, codePoints bool) {
	f.clear(codePoints)
	if !f.ascii(s) {
		f.clear(codePoints)
		f.decoded(s)
	}
	f.finish()
}

func (f *form) clear(codePoints bool) {
	f.lower, f.folded, f.values, f.spelt = f.lower[:0], f.folded[:0], f.values[:0], f.spelt[:0]
	f.codePoints, f.wide, f.loaded, f.counted = codePoints, false, false, false
	f.has, f.first = mask{}, mask{}
}

// ascii appends a text, as far as it is ASCII, and reports whether all of it is.
func (f *form) ascii(s string) bool {
	start := len(f.lower)
	f.lower = slices.Grow(f.lower, len(s)+padding)[:start+len(s)]
	f.folded = slices.Grow(f.folded, len(s)+padding)[:start+len(s)]
	lower, folded := f.lower[start:], f.folded[start:]
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x80 {
			return false
		}
		l := asciiLowered[c&127]
		lower[i], folded[i] = l, asciiFold[c&127]
		f.has.ascii[l>>6&1] |= 1 << (l & 63)
	}
	return true
}

// decoded appends a text that is not all ASCII.
func (f *form) decoded(s string) {
	add := func(r rune) {
		f.values = append(f.values, r)
		f.folded = append(f.folded, foldByte(r))
		if r < 0x80 {
			l := asciiLower(byte(r))
			f.lower = append(f.lower, l)
			f.has.ascii[l>>6&1] |= 1 << (l & 63)
			return
		}
		f.lower = append(f.lower, 0x80)
		f.has.other = true
	}
	for i := 0; i < len(s); {
		if c := s[i]; c < 0x80 {
			add(rune(c))
			i++
			continue
		}
		r, size := toolmark.DecodeRune(s[i:])
		i += size
		if r > 0xffff {
			f.wide = true
			if !f.codePoints {
				add(0xd800 + (r-0x10000)>>10)
				add(0xdc00 + (r-0x10000)&0x3ff)
				continue
			}
		}
		add(r)
	}
}

// finish adds the padding, and what is known of the first character.
func (f *form) finish() {
	f.folded = append(f.folded, 0, 0, 0, 0)
	switch {
	case len(f.lower) == 0:
	case f.lower[0] >= 0x80:
		f.first.other = true
	default:
		f.first.ascii[f.lower[0]>>6] = 1 << (f.lower[0] & 63)
	}
}

var asciiLowered = func() (table [utf8.RuneSelf]byte) {
	for i := range table {
		table[i] = asciiLower(byte(i))
	}
	return table
}()

// rows gives the lengths of the longest rows of white space and of word characters.
func (f *form) rows() (spaces, words int) {
	if f.counted {
		return f.spaces, f.words
	}
	f.counted, f.spaces, f.words = true, 0, 0
	for i, c := range f.lower {
		space, word := false, false
		if c < 0x80 {
			space, word = asciiKinds[c]&1 != 0, asciiKinds[c]&2 != 0
		} else {
			space, word = isSpace(f.values[i]), isWord(f.values[i])
		}
		if !space {
			spaces = 0
		} else if spaces++; spaces > f.spaces {
			f.spaces = spaces
		}
		if !word {
			words = 0
		} else if words++; words > f.words {
			f.words = words
		}
	}
	return f.spaces, f.words
}

// asciiKinds has bit 0 for white space, bit 1 for word characters.
var asciiKinds = func() (table [utf8.RuneSelf]byte) {
	for i := range table {
		if isSpace(rune(i)) {
			table[i] |= 1
		}
		if isWord(rune(i)) {
			table[i] |= 2
		}
	}
	return table
}()

// runes gives the characters; ASCII letters perhaps in lower case.
func (f *form) runes() []rune {
	if len(f.values) > 0 {
		return f.values
	}
	if len(f.spelt) != len(f.lower) {
		f.spelt = f.spelt[:0]
		for _, c := range f.lower {
			f.spelt = append(f.spelt, rune(c))
		}
	}
	return f.spelt
}

// codePointsBefore counts the code points of UTF-16 units before a position.
func codePointsBefore(values []rune, at int) int {
	n := 0
	for i := 0; i < at; i++ {
		if values[i] >= 0xdc00 && values[i] <= 0xdfff && i > 0 && values[i-1] >= 0xd800 && values[i-1] <= 0xdbff {
			continue
		}
		n++
	}
	return n
}
