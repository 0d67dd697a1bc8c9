package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// WriteText writes the comparison for people: what changed, old and new with the changed
// words marked, what to read first and the command that accepts it. Servers that could
// not be read are only counted, and the document's warnings are left out: both belong on
// the error stream, one line each.
func (d *DriftDocument) WriteText(w io.Writer, opt TextOptions) error {
	t := &driftWriter{textWriter: newTextWriter(opt), drift: d}
	t.doc = &Document{FailOn: d.FailOn, Rules: d.Rules}
	for i := range d.Servers {
		t.server(&d.Servers[i])
	}
	t.summary()
	_, err := io.WriteString(w, t.out.String())
	return err
}

type driftWriter struct {
	*textWriter
	drift *DriftDocument
}

func (t *driftWriter) server(s *DriftServer) {
	fails := t.drift.Fails(s.Worst())
	status := s.Status()
	if status == DriftUnreachable || t.opt.Quiet && !fails && len(s.Unscanned) == 0 {
		return
	}
	quiet := status == DriftUnchanged || status == DriftEquivalent
	sign, paint := "✓ ", t.s.good
	switch {
	case fails:
		sign, paint = "✗ ", t.s.bad
	case !quiet || len(s.Findings) > 0 || len(s.Unscanned) > 0:
		sign, paint = "! ", t.s.caution
	}
	head := paint(sign) + t.s.bold(oneLine(s.Name)) + ": " + paint(string(status)) + t.s.dim(" · "+s.toolCount())
	if n := len(s.Standing); n > 0 {
		head += t.s.dim(" · " + Plural(n, "finding") + " accepted before")
	}
	t.line(0, head)
	if !quiet {
		t.side(s.Old)
		t.side(s.New)
	}
	t.warnings(s)
	if status == DriftNew {
		t.fresh(s.New)
	}
	for _, g := range s.groups() {
		t.group(s, g)
	}
	if len(s.Findings) > 0 {
		t.findings(s)
	}
	if s.Accept != "" && !quiet {
		t.line(0, "")
		t.line(2, "accept: "+t.s.hint(oneLine(s.Accept)))
	}
	if !quiet || len(s.Findings) > 0 {
		t.line(0, "")
	}
}

// mostTools is how many tools of a new server are named unless Verbose.
const mostTools = 20

// fresh names the tools of a server of which nothing was approved, each with how its
// description begins; with Verbose it shows all that the server declares of them.
func (t *driftWriter) fresh(side *DriftSide) {
	if t.opt.Quiet || side.Manifest == nil {
		return
	}
	for i := range side.Manifest.Tools {
		tool := &side.Manifest.Tools[i]
		if t.opt.Verbose {
			t.line(2, t.s.good("+ ")+t.s.bold(oneLine(tool.Name)))
			for _, l := range diffOf(&pin.Change{New: tool.Tree}, diffLimits{}) {
				t.diffLine(l)
			}
			continue
		}
		if i == mostTools {
			t.line(2, t.s.dim("… and "+Plural(len(side.Manifest.Tools)-i, "more tool")+"; --verbose shows all"))
			break
		}
		row := rows([]piece{{text: oneLine(tool.Name)}, {text: "  " + oneLine(tool.Description())}}, t.width-4, false)
		text := row[0].text
		if len(row) > 1 {
			text = strings.TrimRight(text, " ") + "…"
		}
		t.line(2, t.s.good("+ ")+text)
	}
}

// side names one of the two things that are compared.
func (t *driftWriter) side(side *DriftSide) {
	if side == nil {
		return
	}
	t.line(2, t.s.dim(side.words()))
}

// words names a side on one line: what it is, the version, where it was read, the pin,
// who accepted it.
func (s *DriftSide) words() string {
	var parts []string
	if m := s.Manifest; m != nil && m.Server.Name != "" {
		parts = append(parts, strings.TrimSpace(oneLine(m.Server.Name+" "+m.Server.Version)))
	}
	if s.Source != "" {
		parts = append(parts, oneLine(s.Source))
	}
	if s.Pin != "" {
		parts = append(parts, "pin "+oneLine(s.Pin[:min(12, len(s.Pin))])+"…")
	}
	accepted := ""
	if s.AcceptedBy != "" {
		accepted = "by " + oneLine(s.AcceptedBy)
	}
	if !s.AcceptedAt.IsZero() {
		accepted = strings.TrimSpace(accepted + " on " + s.AcceptedAt.UTC().Format(time.DateOnly))
	}
	if accepted != "" {
		parts = append(parts, "accepted "+accepted)
	}
	label := oneLine(s.Label)
	if label != "" {
		label += ": "
	}
	return label + strings.Join(parts, " · ")
}

func (t *driftWriter) warnings(s *DriftServer) {
	if len(s.Unscanned) > 0 {
		names := make([]string, 0, len(s.Unscanned))
		for i, n := range s.Unscanned {
			if i == 10 && !t.opt.Verbose {
				names = append(names, fmt.Sprintf("and %d more", len(s.Unscanned)-i))
				break
			}
			names = append(names, oneLine(string(n)))
		}
		t.paragraph(2, "! ", "The time ran out before these were scanned: "+strings.Join(names, ", ")+".", t.s.caution)
	}
	if t.opt.Quiet {
		return
	}
	if t.opt.Verbose {
		for _, x := range s.Suppressed {
			t.paragraph(2, "- ", suppressedWords(&x), t.s.dim)
		}
	}
	for _, w := range s.Warnings {
		t.paragraph(2, "! ", "warning: "+oneLine(w), t.s.caution)
	}
}

func suppressedWords(x *Suppressed) string {
	until := ""
	if x.Expires != "" {
		until = ", until " + x.Expires
	}
	return fmt.Sprintf("suppressed: %s %s in %s (%s%s)", x.Finding.Severity, x.Finding.Code,
		oneLine(string(x.Finding.Tool)), oneLine(x.Reason), until)
}

func (t *driftWriter) group(s *DriftServer, g *group) {
	if s.Old == nil && s.Drift != nil && !t.opt.Verbose && !slices.ContainsFunc(g.changes, func(c *pin.Change) bool { return len(c.Findings) > 0 }) {
		return // a new server: everything is new, and only findings are worth a line
	}
	var shown []*pin.Change
	for _, c := range g.changes {
		if !t.opt.Quiet || t.drift.Fails(c.Severity) {
			shown = append(shown, c)
		}
	}
	if len(shown) == 0 && (len(g.neutral) == 0 || !t.opt.Verbose) {
		return
	}
	t.line(0, "")
	name := "the server as a whole"
	if g.name != "" {
		name = oneLine(g.name)
	}
	t.line(2, t.s.bold(name))
	for _, c := range shown {
		t.change(s, c)
	}
	if n := len(g.neutral); n > 0 && !t.opt.Verbose && !t.opt.Quiet {
		t.line(4, t.s.dim("· "+Plural(n, "change")+" in form only: another order, another spelling"))
	} else if t.opt.Verbose {
		for _, c := range g.neutral {
			t.line(4, t.s.dim("· "+s.words(c).plain()+at(c)))
		}
	}
}

// at names the place of a change for the end of a line.
func at(c *pin.Change) string {
	if c.Pointer == "" {
		return ""
	}
	return " at " + oneLine(string(c.Pointer))
}

func (t *driftWriter) change(s *DriftServer, c *pin.Change) {
	mark := map[toolmark.Severity]string{toolmark.High: "✗ high  ", toolmark.Medium: "! medium", toolmark.Info: "· info  "}[c.Severity]
	for i, l := range wrap(string(c.Code)+" "+s.words(c).plain(), t.width-13) {
		if i == 0 {
			code, rest, _ := strings.Cut(l, " ")
			t.line(4, t.s.severity(c.Severity, mark)+" "+t.s.bold(code)+" "+rest)
		} else {
			t.line(13, l)
		}
	}
	place := strings.TrimPrefix(at(c), " ")
	if words := inEffect(c.Effect); words != "" {
		if place != "" {
			place += " · "
		}
		place += words
	}
	if place != "" {
		t.paragraph(6, "", place, t.s.dim)
	}
	own, community := apart(c.Findings)
	for _, f := range own {
		t.brings(f)
	}
	if len(community) > 0 {
		v := worst(community)
		t.paragraph(6, "", fmt.Sprintf("adds %s E003: %s (advisory)", v, Plural(len(community), "community rule")), func(l string) string { return t.s.severity(v, l) })
		for _, f := range community {
			d, _ := f.Details.(toolmark.CommunityDetails)
			t.paragraph(8, "rule ", fmt.Sprintf("%s (%s, %s)", oneLine(d.Title), oneLine(d.RuleID), f.Severity), t.s.hint)
		}
	}
	t.diff(s, c)
}

// apart parts the findings of the community's rules from all others: many of them may
// match at once, and none of them fails a run by itself.
func apart(findings []toolmark.Finding) (own, community []*toolmark.Finding) {
	for i := range findings {
		if f := &findings[i]; f.Code == toolmark.CodeCommunity {
			community = append(community, f)
		} else {
			own = append(own, f)
		}
	}
	return own, community
}

func worst(findings []*toolmark.Finding) (v toolmark.Severity) {
	for _, f := range findings {
		v = max(v, f.Severity)
	}
	return v
}

// brings names a finding that came with a change.
func (t *driftWriter) brings(f *toolmark.Finding) {
	t.paragraph(6, "", "adds "+f.Severity.String()+" "+string(f.Code)+": "+f.Code.Title(), func(l string) string { return t.s.severity(f.Severity, l) })
	if _, drift := f.Details.(toolmark.RugPullDetails); !drift {
		t.evidence(f)
	}
	named := map[string]bool{}
	places := f.Places()
	for i := range places {
		loc := &places[i]
		if loc.Rule != "" && !named[loc.Rule] {
			named[loc.Rule] = true
			if t.example == "" {
				t.example = loc.Rule
			}
			r, known := t.doc.rule(loc.Rule)
			if known {
				t.paragraph(8, "rule ", oneLine(r.Title)+" ("+oneLine(r.ID)+", "+r.Reference+")", t.s.hint)
			} else {
				t.line(8, t.s.hint("rule "+oneLine(loc.Rule)))
			}
		}
		if says := decoded(loc); says != "" && !named[says] && len(named) < 8 {
			named[says] = true
			for _, row := range layOut([]piece{{text: says}}, t.width-8, t.s) {
				t.line(8, row)
			}
		}
	}
}

// mostLines is how many lines of a whole definition are shown unless Verbose; a text is
// shown whole.
const mostLines = 60

func (t *driftWriter) diff(s *DriftServer, c *pin.Change) {
	if !s.showsDiff(c) {
		return
	}
	var limits diffLimits
	if !isText(c) && !t.opt.Verbose {
		limits.lines = mostLines
	}
	if c.Op == pin.OpRemoved && c.Kind == pin.KindTool && !t.opt.Verbose {
		return
	}
	for _, l := range diffOf(c, limits) {
		t.diffLine(l)
	}
}

// showsDiff reports whether old and new are worth more than the sentence about them.
func (s *DriftServer) showsDiff(c *pin.Change) bool {
	if c.Kind == pin.KindUnread || c.Op == pin.OpMoved || c.Op == pin.OpRenamed {
		return false
	}
	if truth(c.Old) && truth(c.New) {
		return false
	}
	p := s.words(c)
	return !p.tells(c.Old) || !p.tells(c.New)
}

// isText reports whether a change is one of a text: whether Segments has an answer.
func isText(c *pin.Change) bool {
	text := func(v *toolmark.Value) bool { return v == nil || v.Kind == toolmark.KindString }
	return text(c.Old) && text(c.New) && (c.Old != nil || c.New != nil)
}

// truth reports whether a value is a boolean or absent: words say all there is to it.
func truth(v *toolmark.Value) bool {
	return v == nil || v.Kind == toolmark.KindTrue || v.Kind == toolmark.KindFalse
}

func (t *driftWriter) diffLine(l diffLine) {
	paint := func(s string) string { return s }
	sign := string(l.sign)
	switch l.sign {
	case '-':
		paint = t.s.bad
	case '+':
		paint = t.s.good
	case '…':
		sign = " "
		l.pieces = append([]piece{{text: "… "}}, l.pieces...)
		paint = t.s.dim
	}
	rows := layOut(l.pieces, t.width-10, t.s)
	for i, row := range rows {
		if i > 0 {
			sign = " "
		}
		t.line(6, strings.TrimRight(t.s.dim("│ ")+paint(sign)+" "+row, " "))
	}
}

// findings writes the findings that belong to no change.
func (t *driftWriter) findings(s *DriftServer) {
	src := s.source()
	for i := 0; i < len(s.Findings); {
		j := i
		for j < len(s.Findings) && s.Findings[j].Index == s.Findings[i].Index {
			j++
		}
		t.tool(src, s.Findings[i:j])
		i = j
	}
}

// source gives the new side as a scan sees it.
func (s *DriftServer) source() *Source {
	src := &Source{Name: s.Name, Label: s.Name}
	if s.New != nil && s.New.Manifest != nil {
		src.File = s.New.File
		src.Snapshot = &toolmark.Snapshot{Source: s.New.Source, Manifest: s.New.Manifest}
	}
	return src
}

func (t *driftWriter) summary() {
	sum := t.drift.Summary()
	if t.opt.Quiet && sum.OK || sum.Servers == 0 {
		return
	}
	line := Plural(sum.Servers, "server") + " compared in " + elapsed(t.drift.Elapsed) + ": " + strings.Join(sum.states(), ", ")
	if sum.Changes+sum.NewFindings > 0 {
		line += " · " + sum.weighed()
	}
	if sum.Neutral > 0 {
		line += fmt.Sprintf(" · %d in form only", sum.Neutral)
	}
	if sum.Suppressed > 0 {
		line += fmt.Sprintf(" · %d suppressed", sum.Suppressed)
	}
	if sum.Unscanned > 0 {
		line += " · " + Plural(sum.Unscanned, "tool") + " not scanned"
	}
	for i, l := range wrap(line, t.width) {
		switch {
		case i > 0:
			t.line(2, l)
		case t.drift.Failed():
			t.line(0, t.s.bad(l))
		default:
			t.line(0, l)
		}
	}
	if t.example != "" {
		t.line(0, t.s.dim("next: toolmark rules explain "+t.example))
	}
	if off := t.drift.Community.Off; off != "" && !t.opt.Quiet && sum.Unreachable < sum.Servers {
		t.line(0, t.s.dim(oneLine(off)))
	}
}
