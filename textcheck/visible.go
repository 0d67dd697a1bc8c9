package textcheck

import (
	"fmt"
	"strings"

	"github.com/toolmark/toolmark"
)

// Visible gives hostile text so that it can be printed: controls as \x1b, what shows
// nothing as \u{200b}, lone surrogates as \ud800, a wrong byte as \xff. LF and tab
// stay. Everything else is as it was, so the result is for people, not for reading
// back: it does not tell a character from its escape. The result is valid UTF-8 and
// has no control or format characters other than LF and tab.
func Visible(s string) string { return visible(s, true) }

// VisibleLine is Visible for one line: LF, tab and CR are \n, \t and \r.
func VisibleLine(s string) string { return visible(s, false) }

func visible(s string, lines bool) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); {
		r, size := toolmark.DecodeRune(s[i:])
		if r >= 0x20 && r < 0x7f || lines && (r == '\n' || r == '\t') || r >= 0xa0 && size > 1 && showable(r) {
			i += size
			continue
		}
		b.WriteString(s[from:i])
		switch {
		case size == 1 && r >= 0x80:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case toolmark.IsSurrogate(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += size
		from = i
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// showable reports a character beyond ASCII that shows, or is a space.
func showable(r rune) bool {
	p := props(r)
	switch category(p) {
	case catCc, catCf, catCs, catCo, catZl, catZp:
		return false
	}
	return !isInvisible(r, p) && !isNoncharacter(r)
}
