package lint

import (
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// listChanged holds what the server declares of tools.listChanged against what a held
// connection showed (L103; MCP 2025-11-25, Tools, Capabilities).
func (c *collector) listChanged(m *toolmark.Manifest, live *Live) {
	if live == nil {
		return
	}
	declared := m.Capabilities.Get("tools").Get("listChanged").Kind == toolmark.KindTrue
	base := strings.TrimSuffix(m.ToolsPointer, "/tools")
	at := toolmark.AdviceDetails{Locations: []toolmark.Location{{Pointer: toolmark.Text(base + "/capabilities/tools/listChanged")}}}
	first := live.First
	if first == nil {
		first = m
	}
	changed := live.Later != nil && toolsChanged(first, live.Later)
	switch {
	case changed && declared && live.Deaf:
		c.add(m, whole, toolmark.CodeListChanged, toolmark.Medium,
			"The list changed while a session was open; tools.listChanged is declared, and the server offers no stream on which to say so", at)
	case changed && !declared:
		c.add(m, whole, toolmark.CodeListChanged, toolmark.Medium,
			"The list changed while a session was open, and tools.listChanged is not declared: clients keep the old one", at)
	case changed && !live.Notified:
		c.add(m, whole, toolmark.CodeListChanged, toolmark.Medium,
			"The list changed while a session was open, and no notifications/tools/list_changed was sent", at)
	case live.Notified && !declared:
		c.add(m, whole, toolmark.CodeListChanged, toolmark.Medium,
			"The server sent notifications/tools/list_changed without declaring tools.listChanged: clients do not listen", at)
	case declared && !live.Notified && !live.Deaf:
		c.add(m, whole, toolmark.CodeListChanged, toolmark.Info,
			"tools.listChanged is declared, and the list did not change while a session was open; if it never can, do not declare it", at)
	}
}

// toolsChanged reports whether the tools differ in more than their order.
func toolsChanged(a, b *toolmark.Manifest) bool {
	return pin.Diff(a, b, pin.Options{ToolsOnly: true}).Changed()
}
