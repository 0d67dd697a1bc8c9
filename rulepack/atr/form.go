package atr

import (
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
}

func (f *form) length() int { return len(f.lower) }

func (f *form) set(s string, codePoints bool) {
	f.lower = f.lower[:0]
	f.folded, f.codePoints, f.wide, f.loaded = f.folded[:0], codePoints, false, false
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			ascii = false
			break
		}
		f.lower = append(f.lower, asciiLower(s[i]))
		f.folded = append(f.folded, asciiFold[s[i]])
	}
	f.values, f.spelt = f.values[:0], f.spelt[:0]
	if !ascii {
		f.folded, f.lower = f.folded[:0], f.lower[:0]
		add := func(r rune) {
			f.values = append(f.values, r)
			f.folded = append(f.folded, foldByte(r))
			if r < 0x80 {
				f.lower = append(f.lower, asciiLower(byte(r)))
			} else {
				f.lower = append(f.lower, 0x80)
			}
		}
		for i := 0; i < len(s); {
			r, size := toolmark.DecodeRune(s[i:])
			i += size
			if r > 0xffff {
				f.wide = true
				if !codePoints {
					add(0xd800 + (r-0x10000)>>10)
					add(0xdc00 + (r-0x10000)&0x3ff)
					continue
				}
			}
			add(r)
		}
	}
	f.folded = append(f.folded, 0, 0, 0, 0)
	f.has, f.first = mask{}, mask{}
	for i, c := range f.lower {
		if c >= 0x80 {
			f.has.other = true
		} else {
			f.has.ascii[c>>6] |= 1 << (c & 63)
		}
		if i == 0 {
			f.first = f.has
		}
	}
}

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
