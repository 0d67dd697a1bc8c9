package canonjson

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
)

// unescape appends the string that raw, the checked text between two quotes, stands
// for. The result is never longer than raw: \uXXXX are six bytes for three at most,
// a pair of them twelve for four.
func unescape(dst *strings.Builder, raw string) {
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			dst.WriteString(raw)
			return
		}
		dst.WriteString(raw[:i])
		c := raw[i+1]
		if c != 'u' {
			switch c {
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			}
			dst.WriteByte(c)
			raw = raw[i+2:]
			continue
		}
		r := hex4(raw[i+2:])
		raw = raw[i+6:]
		if r >= 0xd800 && r < 0xdc00 && len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
			if low := hex4(raw[2:]); low >= 0xdc00 && low < 0xe000 {
				r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
				raw = raw[6:]
			}
		}
		if toolmark.IsSurrogate(r) {
			dst.WriteByte(0xe0 | byte(r>>12))
			dst.WriteByte(0x80 | byte(r>>6)&0x3f)
			dst.WriteByte(0x80 | byte(r)&0x3f)
		} else {
			dst.WriteRune(r)
		}
	}
}

func hex4(s string) rune {
	return rune(hexValue(s[0])<<12 | hexValue(s[1])<<8 | hexValue(s[2])<<4 | hexValue(s[3]))
}

// load gives the eight bytes of s from i on as a little-endian number.
func load(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// plainASCII gives the length of the longest start of s, from i on, that stands for
// itself in an ASCII JSON string.
func plainASCII(s string, i int) int {
	for len(s)-i >= 8 {
		x := load(s, i)
		// Adding one carries 0x7f, which is escaped too, into the high bit.
		if m := special(x) | (x+ones)&highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(s) && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// quoteASCII is toolmark.AppendQuoted, eight bytes at a time.
func quoteASCII(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; ; {
		from := i
		i = plainASCII(s, i)
		dst = append(dst, s[from:i]...)
		if i == len(s) {
			return append(dst, '"')
		}
		if c := s[i]; c < utf8.RuneSelf {
			dst = escapeByte(dst, c)
			i++
			continue
		}
		for i < len(s) && s[i] >= utf8.RuneSelf {
			r, size := toolmark.DecodeRune(s[i:])
			if r > 0xffff {
				r -= 0x10000
				dst = escapeUnit(dst, 0xd800+r>>10)
				r = 0xdc00 + r&0x3ff
			}
			dst = escapeUnit(dst, r)
			i += size
		}
	}
}

// quoteUTF8 appends s in the form of RFC 8785, section 3.2.2.2: only what JSON demands
// is escaped.
func quoteUTF8(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			dst = append(dst, s[from:i]...)
			dst = escapeByte(dst, c)
			from = i + 1
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

const lowerHex = "0123456789abcdef"

func escapeByte(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return escapeUnit(dst, rune(c))
}

func escapeUnit(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', lowerHex[r>>12&15], lowerHex[r>>8&15], lowerHex[r>>4&15], lowerHex[r&15])
}
