package textcheck

// judgeInvisible decides whether a character that shows nothing has a right to
// stand at i.
func (x *inspection) judgeInvisible(i int, r rune) (Kind, int) {
	switch {
	case r >= 0xe0000 && r <= 0xe007f:
		return x.judgeTag(i)
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		if x.variesAt(i) {
			return "", 1
		}
		return KindVariation, 1
	case r >= 0x180b && r <= 0x180d || r == 0x180f:
		bit := uint(r - 0x180b)
		if r == 0x180f {
			bit = 3
		}
		if i > 0 && (hasVariation(mongolianTable[:], x.runes[i-1], bit) || script(props(x.runes[i-1])) == scriptMongolian) {
			return "", 1
		}
		return KindVariation, 1
	case isBidi(r):
		if x.bidiAllowed(i) {
			return "", 1
		}
		return KindBidi, 1
	case isFiller(r):
		if x.fillerAllowed(i, r) {
			return "", 1
		}
		return KindFiller, 1
	}
	if x.joinerAllowed(i, r) {
		return "", 1
	}
	return KindZeroWidth, 1
}

// at gives the code point at i, -1 outside of the text.
func (x *inspection) at(i int) rune {
	if i < 0 || i >= len(x.runes) {
		return -1
	}
	return x.runes[i]
}

// judgeTag judges the tag characters from i on: those of one of the recommended
// subdivision flags (UTS #51, ED-14a), after a black flag and up to the cancel tag,
// may stand.
func (x *inspection) judgeTag(i int) (Kind, int) {
	if x.at(i-1) == 0x1f3f4 {
		for _, flag := range flagTags {
			if x.isTag(i, flag) && x.at(i+len(flag)) == 0xe007f {
				return "", len(flag) + 1
			}
		}
	}
	return KindTag, 1
}

func (x *inspection) isTag(i int, text string) bool {
	for n := 0; n < len(text); n++ {
		if x.at(i+n) != 0xe0000+rune(text[n]) {
			return false
		}
	}
	return true
}

// variesAt reports whether the variation selector at i is part of a variation
// sequence: one of StandardizedVariants.txt or of UTS #51, an emoji, a keycap, or
// one of UTS #37 on an ideograph. Registered ideographic sequences use the first
// selectors of their range only, so the further ones, which carry printable bytes,
// are not let pass.
func (x *inspection) variesAt(i int) bool {
	r, base := x.runes[i], x.at(i-1)
	if base < 0 || isVariationSelector(base) {
		return false
	}
	p := props(base)
	if r >= 0xe0100 {
		return r <= 0xe011f && p&bitIdeograph != 0
	}
	if base < 0x80 {
		if x.at(i+1) == 0x20e3 {
			return r == 0xfe0f && (base >= '0' && base <= '9' || base == '#' || base == '*')
		}
		return base == '0' && r == 0xfe00
	}
	if r >= 0xfe0e && p&(bitEmoji|bitPictograph) != 0 {
		return true
	}
	return hasVariation(variationTable[:], base, uint(r-0xfe00))
}

func isVariationSelector(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}

func isFiller(r rune) bool {
	return r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x2800 || r == 0x17b4 || r == 0x17b5
}

// fillerAllowed lets pass the fillers of an old Hangul syllable that lacks a part,
// and the blank Braille cell beside another cell.
func (x *inspection) fillerAllowed(i int, r rune) bool {
	switch r {
	case 0x115f:
		next := x.at(i + 1)
		return next > 0x1160 && next <= 0x11a7
	case 0x1160:
		prev := x.at(i - 1)
		return prev >= 0x1100 && prev < 0x115f
	case 0x2800:
		return isBraille(x.at(i-1)) || isBraille(x.at(i+1))
	}
	return false
}

func isBraille(r rune) bool { return r > 0x2800 && r <= 0x28ff }

// joinerAllowed judges the zero-width characters that some scripts need: joiners
// (RFC 5892, appendix A, and UTS #51), ZWSP as a word break in scripts that write
// no spaces, CGJ in Hebrew, the Mongolian vowel separator, a BOM at the start.
func (x *inspection) joinerAllowed(i int, r rune) bool {
	switch r {
	case 0xfeff:
		return i == 0
	case 0x200d:
		return x.joinsEmoji(i) || x.joinsScript(i)
	case 0x200c:
		return x.joinsScript(i)
	case 0x200b:
		prev, next := x.at(i-1), x.at(i+1)
		return prev >= 0 && next >= 0 && breaksWithoutSpace(props(prev)) && breaksWithoutSpace(props(next))
	case 0x034f:
		prev := x.at(i - 1)
		return prev >= 0 && script(props(prev)) == scriptHebrew
	case 0x180e:
		prev := x.at(i - 1)
		return prev >= 0 && script(props(prev)) == scriptMongolian
	}
	return false
}

// joinsEmoji reports a ZWJ between two emoji: \p{Extended_Pictographic} with its
// modifier or selector, ZWJ, \p{Extended_Pictographic} (UTS #51, ED-16). Sequences
// of later Unicode versions so pass too; letters cannot hide in them.
func (x *inspection) joinsEmoji(i int) bool {
	next := x.at(i + 1)
	if next < 0x80 || props(next)&bitPictograph == 0 {
		return false
	}
	j := i - 1
	for n := 0; n < 2 && (x.at(j) == 0xfe0f || x.at(j) >= 0x1f3fb && x.at(j) <= 0x1f3ff); n++ {
		j--
	}
	prev := x.at(j)
	return prev >= 0x80 && props(prev)&bitPictograph != 0
}

// joinsScript reports a joiner beside a letter of a script in which it changes the
// shape of letters, if no letter of another kind of script stands on the other side.
func (x *inspection) joinsScript(i int) bool {
	prev, next := x.neighbour(i, -1), x.neighbour(i, +1)
	return prev+next > 0 && prev >= 0 && next >= 0
}

// neighbour judges what stands beside a joiner: 1 a letter or mark of a script that
// needs joiners, 0 no letter, -1 anything that makes the joiner suspect.
func (x *inspection) neighbour(i, step int) int {
	r := x.at(i + step)
	if r < 0 {
		return 0
	}
	p := props(r)
	switch {
	case r < 0x80:
		if isASCIILetter(byte(r)) {
			return -1
		}
		return 0
	case isInvisible(r, p):
		return -1
	case p&bitVirama != 0, shapes(p):
		return 1
	case isMark(p):
		// A mark without a script of its own belongs to the letter before it.
		for j, n := i+step, 0; j >= 0 && n < 8; j, n = j-1, n+1 {
			if q := props(x.runes[j]); !isMark(q) {
				if shapes(q) {
					return 1
				}
				return -1
			}
		}
		return -1
	case isLetter(p):
		return -1
	}
	return 0
}

// shapes reports a letter or mark of a cursive or Indic script.
func shapes(p uint32) bool {
	if j := joins(p); j == joinR || j == joinL || j == joinD {
		return true
	}
	switch script(p) {
	case scriptArabic, scriptSyriac, scriptMandaic, scriptMongolian, scriptNko, scriptDevanagari, scriptBengali,
		scriptGurmukhi, scriptGujarati, scriptOriya, scriptTamil, scriptTelugu, scriptKannada, scriptMalayalam,
		scriptSinhala, scriptKhmer, scriptMyanmar, scriptTibetan, scriptBalinese, scriptJavanese, scriptSundanese:
		return isLetter(p) || isMark(p)
	}
	return false
}

// breaksWithoutSpace reports a letter or mark of a script that writes no spaces
// between words (line breaking class SA of UAX #14).
func breaksWithoutSpace(p uint32) bool {
	switch script(p) {
	case scriptThai, scriptLao, scriptKhmer, scriptMyanmar, scriptTibetan, scriptBalinese, scriptJavanese,
		scriptTai_Le, scriptNew_Tai_Lue, scriptTai_Tham, scriptTai_Viet, scriptSundanese:
		return true
	}
	return false
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
