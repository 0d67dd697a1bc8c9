package rule

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// extent is a stretch of a text in bytes, end exclusive.
type extent struct{ start, end int }

func (e extent) holds(o extent) bool { return e.start <= o.start && o.end <= e.end }

// appendSentences cuts a text into sentences, without the white space between them.
//
// A sentence ends
//   - at . ! ? … or a mark like them of another script (؟ ۔ । ॥ ։ ።), closing quotes
//     and brackets included, before white space or the end; at 。！？．｡ anywhere;
//   - at an empty line; before a list item (- * + • – or 1. or a) and white space) and
//     on both sides of a heading (# …), at the start of a line;
//   - and not at a dot after an abbreviation (e.g., i.e., single letters with dots
//     between, and a short list) or inside a path, URL, number or name.
//
// What joins sentences can only make an excuse reach further by an abbreviation, and
// what splits them can only cut a gap, so both lists are short.
func appendSentences(dst []extent, s string) []extent {
	start := 0
	flush := func(end int) {
		from, to := trim(s, start, end)
		if from < to {
			dst = append(dst, extent{from, to})
		}
		start = end
	}
	lineHead := true // only white space since the line began
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf && !sentenceByte[c] {
			if lineHead && c != ' ' && c != '\t' {
				lineHead = false
			}
			i++
			continue
		}
		size := 1
		var r rune
		if r = rune(c); r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case r == '\n' || r == '\u2028' || r == '\u2029' || r == '\r':
			next := i + size
			if blank, head := lineAfter(s, next); blank || head {
				flush(i)
			}
			lineHead = true
			i = next
			continue
		case lineHead && r == '#':
			// A heading is a sentence of its own.
			flush(i)
			if n := strings.IndexAny(s[i:], "\n\u2028\u2029"); n >= 0 {
				flush(i + n)
				i += n
				lineHead = false
				continue
			}
			i = len(s)
			continue
		case endsAnywhere(r):
			i = closers(s, i+size)
			flush(i)
		case r == '.' || r == '!' || r == '?' || endsBeforeSpace(r):
			next := closers(s, i+size)
			if next < len(s) && !spaceAt(s, next) || r == '.' && abbreviation(s, start, i) {
				i += size
				break
			}
			i = next
			flush(i)
		default:
			i += size
		}
		lineHead = false
	}
	flush(len(s))
	return dst
}

var sentenceByte = func() (table [utf8.RuneSelf]bool) {
	for _, c := range "\n\r.!?#" {
		table[c] = true
	}
	return table
}()

func endsAnywhere(r rune) bool {
	switch r {
	case '。', '！', '？', '．', '｡':
		return true
	}
	return false
}

func endsBeforeSpace(r rune) bool {
	switch r {
	case '…', '؟', '۔', '।', '॥', '։', '።', '‽', '‼', '⁉', '၊', '။', '។':
		return true
	}
	return false
}

// closers skips further end marks and closing quotes and brackets.
func closers(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch r {
		case '.', '!', '?', '"', '\'', ')', ']', '*', '_', '`', '”', '’', '»', '」', '』', '）', '。', '！', '？':
			i += size
		default:
			return i
		}
	}
	return i
}

func spaceAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return classOf(r) == classSpace
}

// lineAfter looks at the line that starts at s[i:]: is it empty, or does it start
// with a list item or a heading?
func lineAfter(s string, i int) (blank, head bool) {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	if i == len(s) || s[i] == '\n' {
		return true, false
	}
	switch c := s[i]; {
	case c == '#':
		return false, true
	case c == '-' || c == '*' || c == '+':
		return false, i+1 < len(s) && s[i+1] == ' '
	case c >= '0' && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		j := i + 1
		for c <= '9' && j < len(s) && j < i+3 && s[j] >= '0' && s[j] <= '9' {
			j++
		}
		return false, j+1 < len(s) && (s[j] == '.' || s[j] == ')') && s[j+1] == ' '
	}
	return false, strings.HasPrefix(s[i:], "• ") || strings.HasPrefix(s[i:], "– ") || strings.HasPrefix(s[i:], "· ")
}

var abbreviations = map[string]bool{
	"vs": true, "cf": true, "approx": true, "incl": true, "mr": true, "mrs": true, "dr": true, "prof": true,
	"bzw": true, "ggf": true, "resp": true, "ej": true, "sr": true, "sra": true, "тыс": true, "см": true,
}

// abbreviation reports whether the dot at s[dot] belongs to an abbreviation.
func abbreviation(s string, from, dot int) bool {
	from = max(from, dot-24)
	i := dot
	for i > from {
		r, size := utf8.DecodeLastRuneInString(s[from:i])
		if r != '.' && !unicode.IsLetter(r) {
			break
		}
		i -= size
	}
	word := s[i:dot]
	if word == "" || len(word) > 16 {
		return false
	}
	if !strings.Contains(word, ".") {
		return abbreviations[strings.ToLower(word)]
	}
	for _, letter := range strings.Split(word, ".") {
		if utf8.RuneCountInString(letter) != 1 {
			return false
		}
	}
	return true
}

func trim(s string, start, end int) (from, to int) {
	for start < end {
		r, size := utf8.DecodeRuneInString(s[start:end])
		if classOf(r) != classSpace {
			break
		}
		start += size
	}
	for start < end {
		r, size := utf8.DecodeLastRuneInString(s[start:end])
		if classOf(r) != classSpace {
			break
		}
		end -= size
	}
	return start, end
}

// breaksClause tells the marks that end a clause inside a sentence.
func breaksClause(r rune) bool {
	switch r {
	case ',', ';', ':', '(', ')', '[', ']', '{', '}', '<', '>', '\n', '.', '!', '?',
		'—', '–', '，', '、', '；', '：', '（', '）', '،', '؛', '·', '•', '|', '。', '！', '？':
		return true
	}
	return false
}

// inside reports whether the dot or colon at s[i] stands inside a word, a path or a
// number.
func inside(s string, i int, r rune) bool {
	if r != '.' && r != ':' && r != ',' && r != '?' {
		return false
	}
	return i+1 < len(s) && !spaceAt(s, i+1)
}
