package shadow

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolmark/toolmark/textcheck"
)

// mention is a place in a text that names a tool which is not the server's own.
type mention struct {
	server, tool string
	known        bool // a tool of a known other server
	called       bool // the text calls it a tool
	start, end   int  // byte offsets in the text
}

// mark replaces the tool names of a sentence by marks and gives the foreign ones in
// order. Where the sentence names no foreign tool it gives nothing.
func (n *Names) mark(text string, s span) (string, []mention) {
	var b strings.Builder
	var mentions []mention
	written := s.start
	for i := s.start; i < s.end; {
		r, size := utf8.DecodeRuneInString(text[i:s.end])
		if string(r) == markForeign || string(r) == markOwn {
			b.WriteString(text[written:i])
			i += size
			written = i
			continue
		}
		if !nameRune(r) {
			i += size
			continue
		}
		end := i
		for end < s.end {
			r, size := utf8.DecodeRuneInString(text[end:s.end])
			if !nameRune(r) && !joint(r) {
				break
			}
			end += size
		}
		token := strings.TrimRightFunc(text[i:end], joint)
		end = i + len(token)
		if end == i {
			i += size
			continue
		}
		m, kind := n.classify(text, s, i, end)
		if kind != 0 {
			b.WriteString(text[written:i])
			written = end
			if kind == 'o' {
				b.WriteString(markOwn)
			} else {
				b.WriteString(markForeign)
				mentions = append(mentions, m)
			}
		}
		i = end
	}
	if len(mentions) == 0 {
		return "", nil
	}
	b.WriteString(text[written:s.end])
	return b.String(), mentions
}

func nameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func joint(r rune) bool { return r == '-' || r == '.' || r == ':' || r == '/' }

// classify says what a token is: 'o' an own tool, 'f' a foreign one, 0 neither. A
// token that names a tool only by chance (a tool called "search") counts where the
// text shows that a tool is meant: it is built as identifiers are, in quotes, or
// beside the word "tool".
func (n *Names) classify(text string, s span, start, end int) (mention, byte) {
	token := text[start:end]
	if len(token) > 256 || len(token) < 2 {
		return mention{}, 0
	}
	built, inQuotes := compound(token), quoted(text, start, end)
	if !built && !inQuotes && len(n.others) == 0 {
		return mention{}, 0
	}
	norm := textcheck.NormalName(token)
	if n.own[norm] {
		return mention{}, 'o'
	}
	m := mention{start: start, end: end}
	if at, ok := n.byNorm[norm]; ok && (built || inQuotes || beside(text, s, start, end)) {
		return m.of(n.others[at[0]]), 'f'
	}
	if head, tail, ok := n.qualified(token); ok {
		tail = textcheck.NormalName(tail)
		if head == "" && n.own[tail] {
			return mention{}, 'o'
		}
		for _, at := range n.byNorm[tail] {
			if o := n.others[at]; head == "" || textcheck.NormalName(o.server) == head {
				return m.of(o), 'f'
			}
		}
	}
	if head, tail, ok := strings.Cut(token, "."); ok && tail != "" && serverName(head) {
		m.server, m.tool, m.known = head, tail, true
		return m, 'f'
	}
	if o, ok := n.misspelt(norm, built || inQuotes); ok && !n.member(token, norm) {
		return m.of(o), 'f'
	}
	// A plain word that is no known tool's name is a word, whatever stands beside it.
	if !built && !inQuotes || n.member(token, norm) || unlikely(token) {
		return mention{}, 0
	}
	m.tool, m.called = token, beside(text, s, start, end)
	if !built && !m.called {
		return mention{}, 0
	}
	return m, 'f'
}

// serverName reports whether a qualifier says of itself that it is a server's:
// BillingServer.refund, mail-mcp.send. Then no list of servers is needed to know it.
func serverName(head string) bool {
	lower := strings.ToLower(head)
	return len(lower) > len("server") && strings.HasSuffix(lower, "server") || strings.HasPrefix(lower, "mcp-") || strings.HasSuffix(lower, "-mcp") || strings.HasSuffix(lower, "_mcp")
}

func (m mention) of(o other) mention {
	m.server, m.tool, m.known = o.server, o.tool, true
	return m
}

// qualified splits server.tool, mcp__server__tool, mcp_tool and their kind. head is ""
// where it names no known server but has the looks of a prefix.
func (n *Names) qualified(token string) (head, tail string, ok bool) {
	for _, sep := range []string{"__", ".", ":", "/", "_"} {
		for from := 0; ; {
			i := strings.Index(token[from:], sep)
			if i < 0 {
				break
			}
			i += from
			from = i + len(sep)
			h, t := token[:i], token[i+len(sep):]
			if h == "" || t == "" {
				continue
			}
			norm := textcheck.NormalName(strings.TrimPrefix(strings.TrimPrefix(h, "mcp__"), "mcp_"))
			if n.server[norm] {
				return norm, t, true
			}
		}
	}
	// Clients write mcp__server__tool; texts that imitate them also mcp_tool.
	if i := strings.LastIndex(token, "__"); i > 0 {
		return "", token[i+len("__"):], true
	}
	if len(token) > len("mcp_") && strings.EqualFold(token[:len("mcp_")], "mcp_") {
		return "", strings.TrimPrefix(token[len("mcp_"):], "tool_"), true
	}
	return "", "", false
}

// misspelt finds a known tool whose name is written with a slip or two, in names of
// six letters or more: that gets past a comparison of strings, and a model reads over
// it. Two slips count only where the text shows that a tool is meant; a plain word may
// be that close to a tool's name by chance.
func (n *Names) misspelt(norm string, meant bool) (other, bool) {
	if len(n.others) == 0 {
		return other{}, false
	}
	key := slipKey{norm, meant}
	at, seen := n.slips[key]
	if !seen {
		at = n.findSlip(norm, meant)
		n.slips[key] = at
	}
	if at < 0 {
		return other{}, false
	}
	return n.others[at], true
}

// slipKey is a word that was looked for, and whether a tool was meant by it.
type slipKey struct {
	norm  string
	meant bool
}

// findSlip gives the number of the other tool that a word misspells, -1 for none.
func (n *Names) findSlip(norm string, meant bool) int {
	for _, key := range nearKeys(norm) {
		for _, at := range n.near[key] {
			if slip(norm, n.others[at].norm) {
				return at
			}
		}
	}
	if !meant || len(norm) < shortestNear || len(norm) > longestNear {
		return -1
	}
	for length := len(norm) - 2; length <= len(norm)+2; length++ {
		for _, at := range n.byLength[length] {
			if length >= shortestNear && distance(norm, n.others[at].norm) <= 2 {
				return at
			}
		}
	}
	return -1
}

// distance is the Levenshtein distance in bytes; of names that are not alike at all
// it only says that it is more than 2.
func distance(a, b string) int {
	var rows [2][longestNear + 3]int
	for j := 0; j <= len(b); j++ {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		last, row := &rows[(i-1)%2], &rows[i%2]
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			least = min(least, row[j])
		}
		if least > 2 {
			return least
		}
	}
	return rows[len(a)%2][len(b)]
}

// compound reports whether a token is built as identifiers are: read_file, readFile,
// mail.send. Names of files, versions, hosts and the like are built so too; see
// unlikely.
func compound(token string) bool {
	return strings.Contains(token, "_") || strings.Contains(token, "-") && !strings.Contains(token, "--") ||
		strings.Contains(token, ".") || strings.Contains(token, "::") || hasHump(token)
}

// unlikely reports whether a token that no known tool has as its name is hardly a
// tool's: a file, a host, a path, a number, a constant, a plain hyphenated word.
func unlikely(token string) bool {
	if strings.ContainsAny(token, "/:") || strings.ToUpper(token) == token {
		return true
	}
	if strings.Contains(token, "-") && !strings.Contains(token, "_") && !hasHump(token) {
		return true
	}
	if i := strings.LastIndexByte(token, '.'); i >= 0 {
		last := token[i+1:]
		return len(last) <= 4 && !strings.ContainsAny(token[:i], "_") || !strings.Contains(last, "_") && !hasHump(last)
	}
	return false
}

func quoted(text string, start, end int) bool {
	before, after := byte(0), byte(0)
	if start > 0 {
		before = text[start-1]
	}
	if end < len(text) {
		after = text[end]
	}
	return before == '`' && after == '`' || before == '\'' && after == '\'' || before == '"' && after == '"'
}

// beside reports whether the word "tool" stands next to the token, in the languages in
// which servers are written most.
func beside(text string, s span, start, end int) bool {
	after := strings.ToLower(strings.TrimLeft(text[end:min(s.end, end+24)], " `'\"*)"))
	before := strings.ToLower(strings.TrimRight(text[max(s.start, start-24):start], " `'\"*("))
	for _, word := range []string{"tool", "function", "工具", "ツール", "도구", "инструмент", "herramienta", "outil", "werkzeug", "ferramenta", "strumento", "أداة", "टूल", "araç"} {
		if strings.HasPrefix(after, word) || strings.HasSuffix(before, word) {
			return true
		}
	}
	return false
}
