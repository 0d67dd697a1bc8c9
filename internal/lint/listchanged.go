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
	changed := live.Later != nil && pin.Diff(m, live.Later, pin.Options{}).Changed()
	switch {
	case changed && !declared:
		c.add(m, whole, toolmark.CodeListChanged, toolmark.Medium,
			"The list changed while a session was open, and tools.listChanged is not declared: clients keep the old one", at)
	case changed && !live.Notified:
		c.add(m, whole, toolmark.CodeListChanged, toolmark.Medium,
			"The list changed while a session was open, and no notifications/tools/list_changed was sent", at)
	case live.Notified && !declared:
		c.add(m, whole, toolmark.CodeListChanged, toolmark.Medium,
			"The server sent notifications/tools/list_changed without declaring tools.listChanged: clients do not listen", at)
	case declared && !live.Notified:
		c.add(m, whole, toolmark.CodeListChanged, toolmark.Info,
			"tools.listChanged is declared, and the list did not change while a session was open; if it never can, do not declare it", at)
	}
}
