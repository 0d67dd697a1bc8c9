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
	if isASCII(s) || norm.NFC.IsNormalString(s) {
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

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
