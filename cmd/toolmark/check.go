package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/lockfile"
	"github.com/toolmark/toolmark/internal/report"
)

func (p *program) checkCommand() *cobra.Command {
	f := &driftFlags{title: "check"}
	cmd := &cobra.Command{
		Use:   "check [NAME…]",
		Short: "Compare locked servers with what they declare now",
		Long: `Check reads the servers named in the lockfile, all of them or those named here, from the
sources they were locked with, side by side, and compares each with what was accepted.

For each server that fails it prints what changed, with the changed words marked, and the
exact command that accepts precisely that. New text is scanned, and a change that brings
a finding stands first. Another order of tools or members, and another way to write the
same schema, fail nothing.

A server that cannot be read is never taken for unchanged (D190). A header or variable
whose value is not recorded is given again with --header or --env; a server gets only
those it was locked with. What was locked from standard input is checked with its name
and the new list on standard input.

Exit codes: 0 nothing that counts has changed; 1 a server could not be read, or what is
new not scanned whole; 2 wrong use; 3 changes or findings at or above --fail-on. 3 wins
over 1. Suppressions of ` + configName + ` hold for changes (D codes) and findings.`,
		Example: `  toolmark check
  toolmark check files --fail-on medium
  toolmark check --sarif drift.sarif --markdown summary.md
  toolmark check web --header 'Authorization: Bearer …'
  curl -s https://example.com/tools.json | toolmark check tools`,
		RunE: p.runs(func(cmd *cobra.Command, args []string) error { return p.check(cmd, args, f) }),
	}
	f.addDrift(cmd)
	f.addFailOn(cmd)
	f.addLockfile(cmd)
	f.sourceFlags.add(cmd)
	return cmd
}

func (p *program) check(cmd *cobra.Command, args []string, f *driftFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	c, err := p.newComparer(f)
	if err != nil {
		return err
	}
	file, err := p.readLockfile(f.lockfile)
	if err != nil {
		return err
	}
	entries, err := chosen(file, f.lockfile, args)
	if err != nil {
		return err
	}
	dir := filepath.Dir(f.lockfile)
	sources := make([]source, len(entries))
	read := make([]readOutcome, len(entries))
	stdin := 0
	for i, e := range entries {
		sources[i], read[i].err = lockedSource(e, dir, &f.sourceFlags)
		if e.Source.Stdin {
			stdin++
			if len(args) == 0 {
				read[i].err = &toolmark.Error{Code: toolmark.ErrNotFound, Message: e.Name + ": it was locked from standard input and cannot be read again; check it by its name with the new list on standard input, as in: toolmark check " + word(e.Name) + " < tools.json"}
			}
		}
	}
	if stdin > 1 && len(args) > 0 {
		return usage("%d of these servers were locked from standard input, which can be read once; check them one by one", stdin)
	}
	p.readLocked(cmd.Context(), entries, sources, read, f)
	if err := cmd.Context().Err(); err != nil {
		return fmt.Errorf("stopped: %w", err)
	}
	for i, e := range entries {
		x := pair{
			name: e.Name, old: lockedSide("approved", f.lockfile, file, e), err: read[i].err, others: otherServers(file, e.Name),
		}
		if x.err == nil {
			m, err := whole(read[i].snapshot)
			if err != nil {
				x.err = err
			} else {
				x.new = side("now", sources[i].name(), m)
				if file := sources[i].file(); file != "" && !e.Source.Stdin {
					// Where the list is a file, that is what a pull request changes.
					x.new.File, x.new.Line = file, report.LinesOf(read[i].snapshot.Bytes, m.Tree)
				}
				x.warnings = read[i].snapshot.Warnings
				x.accept = acceptCommand(e, f.lockfile, m)
			}
		}
		if err := c.add(cmd.Context(), x); err != nil {
			return err
		}
	}
	if len(entries) < len(file.Entries()) {
		c.complete = false // an entry that names nothing may name another server
	}
	if err := c.finish(); err != nil {
		return err
	}
	return verdict(c.doc.Failed(), c.doc.Unfinished())
}

// readLockfile reads a lockfile that has to be there.
func (p *program) readLockfile(path string) (*lockfile.File, error) {
	file, err := lockfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: path + ": no such file; make it with: toolmark lock SOURCE --name NAME"}
	}
	return file, err
}

// chosen gives the entries of those names, in their order; without names all.
func chosen(file *lockfile.File, path string, names []string) ([]*lockfile.Entry, error) {
	if len(file.Entries()) == 0 {
		return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: path + ": no server is locked in it; lock one with: toolmark lock SOURCE --name NAME"}
	}
	if len(names) == 0 {
		return file.Entries(), nil
	}
	var list []*lockfile.Entry
	seen := map[string]bool{}
	for _, name := range names {
		e := file.Entry(name)
		if e == nil {
			return nil, usage("%s: no server %q is locked in it; there are: %s", path, name, strings.Join(namesOf(file), ", "))
		}
		if !seen[name] {
			list = append(list, e)
		}
		seen[name] = true
	}
	return list, nil
}

func namesOf(file *lockfile.File) []string {
	var names []string
	for _, e := range file.Entries() {
		names = append(names, e.Name)
	}
	return names
}

// readLocked reads the sources that have no error yet side by side.
func (p *program) readLocked(ctx context.Context, entries []*lockfile.Entry, sources []source, read []readOutcome, f *driftFlags) {
	var bar *progress
	for i := range sources {
		if read[i].err == nil && sources[i].isLive() && !f.quiet {
			bar = startProgress(p.stderr, p.env.stderr)
			break
		}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	slots := make(chan struct{}, atOnce)
	for i := range sources {
		if read[i].err != nil {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			step := func(stage string) {
				mu.Lock()
				defer mu.Unlock()
				bar.show(fmt.Sprintf("%d of %d servers read", done, len(sources)), entries[i].Name+": "+stage)
			}
			read[i].snapshot, read[i].err = p.readSteps(ctx, &sources[i], f.timeout, step)
			mu.Lock()
			done++
			mu.Unlock()
		})
	}
	wg.Wait()
	bar.stop()
}

// whole gives what a snapshot declares in the form of a lockfile. One that is only part of
// what the server declares is an error: what is missing would look removed.
func whole(s *toolmark.Snapshot) (*toolmark.Manifest, error) {
	if len(s.LeftOut) > 0 {
		return nil, &toolmark.Error{Code: toolmark.ErrUnreadableList, Message: fmt.Sprintf("%s: only part of what the server declares could be read: not %s. %s",
			s.Source, strings.Join(s.LeftOut, ", "), strings.Join(s.Warnings, "; "))}
	}
	return lockfile.Normal(s.Manifest)
}

// acceptCommand is the command that accepts exactly this manifest for an entry.
func acceptCommand(e *lockfile.Entry, path string, m *toolmark.Manifest) string {
	cmd := "toolmark lock --name " + word(e.Name)
	if path != lockfile.Name {
		cmd += " --lockfile " + word(path)
	}
	if len(m.Tools) == 0 {
		cmd += " --allow-empty"
	}
	for _, h := range e.Source.Headers {
		if !h.Recorded {
			cmd += " --header " + word(h.Name+": …")
		}
	}
	for _, v := range e.Source.Env {
		if !v.Recorded {
			cmd += " --env " + word(v.Name+"=…")
		}
	}
	if e.Source.Stdin {
		cmd = strings.Replace(cmd, "toolmark lock", "toolmark lock -", 1)
	}
	return cmd + " --expect " + lockfile.Digest(m)
}
