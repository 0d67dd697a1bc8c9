package textcheck

import (
	"fmt"
	"slices"

	"github.com/toolmark/toolmark"
)

// Report is an inspection in the one form in which the text command, the HTTP API and
// the MCP server give it. As JSON it is pure ASCII but for what Go's encoder adds.
type Report struct {
	// Hidden: there are hidden or look-alike characters (the kinds of W021).
	Hidden bool `json:"hidden"`
	// Kinds are the kinds of the places, each once, in the order of the text.
	Kinds []Kind  `json:"kinds"`
	Hits  []Place `json:"hits"`
	// Truncated: there are more places than MaxHits; those that are not listed are
	// sanitized all the same.
	Truncated         bool          `json:"truncated,omitempty"`
	DecodedTagPayload toolmark.Text `json:"decoded_tag_payload,omitempty"`
	DecodedPayload    toolmark.Text `json:"decoded_payload,omitempty"`
	Sanitized         toolmark.Text `json:"sanitized"`
}

// Place is a Hit as reports show it. Positions are in code points, Line and Column from 1.
type Place struct {
	Kind     Kind              `json:"kind"`
	Severity toolmark.Severity `json:"severity"`
	Start    int               `json:"start"`
	End      int               `json:"end"`
	Line     int               `json:"line"`
	Column   int               `json:"column"`
	// CodePoints name what stands there, as U+200B, the first dozen of many.
	CodePoints []string      `json:"code_points"`
	Name       toolmark.Text `json:"name"`
	Decoded    toolmark.Text `json:"decoded,omitempty"`
}

// mostCodePoints is the most code points of one place that are named.
const mostCodePoints = 12

// Severity gives the severity of a kind: hidden and look-alike characters are medium as
// in W021, what is written in plain characters is info.
func (k Kind) Severity() toolmark.Severity {
	if k.Hidden() {
		return toolmark.Medium
	}
	return toolmark.Info
}

// NewReport gives what Inspect found in a text its form.
func NewReport(text string, in *Inspection) Report {
	r := Report{
		Hidden: in.Hidden(), Kinds: []Kind{}, Hits: make([]Place, 0, len(in.Hits)), Truncated: len(in.Hits) == MaxHits,
		DecodedTagPayload: toolmark.Text(in.TagPayload), DecodedPayload: toolmark.Text(in.Payload), Sanitized: toolmark.Text(in.Sanitized),
	}
	offset, at := 0, 0
	for i := range in.Hits {
		h := &in.Hits[i]
		if h.Start < at {
			offset, at = 0, 0
		}
		offset += toolmark.ByteOffset(text[offset:], h.Start-at)
		at = h.Start
		if !slices.Contains(r.Kinds, h.Kind) {
			r.Kinds = append(r.Kinds, h.Kind)
		}
		rest := text[offset:]
		r.Hits = append(r.Hits, Place{
			Kind: h.Kind, Severity: h.Kind.Severity(), Start: h.Start, End: h.End, Line: h.Line, Column: h.Column,
			CodePoints: CodePoints(rest[:toolmark.ByteOffset(rest, h.End-h.Start)]),
			Name:       toolmark.Text(h.Name), Decoded: toolmark.Text(h.Decoded),
		})
	}
	return r
}

// CodePoints names the code points of a text in the form U+200B, the first dozen of many.
func CodePoints(text string) []string {
	var out []string
	for i := 0; i < len(text); {
		if len(out) == mostCodePoints {
			return append(out, fmt.Sprintf("… %d more", toolmark.CodePoints(text[i:])))
		}
		r, size := toolmark.DecodeRune(text[i:])
		out = append(out, fmt.Sprintf("U+%04X", r))
		i += size
	}
	return out
}
