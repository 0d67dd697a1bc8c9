package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/pin"
)

// ChangelogOptions say what an entry of a changelog has beside the changes.
type ChangelogOptions struct {
	// Reason says why the definitions changed, in the writer's own Markdown, which is put on
	// one line; "" leaves it out.
	Reason string
	// Level is that of the entry's heading, 1 to 5; 0 is 2.
	Level int
}

// Bounds of what an entry quotes. A reviewer needs the whole text; a text beyond this is
// no description.
const (
	longestQuoted = 20_000 // code points of one value
	mostQuoted    = 400    // lines of one value
)

// WriteChangelog writes an entry for a changelog in Markdown: every tool that was added,
// removed, renamed or changed by its name, and of every change the whole old and new
// text. Changes that mean nothing are counted. Text of a manifest stands in code spans and
// code blocks only, where it can become no markup, with what is hidden spelled out.
func (d *DriftDocument) WriteChangelog(w io.Writer, opt ChangelogOptions) error {
	if opt.Level < 1 || opt.Level > 5 {
		opt.Level = 2
	}
	c := &changelog{heading: strings.Repeat("#", opt.Level)}
	for i := range d.Servers {
		c.server(&d.Servers[i], opt.Reason)
	}
	_, err := io.WriteString(w, c.out.String())
	return err
}

type changelog struct {
	out     strings.Builder
	heading string
}

func (c *changelog) server(s *DriftServer, reason string) {
	if c.out.Len() > 0 {
		c.out.WriteString("\n")
	}
	c.title(s)
	switch s.Status() {
	case DriftUnreachable:
		fmt.Fprintf(&c.out, "The new definitions could not be read: %s\n", code(s.why()))
		return
	case DriftUnchanged, DriftEquivalent:
		c.out.WriteString("No definition changed.\n")
		return
	}
	if reason = strings.TrimSpace(oneLine(strings.Join(strings.Fields(reason), " "))); reason != "" {
		fmt.Fprintf(&c.out, "%s\n\n", reason)
	}
	if s.Drift == nil {
		if s.New == nil {
			fmt.Fprintf(&c.out, "The server was removed, with %s.\n", Plural(s.Old.tools(), "tool"))
			return
		}
		s = &DriftServer{Name: s.Name, New: s.New, Old: &DriftSide{Manifest: emptyManifest()}}
		s.Drift = pin.Diff(s.Old.Manifest, s.New.Manifest, pin.Options{})
	}
	neutral := 0
	var whole, added, removed, renamed, changed []*group
	for _, g := range s.groups() {
		neutral += len(g.neutral)
		if len(g.changes) == 0 {
			continue
		}
		first := g.changes[0]
		switch {
		case g.name == "":
			whole = append(whole, g)
		case first.Kind == pin.KindTool && first.Op == pin.OpAdded:
			added = append(added, g)
		case first.Kind == pin.KindTool && first.Op == pin.OpRemoved:
			removed = append(removed, g)
		case first.Kind == pin.KindTool:
			renamed = append(renamed, g)
		default:
			changed = append(changed, g)
		}
	}
	for _, section := range []struct {
		title  string
		groups []*group
		write  func(*DriftServer, *group)
	}{
		{"Added", added, c.added},
		{"Removed", removed, c.removed},
		{"Renamed", renamed, c.changed},
		{"Changed", changed, c.changed},
		{"The server itself", whole, c.whole},
	} {
		if len(section.groups) == 0 {
			continue
		}
		fmt.Fprintf(&c.out, "%s# %s\n\n", c.heading, section.title)
		for _, g := range section.groups {
			section.write(s, g)
		}
		c.out.WriteString("\n")
	}
	if neutral > 0 {
		fmt.Fprintf(&c.out, "%s in form only (another order, another spelling).\n", Plural(neutral, "change"))
	}
	text := strings.TrimRight(c.out.String(), "\n") + "\n"
	c.out.Reset()
	c.out.WriteString(text)
}

func emptyManifest() *toolmark.Manifest {
	return &toolmark.Manifest{ToolsPointer: "/tools", Tree: &toolmark.Value{Kind: toolmark.KindObject, Members: []toolmark.Member{
		{Name: "tools", Value: toolmark.Value{Kind: toolmark.KindArray}},
	}}}
}

// title names the server, its versions, and the pins between which the entry lies.
func (c *changelog) title(s *DriftServer) {
	name := code(s.Name)
	old, now := "", ""
	if s.Old != nil && s.Old.Manifest != nil {
		old = s.Old.Manifest.Server.Version
	}
	if s.New != nil && s.New.Manifest != nil {
		now = s.New.Manifest.Server.Version
	}
	switch {
	case old != "" && now != "" && old != now:
		name += " " + code(old) + " → " + code(now)
	case now != "":
		name += " " + code(now)
	}
	fmt.Fprintf(&c.out, "%s %s: tool definitions\n\n", c.heading, name)
	if s.Old != nil && s.New != nil && s.Old.Pin != "" && s.New.Pin != "" && s.Old.Pin != s.New.Pin {
		fmt.Fprintf(&c.out, "Pin `%s` → `%s`.\n\n", s.Old.Pin, s.New.Pin)
	}
}

func (c *changelog) added(s *DriftServer, g *group) {
	change := g.changes[0]
	fmt.Fprintf(&c.out, "- %s%s\n", code(g.name), parameters(change.New))
	if d := change.New.Get("description"); d.Kind == toolmark.KindString && d.Text != "" {
		c.quote("  ", quotes{'+', d})
	}
}

func (c *changelog) removed(s *DriftServer, g *group) {
	change := g.changes[0]
	fmt.Fprintf(&c.out, "- %s\n", code(g.name))
	if d := change.Old.Get("description"); d.Kind == toolmark.KindString && d.Text != "" {
		c.quote("  ", quotes{'-', d})
	}
}

// parameters names what a tool takes.
func parameters(tool *toolmark.Value) string {
	schema := (&toolmark.Tool{Tree: tool})
	in, _ := schema.InputSchema()
	var names []string
	for _, m := range in.Get("properties").Members {
		names = append(names, code(m.Name))
	}
	if len(names) == 0 {
		return ""
	}
	return ", parameters " + strings.Join(names, ", ")
}

func (c *changelog) changed(s *DriftServer, g *group) {
	fmt.Fprintf(&c.out, "- %s\n", code(g.name))
	for _, change := range g.changes {
		c.change(s, change, "  ")
	}
}

func (c *changelog) whole(s *DriftServer, g *group) {
	for _, change := range g.changes {
		c.change(s, change, "")
	}
}

func (c *changelog) change(s *DriftServer, change *pin.Change, indent string) {
	words := s.words(change)
	fmt.Fprintf(&c.out, "%s- %s", indent, words.markdown())
	if place := string(change.Pointer); place != "" && change.Kind != pin.KindDescription {
		fmt.Fprintf(&c.out, ", at %s", code(place))
	}
	if effect := inEffect(change.Effect); effect != "" {
		fmt.Fprintf(&c.out, " (%s)", effect)
	}
	c.out.WriteString("\n")
	if words.tells(change.Old) && words.tells(change.New) {
		return
	}
	var list []quotes
	if change.Op != pin.OpRenamed && change.Op != pin.OpMoved {
		if change.Old != nil {
			list = append(list, quotes{'-', change.Old})
		}
		if change.New != nil {
			list = append(list, quotes{'+', change.New})
		}
	}
	c.quote(indent+"  ", list...)
}

// quotes is a value to quote, with the sign before its lines.
type quotes struct {
	sign  byte
	value *toolmark.Value
}

// quote writes values as one fenced code block.
func (c *changelog) quote(indent string, list ...quotes) {
	var lines []string
	longest := 2
	for _, q := range list {
		text := q.value.Text
		if q.value.Kind != toolmark.KindString {
			text = string(canonjson.AppendIndent(nil, q.value))
		}
		if n := toolmark.CodePoints(text); n > longestQuoted {
			text = text[:toolmark.ByteOffset(text, longestQuoted)] + fmt.Sprintf("\n… %d characters in all", n)
		}
		all := strings.Split(text, "\n")
		if n := len(all); n > mostQuoted {
			all = append(all[:mostQuoted], fmt.Sprintf("… %d lines in all", n))
		}
		for _, line := range all {
			line = oneLine(line)
			longest = max(longest, backticks(line))
			lines = append(lines, strings.TrimRight(string(q.sign)+" "+line, " "))
		}
	}
	if len(lines) == 0 {
		return
	}
	fence := strings.Repeat("`", longest+1)
	fmt.Fprintf(&c.out, "%s%sdiff\n%s%s\n%s%s\n", indent, fence, indent, strings.Join(lines, "\n"+indent), indent, fence)
}
