package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/pin"
)

// precall answers precall_check.
func (s *Server) precall(ctx context.Context, c *caller, args *toolmark.Value) (*answer, error) {
	url, err := argument(args, "url")
	if err != nil {
		return nil, err
	}
	p, err := s.cfg.Questions.Precall(ctx, c.as(), url)
	if err != nil {
		return nil, err
	}
	return &answer{p, precallText(p)}, nil
}

func precallText(p *registry.Precall) string {
	lines := []string{}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if p.Registered && p.Server != nil {
		add("In the registry as %s (%s).", quoted(p.Server.Name, longestName), printable(p.Server.ID, longestName))
	} else {
		add("Not in the registry: there is no record to compare with.")
	}
	if !p.Reachable {
		add("The server could not be read, so nothing is known about what it serves now%s.", because(p.Why))
		return strings.Join(append(lines, dataNote), "\n")
	}
	switch {
	case p.Matches == nil:
	case *p.Matches:
		add("What it serves now is what was recorded (%s).", approved(p.Approved))
	default:
		add("What it serves now is NOT what was recorded (%s): %s", approved(p.Approved), driftText(p.Drift))
	}
	if p.DiffersByCaller {
		add("It serves different definitions to different headers.")
	}
	lines = append(lines, hiddenText(p.Text)...)
	if n := len(p.Collisions); n > 0 {
		var tools []toolmark.Text
		for i := range p.Collisions {
			tools = append(tools, p.Collisions[i].Tool)
		}
		more := ""
		if p.MoreCollisions {
			more = ", and more than are listed"
		}
		add("%s with tools of other registered servers%s: %s.", report.Plural(n, "name collision"), more, names(tools))
	} else {
		add("No name collisions with other registered servers.")
	}
	lines = append(lines, findings(p.Findings))
	if p.Incomplete {
		add("The scan ran out of time: what it did not reach is not checked.")
	}
	add("This is evidence about what the server serves now, not a rating.")
	return strings.Join(append(lines, dataNote), "\n")
}

// because gives the code of a failure; its message may hold text of the server and stays
// in the structured content.
func because(why *registry.Why) string {
	if why == nil {
		return ""
	}
	return " (" + printable(string(why.Code), longestName) + ")"
}

func approved(is bool) string {
	if is {
		return "that record is approved"
	}
	return "nobody has approved that record"
}

// hiddenText sums up the invisible-text result of every definition.
func hiddenText(list []registry.DefinitionText) []string {
	var hidden, unchecked []toolmark.Text
	for i := range list {
		switch d := &list[i]; {
		case !d.Checked:
			unchecked = append(unchecked, d.Tool)
		case d.Hidden:
			hidden = append(hidden, d.Tool)
		}
	}
	var lines []string
	if len(hidden) > 0 {
		lines = append(lines, fmt.Sprintf("Hidden or look-alike characters in %d of %s: %s.", len(hidden), report.Plural(len(list), "definition"), names(hidden)))
	} else {
		lines = append(lines, fmt.Sprintf("No hidden or look-alike characters; definitions checked: %d.", len(list)-len(unchecked)))
	}
	if len(unchecked) > 0 {
		lines = append(lines, fmt.Sprintf("Not checked: %s.", names(unchecked)))
	}
	return lines
}

// driftText sums up a drift: which tools were added, removed, renamed, changed, and what
// of them.
func driftText(d *pin.Drift) string {
	if d == nil {
		return "the difference is not known."
	}
	if d.Unread != "" {
		return "the new list could not be read."
	}
	byStatus := map[pin.Status][]toolmark.Text{}
	for i := range d.Tools {
		t := &d.Tools[i]
		name := t.Name
		if t.Status == pin.StatusRenamed {
			name = t.OldName + " -> " + t.Name
		}
		byStatus[t.Status] = append(byStatus[t.Status], name)
	}
	var parts []string
	for _, status := range []pin.Status{pin.StatusAdded, pin.StatusRemoved, pin.StatusRenamed, pin.StatusChanged} {
		if tools := byStatus[status]; len(tools) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", len(tools), status, names(tools)))
		}
	}
	counts := map[string]int{}
	var kinds []string
	for i := range d.Changes {
		change := &d.Changes[i]
		if change.Neutral() {
			continue
		}
		kind := string(change.Kind)
		if counts[kind]++; counts[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s: %d", kind, counts[kind])
	}
	text := "tools: none"
	if len(parts) > 0 {
		text = "tools: " + strings.Join(parts, ", ")
	}
	if len(kinds) > 0 {
		text += "; changes by kind: " + strings.Join(kinds, ", ")
	}
	return text + "."
}
