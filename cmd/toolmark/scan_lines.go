package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/scan"
)

// scanLines reads one request body a line and prints one API response a line, in
// order. A line that cannot be answered gets {"error":{"code","message"}}. The limits
// of the API hold.
func (p *program) scanLines(cmd *cobra.Command, args []string, f *scanFlags, scope toolmark.Scope, failOn toolmark.Severity) error {
	if len(args) > 0 && !(len(args) == 1 && args[0] == "-" && cmd.ArgsLenAtDash() < 0) {
		return usage("--lines reads standard input; write it as in: toolmark scan --lines < requests.jsonl")
	}
	for _, flag := range []string{"pin", "sarif", "junit", "codequality", "markdown", "config", "quiet", "verbose", "header", "env", "timeout"} {
		if cmd.Flags().Changed(flag) {
			return usage("--%s has no meaning with --lines", flag)
		}
	}
	rules, err := p.loadRuleBase(f.rules)
	if err != nil {
		return err
	}
	scanner, err := rules.scanner(f.budget, p.env.now)
	if err != nil {
		return err
	}
	p.env.steady()
	var failed, unfinished atomic.Bool
	err = answerLines(cmd.Context(), p.stdin, p.stdout, func(dst, line []byte, tooLong bool) []byte {
		rep, err := scanBody(cmd.Context(), scanner, line, tooLong, scope)
		var answer any = rep
		if err != nil {
			unfinished.Store(true)
			answer = map[string]any{"error": report.NewFailure(err)}
		} else {
			if failOn != 0 && rep.Worst() >= failOn {
				failed.Store(true)
			}
			if rep.Unfinished() {
				unfinished.Store(true)
			}
		}
		out, err := report.MarshalASCIILine(answer)
		if err != nil { // a report always has a JSON form
			panic(err)
		}
		return append(dst, out...)
	})
	if err != nil {
		return err
	}
	if rules.state.Off != "" {
		p.say(rules.state.Off)
	}
	return verdict(failed.Load(), unfinished.Load())
}

// scanBody answers one request body.
func scanBody(ctx context.Context, scanner *scan.Scanner, line []byte, tooLong bool, scope toolmark.Scope) (*toolmark.Report, error) {
	if tooLong || len(line) > toolmark.MaxBody {
		return nil, &toolmark.Error{Code: toolmark.ErrTooLarge, Message: fmt.Sprintf("a request body has at most %d bytes", toolmark.MaxBody)}
	}
	value, err := canonjson.Parse(line, canonjson.Options{MaxBytes: toolmark.MaxBody})
	if err != nil {
		return nil, err
	}
	m, err := toolmark.ReadManifest(value)
	if err != nil {
		return nil, err
	}
	if err := scan.CheckSize(m); err != nil {
		return nil, err
	}
	// A body may ask for a scope of its own, as the API lets it.
	if s := value.Get("surfaces"); !s.Absent() {
		own, err := toolmark.ParseScope(s.Text)
		if err != nil || s.Kind != toolmark.KindString {
			return nil, &toolmark.Error{Code: toolmark.ErrInvalidManifest, Message: `at /surfaces: it is "standard" or "all"`}
		}
		scope = own
	}
	return scanner.Scan(ctx, scan.Request{Manifest: m, Scope: scope})
}
