package report

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
)

// root gives the value from which a finding's pointers start: the tool's own object,
// or the whole tree for a finding about the list.
func (s *Source) root(f *toolmark.Finding) *toolmark.Value {
	if s.Snapshot == nil {
		return nil
	}
	m := s.Snapshot.Manifest
	if f.Index >= 0 && f.Index < len(m.Tools) {
		return m.Tools[f.Index].Tree
	}
	return m.Tree
}

// list gives the value of the tool list itself.
func (s *Source) list() *toolmark.Value {
	if s.Snapshot == nil {
		return nil
	}
	for _, c := range resolve(s.Snapshot.Manifest.Tree, s.Snapshot.Manifest.ToolsPointer) {
		return c.value
	}
	return s.Snapshot.Manifest.Tree
}

// candidate is what a pointer can mean: a value, and the member it is the value of.
type candidate struct {
	value  *toolmark.Value
	member *toolmark.Member // nil for an array's element and for the root
}

// text is the text a location's positions count in: the string itself, or the
// member's name where the value is no string.
func (c candidate) text() (string, bool) {
	switch {
	case c.value.Kind == toolmark.KindString:
		return c.value.Text, true
	case c.member != nil:
		return c.member.Name, true
	}
	return "", false
}

// maxCandidates bounds the search where hostile input repeats members.
const maxCandidates = 64

// resolve follows an RFC 6901 pointer. Members may stand more than once, so there
// may be several answers, in the order sent.
func resolve(v *toolmark.Value, pointer string) []candidate {
	if v == nil {
		return nil
	}
	found := []candidate{{value: v}}
	if pointer == "" {
		return found
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		var next []candidate
		for _, c := range found {
			switch c.value.Kind {
			case toolmark.KindObject:
				for i := range c.value.Members {
					if m := &c.value.Members[i]; m.Name == token && len(next) < maxCandidates {
						next = append(next, candidate{&m.Value, m})
					}
				}
			case toolmark.KindArray:
				if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(c.value.Items) && len(next) < maxCandidates {
					next = append(next, candidate{value: &c.value.Items[i]})
				}
			}
		}
		found = next
	}
	return found
}

// place finds the text a location is about. Where a member stands twice, the one
// that holds the location's excerpt is meant.
func (s *Source) place(f *toolmark.Finding, loc *toolmark.Location) (text string, at *toolmark.Value, ok bool) {
	candidates := resolve(s.root(f), string(loc.Pointer))
	for i := len(candidates) - 1; i >= 0; i-- {
		c := candidates[i]
		t, isText := c.text()
		if !isText {
			continue
		}
		if len(candidates) == 1 || loc.Excerpt == "" || strings.Contains(t, strings.Trim(string(loc.Excerpt), "…")) {
			return t, c.anchor(), true
		}
	}
	for i := len(candidates) - 1; i >= 0; i-- {
		if t, isText := candidates[i].text(); isText {
			return t, candidates[i].anchor(), true
		}
	}
	if len(candidates) > 0 {
		return "", candidates[len(candidates)-1].value, false
	}
	return "", s.root(f), false
}

// anchor gives where the candidate stands in the source: for a name, the name.
func (c candidate) anchor() *toolmark.Value {
	if c.value.Kind != toolmark.KindString && c.member != nil {
		return &toolmark.Value{Start: c.member.NameStart, End: c.member.NameStart + 1, Kind: toolmark.KindString}
	}
	return c.value
}

// region is a piece of a source file: lines and columns from 1, columns in UTF-16
// code units as SARIF counts them by default.
type region struct {
	startLine, startColumn int
	endLine, endColumn     int
}

// ruler turns byte offsets of one document into lines and columns.
type ruler struct {
	data  []byte
	lines []int // byte offset of each line's start
}

func newRuler(data []byte) *ruler {
	r := &ruler{data: data, lines: []int{0}}
	for from := 0; ; {
		i := bytes.IndexByte(data[from:], '\n')
		if i < 0 {
			return r
		}
		from += i + 1
		r.lines = append(r.lines, from)
	}
}

func (r *ruler) at(offset int) (line, column int) {
	offset = min(max(offset, 0), len(r.data))
	line, column = r.line(offset), 1
	for _, c := range string(r.data[r.lines[line-1]:offset]) {
		column++
		if c > 0xffff {
			column++
		}
	}
	return line, column
}

// line gives the line of an offset.
func (r *ruler) line(offset int) int {
	low, high := 0, len(r.lines)
	for high-low > 1 {
		if mid := (low + high) / 2; r.lines[mid] <= offset {
			low = mid
		} else {
			high = mid
		}
	}
	return low + 1
}

// region gives where a value stands. A value from elsewhere stands at the top.
func (r *ruler) region(v *toolmark.Value) region {
	if v == nil || v.Start < 0 || v.End > len(r.data) || v.Start >= v.End {
		return region{1, 1, 1, 2}
	}
	end := v.End
	for end < len(r.data) && !utf8.RuneStart(r.data[end]) {
		end++
	}
	var g region
	g.startLine, g.startColumn = r.at(v.Start)
	g.endLine, g.endColumn = r.at(end)
	return g
}

// distinct drops places that say the same again: the same rule at the same text in a
// further reading.
func distinct(places []toolmark.Location) []toolmark.Location {
	type key struct {
		pointer    toolmark.Text
		rule, kind string
		start, end int
	}
	seen := map[key]bool{}
	out := make([]toolmark.Location, 0, len(places))
	for _, p := range places {
		k := key{p.Pointer, p.Rule, p.Kind, p.Start, p.End}
		if !seen[k] {
			seen[k] = true
			out = append(out, p)
		}
	}
	return out
}
