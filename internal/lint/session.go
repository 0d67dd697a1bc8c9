package lint

import (
	"fmt"
	"slices"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// sessions looks for definitions that differ between sessions (L106). A tool that differs
// is one finding, with the sessions that see it differently.
func (c *collector) sessions(m *toolmark.Manifest, sessions []Session) {
	type subject struct {
		index int
		extra toolmark.Text // the name of a tool that the first session does not have
	}
	found := map[subject]*toolmark.AdviceDetails{}
	var order []subject
	for _, s := range sessions {
		drift := pin.Diff(m, s.Manifest, pin.Options{})
		for i := range drift.Changes {
			change := &drift.Changes[i]
			if change.Neutral() {
				continue
			}
			at := subject{index: change.OldIndex}
			if change.OldIndex < 0 && change.NewIndex >= 0 {
				at.extra = change.Tool
			}
			details := found[at]
			if details == nil {
				details = &toolmark.AdviceDetails{}
				found[at] = details
				order = append(order, at)
			}
			if !slices.Contains(details.Sessions, s.Label) {
				details.Sessions = append(details.Sessions, s.Label)
			}
			if at.extra != "" {
				details.Names = []toolmark.Text{at.extra}
			}
			place := toolmark.Location{Pointer: change.OldPointer}
			if change.Old == nil {
				place.Pointer = change.Pointer
			}
			if len(details.Locations) < maxPlaces && !slices.Contains(details.Locations, place) {
				details.Locations = append(details.Locations, place)
			}
			if details.Old == "" && details.New == "" {
				details.Old, details.New = textOf(change.Old), textOf(change.New)
			}
		}
	}
	for _, at := range order {
		details := found[at]
		reason := fmt.Sprintf("%d of %d further sessions are served another definition; to a client that pins, each is a change nobody approved", len(details.Sessions), len(sessions))
		if at.extra != "" {
			reason = fmt.Sprintf("%d of %d further sessions are served a tool that the first one does not have", len(details.Sessions), len(sessions))
		}
		c.add(m, at.index, toolmark.CodeSessionsDiffer, toolmark.High, reason, *details)
	}
}

func textOf(v *toolmark.Value) toolmark.Text {
	if v == nil || v.Kind != toolmark.KindString {
		return ""
	}
	return excerpt(v.Text)
}
