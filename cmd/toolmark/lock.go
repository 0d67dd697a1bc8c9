package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/lockfile"
	"github.com/toolmark/toolmark/internal/report"
)

// lockFlags are the flags of lock.
type lockFlags struct {
	driftFlags
	name, note, by, expect string
	yes, allowEmpty        bool
}

func (p *program) lockCommand() *cobra.Command {
	f := &lockFlags{driftFlags: driftFlags{title: "lock"}}
	cmd := &cobra.Command{
		Use:   "lock [SOURCE] --name NAME [-- command args…]",
		Short: "Accept what a server declares into the lockfile",
		Long: `Lock reads a server and shows what differs from what was accepted of it before, or for a
new one what is found in it. Once you agree it writes the whole of what the server
declares into the lockfile, with the source, the hashes, who accepted it and when.
Without SOURCE the server is read from where it was locked.

` + sourceHelp + `
On a terminal you are asked. In a script say --yes, or --expect and the digest that
'toolmark check' printed, which accepts exactly what that check has shown.

What could not be read, or only in part, is never written. A list without tools is
refused unless you say --allow-empty. Where nothing differs the file stays as it is.

Values of headers and variables are not recorded, because they may be secrets, unless
they are written as ${NAME}, which is read from the environment each time.

Exit codes: 0 the lockfile says what the server declares; 1 it could not be read, or you
said no; 2 wrong use.`,
		Example: `  toolmark lock --name files -- npx -y @modelcontextprotocol/server-filesystem /data
  toolmark lock https://example.com/mcp --name web --header 'Authorization: Bearer ${WEB_TOKEN}'
  toolmark lock tools.json --name tools --yes --note 'first review'
  toolmark lock --name files
  toolmark lock --name files --expect 5b0f4d4a90d1f7c2a1e6f9e3c07d3a55`,
		RunE: p.runs(func(cmd *cobra.Command, args []string) error { return p.lock(cmd, args, f) }),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.name, "name", "", "what the server is called in the lockfile")
	f.addLockfile(cmd)
	flags.BoolVar(&f.yes, "yes", false, "accept without asking")
	flags.StringVar(&f.expect, "expect", "", "accept without asking, but only what has this `digest`")
	flags.StringVar(&f.by, "by", "", "who accepts it (default: the user who runs it, in CI the one who started it)")
	flags.StringVar(&f.note, "note", "", "why it is accepted")
	flags.BoolVar(&f.allowEmpty, "allow-empty", false, "accept a list without tools")
	flags.BoolVar(&f.json, "json", false, "print one JSON document (docs/cli.md)")
	flags.BoolVar(&f.quiet, "quiet", false, "print only what is high; needs --yes or --expect")
	flags.BoolVar(&f.verbose, "verbose", false, "print every place, what is suppressed, and changes that mean nothing")
	f.addScan(cmd)
	f.sourceFlags.add(cmd)
	return cmd
}

func (p *program) lock(cmd *cobra.Command, args []string, f *lockFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	f.severity = toolmark.High
	src, from, err := p.lockSource(cmd, args, f)
	if err != nil {
		return err
	}
	f.by = firstOf(f.by, p.env.getenv("GITHUB_ACTOR"), p.env.getenv("GITLAB_USER_LOGIN"), p.env.username(), "unknown")
	c, err := p.newComparer(&f.driftFlags)
	if err != nil {
		return err
	}
	out := p.readAll(cmd.Context(), []source{src}, f.timeout, f.quiet)[0]
	if out.err != nil {
		return out.err
	}
	m, err := whole(out.snapshot)
	if err != nil {
		return err
	}
	if len(m.Tools) == 0 && !f.allowEmpty {
		return &toolmark.Error{Code: toolmark.ErrUnreadableList, Message: src.name() + ": the list has no tools, which is more often a fault than the truth; nothing was written. If it is right say --allow-empty"}
	}
	if digest := lockfile.Digest(m); f.expect != "" && f.expect != digest {
		return &toolmark.Error{Code: toolmark.ErrInvalidManifest, Message: fmt.Sprintf("%s: what it declares now is not what --expect names: its digest is %s. It changed since it was looked at; nothing was written. Look again with: toolmark check %s", src.name(), digest, word(f.name))}
	}
	l := &locking{p: p, flags: f, comparer: c, source: src, from: from, snapshot: out.snapshot, manifest: m}
	return l.run(cmd.Context())
}

// lockSource gives the source to read and how it is to be recorded; that of the lockfile
// where none is named.
func (p *program) lockSource(cmd *cobra.Command, args []string, f *lockFlags) (source, lockfile.Source, error) {
	var none source
	if f.name == "" {
		return none, lockfile.Source{}, usage("give the server a name in the lockfile, as in: toolmark lock %s --name files", strings.Join(append(args, "SOURCE")[:1], " "))
	}
	if f.expect != "" && (len(f.expect) != 32 || strings.Trim(f.expect, "0123456789abcdef") != "") {
		return none, lockfile.Source{}, usage("--expect is 32 hex digits: give exactly what `toolmark check` printed")
	}
	asks := !f.yes && f.expect == ""
	if asks && f.quiet {
		return none, lockfile.Source{}, usage("--quiet shows nothing to agree to; say --yes as well")
	}
	dir := filepath.Dir(f.lockfile)
	if len(args) == 0 && cmd.ArgsLenAtDash() < 0 {
		file, err := p.readLockfile(f.lockfile)
		if err != nil {
			return none, lockfile.Source{}, err
		}
		entry := file.Entry(f.name)
		if entry == nil {
			return none, lockfile.Source{}, usage("no source given, and %s has no server %q; name a file, a URL, or -- and a command", f.lockfile, f.name)
		}
		if entry.Source.Stdin {
			return none, lockfile.Source{}, usage("%s was locked from standard input; give the new list there: toolmark lock - --name %s < tools.json", f.name, word(f.name))
		}
		if asks && !p.env.stdin.terminal {
			return none, lockfile.Source{}, notAsked()
		}
		src, err := lockedSource(entry, dir, &f.sourceFlags)
		return src, entry.Source, err
	}
	sources, err := f.sources(cmd, args)
	if err != nil {
		return none, lockfile.Source{}, err
	}
	if len(sources) > 1 {
		return none, lockfile.Source{}, usage("lock takes one source; run it once for each server")
	}
	if asks && (!p.env.stdin.terminal || sources[0].path == "-") {
		return none, lockfile.Source{}, notAsked()
	}
	from := recorded(&sources[0], dir)
	// What is wrong with the name, the source or the file is said before anything is read.
	if _, err := lockfile.New(f.name, from, &toolmark.Manifest{Tree: emptyList(), ToolsPointer: "/tools"}, lockfile.Acceptance{}); err != nil {
		return none, lockfile.Source{}, err
	}
	if _, err := lockfile.Read(f.lockfile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return none, lockfile.Source{}, err
	}
	p.warnOfSecrets(&from)
	return sources[0], from, nil
}

func notAsked() error {
	return usage("there is no terminal to ask you on; say --yes to accept without being asked, or see first what changed: toolmark check")
}

// emptyList is the tree of a list without tools.
func emptyList() *toolmark.Value {
	return &toolmark.Value{Kind: toolmark.KindObject, Members: []toolmark.Member{{Name: "tools", Value: toolmark.Value{Kind: toolmark.KindArray}}}}
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// locking is one run of lock from what was read to what is written.
type locking struct {
	p        *program
	flags    *lockFlags
	comparer *comparer
	source   source
	from     lockfile.Source
	snapshot *toolmark.Snapshot
	manifest *toolmark.Manifest
}

// errChanged says that somebody else has written the entry meanwhile.
var errChanged = errors.New("another run changed this server's entry meanwhile")

// maxTries is how often a run begins again because others wrote the same entry.
const maxTries = 5

func (l *locking) run(ctx context.Context) error {
	for try := 1; ; try++ {
		file, err := lockfile.Read(l.flags.lockfile)
		if errors.Is(err, fs.ErrNotExist) {
			file, err = &lockfile.File{}, nil
		}
		if err != nil {
			return err
		}
		old := file.Entry(l.flags.name)
		next, same, err := l.entry(old)
		if err != nil {
			return err
		}
		if err := l.show(ctx, file, old); err != nil {
			return err
		}
		if same {
			return l.say("unchanged: " + l.flags.lockfile + " says already what " + l.flags.name + " declares")
		}
		if agreed, err := l.ask(old); err != nil || !agreed {
			return err
		}
		err = l.write(ctx, old, next)
		if errors.Is(err, errChanged) && try < maxTries && (l.flags.yes || l.flags.expect != "") {
			l.comparer.doc.Servers = nil
			continue
		}
		if err != nil {
			return err
		}
		verb := "locked"
		if old != nil {
			verb = "updated"
		}
		return l.say(fmt.Sprintf("%s %s in %s: %s, pin %s", verb, next.Name, l.flags.lockfile, report.Plural(len(l.manifest.Tools), "tool"), next.Pin.SHA256))
	}
}

// entry makes the new entry; same reports that the old one says all of it already.
func (l *locking) entry(old *lockfile.Entry) (next *lockfile.Entry, same bool, err error) {
	accepted := lockfile.Acceptance{At: l.p.env.now(), By: l.flags.by, How: lockfile.HowAsked, Note: l.flags.note}
	switch {
	case l.flags.expect != "":
		accepted.How = lockfile.HowExpected
	case l.flags.yes:
		accepted.How = lockfile.HowUnattended
	}
	if old == nil {
		next, err = lockfile.New(l.flags.name, l.from, l.manifest, accepted)
		return next, false, err
	}
	next, err = old.Renew(l.from, l.manifest, accepted)
	if err != nil {
		return nil, false, err
	}
	return next, next.Same(old) && (l.flags.note == "" || l.flags.note == old.Accepted.Note), nil
}

// show prints the drift, or what is found in a new server.
func (l *locking) show(ctx context.Context, file *lockfile.File, old *lockfile.Entry) error {
	x := pair{name: l.flags.name, new: side("now", l.source.name(), l.manifest), warnings: l.snapshot.Warnings, others: otherServers(file, l.flags.name)}
	if old != nil {
		x.old = lockedSide("approved", l.flags.lockfile, file, old)
	}
	if err := l.comparer.add(ctx, x); err != nil {
		return err
	}
	l.comparer.complete = false // an entry may name another server
	if err := l.comparer.finish(); err != nil {
		return err
	}
	if old != nil && !l.flags.json {
		if was, is := sourceWords(&old.Source), sourceWords(&l.from); was != is {
			return l.say("the source changes from " + was + " to " + is)
		}
	}
	return nil
}

// sourceWords names a recorded source.
func sourceWords(s *lockfile.Source) string {
	var settings []string
	for _, x := range append(s.Headers, s.Env...) {
		settings = append(settings, x.Name+"="+firstOf(x.Value, "…"))
	}
	var what string
	switch {
	case s.Stdin:
		what = "standard input"
	case s.File != "":
		what = s.File
	case s.URL != "":
		what = s.URL
	default:
		words := make([]string, len(s.Command))
		for i, w := range s.Command {
			words[i] = word(w)
		}
		what = strings.Join(words, " ")
		if s.Dir != "" {
			what += " in " + s.Dir
		}
	}
	if len(settings) > 0 {
		what += " with " + strings.Join(settings, ", ")
	}
	return what
}

// ask waits for a yes, unless it was given.
func (l *locking) ask(old *lockfile.Entry) (bool, error) {
	if l.flags.yes || l.flags.expect != "" {
		return true, nil
	}
	question := "Lock " + l.flags.name + " in " + l.flags.lockfile + "?"
	if old != nil {
		question = "Accept this as what " + l.flags.name + " declares?"
	}
	fmt.Fprint(l.p.stderr, report.Printable(question)+" [y/N] ")
	answer, err := bufio.NewReader(io.LimitReader(l.p.stdin, 1024)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	l.p.say("toolmark: not accepted; nothing was written")
	return false, exit(exitFailed)
}

// write puts the new entry in the place of the old one, if that is still there.
func (l *locking) write(ctx context.Context, old, next *lockfile.Entry) error {
	_, err := lockfile.Update(ctx, l.flags.lockfile, func(f *lockfile.File) error {
		now := f.Entry(next.Name)
		if (now == nil) != (old == nil) || now != nil && !now.Equal(old) {
			return errChanged
		}
		f.Set(next)
		return nil
	})
	if errors.Is(err, errChanged) {
		return &toolmark.Error{Code: toolmark.ErrUnreadableList, Message: l.flags.lockfile + ": nothing was written; look again", Err: err}
	}
	return err
}

// say prints how it ended, where that is not part of a JSON document.
func (l *locking) say(line string) error {
	if l.flags.json || l.flags.quiet {
		return nil
	}
	return l.p.write([]byte(report.Printable(line) + "\n"))
}
