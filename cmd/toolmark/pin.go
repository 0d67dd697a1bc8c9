package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/pin"
)

type pinFlags struct {
	sourceFlags
	json, canonical, lines bool
}

func (p *program) pinCommand() *cobra.Command {
	f := &pinFlags{}
	cmd := &cobra.Command{
		Use:   "pin SOURCE [-- command args…]",
		Short: "Print the pin of a tool list, each tool's hash and the fingerprint",
		Long: `Pin prints two hashes of a tool list. They are different forms for different readers
and are never compared with each other:

  pin          SHA-256 over JSON exactly as CPython writes it. Every list has one; it
               changes with the spelling of a number (1 and 1.0).
  fingerprint  SHA-256 over server name, version and tools in the form of RFC 8785.
               It does not change with spelling; a list that RFC 8785 cannot carry has
               none, and the reason is said.

` + sourceHelp + `
--canonical prints exactly the bytes whose SHA-256 is the pin, with no newline after
them, so that 'toolmark pin --canonical tools.json | sha256sum' gives the pin.

--lines reads one request body a line from standard input and prints a line for each,
in order:
  <pin> <tool hash>,<tool hash>,…     or     invalid <reason>
With --canonical it prints the canonical JSON of each in place of the hashes. An
invalid line has its answer, so it does not change the exit code.`,
		Example: `  toolmark pin tools.json
  toolmark pin -- npx -y some-server
  toolmark pin --canonical tools.json | sha256sum
  toolmark pin --lines < bodies.jsonl`,
		RunE: p.runs(func(cmd *cobra.Command, args []string) error { return p.pin(cmd, args, f) }),
	}
	f.sourceFlags.add(cmd)
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document (docs/cli.md)")
	cmd.Flags().BoolVar(&f.canonical, "canonical", false, "print the canonical bytes the pin is the hash of")
	cmd.Flags().BoolVar(&f.lines, "lines", false, "read one request body a line and print one answer a line")
	return cmd
}

func (p *program) pin(cmd *cobra.Command, args []string, f *pinFlags) error {
	if f.canonical && f.json {
		return usage("--canonical and --json exclude each other")
	}
	if f.lines {
		return p.pinLines(cmd, args, f)
	}
	sources, err := f.sources(cmd, args)
	if err != nil {
		return err
	}
	if len(sources) > 1 {
		return usage("pin takes one source; run it once for each")
	}
	read := p.readAll(cmd.Context(), sources, f.timeout, false)[0]
	if read.err != nil {
		return read.err
	}
	m := read.snapshot.Manifest
	if f.canonical {
		return p.write(pin.Canonical(m.Tools))
	}
	fp, err := pin.Fingerprint(m.Server, m.Tools)
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	hashes := pin.Compute(m.Tools)
	for _, w := range read.snapshot.Warnings {
		if !f.json {
			p.warn(w)
		}
	}
	if f.json {
		return p.pinJSON(sources[0].name(), read.snapshot, hashes, fp, reason)
	}
	return p.write([]byte(pinText(m, hashes, fp, reason)))
}

func pinText(m *toolmark.Manifest, hashes pin.Pin, fp toolmark.Fingerprint, reason string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pin          %s\n", hashes.SHA256)
	switch {
	case reason != "":
		fmt.Fprintf(&b, "fingerprint  none: %s\n", report.Printable(reason))
	case !m.Server.Given:
		fmt.Fprintf(&b, "fingerprint  %s (the list names no server: name and version are empty in it)\n", fp)
	default:
		fmt.Fprintf(&b, "fingerprint  %s\n", fp)
		fmt.Fprintf(&b, "server       %s\n", strings.TrimSpace(report.Printable(m.Server.Name+" "+m.Server.Version)))
	}
	fmt.Fprintf(&b, "tools        %d\n", len(hashes.Tools))
	for _, t := range hashes.Tools {
		fmt.Fprintf(&b, "  %s  %s\n", t.SHA256, report.Printable(string(t.Name)))
	}
	return b.String()
}

func (p *program) pinJSON(name string, snapshot *toolmark.Snapshot, hashes pin.Pin, fp toolmark.Fingerprint, reason string) error {
	type server struct {
		Name    toolmark.Text `json:"name"`
		Version toolmark.Text `json:"version"`
		Given   bool          `json:"given"`
	}
	info := snapshot.Manifest.Server
	warnings := make([]toolmark.Text, 0, len(snapshot.Warnings))
	for _, w := range snapshot.Warnings {
		warnings = append(warnings, toolmark.Text(w))
	}
	tools := hashes.Tools
	if tools == nil {
		tools = []toolmark.ToolHash{}
	}
	out, err := report.MarshalASCII(struct {
		Source        toolmark.Text        `json:"source"`
		Server        server               `json:"server"`
		Pin           string               `json:"pin"`
		Fingerprint   toolmark.Fingerprint `json:"fingerprint,omitempty"`
		NoFingerprint toolmark.Text        `json:"no_fingerprint,omitempty"`
		Tools         []toolmark.ToolHash  `json:"tools"`
		Warnings      []toolmark.Text      `json:"warnings"`
	}{
		toolmark.Text(name),
		server{toolmark.Text(info.Name), toolmark.Text(info.Version), info.Given},
		hashes.SHA256, fp, toolmark.Text(reason), tools, warnings,
	})
	if err != nil {
		return err
	}
	return p.write(out)
}

func (p *program) pinLines(cmd *cobra.Command, args []string, f *pinFlags) error {
	if len(args) > 0 && !(len(args) == 1 && args[0] == "-" && cmd.ArgsLenAtDash() < 0) {
		return usage("--lines reads standard input; write it as in: toolmark pin --lines < bodies.jsonl")
	}
	for _, flag := range []string{"json", "header", "env", "timeout"} {
		if cmd.Flags().Changed(flag) {
			return usage("--%s has no meaning with --lines", flag)
		}
	}
	p.env.steady()
	return answerLines(cmd.Context(), p.stdin, p.stdout, func(dst, line []byte, tooLong bool) []byte {
		switch {
		case tooLong:
			dst = fmt.Appendf(dst, "invalid the line has more than %d bytes", maxLine)
		case f.canonical:
			dst = appendCanonical(dst, line)
		default:
			dst = append(dst, pin.Line(line)...)
		}
		return append(dst, '\n')
	})
}

// appendCanonical appends the canonical JSON of a body, or why there is none.
func appendCanonical(dst, line []byte) []byte {
	canonical, err := pin.CanonicalLine(line)
	if err != nil {
		return append(append(dst, "invalid "...), report.Printable(err.Error())...)
	}
	return append(dst, canonical...)
}
