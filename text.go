package toolmark

import "unicode/utf8"

// Text is text of a manifest in WTF-8. Its JSON form is pure ASCII: everything
// outside 0x20–0x7E is escaped, so it survives any terminal, and a lone surrogate
// is written as the escape it was sent as.
type Text string

// MarshalJSON writes the text as an ASCII JSON string.
func (t Text) MarshalJSON() ([]byte, error) {
	return AppendQuoted(make([]byte, 0, len(t)+2), string(t)), nil
}

const lowerHex = "0123456789abcdef"

// AppendQuoted appends s, WTF-8, to dst as a JSON string in the form of CPython's
// json.dumps: everything outside 0x20–0x7E escaped in lower-case hex, characters
// beyond U+FFFF as a surrogate pair, short forms for \b \f \n \r \t. A byte that is
// part of neither UTF-8 nor a surrogate becomes U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
			i++
		case '\b':
			dst = append(dst, '\\', 'b')
			i++
		case '\f':
			dst = append(dst, '\\', 'f')
			i++
		case '\n':
			dst = append(dst, '\\', 'n')
			i++
		case '\r':
			dst = append(dst, '\\', 'r')
			i++
		case '\t':
			dst = append(dst, '\\', 't')
			i++
		default:
			r, size := DecodeRune(s[i:])
			if r > 0xffff {
				r -= 0x10000
				dst = appendEscape(dst, 0xd800+r>>10)
				dst = appendEscape(dst, 0xdc00+r&0x3ff)
			} else {
				dst = appendEscape(dst, r)
			}
			i += size
		}
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', lowerHex[r>>12&15], lowerHex[r>>8&15], lowerHex[r>>4&15], lowerHex[r&15])
}

// DecodeRune is utf8.DecodeRuneInString for WTF-8: a lone surrogate is given as
// itself (U+D800–U+DFFF) with size 3. For an empty string it gives utf8.RuneError
// and 0, for any other wrong byte utf8.RuneError and 1.
func DecodeRune(s string) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 && len(s) >= 3 &&
		s[0] == 0xed && s[1]&0xe0 == 0xa0 && s[2]&0xc0 == 0x80 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return r, size
}

// IsSurrogate reports whether r is one half of a UTF-16 surrogate pair.
func IsSurrogate(r rune) bool { return r >= 0xd800 && r <= 0xdfff }

// CodePoints counts the code points of WTF-8 text, a lone surrogate being one, as
// CPython's len does.
func CodePoints(s string) int {
	n := 0
	for i := 0; i < len(s); n++ {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := DecodeRune(s[i:])
		i += size
	}
	return n
}

// ByteOffset gives the byte offset of code point number n in WTF-8 text s. It is
// len(s) where s has n code points or fewer.
func ByteOffset(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := DecodeRune(s[i:])
		i += size
	}
	return i
}
