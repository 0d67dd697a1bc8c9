package textcheck

import "unicode/utf8"

// feature says what a text may hold. A glance at each byte finds the features, so
// that ordinary text costs no more than that; the searches proper decide.
type feature uint32

const (
	hasNonASCII feature = 1 << iota
	hasControl          // a C0 control other than tab, LF and CR before LF; DEL
	hasSpace            // white space other than single spaces
	hasPadding          // a long run of white space
	hasComment          // <!--
	hasMarkup           // a tag with style or hidden, or a link reference comment
	hasBase64           // a run as long as minBase64
	hasEntity           // & before a letter or #
	hasEscape           // \ before u, U, x, n, t or a digit
	hasPercent          // %XX
	hasHex              // a run of hex digits
	hasSpaced           // letters one by one
	hasLeet             // a digit or symbol for a letter inside a word
	hasJoint            // two words joined by something other than a space
	hasJoined           // four or more words joined so
	hasBlank            // a space
	hasRot13            // words that are English turned by 13 letters
)

// classes of bytes
const (
	clLetter = 1 << iota
	clDigit
	clBase64 // letters, digits, + / - _
	clHex
	clUpper
	clLeet // digits and symbols that stand for letters
	clSpace
)

var class = func() (t [256]uint8) {
	for c := 0; c < 128; c++ {
		b := byte(c)
		if isASCIILetter(b) {
			t[c] |= clLetter | clBase64
		}
		if b >= 'A' && b <= 'Z' {
			t[c] |= clUpper
		}
		if b >= '0' && b <= '9' {
			t[c] |= clDigit | clBase64 | clHex
		}
		if b|0x20 >= 'a' && b|0x20 <= 'f' {
			t[c] |= clHex
		}
		switch b {
		case '+', '/', '-', '_':
			t[c] |= clBase64
		}
		if b == ' ' || b >= '\t' && b <= '\r' {
			t[c] |= clSpace
		}
		if leetLetter(b) != 0 {
			t[c] |= clLeet
		}
	}
	return t
}()

const (
	longBlank = 40 // spaces and tabs on a line, or
	longLines = 20 // line ends: the least that counts as padding
)

// glance looks once at each byte of a text.
func glance(s string) feature {
	var f feature
	run64, runHex, pairs, blank, lines, single, rot, joints := 0, 0, 0, 0, 0, 0, 0, 0
	var prev, before byte // the last two bytes
	for i := 0; i < len(s); i++ {
		c := s[i]
		k := class[c]
		if k&(clLetter|clUpper) == clLetter && class[prev]&clLetter != 0 {
			// Inside a word: nothing but the runs can change.
			start := i
			for {
				if k&clHex != 0 {
					runHex++
				} else {
					if runHex >= minHex {
						f |= hasHex
					}
					runHex = 0
				}
				if i+1 == len(s) {
					break
				}
				if k = class[s[i+1]]; k&(clLetter|clUpper) != clLetter {
					break
				}
				i++
			}
			run64 += i - start + 1
			before, prev = s[i-1], s[i]
			continue
		}
		if k&clBase64 != 0 {
			run64++
			if k&clHex != 0 {
				runHex++
			} else {
				if runHex >= minHex {
					f |= hasHex
				}
				runHex = 0
			}
			if k&clLetter != 0 {
				pk := class[prev]
				if pk&clLetter == 0 {
					// A word begins.
					if pk&clLeet != 0 && class[before]&clLetter != 0 {
						f |= hasLeet
					}
					if i+1 < len(s) && class[s[i+1]]&clLetter != 0 {
						single = 0
						if rot13Start(c, s[i+1]) {
							rot++
						}
					} else if single++; single >= minSpaced {
						f |= hasSpaced
					}
					if isJoint(prev) && class[before]&clLetter != 0 {
						f |= hasJoint
						if joints++; joints >= 3 {
							f |= hasJoined
						}
					}
				} else if k&clUpper != 0 && pk&clUpper == 0 {
					f |= hasJoint
					if joints++; joints >= 3 {
						f |= hasJoined
					}
				}
			}
		} else {
			if run64 >= minBase64 {
				f |= hasBase64
			}
			if runHex >= minHex {
				f |= hasHex
			}
			if runHex == 2 && run64 == 2 {
				if pairs++; pairs >= minHex/2-1 {
					f |= hasHex
				}
			} else if run64 > 0 {
				pairs = 0
			}
			run64, runHex = 0, 0
			switch {
			case c == ' ':
				joints = 0
				f |= hasBlank
				if prev == ' ' {
					f |= hasSpace
				}
			case c < 0x20:
				joints = 0
				f |= hasSpace | hasBlank
				switch c {
				case '\t', '\n':
				case '\r':
					if i+1 < len(s) && s[i+1] != '\n' {
						f |= hasControl
					}
				default:
					f |= hasControl
				}
			case c >= utf8.RuneSelf:
				f |= hasNonASCII
			case c == 0x7f:
				f |= hasControl
			case c == '!':
				if prev == '<' {
					f |= hasComment
				}
			case c == '<':
				f |= hasMarkup
			case c == '[':
				if i == 0 || prev == '\n' {
					f |= hasMarkup
				}
			case c == '&':
				if i+1 < len(s) && (s[i+1] == '#' || class[s[i+1]]&clLetter != 0) {
					f |= hasEntity
				}
			case c == '\\':
				f |= hasEscape
			case c == '%':
				if i+2 < len(s) && class[s[i+1]]&class[s[i+2]]&clHex != 0 {
					f |= hasPercent
				}
			}
		}
		if c == ' ' || c == '\t' {
			if blank++; blank >= longBlank {
				f |= hasPadding
			}
		} else if c == '\n' || c == '\r' {
			blank = 0
			if lines++; lines >= longLines {
				f |= hasPadding
			}
		} else {
			blank, lines = 0, 0
		}
		before, prev = prev, c
	}
	if run64 >= minBase64 {
		f |= hasBase64
	}
	if runHex >= minHex {
		f |= hasHex
	}
	if rot >= 2 {
		f |= hasRot13
	}
	if f&hasNonASCII != 0 {
		// White space and separators may then be of any kind.
		f |= hasPadding | hasSpace
	}
	return f
}

// isJoint reports a character that people write in place of a space in names.
func isJoint(c byte) bool {
	switch c {
	case '_', '-', '.', '*', '+', '~', '|', '^', '#', '=':
		return true
	}
	return false
}
