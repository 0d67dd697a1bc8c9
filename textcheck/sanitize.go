package textcheck

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
)

// maxSanitize is how often a text is cleaned before everything in doubt goes.
const maxSanitize = 4

// Sanitize gives a clean copy of a text: what is hidden is removed, look-alikes in
// words are replaced by ASCII, comments and padding by a space. It is idempotent,
// the result is valid UTF-8, and Inspect finds nothing hidden in it. Text without
// anything to remove is returned as it is.
func Sanitize(s string) string {
	for range maxSanitize {
		x := inspect(s, Options{Data: true}, glance(s))
		if x == nil || len(x.edits) == 0 {
			if !utf8.ValidString(s) {
				s = string(decodeRunes(s))
			}
			return s
		}
		s = x.apply()
	}
	return strip(s)
}

// apply gives the text with the edits made. Of edits that overlap, the first one
// counts, and of those that begin together the longest.
func (x *inspection) apply() string {
	slices.SortStableFunc(x.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), -cmp.Compare(a.end, b.end))
	})
	var b strings.Builder
	b.Grow(len(x.runes))
	at := 0
	for _, e := range x.edits {
		if e.start < at {
			continue
		}
		writeRunes(&b, x.runes[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	writeRunes(&b, x.runes[at:])
	return b.String()
}

func writeRunes(b *strings.Builder, runes []rune) {
	for _, r := range runes {
		b.WriteRune(r)
	}
}

// strip removes everything that could be found, wherever it stands. It is for text
// built so that each cleaning uncovers something new.
func strip(s string) string {
	runes := decodeRunes(s)
	out := make([]rune, 0, len(runes))
	for _, r := range runes {
		switch {
		case r == '\t' || r == '\n' || r >= 0x20 && r < 0x7f:
			// Without < and the space there is neither comment nor padding.
			switch {
			case r == '<':
				r = '('
			case r == ' ' || r == '\t' || r == '\n':
				if n := len(out); n > 0 && (out[n-1] == ' ' || out[n-1] == '\n') {
					continue
				}
				if r == '\t' {
					r = ' '
				}
			}
		case r < 0xa0:
			continue
		default:
			p := props(r)
			if isInvisible(r, p) || category(p) == catCo || isNoncharacter(r) || toolmark.IsSurrogate(r) || r == 0x2028 || r == 0x2029 {
				continue
			}
			if category(p) == catZs {
				r = ' '
				if n := len(out); n > 0 && (out[n-1] == ' ' || out[n-1] == '\n') {
					continue
				}
			} else if c := plain(r); c != 0 {
				r = rune(c)
			} else if isForeign(p) {
				r = utf8.RuneError
			}
		}
		out = append(out, r)
	}
	return string(out)
}
