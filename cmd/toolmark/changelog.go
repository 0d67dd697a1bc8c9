package main

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark/internal/report"
)

func (p *program) changelogCommand() *cobra.Command {
	f := &driftFlags{title: "changelog"}
	reason := ""
	cmd := &cobra.Command{
		Use:   "changelog OLD NEW [-- command args…]",
		Short: "Write a changelog entry that quotes what changed in the definitions",
		Long: `Changelog writes an entry in Markdown for your changelog: every tool that was added,
removed, renamed or changed, with the whole old and new text. It is what a reviewer reads
when a client shows that a definition changed. --reason says why, which only you know.

` + diffHelp + `
Exit codes: 0 the entry is written, also where nothing changed; 1 one of the two could not
be read; 2 wrong use.`,
		Example: `  toolmark changelog old.json new.json --reason 'Name the unit of the limit'
  git show v1.2.0:toolmark.lock.json | toolmark changelog - toolmark.lock.json >> CHANGELOG.md
  toolmark changelog toolmark.lock.json#files -- node dist/server.js`,
		RunE: p.runs(func(cmd *cobra.Command, args []string) error { return p.changelog(cmd, args, f, reason) }),
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&reason, "reason", "", "why the definitions changed")
	f.sourceFlags.add(cmd)
	return cmd
}

func (p *program) changelog(cmd *cobra.Command, args []string, f *driftFlags, reason string) error {
	sources, err := f.two(cmd, args)
	if err != nil {
		return err
	}
	pairs, err := p.pairs(cmd.Context(), sources, f)
	if err != nil {
		return err
	}
	doc := &report.DriftDocument{Title: f.title}
	changed := false
	for i := range pairs {
		if pairs[i].err != nil {
			return pairs[i].err
		}
		s := pairs[i].unscanned()
		changed = changed || s.Status() != report.DriftUnchanged && s.Status() != report.DriftEquivalent
		if len(pairs) == 1 || s.Status() != report.DriftUnchanged {
			doc.Servers = append(doc.Servers, s)
		}
	}
	var buf bytes.Buffer
	if err := doc.WriteChangelog(&buf, report.ChangelogOptions{Reason: reason}); err != nil {
		return err
	}
	if err := p.write(buf.Bytes()); err != nil {
		return err
	}
	if changed && strings.TrimSpace(reason) == "" {
		p.warn("the entry does not say why the definitions changed; say it with --reason, it is what a reviewer looks for first")
	}
	return nil
}
