package atr

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// set is a list of ranges of characters: first, last, first, last, …
type set []rune

// What ECMA-262 calls line terminators, white space (\s) and word characters (\w).
var (
	lineEnds   = []rune{'\n', '\n', '\r', '\r', 0x2028, 0x2029}
	whiteSpace = []rune{
		'\t', '\r', ' ', ' ', 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029,
		0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
	}
	wordRanges = []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
)

func newSet(ranges ...rune) set { return slices.Clone(ranges) }

// sorted gives the same characters as ranges in order that do not touch.
func (s set) sorted() set {
	type span struct{ lo, hi rune }
	list := make([]span, 0, len(s)/2)
	for i := 0; i < len(s); i += 2 {
		list = append(list, span{s[i], s[i+1]})
	}
	slices.SortFunc(list, func(a, b span) int { return int(a.lo - b.lo) })
	out := make(set, 0, len(s))
	for _, r := range list {
		if n := len(out); n > 0 && r.lo <= out[n-1]+1 {
			out[n-1] = max(out[n-1], r.hi)
			continue
		}
		out = append(out, r.lo, r.hi)
	}
	return out
}

// last is the greatest character: a code unit, or a code point with the u flag.
func last(unicodeMode bool) rune {
	if unicodeMode {
		return unicode.MaxRune
	}
	return 0xffff
}

func (s set) complement(unicodeMode bool) set {
	var out set
	next := rune(0)
	for s = s.sorted(); len(s) > 0; s = s[2:] {
		if s[0] > next {
			out = append(out, next, s[0]-1)
		}
		next = s[1] + 1
	}
	if next <= last(unicodeMode) {
		out = append(out, next, last(unicodeMode))
	}
	return out
}

// cased are stretches outside of which no character has a case variant, as far as
// the Unicode tables of this Go version know (a test holds them against those).
var cased = []rune{
	'A', 'z', 0xb5, 0x587, 0x10a0, 0x10ff, 0x13a0, 0x13fd, 0x1c80, 0x1cbf, 0x1d79, 0x1d8e, 0x1e00, 0x1fff, 0x2126, 0x2188,
	0x24b6, 0x24e9, 0x2c00, 0x2d2d, 0xa640, 0xa7ff, 0xab53, 0xabbf, 0xfb05, 0xfb06, 0xff21, 0xff5a, 0x10400, 0x10fff, 0x118a0, 0x118df,
	0x16e40, 0x16eff, 0x1e900, 0x1e943,
}

// closed adds every character that the i flag takes for equal to one of the set
// (ECMA-262 §22.2.2.7.3, Canonicalize): simple case folding with the u flag, else
// equality of the upper-case forms that are one code unit and, for other characters
// than ASCII, not ASCII.
func (s set) closed(unicodeMode bool) set {
	out := slices.Clone(s)
	for i := 0; i < len(s); i += 2 {
		for r := max(s[i], 'A'); r <= min(s[i+1], 'z'); r++ {
			if lower := r | 0x20; lower >= 'a' && lower <= 'z' {
				out = append(out, r^0x20, r^0x20)
			}
		}
		if !unicodeMode && s[i] <= utf8.RuneSelf && s[i+1] == 0xffff || !unicodeMode && s[i+1] < utf8.RuneSelf {
			continue // nothing above ASCII to add
		}
		for j := 0; j < len(cased); j += 2 {
			lo, hi := max(s[i], cased[j]), min(s[i+1], cased[j+1])
			for r := lo; r <= hi; r++ {
				for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
					if unicodeMode || canonicalUnit(f) == canonicalUnit(r) {
						out = append(out, f, f)
					}
				}
			}
		}
	}
	return out.sorted()
}

// manyUpper are the characters whose upper-case form is more than one character
// (Unicode, SpecialCasing.txt): the i flag leaves them as they are.
var manyUpper = []rune{
	0xdf, 0xdf, 0x149, 0x149, 0x1f0, 0x1f0, 0x390, 0x390, 0x3b0, 0x3b0, 0x587, 0x587, 0x1e96, 0x1e9a,
	0x1f50, 0x1f50, 0x1f52, 0x1f52, 0x1f54, 0x1f54, 0x1f56, 0x1f56, 0x1f80, 0x1faf, 0x1fb2, 0x1fb4, 0x1fb6, 0x1fb7,
	0x1fbc, 0x1fbc, 0x1fc2, 0x1fc4, 0x1fc6, 0x1fc7, 0x1fcc, 0x1fcc, 0x1fd2, 0x1fd3, 0x1fd6, 0x1fd7, 0x1fe2, 0x1fe4,
	0x1fe6, 0x1fe7, 0x1ff2, 0x1ff4, 0x1ff6, 0x1ff7, 0x1ffc, 0x1ffc, 0xfb00, 0xfb06, 0xfb13, 0xfb17,
}

// canonicalUnit is Canonicalize of ECMA-262 without the u flag.
func canonicalUnit(r rune) rune {
	if r < utf8.RuneSelf {
		if r >= 'a' && r <= 'z' {
			return r - ('a' - 'A')
		}
		return r
	}
	if set(manyUpper).has(r) {
		return r
	}
	if upper := unicode.ToUpper(r); upper >= utf8.RuneSelf {
		return upper
	}
	return r
}

// has reports whether r is in a sorted set.
func (s set) has(r rune) bool {
	lo, hi := 0, len(s)/2
	for lo < hi {
		if mid := (lo + hi) / 2; s[2*mid+1] < r {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(s)/2 && s[2*lo] <= r
}

// class is a set of characters as the evaluation wants it. ASCII letters are named by
// their lower-case form only: a class that holds one case of them holds both.
type class struct {
	number int // unique in a pack
	ascii  [2]uint64
	other  set // those above ASCII, in order
	single int // the only member, of ASCII, else -1
	any    bool
	// listed are the members in ASCII, or (outside) those that are not: the fewer.
	listed  []uint8
	outside bool
	// none and all say that the class holds nothing, or everything, above ASCII.
	none, all bool
}

func newClass(s set, negated, unicodeMode bool) *class {
	s = s.closed(unicodeMode)
	if negated {
		s = s.complement(unicodeMode)
	}
	c := &class{single: -1}
	members := 0
	for r := rune(0); r < utf8.RuneSelf; r++ {
		if (r < 'A' || r > 'Z') && s.has(r) {
			c.ascii[r>>6] |= 1 << (r & 63)
			c.single = int(r)
			members++
		}
	}
	for i := 0; i < len(s); i += 2 {
		if s[i+1] >= utf8.RuneSelf {
			c.other = append(c.other, max(s[i], utf8.RuneSelf), s[i+1])
		}
	}
	c.none = len(c.other) == 0
	c.all = len(c.other) == 2 && c.other[0] == utf8.RuneSelf && c.other[1] == last(unicodeMode)
	if members != 1 || !c.none {
		c.single = -1
	}
	c.outside = members > (utf8.RuneSelf-26)/2
	for r := rune(0); r < utf8.RuneSelf; r++ {
		if (r < 'A' || r > 'Z') && c.has(r) != c.outside {
			c.listed = append(c.listed, uint8(r))
		}
	}
	c.any = c.all && members == utf8.RuneSelf-26
	return c
}

// key is equal for classes that hold the same.
func (c *class) key() string {
	var b strings.Builder
	for _, w := range c.ascii {
		for i := 0; i < 64; i += 8 {
			b.WriteByte(byte(w >> i))
		}
	}
	for _, r := range c.other {
		for i := 0; i < 32; i += 8 {
			b.WriteByte(byte(r >> i))
		}
	}
	return b.String()
}

func (c *class) has(r rune) bool {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return c.ascii[r>>6]&(1<<(r&63)) != 0
	}
	return c.other.has(r)
}

// foldByte maps a character to one byte so that characters which the i flag takes
// for equal, with or without the u flag, go to the same byte: an ASCII letter to its
// lower-case form, anything above ASCII to one of 128 other bytes. What patterns often
// leave open goes to one byte too: white space (as \s has it), hyphen and underscore;
// quotation marks; digits. The index looks for literals in texts of these bytes.
func foldByte(r rune) byte {
	if r < utf8.RuneSelf {
		return asciiFold[r]
	}
	if r >= 0x2000 && r <= 0x205f || r == 0xa0 || r == 0x1680 || r == 0x3000 || r == 0xfeff {
		if set(whiteSpace).has(r) {
			return ' '
		}
	}
	return foldLetter(r)
}

var asciiFold = func() (table [utf8.RuneSelf]byte) {
	for i := range table {
		switch c := byte(i); {
		case c >= '\t' && c <= '\r' || c == ' ' || c == '-' || c == '_':
			table[i] = ' '
		case c == '"' || c == '\'' || c == '`':
			table[i] = '"'
		case c >= '0' && c <= '9':
			table[i] = '0'
		default:
			table[i] = asciiLower(c)
		}
	}
	return table
}()

func foldLetter(r rune) byte {
	if r >= 0x2e80 && r < 0xa640 || r >= 0xac00 && r < 0xe000 { // no case
		return hashByte(r)
	}
	upper := unicode.ToUpper(r)
	least := upper
	for f := unicode.SimpleFold(upper); f != upper; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf {
		return asciiFold[least]
	}
	return hashByte(least)
}

func hashByte(r rune) byte { return 0x80 | byte(uint32(r)*0x9e3779b1>>25) }
