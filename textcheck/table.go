package textcheck

import (
	"fmt"
	"sort"
	"strings"

	"github.com/toolmark/toolmark"
)

//go:generate go run ./internal/gen -data /usr/share/unicode -out tables_gen.go

type propRange struct {
	last rune
	bits uint32
}

type variation struct {
	base rune
	bits uint16
}

// props gives a code point's properties, 0 for one beyond Unicode.
func props(r rune) uint32 {
	if uint32(r) < uint32(len(propLow)) {
		return propLow[r]
	}
	return propsHigh(r)
}

func propsHigh(r rune) uint32 {
	if r < 0 || r > 0x10ffff {
		return 0
	}
	lo := int(propIndex[r>>8])
	hi := len(propRanges) - 1
	if next := int(r>>8) + 1; next < len(propIndex) {
		hi = int(propIndex[next])
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if propRanges[mid].last < r {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return propRanges[lo].bits
}

func script(p uint32) uint8   { return uint8(p) }
func category(p uint32) uint8 { return uint8(p>>shiftCategory) & 31 }
func joins(p uint32) uint8    { return uint8(p>>shiftJoining) & 7 }

func isLetter(p uint32) bool {
	c := category(p)
	return c >= catLu && c <= catLo
}

func isMark(p uint32) bool {
	c := category(p)
	return c >= catMn && c <= catMe
}

func isNumber(p uint32) bool {
	c := category(p)
	return c >= catNd && c <= catNo
}

// isNoncharacter reports the 66 code points that never stand for a character.
func isNoncharacter(r rune) bool {
	return r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef
}

// isInvisible reports a code point that shows nothing and is no ordinary white
// space: default ignorable, a format character, a filler, a lone surrogate, an
// unassigned plane-14 code point.
func isInvisible(r rune, p uint32) bool {
	if p&bitIgnorable != 0 || r == 0x2800 {
		return true
	}
	switch category(p) {
	case catCf:
		// Prepended concatenation marks are Cf and visible.
		return !isPrepended(r)
	case catCs:
		return true
	}
	return false
}

// isPrepended reports Prepended_Concatenation_Mark and the Egyptian format
// controls: Cf that shows.
func isPrepended(r rune) bool {
	return r >= 0x600 && r <= 0x605 || r == 0x6dd || r == 0x70f || r >= 0x890 && r <= 0x891 ||
		r == 0x8e2 || r == 0x110bd || r == 0x110cd || r >= 0x13430 && r <= 0x1343f
}

// confusable gives a character's prototype of UTS #39, "" where it has none.
func confusable(r rune) string {
	i := sort.Search(len(confusableKeys), func(i int) bool { return confusableKeys[i] >= r })
	if i == len(confusableKeys) || confusableKeys[i] != r {
		return ""
	}
	from := 0
	if i > 0 {
		from = int(confusableEnds[i-1])
	}
	return confusableText[from:confusableEnds[i]]
}

// looksLike gives the ASCII letter or digit that a letter looks like, 0 if none.
func looksLike(r rune) byte {
	i := sort.Search(len(foldTable), func(i int) bool { return rune(foldTable[i]>>8) >= r })
	if i < len(foldTable) && rune(foldTable[i]>>8) == r {
		return byte(foldTable[i])
	}
	return 0
}

// dressed gives the ASCII letter or digit of a mathematical, circled, squared,
// full-width, superscript or subscript one, and which it is; 0, 0 for any other.
func dressed(r rune) (ascii, style byte) {
	if r < 0x80 {
		return 0, 0
	}
	i := sort.Search(len(styledTable), func(i int) bool { return rune(styledTable[i]>>11) >= r })
	if i < len(styledTable) && rune(styledTable[i]>>11) == r {
		return byte(styledTable[i] & 127), byte(styledTable[i] >> 7 & 15)
	}
	return 0, 0
}

func hasVariation(table []variation, base rune, bit uint) bool {
	i := sort.Search(len(table), func(i int) bool { return table[i].base >= base })
	return i < len(table) && table[i].base == base && table[i].bits>>bit&1 != 0
}

// runeName gives "U+200B ZERO WIDTH SPACE"; without a name only the number.
func runeName(r rune) string {
	key := fmt.Sprintf("%05X", r)
	if len(key) == 5 {
		lo, hi := 0, len(nameText)
		for lo < hi {
			mid := int(uint(lo+hi) >> 1)
			line := strings.LastIndexByte(nameText[:mid], '\n') + 1
			end := line + strings.IndexByte(nameText[line:], '\n')
			switch have := nameText[line : line+5]; {
			case have == key:
				return fmt.Sprintf("U+%04X %s", r, nameText[line+5:end])
			case have < key:
				lo = end + 1
			default:
				hi = line
			}
		}
	}
	switch {
	case toolmark.IsSurrogate(r):
		return fmt.Sprintf("U+%04X LONE SURROGATE", r)
	case isNoncharacter(r):
		return fmt.Sprintf("U+%04X NONCHARACTER", r)
	}
	switch category(props(r)) {
	case catCo:
		return fmt.Sprintf("U+%04X PRIVATE USE", r)
	case catCn:
		return fmt.Sprintf("U+%04X UNASSIGNED", r)
	}
	return fmt.Sprintf("U+%04X", r)
}
