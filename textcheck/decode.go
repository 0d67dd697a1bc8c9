package textcheck

import (
	"encoding/base64"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	minBase64 = 16 // letters of a base64 run
	minHex    = 16 // digits of a hex run
)

// decodedRun is a stretch of a text, in bytes, and what it decodes to.
type decodedRun struct {
	start, end int
	text       string
}

// base64Runs finds the runs of base64 (RFC 4648, both alphabets, with or without
// padding, over line ends) that decode to text.
func base64Runs(s string) []decodedRun {
	var out []decodedRun
	for i := 0; i < len(s); {
		if class[s[i]]&clBase64 == 0 {
			i++
			continue
		}
		start := i
		i = runEnd(s, i)
		if i-start < minBase64 {
			continue
		}
		// Wrapped base64 has full lines, each a multiple of four.
		lines := []decodedRun{{start: start, end: i}}
		for line := i - start; line >= 40 && line%4 == 0; {
			next := i
			if next < len(s) && s[next] == '\r' {
				next++
			}
			if next >= len(s) || s[next] != '\n' {
				break
			}
			next++
			stop := runEnd(s, next)
			if stop-next < 4 {
				break
			}
			lines = append(lines, decodedRun{start: next, end: stop})
			line, i = stop-next, stop
		}
		if text, ok := decodeBase64(s[start:i]); ok {
			for pad := 0; pad < 2 && i < len(s) && s[i] == '='; pad++ {
				i++
			}
			out = append(out, decodedRun{start, i, text})
			continue
		}
		for _, line := range lines {
			out = appendParts(out, s, line.start, line.end, len(lines) > 1)
		}
	}
	return out
}

// appendParts adds what the parts of a run that decodes to nothing as a whole
// decode to: a line, a part of a path or of a joined name.
func appendParts(out []decodedRun, s string, start, end int, whole bool) []decodedRun {
	if whole {
		if text, ok := decodeBase64(s[start:end]); ok {
			return append(out, decodedRun{start, end, text})
		}
	}
	for from := start; from < end; {
		to := from
		for to < end && class[s[to]]&(clLetter|clDigit) != 0 {
			to++
		}
		if to-from >= minBase64 && to-from < end-start {
			if text, ok := decodeBase64(s[from:to]); ok {
				stop := to
				for to == end && stop < len(s) && stop-to < 2 && s[stop] == '=' {
					stop++
				}
				out = append(out, decodedRun{from, stop, text})
			}
		}
		from = to + 1
	}
	return out
}

func runEnd(s string, i int) int {
	for i < len(s) && class[s[i]]&clBase64 != 0 {
		i++
	}
	return i
}

func decodeBase64(run string) (string, bool) {
	std := make([]byte, 0, len(run))
	for i := 0; i < len(run); i++ {
		switch c := run[i]; c {
		case '-':
			std = append(std, '+')
		case '_':
			std = append(std, '/')
		case '\r', '\n':
		default:
			std = append(std, c)
		}
	}
	if len(std)%4 == 1 {
		std = std[:len(std)-1]
	}
	b := make([]byte, base64.RawStdEncoding.DecodedLen(len(std)))
	n, err := base64.RawStdEncoding.Decode(b, std)
	if err != nil {
		return "", false
	}
	if text, ok := prose(b[:n]); ok {
		return text, true
	}
	return utf16Text(b[:n])
}

// utf16Text reads bytes as UTF-16, little-endian, as PowerShell encodes commands.
func utf16Text(b []byte) (string, bool) {
	if len(b) < 16 || len(b)%2 != 0 {
		return "", false
	}
	out := make([]byte, 0, len(b)/2)
	for i := 0; i < len(b); i += 2 {
		if b[i+1] != 0 {
			return "", false
		}
		out = append(out, b[i])
	}
	return prose(out)
}

// prose is readable with the bar set for what may as well be random: at least eight
// characters and for the most part letters and spaces, or a command line.
func prose(b []byte) (string, bool) {
	if commandLine(b) {
		return string(b), true
	}
	text, ok := readable(b)
	if !ok {
		return "", false
	}
	letters, total := 0, 0
	for _, r := range text {
		total++
		if r == ' ' || r < 0x80 && isASCIILetter(byte(r)) || r >= 0x80 && isLetter(props(r)) {
			letters++
		}
	}
	return text, total >= 8 && letters*2 >= total
}

// commandLine reports whether bytes may be a command line, which has digits and signs
// where prose has letters: printable ASCII throughout (of random bytes one run of
// twelve in a hundred thousand is), with words in it.
func commandLine(b []byte) bool {
	if len(b) < 12 {
		return false
	}
	spaces, letters, longest := 0, 0, 0
	for _, c := range b {
		switch {
		case c == ' ':
			spaces++
		case c < ' ' && c != '\n' && c != '\t' && c != '\r' || c >= 0x7f:
			return false
		}
		if !isASCIILetter(c) {
			letters = 0
			continue
		}
		letters++
		longest = max(longest, letters)
	}
	return spaces > 0 && longest >= 3
}

// hexRuns finds runs of hex digits, unbroken or in pairs with a space or colon
// between, that decode to ASCII text.
func hexRuns(s string) []decodedRun {
	var out []decodedRun
	for i := 0; i < len(s); {
		if class[s[i]]&clHex == 0 || i > 0 && class[s[i-1]]&(clLetter|clDigit) != 0 && !(s[i-1]|0x20 == 'x' && i > 1 && s[i-2] == '0') {
			i++
			continue
		}
		var b []byte
		start, j := i, i
		for j+1 < len(s) && class[s[j]]&class[s[j+1]]&clHex != 0 {
			n, _ := strconv.ParseUint(s[j:j+2], 16, 8)
			b = append(b, byte(n))
			j += 2
			if j+2 < len(s) && (s[j] == ' ' || s[j] == ':') && class[s[j+1]]&class[s[j+2]]&clHex != 0 && (j+3 >= len(s) || class[s[j+3]]&(clLetter|clDigit) == 0 || len(b)*2 < j-start) {
				j++
			}
		}
		if len(b)*2 >= minHex && (j == len(s) || class[s[j]]&(clLetter|clDigit) == 0) {
			if text, ok := prose(b); ok && isASCII(text) {
				out = append(out, decodedRun{start, j, text})
			}
		}
		i = max(j, i+1)
		for i < len(s) && class[s[i]]&clHex != 0 {
			i++
		}
	}
	return out
}

// entityRuns finds character references of HTML.
func entityRuns(s string) []decodedRun {
	var out []decodedRun
	for i := 0; i < len(s); {
		k := strings.IndexByte(s[i:], '&')
		if k < 0 {
			break
		}
		i += k
		end := i + 1
		for end < len(s) && end-i < 34 && (s[end] == '#' || class[s[end]]&(clLetter|clDigit) != 0) {
			end++
		}
		if end < len(s) && s[end] == ';' {
			end++
		} else if end-i < 3 || s[i+1] != '#' {
			i = end
			continue
		}
		if text := html.UnescapeString(s[i:end]); text != s[i:end] {
			out = append(out, decodedRun{i, end, text})
		}
		i = end
	}
	return out
}

// escapeRuns finds the escapes of JSON, JavaScript, Python and C: \uXXXX,
// \UXXXXXXXX, \u{X}, \xXX, \ooo, \n, \t, \r.
// Text with none but the last three is left alone: it is how texts name line ends.
func escapeRuns(s string) []decodedRun {
	var out []decodedRun
	telling := false
	for i := 0; i < len(s); {
		k := strings.IndexByte(s[i:], '\\')
		if k < 0 || i+k+1 >= len(s) {
			break
		}
		i += k
		text, n := unescape(s[i:])
		if n == 0 {
			i += 2
			continue
		}
		out = append(out, decodedRun{i, i + n, text})
		telling = telling || n > 2
		i += n
	}
	if !telling {
		return nil
	}
	return out
}

// unescape reads one escape, or several that together make one character of UTF-8
// or UTF-16. n is 0 where there is none.
func unescape(s string) (text string, n int) {
	switch s[1] {
	case 'n', 'r', 't':
		return " ", 2
	case 'u', 'U':
		r, n := unescapeRune(s)
		if n > 0 && r >= 0xd800 && r < 0xdc00 && n < len(s)-1 && s[n] == '\\' {
			if low, m := unescapeRune(s[n:]); m > 0 && low >= 0xdc00 && low <= 0xdfff {
				return string(0x10000 + (r-0xd800)<<10 + (low - 0xdc00)), n + m
			}
		}
		if n == 0 {
			return "", 0
		}
		return string(r), n
	}
	var b []byte
	for n < len(s) && len(b) < utf8.UTFMax {
		c, m := unescapeByte(s[n:])
		if m == 0 {
			break
		}
		b = append(b, c)
		n += m
		if utf8.Valid(b) {
			return string(b), n
		}
	}
	if len(b) == 0 {
		return "", 0
	}
	_, m := unescapeByte(s)
	return string(rune(b[0])), m
}

func unescapeRune(s string) (rune, int) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	digits := 4
	switch {
	case s[1] == 'U':
		digits = 8
	case s[1] != 'u':
		return 0, 0
	case len(s) > 3 && s[2] == '{':
		end := strings.IndexByte(s[:min(len(s), 12)], '}')
		if end < 4 {
			return 0, 0
		}
		v, err := strconv.ParseUint(s[3:end], 16, 21)
		if err != nil {
			return 0, 0
		}
		return rune(v), end + 1
	}
	if len(s) < 2+digits {
		return 0, 0
	}
	v, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, 0
	}
	return rune(v), 2 + digits
}

func unescapeByte(s string) (byte, int) {
	if len(s) < 4 || s[0] != '\\' {
		return 0, 0
	}
	if s[1] == 'x' {
		if v, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
			return byte(v), 4
		}
		return 0, 0
	}
	if v, err := strconv.ParseUint(s[1:4], 8, 8); err == nil {
		return byte(v), 4
	}
	return 0, 0
}

// percentRuns finds percent-encoding (RFC 3986) that gives UTF-8.
// Text with no encoded letter or space is left alone: a slash in a URL hides nothing.
func percentRuns(s string) []decodedRun {
	var out []decodedRun
	telling := false
	for i := 0; i < len(s); {
		k := strings.IndexByte(s[i:], '%')
		if k < 0 {
			break
		}
		i += k
		var b []byte
		j := i
		for j+2 < len(s) && s[j] == '%' && class[s[j+1]]&class[s[j+2]]&clHex != 0 && len(b) < utf8.UTFMax {
			n, _ := strconv.ParseUint(s[j+1:j+3], 16, 8)
			b = append(b, byte(n))
			j += 3
			if utf8.Valid(b) {
				out = append(out, decodedRun{i, j, string(b)})
				telling = telling || b[0] == ' ' || b[0] == '<' || b[0] >= 0x80 || class[b[0]]&(clLetter|clDigit) != 0
				break
			}
		}
		i = max(j, i+1)
	}
	if !telling {
		return nil
	}
	return out
}

// rot13Runs finds the stretches of a line in which letters turned by 13 places give
// words of English one after the other, and the words as sent are none.
func rot13Runs(s string) []decodedRun {
	var out []decodedRun
	start, end, letters, words, misses := -1, 0, 0, 0, 0
	finish := func() {
		if words >= 2 && letters >= 8 && len(out) < maxRuns {
			out = append(out, decodedRun{start, end, rot13(s[start:end])})
		}
		start, letters, words, misses = -1, 0, 0, 0
	}
	for i := 0; i < len(s); {
		if !isASCIILetter(s[i]) {
			if s[i] == '\n' {
				finish()
			}
			i++
			continue
		}
		from := i
		for i < len(s) && isASCIILetter(s[i]) {
			i++
		}
		word := s[from:i]
		switch {
		case len(word) > 1 && english(word):
			finish()
			continue
		case len(word) > 1 && len(word) <= maxEnglish && english(rot13(word)):
			letters += len(word)
			words++
			misses = 0
		case misses > 3:
			finish()
			continue
		default:
			misses++
		}
		if start < 0 {
			start = from
		}
		end = i
	}
	finish()
	return out
}

// namesRot13 reports a text that says itself that it is turned by 13 places.
func namesRot13(s string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], "13")
		if i < 0 {
			return false
		}
		before := strings.TrimSuffix(s[:at+i], "-")
		if strings.HasSuffix(before, "ot") || strings.HasSuffix(before, "OT") {
			return true
		}
		at += i + 2
	}
}

func rot13(s string) string {
	turned := []byte(s)
	for i, c := range turned {
		switch {
		case c >= 'a' && c <= 'z':
			turned[i] = 'a' + (c-'a'+13)%26
		case c >= 'A' && c <= 'Z':
			turned[i] = 'A' + (c-'A'+13)%26
		}
	}
	return string(turned)
}

// base64 records the runs of the text that decode to text.
func (x *inspection) base64(s string) {
	runs := base64Runs(s)
	if len(runs) == 0 {
		return
	}
	raw := Reading{Text: s, runs: rawView(s).runs}
	if !utf8.ValidString(s) {
		v := rawView(s)
		raw = Reading{Text: v.text, runs: v.runs}
		runs = base64Runs(v.text)
	}
	for _, r := range runs {
		from, to := raw.Origin(r.start, r.end)
		x.hit(KindBase64, from, to, from, r.text)
	}
}
