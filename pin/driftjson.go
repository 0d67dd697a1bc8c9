package pin

import (
	"encoding/json"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

// MarshalJSON writes an empty list where there is none, so that a reader need not tell
// null from [].
func (d Drift) MarshalJSON() ([]byte, error) {
	type plain Drift
	p := plain(d)
	if p.Tools == nil {
		p.Tools = []ToolDrift{}
	}
	if p.Changes == nil {
		p.Changes = []Change{}
	}
	return json.Marshal(struct {
		Changed bool              `json:"changed"`
		Worst   toolmark.Severity `json:"severity,omitempty"`
		plain
	}{d.Changed(), d.Worst(), p})
}

// MarshalJSON writes the change with its values as JSON in which nothing is lost: ASCII,
// numbers as they were written. Where the old and the new value are strings, or there
// is only one and it is a string, "text" is the diff of their words.
func (c Change) MarshalJSON() ([]byte, error) {
	var before, after json.RawMessage
	if c.Old != nil {
		before = canonjson.Append(nil, c.Old)
	}
	if c.New != nil {
		after = canonjson.Append(nil, c.New)
	}
	var oldPointer *toolmark.Text
	if c.OldPointer != c.Pointer {
		oldPointer = &c.OldPointer
	}
	return json.Marshal(struct {
		Code       toolmark.Code      `json:"code"`
		Severity   toolmark.Severity  `json:"severity"`
		Op         Op                 `json:"op"`
		Kind       Kind               `json:"kind"`
		Effect     Effect             `json:"effect,omitempty"`
		Neutral    bool               `json:"neutral,omitempty"`
		Tool       toolmark.Text      `json:"tool"`
		OldTool    toolmark.Text      `json:"old_tool,omitempty"`
		OldIndex   int                `json:"old_index"`
		NewIndex   int                `json:"new_index"`
		Pointer    toolmark.Text      `json:"pointer"`
		OldPointer *toolmark.Text     `json:"old_pointer,omitempty"`
		Old        json.RawMessage    `json:"old,omitempty"`
		New        json.RawMessage    `json:"new,omitempty"`
		Moves      []int              `json:"moves,omitempty"`
		AddsText   bool               `json:"adds_text,omitempty"`
		Reason     string             `json:"reason"`
		Text       []Segment          `json:"text,omitempty"`
		Findings   []toolmark.Finding `json:"findings,omitempty"`
	}{
		c.Code, c.Severity, c.Op, c.Kind, c.Effect, c.Neutral(), c.Tool, c.OldTool, c.OldIndex, c.NewIndex,
		c.Pointer, oldPointer, before, after, c.Moves, c.AddsText, c.Reason, c.Segments(), c.Findings,
	})
}

// Segments gives the text diff of a change whose values are strings, nil for others.
func (c *Change) Segments() []Segment {
	var texts [2]string
	some := false
	for i, v := range [...]*toolmark.Value{c.Old, c.New} {
		switch {
		case v == nil:
		case v.Kind == toolmark.KindString:
			texts[i], some = v.Text, true
		default:
			return nil
		}
	}
	if !some {
		return nil
	}
	return TextDiff(texts[0], texts[1])
}
