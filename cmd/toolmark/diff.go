package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/lockfile"
	"github.com/toolmark/toolmark/internal/probe"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/pin"
)

const diffHelp = `OLD and NEW are each a SOURCE: a file or - (a tools/list result, a JSON-RPC response, a
request body, a snapshot), an http(s):// MCP endpoint, or -- and a command, which stands
last; two commands are written -- command… -- command…. Or they are a lockfile: PATH#NAME
is one of its servers, PATH alone its only one; two lockfiles are compared server by
server.
`

func (p *program) diffCommand() *cobra.Command {
	f := &driftFlags{title: "diff"}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW [-- command args…]",
		Short: "Show what differs between two snapshots, lockfiles or live servers",
		Long: `Diff compares two manifests and shows every place that differs, what it is about and
what it does: old and new text with the changed words marked, hidden characters made
visible. New text is scanned; a change that brings a finding stands first. What means
nothing (another order, the same schema written otherwise) is counted and fails nothing.

` + diffHelp + `
Exit codes: 0 nothing that counts differs; 1 one of them could not be read; 2 wrong use;
3 changes or findings at or above --fail-on.`,
		Example: `  toolmark diff old.json new.json
  toolmark diff toolmark.lock.json#files -- npx -y @modelcontextprotocol/server-filesystem /data
  toolmark diff tools-1.2.json https://example.com/mcp --markdown summary.md
  git show main:toolmark.lock.json | toolmark diff - toolmark.lock.json
  toolmark diff -- npx -y some-server@1.0.0 -- npx -y some-server@1.1.0`,
		RunE: p.runs(func(cmd *cobra.Command, args []string) error { return p.diff(cmd, args, f) }),
	}
	f.addDrift(cmd)
	f.addFailOn(cmd)
	f.sourceFlags.add(cmd)
	return cmd
}

func (p *program) diff(cmd *cobra.Command, args []string, f *driftFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	sources, err := f.two(cmd, args)
	if err != nil {
		return err
	}
	c, err := p.newComparer(f)
	if err != nil {
		return err
	}
	pairs, err := p.pairs(cmd.Context(), sources, f)
	if err != nil {
		return err
	}
	for _, x := range pairs {
		if err := c.add(cmd.Context(), x); err != nil {
			return err
		}
	}
	c.complete = false // two files need not be what a suppression was written for
	if err := c.finish(); err != nil {
		return err
	}
	return verdict(c.doc.Failed(), c.doc.Unfinished())
}

// two takes the arguments of a comparison apart.
func (f *driftFlags) two(cmd *cobra.Command, args []string) ([]source, error) {
	dash := cmd.ArgsLenAtDash()
	var first []source
	if dash == 0 {
		// Two commands: the second -- stands between them.
		at := slices.Index(args, "--")
		if at < 0 {
			return nil, usage("diff compares two; name another source before the first --, or a second command after another --")
		}
		if at == 0 || at == len(args)-1 || slices.Contains(args[at+1:], "--") {
			return nil, usage("two commands are written: -- command args… -- command args…, with no other -- in them; lock one of them first where that does not do")
		}
		if _, err := f.headers(); err != nil {
			return nil, err
		}
		for _, words := range [][]string{args[:at], args[at+1:]} {
			first = append(first, source{live: probe.Source{Command: words, Env: f.env}})
		}
		return first, nil
	}
	list, err := f.sources(cmd, args)
	if err != nil {
		return nil, err
	}
	if len(list) != 2 {
		return nil, usage("%s compares two, the old and the new; %d given, not 2, as in: toolmark %s old.json new.json", cmd.Name(), len(list), cmd.Name())
	}
	return list, nil
}

// reading is one of two sources as it was read: one manifest, or a lockfile.
type reading struct {
	source   *source
	name     string // of the lockfile's entry that was asked for
	file     *lockfile.File
	path     string // the lockfile's
	snapshot *toolmark.Snapshot
	err      error
}

// pairs reads two sources side by side and gives the comparisons to make.
func (p *program) pairs(ctx context.Context, sources []source, f *driftFlags) ([]pair, error) {
	both := make([]reading, 2)
	var live []source
	var index []int
	for i := range sources {
		both[i] = p.readLocal(&sources[i])
		if sources[i].isLive() {
			live, index = append(live, sources[i]), append(index, i)
		}
		if both[i].err != nil {
			return nil, both[i].err
		}
	}
	for k, out := range p.readAll(ctx, live, f.timeout, f.quiet) {
		both[index[k]].snapshot, both[index[k]].err = out.snapshot, out.err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("stopped: %w", err)
	}
	o, n := &both[0], &both[1]
	if o.err != nil {
		return nil, o.err // there is nothing to compare with
	}
	if o.many() && n.many() {
		return lockfilePairs(o, n), nil
	}
	x, err := onePair(o, n)
	return []pair{x}, err
}

// readLocal reads a source that is not live: a manifest, or a lockfile.
func (p *program) readLocal(s *source) reading {
	r := reading{source: s}
	if s.isLive() {
		return r
	}
	r.path = s.path
	if _, err := os.Stat(r.path); errors.Is(err, fs.ErrNotExist) {
		if path, name, ok := cutLast(s.path, "#"); ok {
			r.path, r.name = path, name
		}
	}
	data, err := p.readBytes(r.path, lockfile.MaxBytes)
	if err != nil {
		r.err = err
		return r
	}
	if !mayBeLockfile(data) {
		if len(data) > maxFile {
			r.err = &toolmark.Error{Code: toolmark.ErrTooLarge, Message: fmt.Sprintf("%s: more than %d MiB", r.path, maxFile>>20)}
			return r
		}
		if r.name != "" {
			r.err = usage("%s is no lockfile, so #%s names nothing in it", r.path, r.name)
			return r
		}
		r.snapshot, r.err = p.asSnapshot(r.path, data)
		return r
	}
	r.file, r.err = lockfile.Parse(data, r.path)
	if r.err != nil {
		return r
	}
	switch entries := r.file.Entries(); {
	case r.name != "" && r.file.Entry(r.name) == nil:
		r.err = usage("%s: no server %q is locked in it; there are: %s", r.path, r.name, strings.Join(namesOf(r.file), ", "))
	case r.name == "" && len(entries) == 1:
		r.name = entries[0].Name
	}
	return r
}

// mayBeLockfile reports whether a file begins as a lockfile does, whole or damaged: with
// the mark as one of its first words.
func mayBeLockfile(data []byte) bool {
	return strings.Contains(string(data[:min(len(data), 256)]), `"toolmarkLock"`)
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i <= 0 || i == len(s)-1 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// many reports whether a reading is a whole lockfile.
func (r *reading) many() bool { return r.file != nil && (r.name == "" || len(r.file.Entries()) == 1) }

// lockfilePairs pairs the servers of two lockfiles by name.
func lockfilePairs(o, n *reading) []pair {
	var pairs []pair
	for _, name := range union(namesOf(o.file), namesOf(n.file)) {
		x := pair{name: name, others: otherServers(n.file, name)}
		if e := o.file.Entry(name); e != nil {
			x.old = lockedSide("old", o.path, o.file, e)
		}
		if e := n.file.Entry(name); e != nil {
			x.new = lockedSide("new", n.path, n.file, e)
		}
		pairs = append(pairs, x)
	}
	return pairs
}

func union(a, b []string) []string {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// onePair compares two manifests. Where one comes from a lockfile both are brought into
// its form, in which the order of tools and members says nothing.
func onePair(o, n *reading) (pair, error) {
	for _, r := range []*reading{o, n} {
		if r.file != nil && r.name == "" {
			return pair{}, usage("%s has %s; name one of them: %s", r.path, report.Plural(len(r.file.Entries()), "server"), r.path+"#NAME")
		}
	}
	normal := o.file != nil || n.file != nil
	var x pair
	var err error
	if x.old, err = o.side("old", normal); err != nil {
		return x, err
	}
	x.name = firstOf(o.name, n.name, x.old.Manifest.Server.Name, n.source.label())
	if n.err != nil {
		x.err = n.err
		return x, nil
	}
	if x.new, x.err = n.side("new", normal); x.err != nil {
		x.new = nil
		return x, nil
	}
	if n.snapshot != nil {
		x.warnings = n.snapshot.Warnings
	}
	if bare(x.old.Manifest) != bare(x.new.Manifest) {
		x.options = pin.Options{ToolsOnly: true}
		x.warnings = append(slices.Clone(x.warnings), "one of the two is a tool list and nothing else, so only the tools are compared")
	}
	if n.file != nil {
		x.others = otherServers(n.file, n.name)
	} else if o.file != nil {
		x.others = otherServers(o.file, o.name)
	}
	return x, nil
}

// bare reports whether a manifest has nothing but tools.
func bare(m *toolmark.Manifest) bool {
	for _, member := range pin.Comparable(m, pin.Options{}).Members {
		if member.Name != "tools" && !member.Value.Absent() {
			return false
		}
	}
	return true
}

// side gives what was read as one side of a comparison.
func (r *reading) side(label string, normal bool) (*report.DriftSide, error) {
	if r.file != nil {
		return lockedSide(label, r.path, r.file, r.file.Entry(r.name)), nil
	}
	m := r.snapshot.Manifest
	if len(r.snapshot.LeftOut) > 0 || normal {
		var err error
		if m, err = whole(r.snapshot); err != nil {
			return nil, err
		}
	}
	s := side(label, r.source.name(), m)
	if s.File = r.source.file(); s.File != "" {
		base := m.Tree
		if m.ToolsPointer == "/result/tools" {
			base = base.Get("result")
		}
		s.Line = report.LinesOf(r.snapshot.Bytes, base)
	}
	return s, nil
}

// asSnapshot reads a manifest from a file's bytes.
func (p *program) asSnapshot(path string, data []byte) (*toolmark.Snapshot, error) {
	if len(data) > small {
		p.env.steady()
	}
	value, err := canonjson.Parse(data, canonjson.Options{MaxBytes: maxFile})
	if err != nil {
		return nil, inFile(path, err)
	}
	manifest, err := toolmark.ReadManifest(value)
	if err != nil {
		if value.Kind == toolmark.KindObject && !holds(value, "tools", "result", "error") {
			err = &toolmark.Error{Code: toolmark.ErrInvalidManifest, Message: "there is no list of tools in it: give a tools/list result, a JSON-RPC response around one, a request body or a snapshot"}
		}
		return nil, inFile(path, err)
	}
	return &toolmark.Snapshot{Source: path, Manifest: manifest, ReadAt: p.env.now(), Bytes: data}, nil
}

// holds reports whether an object has a member of one of the names.
func holds(v *toolmark.Value, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return v.Get(name).Kind != toolmark.KindAbsent })
}
