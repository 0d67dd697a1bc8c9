package rule

import (
	"strings"
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
	if !strings.ContainsFunc(a.text, func(r rune) bool { return r == '_' || r == '-' || r == '.' || unicode.IsUpper(r) }) {
		return false
	}
	// Twice as much is more than enough.
	out, back := make([]byte, 0, 2*len(a.text)), make([]int32, 0, 2*len(a.text)+1)
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
	if !changed {
		return false
	}
	a.take(string(out), append(back, int32(a.reading(len(a.text)))), nil)
	return true
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
