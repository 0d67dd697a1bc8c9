package rule

import (
	"unicode"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
)

// longestName is the most bytes of a text that is read as a name.
const longestName = 512

// isName tells texts whose words are written into one: names, and values of one word.
func isName(surface toolmark.Surface, text string) bool {
	switch surface {
	case toolmark.SurfaceParameterName, toolmark.SurfaceName, toolmark.SurfaceEnum, toolmark.SurfaceDefault:
	default:
		return false
	}
	if len(text) > longestName {
		return false
	}
	for _, r := range text {
		if classOf(r) == classSpace {
			return false
		}
	}
	return true
}

// splitNames takes the current text, a name, apart into its words: at _ - . and
// where a capital letter starts a word, as in systemPrompt or SSHKey. It reports
// whether that changed anything; if so, the text is now the words with spaces.
func (a *analysis) splitNames() bool {
	if !splits(a.text) {
		return false
	}
	out, back := a.split.text[:0], a.split.back[:0]
	changed := false
	for i, r := range a.text {
		from := int32(a.reading(i))
		size := utf8.RuneLen(r)
		switch {
		case r == '_' || r == '-' || r == '.':
			out, back, changed = append(out, ' '), append(back, from), true
			continue
		case i > 0 && unicode.IsUpper(r) && startsHump(a.text, i, size):
			out, back, changed = append(out, ' '), append(back, from), true
		}
		out = append(out, a.text[i:i+size]...)
		for range size {
			back = append(back, from)
		}
	}
	back = append(back, int32(a.reading(len(a.text))))
	a.split.text, a.split.back = out, back
	if !changed {
		return false
	}
	a.take(string(out), back, nil)
	return true
}

// splits reports whether a name may have words to take apart.
func splits(name string) bool {
	for i := range len(name) {
		if c := name[i]; c == '_' || c == '-' || c == '.' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// splitBuffers are kept between names.
type splitBuffers struct {
	text []byte
	back []int32
}

// startsHump reports whether a word starts at the capital letter at s[i]: after a
// small letter or a digit, or as the last of several capitals before a small one.
func startsHump(s string, i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if unicode.IsLower(before) || unicode.IsDigit(before) {
		return true
	}
	after, _ := utf8.DecodeRuneInString(s[i+size:])
	return unicode.IsUpper(before) && unicode.IsLower(after)
}
