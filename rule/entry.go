package rule

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// family is a named set of words and phrases.
type family struct {
	name    string
	entries []*entry
	refers  []reference
	set     int // number of its words' set in the index, -1 where no rule reads it
	number  int
}

// entry is one word or phrase of a family.
type entry struct {
	parts   []part
	turkish bool // i, dotted or not, is one letter also in regular expressions
	rarest  int  // the part by which it is looked for, see chooseKey
}

// part is one word of an entry, folded.
type part struct {
	text string
	// source is the text as written, composed.
	source string
	// before and after let letters stand before and after the text in the same word.
	before, after bool
	// any is a word of any letters; it has no text.
	any bool
}

// isGlue tells what may stand between the words of a phrase: white space, and what
// joins words in names.
func isGlue(r rune) bool { return r == '-' || r == '_' || classOf(r) == classSpace }

// parseEntry reads a word or phrase as it stands in a family.
func parseEntry(text, language string) (entry, error) {
	if plainWord(text) {
		return entry{parts: []part{{text: text, source: text}}, turkish: language == "tr" || language == "az"}, nil
	}
	text = norm.NFC.String(text)
	fields := strings.FieldsFunc(text, func(r rune) bool { return classOf(r) == classSpace || r == '_' })
	if len(fields) == 0 {
		return entry{}, fmt.Errorf("an empty word")
	}
	if len(text) > 120 || len(fields) > 8 {
		return entry{}, fmt.Errorf("%q is too long: at most 120 bytes and 8 words", text)
	}
	e := entry{turkish: language == "tr" || language == "az"}
	for i, f := range fields {
		var p part
		if f == "*" {
			if i == 0 || i == len(fields)-1 {
				return entry{}, fmt.Errorf("%q begins or ends with a word of any letters", text)
			}
			p.any = true
			e.parts = append(e.parts, p)
			continue
		}
		p.source, p.before = strings.CutPrefix(f, "*")
		p.source, p.after = strings.CutSuffix(p.source, "*")
		if strings.Contains(p.source, "*") {
			return entry{}, fmt.Errorf("%q: * may stand at the beginning or the end of a word only", text)
		}
		p.text = fold(p.source)
		if p.text == "" {
			return entry{}, fmt.Errorf("%q: a word without letters", text)
		}
		last, _ := utf8.DecodeLastRuneInString(p.text)
		hangul, letters := unicode.Is(unicode.Hangul, last), utf8.RuneCountInString(p.text)
		if hangul && letters > 1 {
			p.after = true // particles are written onto the noun
		}
		if (p.before || p.after && !hangul) && letters < 2 {
			return entry{}, fmt.Errorf("%q: a word with * needs two letters or more", text)
		}
		e.parts = append(e.parts, p)
	}
	e.chooseKey()
	return e, nil
}

// chooseKey chooses the part that is looked for first: the rarest of those from which
// back finds the beginning. Most phrases begin with a word that stands everywhere.
func (e *entry) chooseKey() {
	least := frequency(e.parts[0].text, true)
	for i := 1; i < len(e.parts); i++ {
		previous, p := &e.parts[i-1], &e.parts[i]
		last, _ := utf8.DecodeLastRuneInString(previous.text)
		if previous.before || previous.after || previous.any || isGlue(last) {
			return
		}
		first, _ := utf8.DecodeRuneInString(p.text)
		if p.before || p.any || isGlue(first) {
			return
		}
		if f := frequency(p.text, true); f < least {
			e.rarest, least = i, f
		}
	}
}

// plainWord tells words of ASCII letters that fold to themselves: most are.
func plainWord(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return s != "" && len(s) <= 120
}

// key gives the folded text that stands wherever the entry does, and by which it is
// found.
func (e *entry) key() string { return e.parts[e.rarest].text }

// back gives where the entry begins if it has its key at s[at:]. The parts before the
// key are whole words, and neither they nor the key end or begin with what may stand
// between: so there is one place at most. It says cut where the text begins too late.
func (e *entry) back(s []byte, at int) (start int, ok, cut bool) {
	for i := e.rarest; i > 0; i-- {
		end := at
		for end > 0 {
			r, size := rune(s[end-1]), 1
			if r >= utf8.RuneSelf {
				r, size = utf8.DecodeLastRune(s[:end])
			}
			if !isGlue(r) {
				break
			}
			end -= size
		}
		p := &e.parts[i-1]
		switch {
		case end == 0:
			return 0, false, true
		case end == at && !e.parts[i].joins(p), len(p.text) > end, string(s[end-len(p.text):end]) != p.text:
			return 0, false, false
		}
		at = end - len(p.text)
	}
	return at, true, false
}

// identity is the same for entries that match the same words.
func (e *entry) identity() string {
	b := make([]byte, 0, 64)
	for i := range e.parts {
		p := &e.parts[i]
		b = append(b, 1+flag(p.before, 1)|flag(p.after, 2)|flag(p.any, 4))
		b = append(b, p.text...)
	}
	return string(b)
}

func flag(is bool, bit byte) byte {
	if is {
		return bit
	}
	return 0
}

// match reports whether the entry stands in folded text s with its first part at
// s[at:], and from where to where. If not, end is len(s) where it might if the text went on
// after white space.
func (e *entry) match(s []byte, at int) (start, end int, ok bool) {
	first := &e.parts[0]
	start, end = at, at+len(first.text)
	switch {
	case first.before:
		start = wordStart(s, at)
	case !wordStarts(s, at) && !startsDense(first.text):
		return 0, 0, false
	}
	if end, ok = first.finish(s, end); !ok {
		return 0, 0, false
	}
	for i := 1; i < len(e.parts); i++ {
		p := &e.parts[i]
		next := skipGlue(s, end)
		if next == len(s) {
			return 0, next, false
		}
		if next == end && !p.joins(&e.parts[i-1]) {
			return 0, 0, false
		}
		switch {
		case p.any:
			end = wordEnd(s, next)
			if end == next {
				return 0, 0, false
			}
			continue
		case p.before:
			word := wordEnd(s, next)
			n := strings.Index(string(s[next:word]), p.text)
			if n < 0 {
				return 0, 0, false
			}
			next += n
		case !hasPrefix(s[next:], p.text):
			return 0, 0, false
		}
		if end, ok = p.finish(s, next+len(p.text)); !ok {
			return 0, 0, false
		}
	}
	return start, end, true
}

// follows reports whether the further words of a phrase may stand behind its key,
// which ends at s[:end], for the regular expression that regex writes: wherever that
// matches, they do. Where more than white space and plain words is to come it does not
// look, and says yes. It says cut where the text ends after white space.
func (e *entry) follows(s []byte, end int) (follows, cut bool) {
	for i := e.rarest + 1; i < len(e.parts); i++ {
		p, previous := &e.parts[i], &e.parts[i-1]
		dense := false
		if previous.after {
			end = wordEnd(s, end)
			dense = end < len(s) && startsDense(string(s[end:min(end+utf8.UTFMax, len(s))]))
		}
		next := skipGlue(s, end)
		switch {
		case dense: // is of the same word to a pattern, which knows no such scripts
			return true, false
		case next == len(s):
			return false, true
		case p.any || p.before || isGlue(rune(p.text[0])):
			return true, false
		case next == end && !p.joins(previous) || !hasPrefix(s[next:], p.text):
			return false, false
		}
		end = next + len(p.text)
	}
	return true, false
}

// joins lets words of a script without spaces follow each other without any.
func (p *part) joins(previous *part) bool {
	return startsDense(p.text) && previous.text != "" && endsDense(previous.text)
}

// finish gives where a word ends whose text ends at s[:end].
func (p *part) finish(s []byte, end int) (int, bool) {
	last, _ := utf8.DecodeLastRuneInString(p.text)
	switch c := classOf(last); {
	case c != classWord:
		return end, true
	case p.after:
		return wordEnd(s, end), true
	default:
		return end, wordEnds(s, end)
	}
}

func startsDense(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return classOf(r) == classDense
}

func endsDense(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return classOf(r) == classDense
}

func hasPrefix(s []byte, prefix string) bool {
	return len(s) >= len(prefix) && string(s[:len(prefix)]) == prefix
}

func skipGlue(s []byte, i int) int {
	for i < len(s) {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(s[i:])
		}
		if !isGlue(r) {
			break
		}
		i += size
	}
	return i
}

// wordEnd gives the end of the letters that go on at s[i:].
func wordEnd(s []byte, i int) int {
	for i < len(s) {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(s[i:])
		}
		if classOf(r) != classWord {
			if isApostrophe(r) && !wordEnds(s, i+size) && i+size < len(s) {
				i += size
				continue
			}
			break
		}
		i += size
	}
	return i
}

// wordStart gives the start of the letters that end at s[:i].
func wordStart(s []byte, i int) int {
	for i > 0 {
		r, size := rune(s[i-1]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeLastRune(s[:i])
		}
		if classOf(r) != classWord {
			break
		}
		i -= size
	}
	return i
}

// regex writes the entry as a regular expression. An ASCII letter or digit at
// either end gets a word boundary, an ASCII mark at the beginning the opposite; RE2
// knows neither for other characters.
func (e *entry) regex(b *strings.Builder) {
	const glue, letters = `[\s_\-]+`, `[\pL\pM\pN]*`
	for i := range e.parts {
		p := &e.parts[i]
		if i > 0 {
			if p.joins(&e.parts[i-1]) {
				b.WriteString(`[\s_\-]*`)
			} else {
				b.WriteString(glue)
			}
		}
		if p.any {
			b.WriteString(`[\pL\pM\pN'’]+`)
			continue
		}
		switch {
		case p.before:
			b.WriteString(letters)
		case i > 0 || p.source[0] >= utf8.RuneSelf:
		case isASCIIWord(p.source[0]):
			b.WriteString(`\b`)
		default: // a mark: no letter right before it
			b.WriteString(`\B`)
		}
		p.quote(b, e.turkish)
		switch last, _ := utf8.DecodeLastRuneInString(p.source); {
		case p.after && classOf(last) == classWord:
			b.WriteString(letters)
		case i == len(e.parts)-1 && isASCIIWord(p.source[len(p.source)-1]):
			b.WriteString(`\b`)
		}
	}
}

// edges says where the expression that regex writes has a word boundary beside the
// entry's key.
func (e *entry) edges() (left, right bool) {
	p := &e.parts[e.rarest]
	left = e.rarest == 0 && !p.before && isASCIIWord(p.source[0])
	right = len(e.parts) == 1 && !p.after && isASCIIWord(p.source[len(p.source)-1])
	return left, right
}

// plain tells an entry that is one word and no more.
func (e *entry) plain() bool {
	return len(e.parts) == 1 && !e.parts[0].before && !e.parts[0].after
}

// secondByte gives the byte with which the word behind the key begins, where only
// white space and the like can stand between.
func (e *entry) secondByte() byte {
	if len(e.parts) < e.rarest+2 {
		return 0
	}
	first, second := &e.parts[e.rarest], &e.parts[e.rarest+1]
	if first.after || second.any || second.before || second.joins(first) || isGlue(rune(second.text[0])) {
		return 0
	}
	return second.text[0]
}

func (p *part) quote(b *strings.Builder, turkish bool) {
	if !turkish && !strings.ContainsAny(p.source, "ßẞ’'İı") {
		b.WriteString(regexp.QuoteMeta(p.source))
		return
	}
	for _, r := range p.source {
		switch {
		case r == 'ß' || r == 'ẞ':
			b.WriteString(`(?:ss|[ßẞ])`)
		case r == 'İ' || r == 'ı' || turkish && (r == 'i' || r == 'I'):
			b.WriteString(`[iIİı]`)
		case isApostrophe(r):
			b.WriteString(`['’ʼ]`)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
}

func isASCIIWord(c byte) bool {
	return c == '_' || c < utf8.RuneSelf && asciiClass[c] == classWord
}
