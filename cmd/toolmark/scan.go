package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/internal/suppression"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/scan"
)

// configName is the file of suppressions that is read where it exists.
const configName = "toolmark.yaml"

// outputFlags are the flags of every command that reports findings.
type outputFlags struct {
	json, quiet, verbose   bool
	sarif, junit, markdown string
	codequality            string
	failOn                 string
	config                 string
}

func (f *outputFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print one JSON document (docs/cli.md)")
	flags.StringVar(&f.sarif, "sarif", "", "write SARIF 2.1.0 to this `file`")
	flags.StringVar(&f.junit, "junit", "", "write JUnit XML to this `file`")
	flags.StringVar(&f.codequality, "codequality", "", "write a Code Quality report, as GitLab reads it, to this `file`")
	flags.StringVar(&f.markdown, "markdown", "", "write a summary for a pull request to this `file`")
	flags.BoolVar(&f.quiet, "quiet", false, "print only what fails the run")
	flags.BoolVar(&f.verbose, "verbose", false, "print every place, and suppressed findings")
	flags.StringVar(&f.failOn, "fail-on", "high", "exit 3 from this severity on: high, medium, info or never")
	flags.StringVar(&f.config, "config", "", "read suppressions from this `file` (default "+configName+", where there is one)")
}

// scanFlags are the flags of scan.
type scanFlags struct {
	sourceFlags
	outputFlags
	lines                bool
	surfaces, pin, rules string
	budget               time.Duration
}

func (p *program) scanCommand() *cobra.Command {
	f := &scanFlags{}
	cmd := &cobra.Command{
		Use:   "scan SOURCE… [-- command args…]",
		Short: "Find hidden orders, hidden characters and shadowed names in tool lists",
		Long: `Scan reads tool lists and reports what is wrong with them, by server and tool.

` + sourceHelp + `
Several sources are read side by side and are each other's other servers: a tool
that takes the name of another source's tool is found. A source that cannot be read
does not hide the others.

Exit codes: 0 clean; 1 a source could not be read or scanned whole; 2 wrong use;
3 findings at or above --fail-on. 3 wins over 1.

` + configName + ` in the working directory lists findings you have accepted; they are
counted in every output but do not fail the run.`,
		Example: `  toolmark scan tools.json
  toolmark scan a.json b.json --fail-on medium
  toolmark scan https://example.com/mcp --header 'Authorization: Bearer …'
  toolmark scan --env API_KEY=… -- npx -y some-server
  toolmark scan tools.json --pin 8e57aaded62f29a173373af0f95ec6bec010471e9f8c5b2d5353765b7123fb5d
  toolmark scan tools.json --sarif out.sarif --markdown summary.md
  toolmark scan tools.json --rules ./my-rules
  toolmark scan --lines < requests.jsonl`,
		RunE: p.runs(func(cmd *cobra.Command, args []string) error { return p.scan(cmd, args, f) }),
	}
	f.sourceFlags.add(cmd)
	flags := cmd.Flags()
	flags.SortFlags = false
	f.outputFlags.add(cmd)
	flags.StringVar(&f.surfaces, "surfaces", "", "what is scanned: all (the default), or standard: descriptions and input schemas (the default of --lines)")
	flags.StringVar(&f.pin, "pin", "", "compare with this pin (64 `hex` digits)")
	flags.StringVar(&f.rules, "rules", "", "match the rules of this `folder` too (docs/rule-format.md)")
	flags.DurationVar(&f.budget, "budget", scan.DefaultBudget, "time for scanning one list; 0 is no limit")
	flags.BoolVar(&f.lines, "lines", false, "read one request body a line and print one API response a line")
	return cmd
}

const sourceHelp = `A SOURCE is a file or - (a tools/list result, a JSON-RPC response, a request body or
a snapshot), an http(s):// MCP endpoint, or -- and a command.
`

func (p *program) scan(cmd *cobra.Command, args []string, f *scanFlags) error {
	failOn, err := parseFailOn(f.failOn)
	if err != nil {
		return err
	}
	if err := checkPin(f.pin); err != nil {
		return err
	}
	if f.surfaces == "" {
		f.surfaces = "all"
		if f.lines {
			f.surfaces = "standard"
		}
	}
	scope, err := toolmark.ParseScope(f.surfaces)
	if err != nil {
		return usage("--surfaces is standard or all, not %q", f.surfaces)
	}
	if f.lines {
		return p.scanLines(cmd, args, f, scope, failOn)
	}
	sources, err := f.sources(cmd, args)
	if err != nil {
		return err
	}
	if f.pin != "" && len(sources) > 1 {
		return usage("--pin compares one list; give one source")
	}
	if f.quiet && f.verbose {
		return usage("--quiet and --verbose exclude each other")
	}
	accepted, err := readSuppressions(f.config)
	if err != nil {
		return err
	}
	rules, err := p.loadRuleBase(f.rules)
	if err != nil {
		return err
	}
	scanner, err := rules.scanner(f.budget, p.env.now)
	if err != nil {
		return err
	}
	read := p.readAll(cmd.Context(), sources, f.timeout, f.quiet)
	started := p.env.now()
	doc := &report.Document{FailOn: failOn, Community: rules.state, Rules: rules}
	for i := range sources {
		doc.Sources = append(doc.Sources, scanSource(cmd.Context(), scanner, sources, read, i, f.pin, scope))
	}
	if err := cmd.Context().Err(); err != nil {
		return fmt.Errorf("stopped: %w", err)
	}
	doc.Elapsed = p.env.now().Sub(started)
	accept(doc, accepted, p.env.now(), rules)
	if err := p.publish(doc, &f.outputFlags); err != nil {
		return err
	}
	return verdict(doc.Failed(), doc.Unfinished())
}

// verdict gives the exit code of a run: 3 wins over 1.
func verdict(failed, unfinished bool) error {
	switch {
	case failed:
		return exit(exitFindings)
	case unfinished:
		return exit(exitFailed)
	}
	return nil
}

func parseFailOn(text string) (toolmark.Severity, error) {
	if text == "never" {
		return 0, nil
	}
	s, err := toolmark.ParseSeverity(text)
	if err != nil {
		return 0, usage("--fail-on is high, medium, info or never, not %q", text)
	}
	return s, nil
}

func checkPin(text string) error {
	switch {
	case text == "" || toolmark.IsPin(text):
		return nil
	case strings.HasPrefix(text, toolmark.FingerprintPrefix):
		return usage("--pin got a fingerprint (%s…); the two are different forms and are never compared. Give the pin that `toolmark pin` prints", toolmark.FingerprintPrefix)
	}
	return usage("--pin is 64 lower-case hex digits: give exactly what an earlier scan or `toolmark pin` printed")
}

// scanSource scans source number i; all others that could be read are its other
// servers.
func scanSource(ctx context.Context, scanner *scan.Scanner, sources []source, read []readOutcome, i int, pinned string, scope toolmark.Scope) report.Source {
	s := &sources[i]
	out := report.Source{Name: s.name(), Label: s.label(), File: s.file(), Scope: scope}
	if out.Err = read[i].err; out.Err != nil {
		return out
	}
	m := read[i].snapshot.Manifest
	others := slices.Clone(m.OtherServers)
	for j := range sources {
		if j != i && read[j].snapshot != nil {
			others = append(others, asOther(&sources[j], read[j].snapshot.Manifest))
		}
	}
	out.Snapshot = read[i].snapshot
	rep, err := scanner.Scan(ctx, scan.Request{Manifest: m, OtherServers: others, Pin: pinned, Scope: scope, Faults: true})
	if err != nil {
		out.Err = fmt.Errorf("%s: %w", out.Name, err)
		return out
	}
	out.Report = rep
	fp, err := pin.Fingerprint(m.Server, m.Tools)
	if err != nil {
		out.NoFingerprint = err.Error()
	}
	out.Fingerprint = fp
	return out
}

func asOther(s *source, m *toolmark.Manifest) toolmark.OtherServer {
	other := toolmark.OtherServer{Name: m.Server.Name}
	if other.Name == "" {
		other.Name = s.label()
	}
	for i := range m.Tools {
		other.Tools = append(other.Tools, m.Tools[i].Name)
	}
	return other
}

// readSuppressions reads the list of accepted findings: the named file, which must
// exist, or toolmark.yaml, which need not.
func readSuppressions(path string) (*suppression.List, error) {
	named := path != ""
	if !named {
		path = configName
	}
	file, err := os.Open(path)
	if err != nil {
		if !named && errors.Is(err, fs.ErrNotExist) {
			return &suppression.List{Name: path}, nil
		}
		return nil, openError(path, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, suppression.MaxBytes+1))
	if err != nil {
		return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: path + ": cannot be read", Err: err}
	}
	return suppression.Parse(data, path)
}

// accept takes the suppressed findings out of the reports.
func accept(doc *report.Document, list *suppression.List, now time.Time, rules report.Catalogue) {
	use := list.Begin(now, func(reference string) string {
		r, _ := rules.Rule(reference)
		return r.ID
	})
	complete := true
	for i := range doc.Sources {
		src := &doc.Sources[i]
		if src.Report == nil {
			complete = false
			continue
		}
		kept, suppressed := use.Apply(src.Server(), src.Report.Findings)
		src.Report.Findings = kept
		for _, m := range suppressed {
			s := report.Suppressed{Finding: m.Finding, Reason: m.Entry.Reason}
			if !m.Entry.Expires.IsZero() {
				s.Expires = m.Entry.Expires.Format(time.DateOnly)
			}
			src.Suppressed = append(src.Suppressed, s)
		}
		src.Report.OK = src.Report.Worst() < toolmark.High && !src.Report.Incomplete
		complete = complete && !src.Report.Unfinished()
	}
	doc.Warnings = append(doc.Warnings, use.Warnings(complete)...)
}

// outcome is what a command has to say, in every form in which it can be written.
type outcome interface {
	WriteSARIF(w io.Writer) error
	WriteJUnit(w io.Writer) error
	WriteCodeQuality(w io.Writer) error
	WriteMarkdown(w io.Writer) error
	WriteJSON(w io.Writer) error
	WriteText(w io.Writer, opt report.TextOptions) error
}

// publish writes a document everywhere it was asked for.
func (p *program) publish(doc *report.Document, f *outputFlags) error {
	var failures []string
	for i := range doc.Sources {
		if err := doc.Sources[i].Err; err != nil {
			failures = append(failures, err.Error())
		}
	}
	return p.publishOutcome(doc, f, failures, doc.Warnings)
}

// publishOutcome writes an outcome everywhere it was asked for. Each output is built whole
// before its first byte is written. Failures and warnings are said beside a text; JSON has
// them in it.
func (p *program) publishOutcome(doc outcome, f *outputFlags, failures, warnings []string) error {
	for _, out := range []struct {
		path  string
		write func(io.Writer) error
	}{{f.sarif, doc.WriteSARIF}, {f.junit, doc.WriteJUnit}, {f.codequality, doc.WriteCodeQuality}, {f.markdown, doc.WriteMarkdown}} {
		if out.path == "" {
			continue
		}
		var buf bytes.Buffer
		if err := out.write(&buf); err != nil {
			return err
		}
		if err := os.WriteFile(out.path, buf.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write a report: %w; name a file in a folder that is there and that you may write to", err)
		}
	}
	var buf bytes.Buffer
	if f.json {
		if err := doc.WriteJSON(&buf); err != nil {
			return err
		}
		return p.write(buf.Bytes())
	}
	if err := doc.WriteText(&buf, report.TextOptions{
		Colour: p.colour(p.env.stdout), Width: p.width(), Quiet: f.quiet, Verbose: f.verbose,
	}); err != nil {
		return err
	}
	if err := p.write(buf.Bytes()); err != nil {
		return err
	}
	for _, failure := range failures {
		p.complain(failure)
	}
	if !f.quiet {
		for _, w := range warnings {
			p.warn(w)
		}
	}
	return nil
}
