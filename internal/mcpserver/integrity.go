package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

// integrity answers check_tool_integrity.
func (s *Server) integrity(ctx context.Context, c *caller, args *toolmark.Value) (*answer, error) {
	server, err := argument(args, "server")
	if err != nil {
		return nil, err
	}
	i, err := s.cfg.Questions.Integrity(ctx, c.as(), server)
	if err != nil {
		return nil, err
	}
	return &answer{i, integrityText(i)}, nil
}

func integrityText(i *registry.Integrity) string {
	lines := []string{}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("Server %s (%s): %s.", quoted(i.Server.Name, longestName), printable(i.Server.ID, longestName), i.Status)
	switch i.Status {
	case registry.Unreachable:
		add("It could not be read%s; unreachable since %s. Whether it has changed is not known.", because(i.Why), i.Since.UTC().Format(time.RFC3339))
	case registry.Changed:
		add("Against the record (%s): %s", approved(i.Approved), driftText(i.Drift))
		if i.NameChanged || i.VersionChanged {
			add("The server's own name changed: %s; its version: %s.", yes(i.NameChanged), yes(i.VersionChanged))
		}
	case registry.Unchanged:
		add("It serves what was recorded (%s).", approved(i.Approved))
	}
	if i.Suspicious != "" && i.Status != registry.Unreachable {
		add("Likely a fault rather than a release: %s.", printable(strings.TrimSuffix(i.Suspicious, "."), 200))
	}
	if list := newFindings(i); len(list) > 0 {
		add("New against the record. %s", findings(list))
	}
	return strings.Join(append(lines, dataNote), "\n")
}

// newFindings are those of the changed places, and those beside them.
func newFindings(i *registry.Integrity) []toolmark.Finding {
	var list []toolmark.Finding
	if i.Drift != nil {
		for n := range i.Drift.Changes {
			list = append(list, i.Drift.Changes[n].Findings...)
		}
	}
	return append(list, i.NewFindings...)
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
