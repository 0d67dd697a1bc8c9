package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// DriftSummary counts what a comparison holds. Changes that mean nothing count as
// neutral and nowhere else; a finding that a change brings counts beside the change.
type DriftSummary struct {
	Servers     int  `json:"servers"`
	Unchanged   int  `json:"unchanged"`
	Equivalent  int  `json:"equivalent"`
	Changed     int  `json:"changed"`
	New         int  `json:"new"`
	Removed     int  `json:"removed"`
	Unreachable int  `json:"unreachable"`
	Tools       int  `json:"tools"`         // of the new lists
	ToolsBefore int  `json:"tools_before"`  // of the old lists
	Changes     int  `json:"changes"`       // that are not neutral
	ToolsInHand int  `json:"tools_changed"` // tools with such a change
	High        int  `json:"high"`          // changes and findings
	Medium      int  `json:"medium"`
	Info        int  `json:"info"`
	Neutral     int  `json:"neutral"`
	NewFindings int  `json:"new_findings"`
	Standing    int  `json:"standing"` // findings that were accepted with the old text
	Suppressed  int  `json:"suppressed"`
	Unscanned   int  `json:"unscanned"`
	OK          bool `json:"ok"` // nothing fails the run and every server was read and scanned whole
}

// Summary counts the comparison.
func (d *DriftDocument) Summary() DriftSummary {
	sum := DriftSummary{Servers: len(d.Servers), OK: !d.Failed() && !d.Unfinished()}
	for i := range d.Servers {
		d.Servers[i].count(&sum)
	}
	return sum
}

func (s *DriftServer) count(sum *DriftSummary) {
	switch s.Status() {
	case DriftUnchanged:
		sum.Unchanged++
	case DriftEquivalent:
		sum.Equivalent++
	case DriftChanged:
		sum.Changed++
	case DriftNew:
		sum.New++
	case DriftRemoved:
		sum.Removed++
	case DriftUnreachable:
		sum.Unreachable++
	}
	sum.Tools += s.New.tools()
	sum.ToolsBefore += s.Old.tools()
	sum.Standing += len(s.Standing)
	sum.Suppressed += len(s.Suppressed)
	sum.Unscanned += len(s.Unscanned)
	if s.Status() == DriftRemoved {
		sum.High++
		sum.Changes++
	}
	tools := map[[2]int]bool{}
	for _, c := range s.changes() {
		if c.Neutral() {
			sum.Neutral++
			continue
		}
		sum.Changes++
		sum.add(c.Severity)
		if c.OldIndex >= 0 || c.NewIndex >= 0 {
			tools[[2]int{c.OldIndex, c.NewIndex}] = true
		}
	}
	sum.ToolsInHand += len(tools)
	for _, f := range s.found() {
		sum.NewFindings++
		sum.add(f.Severity)
	}
}

func (s *DriftSummary) add(v toolmark.Severity) {
	switch v {
	case toolmark.High:
		s.High++
	case toolmark.Medium:
		s.Medium++
	default:
		s.Info++
	}
}

// changes gives the changes of the drift in their order: those that bring findings
// first.
func (s *DriftServer) changes() []*pin.Change {
	if s.Drift == nil {
		return nil
	}
	list := make([]*pin.Change, len(s.Drift.Changes))
	for i := range s.Drift.Changes {
		list[i] = &s.Drift.Changes[i]
	}
	return list
}

// found gives the findings that count, each once: those that belong to changes, then
// the others. One finding may have places in several changes.
func (s *DriftServer) found() []*toolmark.Finding {
	type key struct {
		code  toolmark.Code
		index int
		what  string
	}
	var out []*toolmark.Finding
	seen := map[key]bool{}
	for _, c := range s.changes() {
		for i := range c.Findings {
			f := &c.Findings[i]
			k := key{f.Code, f.Index, f.Reason + fmt.Sprint(f.Details)}
			if !seen[k] {
				seen[k] = true
				out = append(out, f)
			}
		}
	}
	for i := range s.Findings {
		out = append(out, &s.Findings[i])
	}
	return out
}

// group is what changed of one tool, or of the server as a whole.
type group struct {
	name    string // "" is the server as a whole
	changes []*pin.Change
	// neutral are changes that mean nothing.
	neutral []*pin.Change
}

// groups puts the changes together by tool, in the order in which the first of each
// stands: the tool that needs reading most comes first.
func (s *DriftServer) groups() []*group {
	var out []*group
	by := map[[2]int]*group{}
	for _, c := range s.changes() {
		k := [2]int{c.OldIndex, c.NewIndex}
		g := by[k]
		if g == nil {
			g = &group{}
			if c.OldIndex >= 0 || c.NewIndex >= 0 {
				g.name = string(c.Tool)
			}
			by[k] = g
			out = append(out, g)
		}
		if c.Neutral() {
			g.neutral = append(g.neutral, c)
		} else {
			g.changes = append(g.changes, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *group) int {
		return map[bool]int{true: 1}[len(a.changes) == 0] - map[bool]int{true: 1}[len(b.changes) == 0]
	})
	return out
}

// tools is how many tools a side has.
func (s *DriftSide) tools() int {
	if s == nil || s.Manifest == nil {
		return 0
	}
	return len(s.Manifest.Tools)
}

// toolCount says how many tools there are, and were where that differs: fewer tools than
// were approved may be a server that fails, or a scan that saw only a part.
func (s *DriftServer) toolCount() string {
	now, before := s.New.tools(), s.Old.tools()
	switch {
	case s.New == nil:
		return Plural(before, "tool") + " approved"
	case s.Old == nil || now == before:
		return Plural(now, "tool")
	case now == 0:
		return "no tools now, " + fmt.Sprint(before) + " before"
	}
	return fmt.Sprintf("%s, %d before", Plural(now, "tool"), before)
}

// weighed says in a few words how much changed and was found, and how much it weighs.
func (sum *DriftSummary) weighed() string {
	text := Plural(sum.Changes, "change")
	if sum.NewFindings > 0 {
		text += " and " + Plural(sum.NewFindings, "new finding")
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{sum.High, "high"}, {sum.Medium, "medium"}, {sum.Info, "info"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return text + " (" + strings.Join(parts, ", ") + ")"
}

// states says how many servers are in which state.
func (sum *DriftSummary) states() []string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{
		{sum.Changed, "changed"},
		{sum.Unreachable, "unreachable"},
		{sum.New, "new"},
		{sum.Removed, "removed"},
		{sum.Unchanged + sum.Equivalent, "unchanged"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return parts
}
