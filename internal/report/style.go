package report

import "github.com/toolmark/toolmark"

// style writes SGR sequences (ECMA-48, section 8.3.117) or, switched off, nothing.
// It asks the terminal nothing, so it costs no time and cannot write to a pipe.
type style bool

func (s style) wrap(codes, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + codes + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string    { return s.wrap("1", text) }
func (s style) dim(text string) string     { return s.wrap("2", text) }
func (s style) good(text string) string    { return s.wrap("32", text) }
func (s style) bad(text string) string     { return s.wrap("1;31", text) }
func (s style) caution(text string) string { return s.wrap("33", text) }
func (s style) hint(text string) string    { return s.wrap("36", text) }
func (s style) matched(text string) string { return s.wrap("7", text) }

func (s style) severity(v toolmark.Severity, text string) string {
	switch v {
	case toolmark.High:
		return s.bad(text)
	case toolmark.Medium:
		return s.caution(text)
	}
	return s.hint(text)
}
