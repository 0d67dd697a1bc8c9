package textcheck

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ASCII look-alikes beyond confusables.txt, which pairs characters that can be
// taken for each other, not all those that are read as each other.

// smallCapital gives the letter of a small capital or of a negative circled or
// squared capital, 0 for any other.
func smallCapital(r rune) byte {
	switch r {
	case 'ᴀ':
		return 'a'
	case 'ʙ':
		return 'b'
	case 'ᴄ':
		return 'c'
	case 'ᴅ':
		return 'd'
	case 'ᴇ':
		return 'e'
	case 'ꜰ':
		return 'f'
	case 'ɢ':
		return 'g'
	case 'ʜ':
		return 'h'
	case 'ɪ':
		return 'i'
	case 'ᴊ':
		return 'j'
	case 'ᴋ':
		return 'k'
	case 'ʟ':
		return 'l'
	case 'ᴍ':
		return 'm'
	case 'ɴ':
		return 'n'
	case 'ᴏ':
		return 'o'
	case 'ᴘ':
		return 'p'
	case 'ꞯ':
		return 'q'
	case 'ʀ':
		return 'r'
	case 'ꜱ':
		return 's'
	case 'ᴛ':
		return 't'
	case 'ᴜ':
		return 'u'
	case 'ᴠ':
		return 'v'
	case 'ᴡ':
		return 'w'
	case 'ʏ':
		return 'y'
	case 'ᴢ':
		return 'z'
	}
	switch {
	case r >= 0x1f150 && r <= 0x1f169:
		return byte(r-0x1f150) + 'A'
	case r >= 0x1f170 && r <= 0x1f189:
		return byte(r-0x1f170) + 'A'
	}
	return 0
}

// passesFor gives the letter that a foreign one passes for in the middle of a Latin
// word, though alone it does not look the same; 0 if none.
func passesFor(r rune) byte {
	switch r {
	case 'к', 'κ':
		return 'k'
	case 'м':
		return 'm'
	case 'н':
		return 'h'
	case 'т', 'τ':
		return 't'
	case 'в', 'β':
		return 'b'
	case 'г':
		return 'r'
	case 'п', 'η':
		return 'n'
	case 'и', 'μ':
		return 'u'
	case 'ω', 'ш':
		return 'w'
	case 'ε', 'є':
		return 'e'
	case 'з':
		return 'e'
	case 'λ':
		return 'l'
	case 'θ':
		return 'o'
	}
	return 0
}

// cyrillicFor gives the Cyrillic letter that a Latin one looks like, 0 if none.
func cyrillicFor(r rune) rune {
	const latin, cyrillic = "aceopxyijsABCEHKMOPTXIJS", "асеорхуіјѕАВСЕНКМОРТХІЈЅ"
	i := 0
	for _, c := range cyrillic {
		if rune(latin[i]) == r {
			return c
		}
		i++
	}
	return 0
}

// plain gives the ASCII letter or digit that a character stands for in any dress,
// itself for ASCII, 0 if none.
func plain(r rune) byte {
	if r < 0x80 {
		return byte(r)
	}
	if c := smallCapital(r); c != 0 {
		return c
	}
	if c, _ := dressed(r); c != 0 {
		return c
	}
	return looksLike(r)
}

// regionLetters gives the length of the run of regional indicators at i, and whether
// it is no row of flags but spells something: at least three of them, and not pair by
// pair one of the recommended flags of UTS #51.
func regionLetters(runes []rune, i int) (n int, spells bool) {
	for i+n < len(runes) && isRegional(runes[i+n]) {
		n++
	}
	if n < 3 {
		return n, false
	}
	if n%2 != 0 {
		return n, true
	}
	for j := i; j < i+n; j += 2 {
		pair := string([]byte{regionLetter(runes[j]), regionLetter(runes[j+1]), ' '})
		if k := strings.Index(regionFlags, pair); k < 0 {
			return n, true
		}
	}
	return n, false
}

func isRegional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

func regionLetter(r rune) byte { return byte(r-0x1f1e6) + 'A' }

// bareLetter gives the ASCII letter under the accents of a Latin letter, 0 if none.
func bareLetter(r rune) byte {
	if r < 0xc0 || r > 0x24f && (r < 0x1e00 || r > 0x1eff) {
		return 0
	}
	var buf [4]byte
	n := utf8.EncodeRune(buf[:], r)
	if d := norm.NFD.Properties(buf[:n]).Decomposition(); len(d) > 0 && isASCIILetter(d[0]) {
		return d[0]
	}
	return 0
}

// isForeign reports a letter of an alphabet that is neither Latin nor one of East
// Asia, whose letters stand beside Latin without a space.
func isForeign(p uint32) bool {
	switch script(p) {
	case scriptUnknown, scriptLatin, scriptCommon, scriptInherited, scriptHan, scriptHiragana, scriptKatakana,
		scriptHangul, scriptBopomofo, scriptYi, scriptThai, scriptLao, scriptKhmer, scriptMyanmar, scriptTibetan:
		return false
	}
	return isLetter(p)
}

func isCJK(p uint32) bool {
	switch script(p) {
	case scriptHan, scriptHiragana, scriptKatakana, scriptHangul, scriptBopomofo:
		return true
	}
	return false
}
