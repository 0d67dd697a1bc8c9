package rule

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folding maps every rune to a string of its own, so that for any two texts
// fold(a+b) = fold(a)+fold(b), and runes that Unicode simple case folding makes
// equal go to the same string. What a case-insensitive pattern finds in a text is
// therefore found, folded, in the folded text: the fast path of this package rests
// on that and on nothing else of folding.
//
// Beyond simple folding, dotted and dotless i of Turkish are one letter, ß is ss,
// the final sigma is a sigma (simple folding does that), curly apostrophes are
// straight, and marks that only decorate Arabic (harakat, tatweel) are nothing.

var asciiFold = func() (table [utf8.RuneSelf]byte) {
	for i := range table {
		table[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			table[i] = byte(i) + 'a' - 'A'
		}
	}
	return table
}()

// appendFold appends the folded form of r.
func appendFold(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		return append(dst, asciiFold[r])
	}
	switch {
	case r == 'İ' || r == 'ı':
		return append(dst, 'i')
	case r == 'ß' || r == 'ẞ':
		return append(dst, 's', 's')
	case r == '’' || r == 'ʼ' || r == '＇':
		return append(dst, '\'')
	case r >= 0x64b && r <= 0x652 || r == 0x640 || r == 0x670:
		return dst
	case r >= 0x590 && r < 0x10a0, r >= 0x2e80 && r < 0xa640, r >= 0xac00 && r < 0xd7a4:
		return utf8.AppendRune(dst, r) // scripts without case
	case r >= 0xe0 && r <= 0xff, r >= 0x430 && r <= 0x44f:
		return utf8.AppendRune(dst, r) // lower-case letters that stand for themselves
	}
	return utf8.AppendRune(dst, canonical(r))
}

// canonical gives the rune that stands for all runes equal to r under simple
// folding: the lower-case letter of an ASCII one, else the lower-case form of the
// smallest.
func canonical(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf {
		return rune(asciiFold[least])
	}
	if lower := unicode.ToLower(least); sameFold(lower, least) {
		return lower
	}
	return least
}

func sameFold(a, b rune) bool {
	if a == b {
		return true
	}
	for f := unicode.SimpleFold(a); f != a; f = unicode.SimpleFold(f) {
		if f == b {
			return true
		}
	}
	return false
}

// fold gives the folded form of s.
func fold(s string) string {
	dst := make([]byte, 0, len(s))
	for _, r := range s {
		dst = appendFold(dst, r)
	}
	return string(dst)
}

// composed gives s in NFC and, where that differs from s, for each byte of the
// result the byte of s at which its segment starts, with one more entry for the end.
func composed(s string) (string, []int32) {
	if neverComposes(s) || norm.NFC.IsNormalString(s) {
		return s, nil
	}
	var (
		out  = make([]byte, 0, len(s))
		at   = make([]int32, 0, len(s)+1)
		iter norm.Iter
	)
	iter.InitString(norm.NFC, s)
	for !iter.Done() {
		from := int32(iter.Pos())
		piece := iter.Next()
		out = append(out, piece...)
		for range piece {
			at = append(at, from)
		}
	}
	return string(out), append(at, int32(len(s)))
}

// neverComposes tells text of which every rune is its own NFC and joins with no rune
// before it. It knows the common letters only; of others it says no, which costs
// time and nothing else.
func neverComposes(s string) bool {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !inert(r) {
			return false
		}
		i += size
	}
	return true
}

func inert(r rune) bool {
	switch {
	case r < 0x300,
		r >= 0x388 && r <= 0x482, // Greek, Cyrillic
		r >= 0x48a && r <= 0x52f,
		r >= 0x5d0 && r <= 0x5ea, // Hebrew letters
		r >= 0x621 && r <= 0x64a, // Arabic letters
		r >= 0x2010 && r <= 0x2027,
		r >= 0x3001 && r <= 0x3029,
		r >= 0x3041 && r <= 0x3096, // kana
		r >= 0x30a1 && r <= 0x30fa,
		r >= 0x4e00 && r <= 0x9fff, // Han
		r >= 0xac00 && r <= 0xd7a3, // Hangul syllables
		r >= 0xff01 && r <= 0xff60:
		return true
	}
	return false
}
