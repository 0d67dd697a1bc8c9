package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// Bounds of the Markdown summary. A comment on GitHub has at most 65,536 characters; a
// reviewer reads fewer.
const (
	mostMarkdown     = 60_000 // bytes
	mostChanges      = 20
	mostDiffLines    = 16
	mostDiffText     = 600 // code points of what changed in a line
	mostQuietServers = 10
)

// WriteMarkdown writes a summary for a pull request: what changed, worst first, old and
// new with the changed words marked, and the exact commands that accept it. It is never
// longer than a comment on GitHub may be; what was left out is counted. Text of a
// manifest stands in code spans and code blocks only, where nothing in it can become a
// link, an image, HTML or a mention (CommonMark 0.31, sections 4.5 and 6.1).
func (d *DriftDocument) WriteMarkdown(w io.Writer) error {
	sum := d.Summary()
	sign := "✅"
	switch {
	case d.Failed():
		sign = "❌"
	case d.Unfinished() || sum.Changed+sum.New+sum.High+sum.Medium > 0:
		sign = "⚠️"
	}
	m := &driftMarkdown{doc: d, left: mostChanges}
	heading := strings.Join(sum.states(), ", ")
	if heading == "" {
		heading = "no servers to compare"
	}
	head := fmt.Sprintf("### %s Toolmark: %s\n\n", sign, heading)
	if sum.Changes+sum.NewFindings > 0 {
		head += sum.weighed() + ", in " + Plural(sum.ToolsInHand, "tool") + ".\n\n"
	}
	tail := m.tail()
	m.room = mostMarkdown - len(head) - len(tail)
	for _, s := range m.order() {
		m.server(s)
	}
	m.rest()
	_, err := io.WriteString(w, head+m.out.String()+tail)
	return err
}

// driftMarkdown writes as long as there is room.
type driftMarkdown struct {
	doc     *DriftDocument
	out     strings.Builder
	room    int // bytes
	left    int // changes and findings that may still be shown
	skipped int // those that were not
	quiet   int // servers of which nothing is to be said
	hidden  int // servers that were not shown
}

// put writes a block, if there is room for it.
func (m *driftMarkdown) put(block string) bool {
	if len(block) > m.room {
		return false
	}
	m.out.WriteString(block)
	m.room -= len(block)
	return true
}

// order gives the servers, those first of which there is most to say: where there is not
// room for all it is the quiet ones that are only counted.
func (m *driftMarkdown) order() []*DriftServer {
	list := make([]*DriftServer, 0, len(m.doc.Servers))
	for i := range m.doc.Servers {
		list = append(list, &m.doc.Servers[i])
	}
	rank := func(s *DriftServer) int {
		switch worst := s.Worst(); {
		case m.doc.Fails(worst):
			return 0
		case s.Status() == DriftUnreachable:
			return 1
		case worst > 0:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(list, func(a, b *DriftServer) int { return rank(a) - rank(b) })
	return list
}

func (m *driftMarkdown) server(s *DriftServer) {
	status := s.Status()
	name := code(s.Name)
	var head string
	switch status {
	case DriftUnreachable:
		head = fmt.Sprintf("- ⚠️ %s **could not be read**, which is not the same as unchanged: %s\n", name, code(s.why()))
	case DriftRemoved:
		head = fmt.Sprintf("- ❌ %s **was removed**, with %s\n", name, Plural(s.Old.tools(), "tool"))
	case DriftUnchanged, DriftEquivalent:
		if len(s.Findings) == 0 && len(s.Unscanned) == 0 {
			if m.quiet++; m.quiet > mostQuietServers {
				return
			}
		}
		head = fmt.Sprintf("- ✅ %s: unchanged, %s\n", name, s.toolCount())
	default:
		sign := "⚠️"
		if m.doc.Fails(s.Worst()) {
			sign = "❌"
		}
		head = fmt.Sprintf("- %s %s **%s**: %s%s\n", sign, name, status, s.toolCount(), s.fromVersion())
	}
	if n := len(s.Unscanned); n > 0 {
		head += fmt.Sprintf("  - ⚠️ **not scanned whole**: the time ran out before %s\n", Plural(n, "tool"))
	}
	if !m.put(head) {
		m.hidden++
		m.skipped += len(s.groups())
		return
	}
	m.changes(s)
}

// changes writes what changed of a server, the worst first, and its findings.
func (m *driftMarkdown) changes(s *DriftServer) {
	same, neutral := s.alike()
	for _, a := range same {
		m.entry(m.change(s, a), len(a.tools))
	}
	doc, src := &Document{Rules: m.doc.Rules}, s.source()
	for i := range s.Findings {
		var b strings.Builder
		doc.markdownFinding(&b, src, &s.Findings[i])
		m.entry(b.String(), 1)
	}
	if neutral > 0 {
		m.put(fmt.Sprintf("  - %s in form only (another order, another spelling)\n", Plural(neutral, "change")))
	}
}

// alike is a change, and the tools that changed in exactly this way.
type alike struct {
	*pin.Change
	tools []string
}

// alike gives the changes that count in their order, those that are the same in several
// tools once, and the number of those that do not count.
func (s *DriftServer) alike() (list []*alike, neutral int) {
	by := map[string]*alike{}
	for _, c := range s.changes() {
		if c.Neutral() {
			neutral++
			continue
		}
		key := hashOf(string(c.Code), c.Severity.String(), string(c.Effect), string(c.Op), s.words(c).plain(), written(c.Old), written(c.New))
		a := by[key]
		if a == nil || len(c.Findings) > 0 || c.Kind == pin.KindTool || c.OldIndex < 0 && c.NewIndex < 0 {
			a = &alike{Change: c}
			list = append(list, a)
			if len(c.Findings) == 0 && c.Kind != pin.KindTool {
				by[key] = a
			}
		}
		a.tools = append(a.tools, string(c.Tool))
	}
	return list, neutral
}

func (m *driftMarkdown) entry(block string, changes int) {
	if m.left <= 0 || !m.put(block) {
		m.left = 0
		m.skipped += changes
		return
	}
	m.left--
}

func (s *DriftServer) fromVersion() string {
	if s.Old == nil || s.New == nil || s.Old.Manifest == nil || s.New.Manifest == nil {
		return ""
	}
	switch old, now := s.Old.Manifest.Server.Version, s.New.Manifest.Server.Version; {
	case old == "" && now == "":
		return ""
	case old == now:
		return ", version " + code(now) + " as before"
	default:
		return ", version " + code(old) + " → " + code(now)
	}
}

func (m *driftMarkdown) change(s *DriftServer, a *alike) string {
	c, subject := a.Change, ""
	if c.OldIndex >= 0 || c.NewIndex >= 0 {
		names := make([]string, 0, mostNamed+1)
		for i, name := range a.tools {
			if i == mostNamed {
				names = append(names, fmt.Sprintf("… %d more", len(a.tools)-i))
				break
			}
			names = append(names, code(name))
		}
		subject = strings.Join(names, ", ") + ": "
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  - **%s** %s%s", c.Severity, subject, s.words(c).markdown())
	if words := inEffect(c.Effect); words != "" {
		fmt.Fprintf(&b, " (%s)", words)
	}
	fmt.Fprintf(&b, " %s\n", c.Code)
	own, community := apart(c.Findings)
	for _, f := range own {
		m.brings(&b, f)
	}
	if len(community) > 0 {
		fmt.Fprintf(&b, "    - adds **%s** E003 %s (advisory)", worst(community), Plural(len(community), "community rule"))
		for i, f := range community[:min(len(community), 5)] {
			d, _ := f.Details.(toolmark.CommunityDetails)
			fmt.Fprintf(&b, "%s %s", map[bool]string{true: ":", false: ","}[i == 0], code(d.RuleID))
		}
		b.WriteByte('\n')
	}
	if s.showsDiff(c) && !(c.Op == pin.OpRemoved && c.Kind == pin.KindTool) {
		b.WriteString(block("    ", diffOf(c, diffLimits{lines: mostDiffLines, line: mostDiffText})))
	}
	return b.String()
}

func (m *driftMarkdown) brings(b *strings.Builder, f *toolmark.Finding) {
	fmt.Fprintf(b, "    - ❗ adds **%s** %s %s", f.Severity, f.Code, f.Code.Title())
	doc := &Document{Rules: m.doc.Rules}
	named := map[string]bool{}
	says := ""
	places := f.Places()
	for i := range places {
		if ref := places[i].Rule; ref != "" && !named[ref] && len(named) < 3 {
			named[ref] = true
			if r, known := doc.rule(ref); known {
				ref = r.ID
			}
			fmt.Fprintf(b, ", rule %s", code(ref))
		}
		if words := inWords(places[i].Reading); says == "" && words != "" && places[i].Excerpt != "" {
			says = words + ": " + code(sub(string(places[i].Excerpt), 0, wholeText))
		}
	}
	if says != "" {
		fmt.Fprintf(b, ", %s", says)
	}
	b.WriteByte('\n')
}

// markdownWidth is the columns of a diff in Markdown: a code block does not wrap.
const markdownWidth = 96

// block gives diff lines as one fenced code block: hidden characters spelled out, fenced
// by more backticks than stand in it in a row. Below a line ^ marks what changed.
func block(indent string, list []diffLine) string {
	var lines []string
	longest := 2
	for _, l := range list {
		longest = max(longest, backticks(flat(l.pieces)))
		for _, r := range rows(l.pieces, markdownWidth, false) {
			lines = append(lines, strings.TrimRight(string(l.sign)+" "+r.text, " "))
			if r.marks != "" {
				lines = append(lines, "  "+r.marks)
			}
		}
	}
	fence := strings.Repeat("`", longest+1)
	return indent + fence + "diff\n" + indent + strings.Join(lines, "\n"+indent) + "\n" + indent + fence + "\n"
}

// tail is what stands at the end whatever there is room for: the commands that accept.
func (m *driftMarkdown) tail() string {
	var commands []string
	more, length := 0, 0
	for i := range m.doc.Servers {
		s := &m.doc.Servers[i]
		if status := s.Status(); s.Accept == "" || status == DriftUnchanged || status == DriftEquivalent {
			continue
		}
		command := oneLine(s.Accept)
		if length+len(command) > mostMarkdown/4 || len(commands) >= mostChanges {
			more++
			continue
		}
		length += len(command)
		commands = append(commands, command)
	}
	var b strings.Builder
	if len(commands) > 0 {
		b.WriteString("\nIf you have read the changes and accept them:\n\n")
		fence := strings.Repeat("`", max(2, backticks(strings.Join(commands, "\n")))+1)
		fmt.Fprintf(&b, "%ssh\n%s\n%s\n", fence, strings.Join(commands, "\n"), fence)
		if more > 0 {
			fmt.Fprintf(&b, "\n… and %s; the JSON report has them all.\n", Plural(more, "more command"))
		}
	}
	warnings := 0
	for _, warning := range m.doc.Warnings {
		if warnings++; warnings > mostQuietServers {
			break
		}
		fmt.Fprintf(&b, "\n⚠️ %s\n", code(sub(warning, 0, 400)))
	}
	if off := m.doc.Community.Off; off != "" {
		fmt.Fprintf(&b, "\n%s\n", code(sub(off, 0, 400)))
	}
	return b.String()
}

// rest counts what was left out.
func (m *driftMarkdown) rest() {
	if n := m.quiet - mostQuietServers; n > 0 {
		fmt.Fprintf(&m.out, "- ✅ … and %s unchanged\n", Plural(n, "more server"))
	}
	if m.hidden > 0 {
		fmt.Fprintf(&m.out, "- … and %s\n", Plural(m.hidden, "more server"))
	}
	if m.skipped > 0 {
		fmt.Fprintf(&m.out, "- … and %s more; `toolmark check` shows all\n", Plural(m.skipped, "change"))
	}
}
