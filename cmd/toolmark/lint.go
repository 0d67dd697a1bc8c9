package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/lint"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/scan"
)

// lintFlags are the flags of lint.
type lintFlags struct {
	sourceFlags
	outputFlags
	against, changelog, project string
	sessions                    int
	vary, varyHeader, varyEnv   []string
	hold                        time.Duration
}

func (p *program) lintCommand() *cobra.Command {
	f := &lintFlags{}
	cmd := &cobra.Command{
		Use:   "lint SOURCE [-- command args…]",
		Short: "Advice before a release: what in your definitions makes clients and reviewers stop",
		Long: `Lint reads the definitions of a server of yours and says what in them, or in what
changed since the last release, looks to a client like a change nobody approved.

` + sourceHelp + `
  --against    the last release: a snapshot, or a lockfile with #name (L101, L104, L105, L109)
  --changelog  the changelog that must quote every change (L109)
  --project    the folder whose server.json and package.json name the version (L102)
  --sessions   starts the server that often and compares what each session is served (L106)
  --vary       starts further sessions that differ in what is named, and compares:
               locale (LANG and Accept-Language), home (a clean home directory), dir (another
               working directory), client (another client name), header (once for each
               --vary-header), env (once for each --vary-env)
  --hold       keeps a connection open for that long, listens for announced changes, and reads
               the list again for those that are not announced (L103)

Exit codes: 0 nothing at or above --fail-on; 1 a session could not be read; 2 wrong use;
3 advice at or above --fail-on. 3 wins over 1. 'toolmark rules explain L106' tells more of
a code.`,
		Example: `  toolmark lint tools.json
  toolmark lint --against toolmark.lock.json#notes --changelog CHANGELOG.md -- node dist/index.js
  toolmark lint --sessions 3 --vary locale,home -- node dist/index.js
  toolmark lint --vary header --vary-header 'Authorization: Bearer …' https://example.com/mcp`,
		RunE: p.runs(func(cmd *cobra.Command, args []string) error { return p.lint(cmd, args, f) }),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.against, "against", "", "the last release: a snapshot `file`, or LOCKFILE#NAME")
	flags.StringVar(&f.changelog, "changelog", "", "the changelog `file` that must quote every change since --against")
	flags.StringVar(&f.project, "project", ".", "the `folder` with server.json or package.json; \"\" reads none")
	flags.IntVar(&f.sessions, "sessions", 1, "how many sessions are read and compared")
	flags.StringSliceVar(&f.vary, "vary", nil, "what further sessions differ in: locale, home, dir, client, header, env")
	flags.StringArrayVar(&f.varyHeader, "vary-header", nil, "the `K:V` header of one further session (with --vary header; may be repeated)")
	flags.StringArrayVar(&f.varyEnv, "vary-env", nil, "the `K=V` variable of one further session (with --vary env; may be repeated)")
	flags.DurationVar(&f.hold, "hold", 2*time.Second, "how long a connection to a live source is held; 0 holds none")
	f.sourceFlags.add(cmd)
	f.outputFlags.add(cmd)
	return cmd
}

func (p *program) lint(cmd *cobra.Command, args []string, f *lintFlags) error {
	failOn, err := parseFailOn(f.failOn)
	if err != nil {
		return err
	}
	sources, err := f.sources(cmd, args)
	if err != nil {
		return err
	}
	if len(sources) > 1 {
		return usage("lint takes one source; run it once for each server")
	}
	if f.quiet && f.verbose {
		return usage("--quiet and --verbose exclude each other")
	}
	s := &sources[0]
	plan, err := f.plan(s)
	if err != nil {
		return err
	}
	accepted, err := readSuppressions(f.config)
	if err != nil {
		return err
	}
	in, err := p.lintInput(cmd.Context(), f)
	if err != nil {
		return err
	}
	rules, err := p.loadRuleBase("")
	if err != nil {
		return err
	}
	started := p.env.now()
	out := report.Source{Name: s.name(), Label: s.label(), File: s.file(), Scope: toolmark.ScopeAll}
	doc := &report.Document{FailOn: failOn, Rules: rules}
	var failed error
	out.Snapshot, in.Sessions, failed = p.lintSessions(cmd.Context(), s, plan, f)
	if out.Snapshot == nil {
		out.Err, failed = failed, nil
	} else {
		m := out.Snapshot.Manifest
		in.Manifest, in.Now = m, out.Snapshot.ReadAt
		if !s.isLive() {
			in.Surroundings = lint.Surroundings{} // a file was written elsewhere, at another time
		} else if len(s.live.Command) == 0 {
			in.Surroundings = lint.Surroundings{User: in.Surroundings.User, Home: in.Surroundings.Home, Host: in.Surroundings.Host}
		}
		if s.isLive() && f.hold > 0 && failed == nil {
			in.Live, failed = p.hold(cmd.Context(), s, f)
		}
		if in.Packages, err = p.projectVersions(f.project, m.Server.Name, cmd.Flags().Changed("project")); err != nil {
			return err
		}
		if out.Report, err = lintReport(cmd.Context(), rules, p, in); err != nil {
			return err
		}
		if out.Fingerprint, err = pin.Fingerprint(m.Server, m.Tools); err != nil {
			out.NoFingerprint = err.Error()
		}
	}
	doc.Sources = []report.Source{out}
	doc.Elapsed = p.env.now().Sub(started)
	accept(doc, accepted, p.env.now(), rules)
	if err := p.publish(doc, &f.outputFlags); err != nil {
		return err
	}
	if failed != nil {
		p.complain(failed.Error())
	}
	return verdict(doc.Failed(), doc.Unfinished() || failed != nil)
}

// lintReport scans the manifest for what flags it, and puts the advice into a report.
func lintReport(ctx context.Context, rules *ruleBase, p *program, in lint.Input) (*toolmark.Report, error) {
	scanner, err := rules.scanner(scan.DefaultBudget, p.env.now)
	if err != nil {
		return nil, err
	}
	rep, err := scanner.Scan(ctx, scan.Request{Manifest: in.Manifest, Scope: toolmark.ScopeAll, Faults: true})
	if err != nil {
		return nil, err
	}
	in.Scan = rep.Findings
	rep.Findings = lint.Check(in)
	return rep, nil
}

// lintInput reads what lies beside the server: the last release, the changelog, and what
// this machine is called.
func (p *program) lintInput(ctx context.Context, f *lintFlags) (lint.Input, error) {
	var in lint.Input
	if f.changelog != "" && f.against == "" {
		return in, usage("--changelog needs --against: without the last release nothing has changed")
	}
	if f.against != "" {
		old, err := p.readRelease(ctx, f.against)
		if err != nil {
			return in, fmt.Errorf("--against: %w", err)
		}
		in.Previous = old
	}
	if f.changelog != "" {
		data, err := p.readBytes(f.changelog, maxFile)
		if err != nil {
			return in, err
		}
		in.Changelog, in.ChangelogFile = string(data), filepath.ToSlash(f.changelog)
	}
	in.Surroundings.Home = p.env.getenv("HOME")
	in.Surroundings.User = p.env.getenv("USER")
	if u, err := user.Current(); err == nil && in.Surroundings.User == "" {
		in.Surroundings.User = u.Username
	}
	// A name that cannot be had is not looked for.
	in.Surroundings.Host, _ = os.Hostname()
	in.Surroundings.Dir, _ = os.Getwd()
	return in, nil
}
