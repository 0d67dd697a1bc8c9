package textcheck

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// payload gives what the other invisible characters spell over the whole text.
func (x *inspection) payload() string {
	selectors, bits := decodeSelectors(x.selectors.runes), decodeBits(x.bits.runes)
	if selectors != "" && bits != "" {
		return selectors + "\n" + bits
	}
	return selectors + bits
}

// decodeTags reads tag characters as the ASCII that they mirror (Unicode, 23.9).
func decodeTags(tags []rune) string {
	var b strings.Builder
	for _, r := range tags {
		if r >= 0xe0020 && r <= 0xe007e {
			b.WriteByte(byte(r - 0xe0000))
		}
	}
	return b.String()
}

// decodeSelectors reads variation selectors as bytes: VS1–VS16 are 0–15, VS17–VS256
// are 16–255. With VS1–VS16 alone two selectors make a byte, or eight of two kinds.
func decodeSelectors(sel []rune) string {
	var bytes []byte
	low := true
	for _, r := range sel {
		switch {
		case r >= 0xfe00 && r <= 0xfe0f:
			bytes = append(bytes, byte(r-0xfe00))
		case r >= 0xe0100 && r <= 0xe01ef:
			bytes = append(bytes, byte(r-0xe0100+16))
			low = false
		}
	}
	if text, ok := readable(bytes); ok {
		return text
	}
	if !low {
		return ""
	}
	for skip := 0; skip < 2; skip++ {
		var pairs []byte
		for i := skip; i+1 < len(bytes); i += 2 {
			pairs = append(pairs, bytes[i]<<4|bytes[i+1])
		}
		if text, ok := readable(pairs); ok {
			return text
		}
	}
	return decodeDigits(sel)
}

// decodeBits reads zero-width characters as a number system whose digits they are:
// two, four or sixteen of them, in code point order or, for two, in either order;
// with three, the rarest may part the bytes.
func decodeBits(seq []rune) string { return decodeDigits(seq) }

func decodeDigits(seq []rune) string {
	if len(seq) < 8 {
		return ""
	}
	digits := slices.Clone(seq)
	slices.Sort(digits)
	digits = slices.Compact(digits)
	switch len(digits) {
	case 2:
		return decodeBinary(seq, digits[0], digits[1])
	case 3:
		if text := decodeSeparated(seq, digits); text != "" {
			return text
		}
		// One of the three may be there for another reason: a word joiner at an end.
		for drop := range digits {
			rest := slices.DeleteFunc(slices.Clone(seq), func(r rune) bool { return r == digits[drop] })
			two := slices.Delete(slices.Clone(digits), drop, drop+1)
			if text := decodeBinary(rest, two[0], two[1]); text != "" {
				return text
			}
		}
		return decodeBase(seq, digits, 2)
	case 4:
		return decodeBase(seq, digits, 2)
	}
	if len(digits) <= 16 {
		return decodeBase(seq, digits, 4)
	}
	return ""
}

// decodeBinary reads two digits as bits, the most significant first, in bytes of
// eight or seven bits.
func decodeBinary(seq []rune, a, b rune) string {
	for _, one := range [...]rune{b, a} {
		for _, width := range [...]int{8, 7} {
			if len(seq)%width != 0 {
				continue
			}
			if text, ok := readable(bitsToBytes(seq, one, width)); ok {
				return text
			}
		}
	}
	// Something before or after the payload puts the count out: drop the tail.
	for _, one := range [...]rune{b, a} {
		if text, ok := readable(bitsToBytes(seq[:len(seq)/8*8], one, 8)); ok {
			return text
		}
	}
	return ""
}

func bitsToBytes(seq []rune, one rune, width int) []byte {
	out := make([]byte, 0, len(seq)/width)
	for i := 0; i+width <= len(seq); i += width {
		var c byte
		for _, r := range seq[i : i+width] {
			c <<= 1
			if r == one {
				c |= 1
			}
		}
		out = append(out, c)
	}
	return out
}

// decodeSeparated reads three digits of which one parts the numbers that the other
// two write in binary.
func decodeSeparated(seq, digits []rune) string {
	for part := range digits {
		two := slices.Delete(slices.Clone(digits), part, part+1)
		for _, one := range [...]rune{two[1], two[0]} {
			var text []rune
			n, bits := rune(0), 0
			for i := 0; i <= len(seq); i++ {
				if i < len(seq) && seq[i] != digits[part] {
					n <<= 1
					if seq[i] == one {
						n |= 1
					}
					if bits++; bits > 21 {
						break
					}
					continue
				}
				if bits > 0 {
					text = append(text, n)
				}
				n, bits = 0, 0
			}
			if bits > 21 {
				continue
			}
			if s, ok := readable([]byte(string(text))); ok {
				return s
			}
		}
	}
	return ""
}

// decodeBase reads digits of the given number of bits, two or four, as bytes.
func decodeBase(seq, digits []rune, bits int) string {
	var out []byte
	for i := 0; i+8/bits <= len(seq); i += 8 / bits {
		var c byte
		for _, r := range seq[i : i+8/bits] {
			d, _ := slices.BinarySearch(digits, r)
			c = c<<bits | byte(d)
		}
		out = append(out, c)
	}
	text, _ := readable(out)
	return text
}

// readable reports whether bytes are text that a person or a model can read: UTF-8
// of at least two characters, no controls, and letters, digits or spaces for the
// most part.
func readable(b []byte) (string, bool) {
	if len(b) < 2 || !utf8.Valid(b) {
		return "", false
	}
	good, total := 0, 0
	for _, r := range string(b) {
		total++
		if r < 0x80 {
			switch {
			case isWordASCII(r) || r == ' ':
				good++
			case r < 0x20 && r != '\n' && r != '\t' && r != '\r' || r == 0x7f:
				return "", false
			}
			continue
		}
		p := props(r)
		switch {
		case isLetter(p) || isMark(p):
			good++
		case isNumber(p):
		default:
			switch category(p) {
			case catCn, catCo, catCc:
				return "", false
			}
		}
	}
	return string(b), good*10 >= total*6
}
