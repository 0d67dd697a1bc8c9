package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/textcheck"
)

// TextOptions say how the readable report looks. The zero value is plain text, 100
// columns wide.
type TextOptions struct {
	// Colour allows SGR sequences; only for a terminal.
	Colour bool
	// Width is the number of columns; 0 means 100, less than 40 counts as 40.
	Width int
	// Quiet prints only what fails the run.
	Quiet bool
	// Verbose prints suppressed findings and every place too.
	Verbose bool
}

const (
	defaultWidth = 100
	leastWidth   = 40
	fewPlaces    = 3 // places of one finding shown unless Verbose
)

// WriteText writes the report for people, grouped by server and tool. Sources that
// could not be read are only counted, and the document's warnings are left out: both
// belong on the error stream, one line each.
func (d *Document) WriteText(w io.Writer, opt TextOptions) error {
	t := newTextWriter(opt)
	t.doc = d
	for i := range d.Sources {
		t.source(&d.Sources[i])
	}
	t.summary()
	_, err := io.WriteString(w, t.out.String())
	return err
}

type textWriter struct {
	doc   *Document
	opt   TextOptions
	s     style
	width int
	out   strings.Builder
	// example is the opaque reference of the first rule shown.
	example string
}

func (t *textWriter) line(indent int, text string) {
	if text != "" {
		t.out.WriteString(strings.Repeat(" ", indent))
		t.out.WriteString(text)
	}
	t.out.WriteByte('\n')
}

// paragraph writes a text of ours, wrapped, with a sign before its first line.
func (t *textWriter) paragraph(indent int, sign, text string, paint func(string) string) {
	pad := strings.Repeat(" ", len([]rune(sign)))
	for i, l := range wrap(text, t.width-indent-len(pad)) {
		if i == 0 {
			t.line(indent, paint(sign+l))
		} else {
			t.line(indent, paint(pad+l))
		}
	}
}

func (t *textWriter) source(src *Source) {
	switch {
	case src.Report == nil: // said on stderr, by whoever prints the report
		return
	case t.opt.Quiet && !t.doc.Fails(src.Report.Worst()) && !src.Report.Unfinished():
		return
	case len(src.Report.Findings) == 0 && !src.Report.Incomplete:
		t.clean(src)
		t.notes(src)
		return
	}
	t.line(0, t.s.bold(title(src))+t.s.dim(from(src)+" · "+Plural(len(src.Report.Tools), "tool")))
	for i := 0; i < len(src.Report.Findings); {
		j := i
		for j < len(src.Report.Findings) && src.Report.Findings[j].Index == src.Report.Findings[i].Index {
			j++
		}
		t.tool(src, src.Report.Findings[i:j])
		i = j
	}
	t.line(0, "")
	t.notes(src)
	t.line(2, t.s.dim("pin "+src.Report.SHA256))
	t.line(0, "")
}

// title names a server by what it says of itself.
func title(src *Source) string {
	if src.Snapshot == nil || src.Snapshot.Manifest.Server.Name == "" {
		return sourceName(src)
	}
	return strings.TrimSpace(oneLine(src.Snapshot.Manifest.Server.Name + " " + src.Snapshot.Manifest.Server.Version))
}

// from says where a server was read, if its title does not.
func from(src *Source) string {
	if name := sourceName(src); name != title(src) {
		return "  " + name
	}
	return ""
}

func sourceName(src *Source) string {
	if src.Name == "-" {
		return "standard input"
	}
	return oneLine(src.Name)
}

func (t *textWriter) clean(src *Source) {
	n := len(src.Report.Tools)
	if n == 0 {
		t.line(0, t.s.caution("! ")+t.s.bold(title(src))+t.s.dim(from(src))+": the server lists no tools, so there was nothing to scan")
		return
	}
	read := "every text a model or a person is shown"
	if src.Scope == toolmark.ScopeStandard {
		read = "descriptions and input schemas"
	}
	found := "clean"
	if len(src.Suppressed) > 0 {
		found = "clean but for what is suppressed"
	}
	t.line(0, fmt.Sprintf("%s%s%s: %s, %s %s", t.s.good("✓ "), t.s.bold(title(src)), t.s.dim(from(src)),
		Plural(n, "tool"), found, t.s.dim("· read: "+read+" · pin "+src.Report.SHA256[:min(12, len(src.Report.SHA256))]+"…")))
}

// notes writes what is to be known of a source beside its findings.
func (t *textWriter) notes(src *Source) {
	if src.Report.Incomplete {
		names := make([]string, 0, len(src.Report.UnscannedTools))
		for i, n := range src.Report.UnscannedTools {
			if i == 10 && !t.opt.Verbose {
				names = append(names, fmt.Sprintf("and %d more", len(src.Report.UnscannedTools)-i))
				break
			}
			names = append(names, oneLine(string(n)))
		}
		t.paragraph(2, "! ", "The time ran out before these were scanned: "+strings.Join(names, ", ")+". Give more with --budget.", t.s.caution)
	}
	if t.opt.Quiet {
		return
	}
	for _, x := range src.Suppressed {
		if !t.opt.Verbose {
			break
		}
		until := ""
		if x.Expires != "" {
			until = ", until " + x.Expires
		}
		t.paragraph(2, "- ", fmt.Sprintf("suppressed: %s %s in %s (%s%s)", x.Finding.Severity, x.Finding.Code,
			oneLine(string(x.Finding.Tool)), oneLine(x.Reason), until), t.s.dim)
	}
	for _, w := range src.Snapshot.Warnings {
		t.paragraph(2, "! ", "warning: "+oneLine(w), t.s.caution)
	}
}

func (t *textWriter) tool(src *Source, findings []toolmark.Finding) {
	shown := findings[:0:0]
	for _, f := range findings {
		if !t.opt.Quiet || t.doc.Fails(f.Severity) || f.Code == toolmark.CodeUnscannable {
			shown = append(shown, f)
		}
	}
	if len(shown) == 0 {
		return
	}
	name := oneLine(string(shown[0].Tool))
	if shown[0].Index < 0 {
		name = "the list as a whole"
	}
	t.line(0, "")
	t.line(2, t.s.bold(name))
	// Here the worst comes first; everywhere else the order is the contract's.
	slices.SortStableFunc(shown, func(a, b toolmark.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	for i := range shown {
		t.finding(src, &shown[i])
	}
}

func (t *textWriter) finding(src *Source, f *toolmark.Finding) {
	mark := map[toolmark.Severity]string{toolmark.High: "✗ high  ", toolmark.Medium: "! medium", toolmark.Info: "· info  "}[f.Severity]
	t.line(4, t.s.severity(f.Severity, mark)+" "+t.s.bold(string(f.Code))+" "+f.Code.Title())
	t.paragraph(6, "", oneLine(f.Reason)+".", t.s.dim)
	t.evidence(f)
	advice := Advice(f.Code)
	found := spots(f.Places())
	named := ""
	for i := range found {
		if i == fewPlaces && !t.opt.Verbose {
			t.line(6, t.s.dim(fmt.Sprintf("… and %s; --verbose shows all", Plural(len(found)-i, "more place"))))
			break
		}
		for j, rule := range found[i].rules {
			if rule == named {
				continue
			}
			named = rule
			r, known := t.doc.rule(rule)
			if t.example == "" {
				t.example = rule
			}
			if known {
				t.paragraph(6, "rule ", oneLine(r.Title)+" ("+oneLine(r.ID)+", "+r.Reference+")", t.s.hint)
			} else {
				t.line(6, t.s.hint("rule "+oneLine(rule)))
			}
			if known && r.Fix != "" && i == 0 && j == 0 {
				advice = firstSentence(r.Fix)
			}
		}
		t.place(src, f, &found[i])
	}
	if advice != "" {
		t.paragraph(6, "→ ", oneLine(advice), t.s.good)
	}
}

// evidence writes what a finding shows beside its places.
func (t *textWriter) evidence(f *toolmark.Finding) {
	switch d := f.Details.(type) {
	case toolmark.HiddenTextDetails:
		for _, p := range []struct {
			what string
			text toolmark.Text
		}{{"hidden in tag characters: ", d.DecodedTagPayload}, {"decoded: ", d.DecodedPayload}} {
			if p.text != "" {
				for i, row := range layOut([]piece{{text: p.what}, {text: oneLine(string(p.text)), matched: bool(t.s)}}, t.width-8, t.s) {
					if i < 8 {
						t.line(8, row)
					}
				}
			}
		}
	case toolmark.ShadowDetails:
		t.paragraph(6, "", fmt.Sprintf("%s of server %s, by %s match", oneLine(string(d.ShadowedToolName)), oneLine(string(d.ShadowedServerName)), d.Match), t.s.hint)
	case toolmark.DuplicateNameDetails:
		names := make([]string, 0, len(d.Names))
		for _, n := range d.Names {
			names = append(names, oneLine(string(n)))
		}
		t.paragraph(6, "", fmt.Sprintf("%d tools by %s match: %s", d.Count, d.Match, strings.Join(names, ", ")), t.s.hint)
	case toolmark.RugPullDetails:
		t.line(6, "pinned  "+oneLine(d.PinnedSHA256))
		t.line(6, "current "+oneLine(d.CurrentSHA256))
	case toolmark.UnscannableDetails:
		t.paragraph(6, "cause: ", oneLine(d.Cause), t.s.hint)
	case toolmark.AdviceDetails:
		t.advice(&d)
	case toolmark.CommunityDetails:
		t.paragraph(6, "rule ", fmt.Sprintf("%s (%s, ATR severity %s, %s)", oneLine(d.Title), oneLine(d.RuleID), oneLine(d.ATRSeverity), oneLine(d.Maturity)), t.s.hint)
	}
}

// advice writes what release advice shows beside its places.
func (t *textWriter) advice(d *toolmark.AdviceDetails) {
	quote := func(what string, text toolmark.Text) {
		if text != "" {
			t.paragraph(6, what, oneLine(string(text)), t.s.hint)
		}
	}
	quote("kind: ", toolmark.Text(d.Kind))
	quote("file: ", toolmark.Text(d.File))
	if len(d.Names) > 0 {
		names := make([]string, 0, len(d.Names))
		for _, n := range d.Names {
			names = append(names, oneLine(string(n)))
		}
		t.paragraph(6, "tools: ", strings.Join(names, ", "), t.s.hint)
	}
	if len(d.Sessions) > 0 {
		t.paragraph(6, "sessions: ", oneLine(strings.Join(d.Sessions, ", ")), t.s.hint)
	}
	quote("old: ", d.Old)
	quote("new: ", d.New)
}

// place writes one spot: the pointer, how it was read, and the text with the match
// marked.
func (t *textWriter) place(src *Source, f *toolmark.Finding, at *spot) {
	t.paragraph(6, "at ", at.head(), t.s.dim)
	text, _, ok := src.place(f, at.first)
	var rows []string
	switch {
	case ok:
		rows = layOut(cutOut(text, at.ranges...), t.width-10, t.s)
		if slices.Contains(at.kinds, string(textcheck.KindHomoglyph)) {
			rows = append(rows, t.s.dim("look-alikes: "+strings.Join(foreign(text, at.ranges), " ")))
		}
	case at.first.Excerpt != "":
		rows = layOut([]piece{{text: oneLine(string(at.first.Excerpt))}}, t.width-10, t.s)
	}
	if len(at.rules) > 0 {
		for _, says := range at.says {
			rows = append(rows, layOut([]piece{{text: "reads: "}, {text: oneLine(says)}}, t.width-10, t.s)...)
		}
	}
	for _, row := range rows {
		t.line(8, t.s.dim("│ ")+row)
	}
}

// mostForeign is the most code points that are named of one text.
const mostForeign = 12

// foreign names the code points beyond ASCII in the ranges of a text, each once: what
// looks alike cannot be told apart by looking.
func foreign(text string, ranges [][2]int) []string {
	var out []string
	for _, r := range ranges {
		for _, c := range sub(text, r[0], r[1]) {
			if name := fmt.Sprintf("%c U+%04X", c, c); c >= 0x80 && len(out) < mostForeign && !slices.Contains(out, name) && oneLine(string(c)) == string(c) {
				out = append(out, name)
			}
		}
	}
	return out
}

// summary writes the last lines.
func (t *textWriter) summary() {
	t.counted()
	if sum := t.doc.Summary(); t.doc.Community.Off != "" && !t.opt.Quiet && sum.Failed < sum.Sources {
		t.line(0, t.s.dim(t.doc.Community.Off))
	}
}

// counted writes what was found in numbers. A single clean source has said it all
// already.
func (t *textWriter) counted() {
	sum := t.doc.Summary()
	found := sum.High+sum.Medium+sum.Info > 0
	if sum.Failed == sum.Sources || t.opt.Quiet && !t.doc.Failed() && !t.doc.Unfinished() {
		return
	}
	if !found && sum.Suppressed == 0 && sum.Failed == 0 && sum.Unscanned == 0 && sum.Sources == 1 {
		return
	}
	line := Plural(sum.Tools, "tool") + " scanned"
	if sum.Sources > 1 {
		line += " on " + Plural(sum.Sources-sum.Failed, "server")
	}
	line += " in " + elapsed(t.doc.Elapsed) + ": "
	parts := t.counts(sum)
	if sum.Failed > 0 {
		parts = append(parts, t.s.bad(Plural(sum.Failed, "source")+" failed"))
	}
	t.line(0, line+strings.Join(parts, ", "))
	if t.example != "" {
		t.line(0, t.s.dim("next: toolmark rules explain "+t.example))
	}
}

func (t *textWriter) counts(sum Summary) []string {
	var parts []string
	for _, c := range []struct {
		n     int
		what  string
		paint func(string) string
	}{
		{sum.High, "high", t.s.bad},
		{sum.Medium, "medium", t.s.caution},
		{sum.Info, "info", t.s.hint},
		{sum.Unscanned, "not scanned", t.s.caution},
	} {
		if c.n > 0 {
			parts = append(parts, c.paint(fmt.Sprintf("%d %s", c.n, c.what)))
		}
	}
	if len(parts) == 0 && sum.Failed < sum.Sources {
		parts = append(parts, t.s.good("nothing found"))
	}
	if sum.Suppressed > 0 {
		parts = append(parts, t.s.dim(fmt.Sprintf("%d suppressed", sum.Suppressed)))
	}
	return parts
}

// elapsed rounds a time to what a person wants to know.
func elapsed(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// Plural gives a number with its noun: "1 tool", "2 tools".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// firstSentence gives the first sentence of a text, for advice on one line.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}
