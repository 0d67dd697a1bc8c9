package probe

import (
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/toolmark/toolmark"
)

// The most code points of server text in one place of a message.
const shortText = 160

// cut gives at most n code points of s.
func cut(s string, n int) string {
	if end := toolmark.ByteOffset(s, n); end < len(s) {
		return s[:end] + "…"
	}
	return s
}

// quoteShort gives text of the server in a form that is safe to print: quoted,
// everything outside printable ASCII escaped, and cut.
func quoteShort(s string) string {
	end := toolmark.ByteOffset(s, shortText)
	quoted := string(toolmark.AppendQuoted(nil, s[:end]))
	if end < len(s) {
		quoted += "…"
	}
	return quoted
}

// printable gives s as it is where it is short and plain ASCII, else quoted.
func printable(s string) string {
	if len(s) > 2*shortText || strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
		return quoteShort(s)
	}
	return s
}

// displayURL is raw without user and password. What is no URL is given as it is:
// the transport refuses it.
func displayURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.User == nil {
		return raw
	}
	u.User = nil
	return u.String()
}

// shellJoin writes a command line so that a POSIX shell reads the same words.
func shellJoin(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%") != "" {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// notes gathers what the server did that it should not and that did not stop us.
type notes struct {
	mu       sync.Mutex
	warnings []string
	skipped  int
	sample   string
}

// The most warnings kept; the rest would say the same.
const maxWarnings = 20

func (n *notes) warn(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.warnings) < maxWarnings {
		n.warnings = append(n.warnings, fmt.Sprintf(format, args...))
	}
}

// reset forgets everything: another reading begins.
func (n *notes) reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.warnings, n.skipped, n.sample = nil, 0, ""
}

// skip counts a line that is not a message.
func (n *notes) skip(line []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.skipped++; n.skipped == 1 {
		n.sample = quoteShort(string(line[:min(len(line), 4*shortText)]))
	}
}

// decode reads the messages of a line. A line that is something else is noted; one
// that was meant as a message and is not JSON is an error.
func (n *notes) decode(text []byte) ([]message, error) {
	all, err := readMessages(text)
	if err != nil {
		if looksLikeRPC(text) {
			e, ok := asFailure(err)
			if !ok {
				e = failure(toolmark.ErrInvalidJSON, err, "not JSON")
			}
			return nil, failure(e.Code, err, "a message of the server cannot be read")
		}
		n.skip(text)
		return nil, nil
	}
	kept := all[:0]
	for _, m := range all {
		if m.kind() != notRPC {
			kept = append(kept, m)
		}
	}
	if len(kept) == 0 {
		n.skip(text)
	}
	return kept, nil
}

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := append([]string(nil), n.warnings...)
	switch {
	case n.skipped == 1:
		all = append(all, "skipped 1 line that is not a JSON-RPC message: "+n.sample)
	case n.skipped > 1:
		all = append(all, fmt.Sprintf("skipped %d lines that are not JSON-RPC messages, the first: %s", n.skipped, n.sample))
	}
	return all
}
