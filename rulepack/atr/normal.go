package atr

import (
	"iter"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/toolmark/toolmark"
)

// normalized gives the text that patterns are tried on first: in NFKC, without
// zero-width and bidi characters, look-alikes folded. changed is false where that is
// the text itself.
func normalized(s string) (out string, changed bool) {
	if isASCII(s) {
		return s, false
	}
	composed := composed(s)
	foldable, dropped := false, false
	for i := 0; i < len(composed); {
		if composed[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := toolmark.DecodeRune(composed[i:])
		foldable = foldable || makesFold(r)
		dropped = dropped || isDropped(r)
		i += size
	}
	if !foldable && !dropped {
		return composed, composed != s
	}
	var b strings.Builder
	b.Grow(len(composed))
	for i := 0; i < len(composed); {
		if c := composed[i]; c < utf8.RuneSelf {
			b.WriteByte(c)
			i++
			continue
		}
		r, size := toolmark.DecodeRune(composed[i:])
		switch {
		case isDropped(r):
		case foldable && lookalikes[r] != 0:
			b.WriteByte(lookalikes[r])
		default:
			b.WriteString(composed[i : i+size])
		}
		i += size
	}
	out = b.String()
	return out, out != s
}

// composed gives s in NFKC; lone surrogates stay, and nothing composes across them.
func composed(s string) string {
	if utf8.ValidString(s) {
		return norm.NFKC.String(s)
	}
	var b strings.Builder
	for piece := range pieces(s) {
		if utf8.ValidString(piece) {
			piece = norm.NFKC.String(piece)
		}
		b.WriteString(piece)
	}
	return b.String()
}

// pieces splits WTF-8 text into stretches of UTF-8 and what stands between them: lone
// surrogates, one by one.
func pieces(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(s); {
			r, size := toolmark.DecodeRune(s[i:])
			if !toolmark.IsSurrogate(r) && (r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
			if from < i && !yield(s[from:i]) || !yield(s[i:i+size]) {
				return
			}
			i += size
			from = i
		}
		if from < len(s) {
			yield(s[from:])
		}
	}
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isDropped reports whether the engine of the package removes a character.
func isDropped(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return r == 0x2060 || r == 0xfeff || r == 0x180e
}

// makesFold reports whether a character makes folding take place at all: the engine of
// the package folds a text only where a character of these stretches stands in it, though
// the list goes beyond them.
func makesFold(r rune) bool {
	return r >= 0x370 && r <= 0x4ff || r == 0x131 || r == 0x1c0 || r == 0x578
}

// foldsAlone are the look-alikes that do not make folding take place by themselves.
const foldsAlone = "\u0501\u051b\u0261"

// lookalikes are the letters that the engine of the package takes for Latin ones.
var lookalikes = func() map[rune]byte {
	m := map[rune]byte{}
	for _, pair := range []struct{ from, to string }{
		{"аеорсхуіѕјһԁԛɡнкмтв", "aeopcxyisjhdqghkmtb"},
		{"АВЕКМНОРСТХУІЈЅ", "ABEKMHOPCTXYIJS"},
		{"ορανκ", "opavk"},
		{"ε", "e"},
		{"ΑΒΕΖΗΙΚΜΝΟΡΤΧΥ", "ABEZHIKMNOPTXY"},
		{"ıǀո", "iln"},
	} {
		i := 0
		for _, r := range pair.from {
			m[r] = pair.to[i]
			i++
		}
	}
	return m
}()

// origins gives for each code point of normalized(s), and for its end, the code point
// of s from which it comes.
func origins(s string) []int {
	var list []int
	at := 0
	for piece := range pieces(s) {
		if !utf8.ValidString(piece) {
			list = append(list, at)
			at++
			continue
		}
		var walk norm.Iter
		walk.InitString(norm.NFKC, piece)
		for from := 0; !walk.Done(); from = walk.Pos() {
			for _, r := range string(walk.Next()) {
				if !isDropped(r) {
					list = append(list, at)
				}
			}
			at += toolmark.CodePoints(piece[from:walk.Pos()])
		}
	}
	return append(list, at)
}

// code gives the stretches of a text that count as code: between fences (a line that
// begins with ```), between backticks on a line, and what stands in quotation marks
// in a line of a table. s has a byte for a character; all that matters here is ASCII,
// line ends and white space.
func code(s []rune) [][2]int {
	var list [][2]int
	open := -1
	for pos := 0; pos <= len(s); {
		end := pos
		for end < len(s) && s[end] != '\n' {
			end++
		}
		i := pos
		for i < end && set(whiteSpace).has(s[i]) {
			i++
		}
		if i+3 <= end && s[i] == '`' && s[i+1] == '`' && s[i+2] == '`' {
			if open < 0 {
				open = pos
			} else {
				list = append(list, [2]int{open, end + 1})
				open = -1
			}
		}
		pos = end + 1
	}
	if open >= 0 {
		list = append(list, [2]int{open, len(s)})
	}
	fences := list
	for i := 0; i < len(s); i++ {
		if s[i] != '`' {
			continue
		}
		end := i + 1
		for end < len(s) && s[end] != '`' && s[end] != '\n' {
			end++
		}
		if end == i+1 || end == len(s) || s[end] == '\n' {
			continue
		}
		if !within(fences, i) {
			list = append(list, [2]int{i, end + 1})
		}
		i = end
	}
	for pos := 0; pos < len(s); {
		end := pos
		for end < len(s) && !isLineEnd(s[end]) {
			end++
		}
		if s[pos] == '|' {
			for i := pos; i < end; i++ {
				if s[i] != '"' {
					continue
				}
				close := i + 1
				for close < end && s[close] != '"' {
					close++
				}
				if close == end || close == i+1 {
					continue
				}
				list = append(list, [2]int{i, close + 1})
				i = close
			}
		}
		pos = end + 1
	}
	return list
}

func isLineEnd(r rune) bool { return set(lineEnds).has(r) }

func within(list [][2]int, at int) bool {
	for _, r := range list {
		if at >= r[0] && at < r[1] {
			return true
		}
	}
	return false
}
