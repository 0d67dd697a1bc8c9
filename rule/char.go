package rule

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// What a word is: a run of letters, marks and digits of any script, with an
// apostrophe inside. In scripts that are written without spaces every character is
// half a word of its own.

type charClass uint8

const (
	classOther charClass = iota
	classWord
	classDense // a letter of a script without spaces
	classSpace
)

// classes holds the class of every rune of the Basic Multilingual Plane, two bits
// each. It is filled once, range by range, when the first text beyond ASCII is read.
var classes = sync.OnceValue(func() *[1 << 14]byte {
	table := new([1 << 14]byte)
	fill := func(tables []*unicode.RangeTable, keep func(old charClass) charClass) {
		for _, t := range tables {
			for _, rg := range t.R16 {
				for r := int(rg.Lo); r <= int(rg.Hi); r += int(rg.Stride) {
					shift := r & 3 * 2
					old := charClass(table[r>>2] >> shift & 3)
					table[r>>2] = table[r>>2]&^(3<<shift) | byte(keep(old))<<shift
				}
			}
		}
	}
	fill([]*unicode.RangeTable{unicode.White_Space, unicode.Zs}, func(charClass) charClass { return classSpace })
	fill(wordTables, func(charClass) charClass { return classWord })
	fill(denseTables, func(old charClass) charClass {
		if old == classWord || old == classDense {
			return classDense
		}
		return old
	})
	return table
})

var (
	wordTables  = []*unicode.RangeTable{unicode.L, unicode.M, unicode.N}
	denseTables = []*unicode.RangeTable{
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
		{R16: []unicode.Range16{{Lo: 'ー', Hi: 'ー', Stride: 1}}},
	}
)

func classify(r rune) charClass {
	switch {
	case unicode.In(r, wordTables...):
		if r >= 0xe00 && unicode.In(r, denseTables...) {
			return classDense
		}
		return classWord
	case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
		return classSpace
	}
	return classOther
}

var asciiClass = func() (table [utf8.RuneSelf]charClass) {
	for i := range table {
		table[i] = classify(rune(i))
	}
	return table
}()

func classOf(r rune) charClass {
	switch {
	case r < utf8.RuneSelf:
		return asciiClass[r]
	case r < 1<<16:
		return charClass(classes()[r>>2] >> (r & 3 * 2) & 3)
	}
	return classify(r)
}

func isWord(r rune) bool {
	c := classOf(r)
	return c == classWord || c == classDense
}

// isApostrophe tells the characters that may stand inside a word.
func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }

// wordEnds reports whether no letter of a spaced word goes on after s[:i] into
// s[i:]. An apostrophe is a boundary too: "user's" is the word user.
func wordEnds(s []byte, i int) bool {
	if i >= len(s) || i == 0 {
		return true
	}
	var next rune
	if next = rune(s[i]); next >= utf8.RuneSelf {
		next, _ = utf8.DecodeRune(s[i:])
	}
	return classOf(next) != classWord
}

// wordStarts reports whether no letter of a spaced word stands right before s[i].
func wordStarts(s []byte, i int) bool {
	if i == 0 {
		return true
	}
	prev := rune(s[i-1])
	if prev >= utf8.RuneSelf {
		prev, _ = utf8.DecodeLastRune(s[:i])
	}
	return classOf(prev) != classWord
}
