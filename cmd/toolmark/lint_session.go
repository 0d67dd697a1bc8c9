package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/lint"
	"github.com/toolmark/toolmark/internal/lockfile"
	"github.com/toolmark/toolmark/internal/probe"
)

// maxSessions is the most sessions that lint starts.
const maxSessions = 32

// locales are those that a session with another locale asks for: one of another language,
// and one of another script.
var locales = []string{"de_DE", "ja_JP"}

// sessionPlan is one further session: how it differs from the first.
type sessionPlan struct {
	label  string
	client string // the client's name; "" is ours
	env    []string
	header http.Header
	// clean names the folders that the session gets new ones for: "home", "dir".
	clean string
}

// plan says which further sessions lint reads.
func (f *lintFlags) plan(s *source) ([]sessionPlan, error) {
	if f.sessions < 1 {
		return nil, usage("--sessions is 1 or more")
	}
	if !s.isLive() && (f.sessions > 1 || len(f.vary) > 0) {
		return nil, usage("--sessions and --vary start a server: give a URL, or -- and a command")
	}
	command := len(s.live.Command) > 0
	var plans []sessionPlan
	for i := 2; i <= f.sessions; i++ {
		plans = append(plans, sessionPlan{label: fmt.Sprintf("session %d", i)})
	}
	for _, what := range f.vary {
		switch what {
		case "locale":
			for _, locale := range locales {
				language := strings.ReplaceAll(locale, "_", "-")
				plans = append(plans, sessionPlan{
					label: "locale " + locale, header: http.Header{"Accept-Language": {language}},
					env: []string{"LANG=" + locale + ".UTF-8", "LC_ALL=" + locale + ".UTF-8", "LANGUAGE=" + locale},
				})
			}
		case "client":
			plans = append(plans, sessionPlan{label: "client another-client", client: "another-client"})
		case "home", "dir":
			if !command {
				return nil, usage("--vary %s is for commands; a URL has no %s of its own here", what, what)
			}
			plans = append(plans, sessionPlan{label: "clean " + what, clean: what})
		case "header":
			if command || len(f.varyHeader) == 0 {
				return nil, usage("--vary header is for URLs and needs --vary-header K:V, once for each session")
			}
			for i, text := range f.varyHeader {
				header, err := parseHeaders([]string{text}, "--vary-header")
				if err != nil {
					return nil, err
				}
				// Values may be secrets: the label has the name alone.
				name := slices.Collect(maps.Keys(header))[0]
				plans = append(plans, sessionPlan{label: fmt.Sprintf("header %s (%d)", name, i+1), header: header})
			}
		case "env":
			if !command || len(f.varyEnv) == 0 {
				return nil, usage("--vary env is for commands and needs --vary-env K=V, once for each session")
			}
			for i, text := range f.varyEnv {
				name, _, ok := strings.Cut(text, "=")
				if !ok || name == "" || strings.ContainsRune(text, 0) {
					return nil, usage("--vary-env must be K=V, as in --vary-env FEATURES=beta")
				}
				plans = append(plans, sessionPlan{label: fmt.Sprintf("env %s (%d)", name, i+1), env: []string{text}})
			}
		default:
			return nil, usage("--vary is locale, home, dir, client, header or env, not %q", what)
		}
	}
	if len(plans) >= maxSessions {
		return nil, usage("at most %d sessions", maxSessions)
	}
	return plans, nil
}

// lintSessions reads the first session and the further ones, one after the other: a server
// that two sessions use at once may be told apart by that alone. Where a further session
// fails the others still count, and the error says which failed.
func (p *program) lintSessions(ctx context.Context, s *source, plans []sessionPlan, f *lintFlags) (*toolmark.Snapshot, []lint.Session, error) {
	var bar *progress
	if s.isLive() && !f.quiet {
		bar = startProgress(p.stderr, p.env.stderr)
	}
	defer func() { bar.stop() }()
	first, err := p.read(ctx, s, f.timeout, bar)
	if err != nil {
		return nil, nil, err
	}
	var sessions []lint.Session
	var failed error
	for i := range plans {
		snapshot, err := p.readSession(ctx, s, &plans[i], f, bar)
		if ctx.Err() != nil {
			return first, sessions, fmt.Errorf("stopped: %w", ctx.Err())
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", plans[i].label, err))
			continue
		}
		sessions = append(sessions, lint.Session{Label: plans[i].label, Manifest: snapshot.Manifest})
	}
	return first, sessions, failed
}

// readSession reads one further session.
func (p *program) readSession(ctx context.Context, s *source, plan *sessionPlan, f *lintFlags, bar *progress) (_ *toolmark.Snapshot, err error) {
	live := s.live
	live.Env = append(slices.Clone(live.Env), plan.env...)
	live.Header = live.Header.Clone()
	if live.Header == nil {
		live.Header = http.Header{}
	}
	maps.Copy(live.Header, plan.header)
	if plan.clean != "" {
		folder, err := os.MkdirTemp("", "toolmark-session-")
		if err != nil {
			return nil, fmt.Errorf("make a clean folder: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		if plan.clean == "dir" {
			live.Dir = folder
		} else {
			live.Env = append(live.Env, "HOME="+folder, "USERPROFILE="+folder, "USER=somebody", "LOGNAME=somebody", "USERNAME=somebody",
				"XDG_CONFIG_HOME="+filepath.Join(folder, ".config"), "XDG_DATA_HOME="+filepath.Join(folder, ".local", "share"),
				"APPDATA="+folder, "LOCALAPPDATA="+folder)
		}
	}
	return probe.Probe(ctx, live, probe.Options{
		Timeout: f.timeout, ClientName: plan.client, ClientVersion: version(), Now: p.env.now,
		Progress: func(stage string) { bar.show(plan.label, stage) },
	})
}

// hold keeps a connection open and says what the server announced on it, and what it lists
// at the end. A server with which no connection can be held is not one that announces
// nothing.
func (p *program) hold(ctx context.Context, s *source, f *lintFlags) (*lint.Live, error) {
	var bar *progress
	if !f.quiet {
		bar = startProgress(p.stderr, p.env.stderr)
		bar.show(s.name(), "listening for announced changes")
	}
	defer func() { bar.stop() }()
	held, cancel := context.WithCancel(ctx)
	defer cancel()
	var live *lint.Live
	var lost error
	options := probe.WatchOptions{Options: probe.Options{Timeout: f.timeout, ClientVersion: version(), Now: p.env.now}, Reread: f.hold}
	err := probe.Watch(held, s.live, options, func(e probe.Event) {
		switch e.Kind {
		case probe.Connected:
			live = &lint.Live{First: e.Snapshot.Manifest}
		case probe.Changed, probe.Unasked:
			if slices.Contains(e.Announced, "tools") {
				live.Notified = true
			}
			live.Later, live.Deaf = e.Snapshot.Manifest, e.Deaf
			if e.Kind == probe.Unasked {
				cancel()
			}
		case probe.Lost:
			lost = e.Err
			cancel()
		}
	})
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("stopped: %w", ctx.Err())
	case live != nil && live.Later != nil && lost == nil && err == nil:
	case errors.Is(err, probe.ErrNotListening):
		return nil, nil
	case err != nil:
		return nil, err
	case lost != nil:
		return nil, fmt.Errorf("hold a connection: %w", lost)
	}
	return live, nil
}

// readRelease reads the last release: a file as sources are, or LOCKFILE#NAME.
func (p *program) readRelease(ctx context.Context, path string) (*toolmark.Manifest, error) {
	file, name, named := strings.Cut(path, "#")
	if _, err := os.Stat(path); err == nil {
		file, name, named = path, "", false // a file with # in its name
	}
	data, err := p.readBytes(file, maxFile)
	if err != nil {
		return nil, err
	}
	value, err := canonjson.Parse(data, canonjson.Options{MaxBytes: maxFile})
	if err != nil {
		return nil, inFile(file, err)
	}
	if !lockfile.IsLockfile(value) {
		if named {
			return nil, usage("%s is no lockfile, so it has no #%s", file, name)
		}
		m, err := toolmark.ReadManifest(value)
		if err != nil {
			return nil, inFile(file, err)
		}
		return m, nil
	}
	lock, err := lockfile.Parse(data, file)
	if err != nil {
		return nil, err
	}
	entries := lock.Entries()
	if name == "" && len(entries) == 1 {
		return entries[0].Manifest, nil
	}
	if entry := lock.Entry(name); entry != nil {
		return entry.Manifest, nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, file+"#"+e.Name)
	}
	return nil, usage("name a server of the lockfile: %s", strings.Join(names, ", "))
}

// projectFiles are the files that name the version that is published.
var projectFiles = []string{"server.json", "package.json"}

// projectVersions reads the versions that a project's files name. A package.json counts
// only where it is the server's own: the folder may be any, unless it was named.
func (p *program) projectVersions(folder, serverName string, named bool) ([]lint.Package, error) {
	if folder == "" {
		return nil, nil
	}
	var list []lint.Package
	for _, name := range projectFiles {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		data, err := p.readBytes(path, maxFile)
		if err != nil {
			return nil, err
		}
		var project struct {
			Name         string         `json:"name"`
			MCPName      string         `json:"mcpName"`
			Version      string         `json:"version"`
			Schema       string         `json:"$schema"`
			Packages     []any          `json:"packages"`
			Remotes      []any          `json:"remotes"`
			Dependencies map[string]any `json:"dependencies"`
		}
		if err := json.Unmarshal(data, &project); err != nil {
			return nil, &toolmark.Error{Code: toolmark.ErrInvalidJSON, Message: path + " cannot be read as JSON; --project \"\" leaves it out", Err: err}
		}
		own := named || project.MCPName != "" || project.Name != "" && project.Name == serverName
		if name == "server.json" {
			own = own || strings.Contains(project.Schema, "modelcontextprotocol") || len(project.Packages)+len(project.Remotes) > 0
		}
		for dependency := range project.Dependencies {
			own = own || dependency == "@modelcontextprotocol/sdk" || dependency == "@modelcontextprotocol/server" || dependency == "fastmcp"
		}
		if own {
			list = append(list, lint.Package{File: filepath.ToSlash(path), Version: project.Version})
		}
	}
	return list, nil
}
