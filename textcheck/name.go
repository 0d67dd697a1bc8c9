package textcheck

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Skeleton gives the skeleton of a text as UTS #39, section 4, defines it: NFD,
// default-ignorable characters removed, each character replaced by its prototype,
// NFD. Two texts with one skeleton can be taken for each other. The skeleton is for
// comparing, not for reading: that of m is rn, that of I and of 1 is l.
func Skeleton(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(validUTF8(s)) {
		if r >= utf8.RuneSelf && props(r)&bitIgnorable != 0 {
			continue
		}
		if to := confusable(r); to != "" {
			b.WriteString(to)
		} else {
			b.WriteRune(r)
		}
	}
	return norm.NFD.String(b.String())
}

// NameSkeleton is the skeleton of a name without regard to dress, case and
// separators: what two names must have in common to be taken for each other.
// Letters are made ASCII before case is folded, since it is the capital that a
// Cyrillic В has in common with B.
func NameSkeleton(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKC.String(validUTF8(name)) {
		if r >= utf8.RuneSelf {
			if c := plain(r); c != 0 {
				r = rune(c)
			}
		}
		b.WriteRune(r)
	}
	return Skeleton(NormalName(b.String()))
}

// Confusable reports whether two names can be taken for each other: their skeletons
// are equal, as written or as names.
func Confusable(a, b string) bool {
	return Skeleton(a) == Skeleton(b) || NameSkeleton(a) == NameSkeleton(b)
}

// isNormalName reports whether NormalName would change nothing: lower-case ASCII letters
// and digits with single underscores inside, which most names are.
func isNormalName(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
		case c == '_' && i > 0 && i+1 < len(s) && s[i-1] != '_':
		default:
			return false
		}
	}
	return true
}

// NormalName gives the form in which clients may take two names for one: NFKC, case
// folded, invisible characters removed, each run of - _ . and white space one
// underscore, none at the ends. A name of other scripts keeps its letters.
func NormalName(s string) string {
	if isNormalName(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if r < 0x20 && !isSpace(r) || r == 0x7f || r >= 0x80 && isInvisible(r, props(r)) {
			return -1
		}
		return r
	}, validUTF8(s))
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range norm.NFKC.String(foldCase(norm.NFKC.String(s))) {
		if r == '-' || r == '_' || r == '.' || isSpace(r) || r >= 0x80 && category(props(r)) == catPd {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('_')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// foldCase takes the differences of case off: ς is σ, ß is ss, but the dotless ı of
// Turkish stays a letter of its own.
func foldCase(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == 'ı' {
			return r
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, s)
	return strings.ReplaceAll(s, "ß", "ss")
}

// validUTF8 gives WTF-8 text as UTF-8, with U+FFFD for what is none.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(decodeRunes(s))
}
