package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/lockfile"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/internal/suppression"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/scan"
)

// driftFlags are the flags of every command that compares.
type driftFlags struct {
	sourceFlags
	outputFlags
	surfaces, rules string
	budget          time.Duration
	lockfile, title string
	scope           toolmark.Scope
	severity        toolmark.Severity
}

func (f *driftFlags) addDrift(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.json, "json", false, "print one JSON document (docs/cli.md)")
	flags.StringVar(&f.sarif, "sarif", "", "write SARIF 2.1.0 to this `file`")
	flags.StringVar(&f.junit, "junit", "", "write JUnit XML to this `file`")
	flags.StringVar(&f.codequality, "codequality", "", "write a Code Quality report, as GitLab reads it, to this `file`")
	flags.StringVar(&f.markdown, "markdown", "", "write a summary for a pull request to this `file`")
	flags.BoolVar(&f.quiet, "quiet", false, "print only what fails the run")
	flags.BoolVar(&f.verbose, "verbose", false, "print every place, what is suppressed, and changes that mean nothing")
	f.addScan(cmd)
}

// addScan adds the flags that say how new text is scanned.
func (f *driftFlags) addScan(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.surfaces, "surfaces", "all", "what of new text is scanned: all, or standard: descriptions and input schemas")
	flags.StringVar(&f.config, "config", "", "read suppressions from this `file` (default "+configName+", where there is one)")
	flags.StringVar(&f.rules, "rules", "", "match the rules of this `folder` too (docs/rule-format.md)")
	flags.DurationVar(&f.budget, "budget", scan.DefaultBudget, "time for scanning one list; 0 is no limit")
}

func (f *driftFlags) addFailOn(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.failOn, "fail-on", "high", "exit 3 from this severity on: high, medium, info or never")
}

func (f *driftFlags) addLockfile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.lockfile, "lockfile", lockfile.Name, "the lockfile's `path`")
}

// check reads the flags' words. What is wrong with them is wrong use.
func (f *driftFlags) check() (err error) {
	if f.failOn != "" {
		if f.severity, err = parseFailOn(f.failOn); err != nil {
			return err
		}
	}
	if f.scope, err = toolmark.ParseScope(f.surfaces); err != nil {
		return usage("--surfaces is standard or all, not %q", f.surfaces)
	}
	if f.quiet && f.verbose {
		return usage("--quiet and --verbose exclude each other")
	}
	if f.budget < 0 {
		return usage("--budget must not be less than 0; 0 is no limit")
	}
	_, err = f.headers()
	return err
}

// comparer compares manifests and scans what is new. Rules are loaded when the first
// comparison needs them, because most find nothing to scan.
type comparer struct {
	p       *program
	flags   *driftFlags
	list    *suppression.List
	use     *suppression.Use
	rules   *ruleBase
	scanner *scan.Scanner
	began   time.Time
	// complete: everything was read and scanned, so that a suppression which names
	// nothing is one too many.
	complete bool
	doc      *report.DriftDocument
}

func (p *program) newComparer(f *driftFlags) (*comparer, error) {
	list, err := readSuppressions(f.config)
	if err != nil {
		return nil, err
	}
	if f.rules != "" {
		if info, err := os.Stat(f.rules); err != nil || !info.IsDir() {
			return nil, &toolmark.Error{Code: toolmark.ErrRules, Message: f.rules + ": no such folder"}
		}
	}
	c := &comparer{p: p, flags: f, list: list, began: p.env.now(), complete: true}
	c.use = list.Begin(c.began, func(reference string) string {
		if c.rules == nil {
			return ""
		}
		r, _ := c.rules.Rule(reference)
		return r.ID
	})
	c.doc = &report.DriftDocument{Title: f.title, FailOn: f.severity}
	return c, nil
}

// pair is one comparison to make: of two manifests that are to be compared as they are.
type pair struct {
	name     string
	old, new *report.DriftSide // as in report.DriftServer
	err      error             // why there is no new side
	warnings []string
	options  pin.Options
	// others are the servers whose names the tools may not take.
	others []toolmark.OtherServer
	accept string
}

// add makes a comparison and puts it into the document.
func (c *comparer) add(ctx context.Context, x pair) error {
	s := report.DriftServer{Name: x.name, Old: x.old, New: x.new, Err: x.err, Warnings: x.warnings}
	switch {
	case x.err != nil:
		s.Drift = pin.Unread(x.err.Error())
		c.complete = false
	case x.new == nil:
	case x.old == nil:
		found, err := c.scan(ctx, x.new.Manifest, &x, &s)
		if err != nil {
			return err
		}
		s.Findings = c.suppress(&x, &s, found)
		s.Accept = x.accept
	default:
		s.Drift = pin.Diff(x.old.Manifest, x.new.Manifest, x.options)
		c.complete = false // not everything is scanned
		if !s.Drift.Written() {
			break
		}
		after, err := c.scan(ctx, focus(x.new.Manifest, s.Drift, newIndex), &x, &s)
		if err != nil {
			return err
		}
		after = c.suppress(&x, &s, after)
		var before []toolmark.Finding
		if len(after) > 0 { // else there is nothing that the old list might have had already
			if before, err = c.scan(ctx, focus(x.old.Manifest, s.Drift, oldIndex(after)), &x, nil); err != nil {
				return err
			}
		}
		s.Findings = s.Drift.Attach(before, after)
		s.Standing = standing(&s, after)
		c.suppressChanges(&x, &s)
		s.Accept = x.accept
	}
	c.doc.Servers = append(c.doc.Servers, s)
	return ctx.Err()
}

// focus gives a manifest in which the tools that did not change, or of which index gives
// -1, have nothing but their names. What a scan finds in a tool that did not change it finds
// in both manifests, so none of it is new; the names stay, because a new tool may take one.
// It saves most of the time where few of many tools changed.
func focus(m *toolmark.Manifest, d *pin.Drift, index func(*pin.ToolDrift) int) *toolmark.Manifest {
	if m.ToolsPointer != "/tools" {
		return m
	}
	changed := make([]bool, len(m.Tools))
	for i := range d.Tools {
		if at := index(&d.Tools[i]); at >= 0 {
			changed[at] = true
		}
	}
	out, list := *m, *m.Tree.Get("tools")
	list.Items, out.Tools = slices.Clone(list.Items), slices.Clone(m.Tools)
	for i := range changed {
		if changed[i] {
			continue
		}
		tool := &list.Items[i]
		name := toolmark.Member{Name: "name", Value: *tool.Get("name")}
		tool.Members = []toolmark.Member{name}
		out.Tools[i].Tree = tool
	}
	tree := *m.Tree
	tree.Members = slices.Clone(tree.Members)
	for i := range tree.Members {
		if tree.Members[i].Name == "tools" {
			tree.Members[i].Value = list
		}
	}
	out.Tree = &tree
	return &out
}

func newIndex(t *pin.ToolDrift) int { return t.NewIndex }

// oldIndex gives of the tools in which something was found what they were before: it is
// scanned to tell which findings they had already.
func oldIndex(found []toolmark.Finding) func(*pin.ToolDrift) int {
	at := map[int]bool{}
	for i := range found {
		at[found[i].Index] = true
	}
	return func(t *pin.ToolDrift) int {
		if !at[t.NewIndex] {
			return -1
		}
		return t.OldIndex
	}
}

// scan gives the findings of a manifest; what was not reached goes into s, if there is one.
func (c *comparer) scan(ctx context.Context, m *toolmark.Manifest, x *pair, s *report.DriftServer) ([]toolmark.Finding, error) {
	if c.scanner == nil {
		rules, err := c.p.loadRuleBase(c.flags.rules)
		if err != nil {
			return nil, err
		}
		if c.scanner, err = rules.scanner(c.flags.budget, c.p.env.now); err != nil {
			return nil, err
		}
		c.rules, c.doc.Rules, c.doc.Community = rules, rules, rules.state
	}
	rep, err := c.scanner.Scan(ctx, scan.Request{Manifest: m, OtherServers: x.others, Scope: c.flags.scope, Faults: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.name, err)
	}
	if s != nil {
		s.Unscanned = rep.UnscannedTools
		if rep.Unfinished() && len(s.Unscanned) == 0 {
			s.Unscanned = []toolmark.Text{toolmark.WholeList}
		}
	}
	c.complete = c.complete && !rep.Unfinished()
	return rep.Findings, nil
}

// suppress takes out what a person has accepted. Entries may name the server as it is
// called here or as it calls itself.
func (c *comparer) suppress(x *pair, s *report.DriftServer, found []toolmark.Finding) []toolmark.Finding {
	names := []string{x.name}
	if x.new != nil && x.new.Manifest.Server.Name != "" && x.new.Manifest.Server.Name != x.name {
		names = append(names, x.new.Manifest.Server.Name)
	}
	for _, name := range names {
		kept, gone := c.use.Apply(name, found)
		for _, m := range gone {
			one := report.Suppressed{Finding: m.Finding, Reason: m.Entry.Reason}
			if !m.Entry.Expires.IsZero() {
				one.Expires = m.Entry.Expires.Format(time.DateOnly)
			}
			s.Suppressed = append(s.Suppressed, one)
		}
		found = kept
	}
	return found
}

// suppressChanges takes out the changes that a person has accepted. One that brings a
// finding which counts stays: what was accepted was not that text.
func (c *comparer) suppressChanges(x *pair, s *report.DriftServer) {
	kept := make([]pin.Change, 0, len(s.Drift.Changes))
	touched := map[[2]int]bool{}
	for _, change := range s.Drift.Changes {
		if len(change.Findings) == 0 && !change.Neutral() {
			as := []toolmark.Finding{{
				Code: change.Code, Tool: change.Tool, Severity: change.Severity, Reason: change.Reason, Index: change.NewIndex,
				Details: toolmark.FaultDetails{Locations: []toolmark.Location{{Pointer: change.Pointer}}},
			}}
			if len(c.suppress(x, s, as)) == 0 {
				continue
			}
		}
		kept = append(kept, change)
		touched[[2]int{change.OldIndex, change.NewIndex}] = true
	}
	if len(kept) == len(s.Drift.Changes) {
		return
	}
	rest := &pin.Drift{Changes: kept}
	for _, t := range s.Drift.Tools {
		if touched[[2]int{t.OldIndex, t.NewIndex}] {
			rest.Tools = append(rest.Tools, t)
		}
	}
	s.Drift = rest
}

// standing gives the findings that the old text of a changed tool had too: those that are
// neither attached to a change nor new.
func standing(s *report.DriftServer, found []toolmark.Finding) []toolmark.Finding {
	key := func(f *toolmark.Finding) string {
		var b strings.Builder
		fmt.Fprint(&b, f.Index, f.Code, f.Severity, f.Reason)
		for _, l := range f.Places() {
			fmt.Fprint(&b, "\x00", l.Pointer, l.Start, l.End, l.Rule, l.Kind, l.Reading)
		}
		return b.String()
	}
	fresh := map[string]bool{}
	for i := range s.Findings {
		fresh[key(&s.Findings[i])] = true
	}
	for i := range s.Drift.Changes {
		for j := range s.Drift.Changes[i].Findings {
			fresh[key(&s.Drift.Changes[i].Findings[j])] = true
		}
	}
	var out []toolmark.Finding
	for i := range found {
		if !fresh[key(&found[i])] {
			out = append(out, found[i])
		}
	}
	return out
}

// finish writes the document everywhere it was asked for.
func (c *comparer) finish() error {
	c.doc.Warnings = append(c.doc.Warnings, c.use.Warnings(c.complete)...)
	c.doc.Elapsed = c.p.env.now().Sub(c.began)
	return c.p.publishDrift(c.doc, c.flags)
}

// publishDrift writes a comparison everywhere it was asked for.
func (p *program) publishDrift(doc *report.DriftDocument, f *driftFlags) error {
	var failures []string
	for i := range doc.Servers {
		if err := doc.Servers[i].Err; err != nil {
			failures = append(failures, withName(doc.Servers[i].Name, err.Error()))
		}
	}
	return p.publishOutcome(doc, &f.outputFlags, failures, doc.Warnings)
}

// withName puts a server's name before a message that does not begin with it.
func withName(name, message string) string {
	if strings.HasPrefix(message, name+": ") {
		return message
	}
	return name + ": " + message
}

// side describes one of the two things that are compared, as it was read.
func side(label, from string, m *toolmark.Manifest) *report.DriftSide {
	s := &report.DriftSide{Label: label, Source: from, Manifest: m, Pin: pin.Compute(m.Tools).SHA256}
	fp, err := pin.Fingerprint(m.Server, m.Tools)
	if err != nil {
		s.NoFingerprint = err.Error()
	}
	s.Fingerprint = fp
	return s
}

// lockedSide describes an entry of a lockfile.
func lockedSide(label, path string, f *lockfile.File, e *lockfile.Entry) *report.DriftSide {
	s := &report.DriftSide{
		Label: label, Source: path + "#" + e.Name, Manifest: e.Manifest, Pin: e.Pin.SHA256, Fingerprint: e.Fingerprint,
		NoFingerprint: e.NoFingerprint, AcceptedBy: e.Accepted.By, AcceptedAt: e.Accepted.At, File: beside(path),
	}
	s.Line = func(place string) int {
		line, _ := f.Line(e.Pointer(place))
		return line
	}
	return s
}

// otherServers gives the servers of a lockfile but one, as their tools' names.
func otherServers(f *lockfile.File, name string) []toolmark.OtherServer {
	var others []toolmark.OtherServer
	for _, e := range f.Entries() {
		if e.Name == name {
			continue
		}
		other := toolmark.OtherServer{Name: e.Name}
		for i := range e.Manifest.Tools {
			other.Tools = append(other.Tools, e.Manifest.Tools[i].Name)
		}
		others = append(others, other)
	}
	return others
}

// word quotes a word of a command for a POSIX shell, where it needs to be.
func word(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// unscanned makes a comparison without scanning what is new.
func (x *pair) unscanned() report.DriftServer {
	s := report.DriftServer{Name: x.name, Old: x.old, New: x.new, Warnings: x.warnings}
	if x.old != nil && x.new != nil {
		s.Drift = pin.Diff(x.old.Manifest, x.new.Manifest, x.options)
	}
	return s
}
