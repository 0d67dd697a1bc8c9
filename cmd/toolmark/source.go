package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/probe"
)

// maxFile is the most bytes of a file or of standard input.
const maxFile = 8 << 20

// small is the most bytes of a list that needs little memory.
const small = 512 << 10

// atOnce is the most sources read at the same time.
const atOnce = 16

// source is one SOURCE of a command line: a path ("-" is standard input), or a live
// server.
type source struct {
	path string
	live probe.Source
}

func (s *source) isLive() bool { return s.path == "" }

// name is the source as reports call it.
func (s *source) name() string {
	if s.isLive() {
		return s.live.Name()
	}
	return s.path
}

// label is what a server is called that says nothing of itself.
func (s *source) label() string {
	switch {
	case s.path == "-":
		return "stdin"
	case s.path != "":
		base := filepath.Base(s.path)
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	return s.live.Name()
}

// file gives the source's path below the working directory with slashes; where it
// is a file elsewhere its base name, and "" where it is no file.
func (s *source) file() string {
	switch {
	case s.isLive():
		return ""
	case s.path == "-":
		return "stdin.json"
	}
	if rel := filepath.Clean(s.path); filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, s.path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.Base(s.path)
}

// sourceFlags are the flags of every command that reads sources.
type sourceFlags struct {
	header  []string
	env     []string
	timeout time.Duration
}

func (f *sourceFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.header, "header", nil, "send this `K:V` header to http(s) sources (may be repeated); ${NAME} in V is read from the environment")
	flags.StringArrayVar(&f.env, "env", nil, "give this `K=V` variable to the command (may be repeated); ${NAME} in V is read from the environment")
	flags.DurationVar(&f.timeout, "timeout", probe.DefaultTimeout, "time for reading one live server")
}

// sources takes the arguments of a command apart. What stands after -- is a command.
func (f *sourceFlags) sources(cmd *cobra.Command, args []string) ([]source, error) {
	header, err := f.headers()
	if err != nil {
		return nil, err
	}
	dash := cmd.ArgsLenAtDash()
	var command []string
	if dash >= 0 {
		args, command = args[:dash], args[dash:]
		if len(command) == 0 {
			return nil, usage("no command after --; write it as in: %s -- npx -y some-server", cmd.CommandPath())
		}
	}
	var list []source
	stdin := false
	for _, arg := range args {
		switch lower := strings.ToLower(arg); {
		case arg == "":
			return nil, usage("a source is empty")
		case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"):
			list = append(list, source{live: probe.Source{URL: arg, Header: header}})
		case strings.Contains(arg, "://"):
			scheme, _, _ := strings.Cut(arg, "://")
			return nil, usage("%s:// is no kind of source; a live server is http://, https:// or -- command", scheme)
		default:
			if arg == "-" && stdin {
				return nil, usage("standard input (-) can be a source only once")
			}
			stdin = stdin || arg == "-"
			list = append(list, source{path: arg})
		}
	}
	if command != nil {
		list = append(list, source{live: probe.Source{Command: command, Env: f.env}})
	}
	if len(list) == 0 {
		return nil, usage("no source given: name a file, - for standard input, a URL, or -- and a command, as in: %s tools.json", cmd.CommandPath())
	}
	return list, nil
}

// headers gives the headers of the command line, and checks the other flags as well.
func (f *sourceFlags) headers() (http.Header, error) {
	header, err := parseHeaders(f.header, "--header")
	if err != nil {
		return nil, err
	}
	for _, e := range f.env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" || strings.ContainsRune(e, 0) {
			return nil, usage("--env must be K=V, as in --env API_KEY=…")
		}
	}
	if f.timeout <= 0 {
		return nil, usage("--timeout must be more than 0, as in --timeout 30s")
	}
	return header, nil
}

// parseHeaders reads K:V headers of a flag.
func parseHeaders(list []string, flag string) (http.Header, error) {
	header := http.Header{}
	for _, h := range list {
		name, value, ok := strings.Cut(h, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !isToken(name) || strings.ContainsAny(value, "\r\n\x00") {
			// The value may be a secret, so the message does not repeat it.
			return nil, usage("%s must be K:V, as in %s 'Authorization: Bearer …'", flag, flag)
		}
		header.Add(name, value)
	}
	return header, nil
}

// isToken reports whether s is a field name (RFC 9110, section 5.1).
func isToken(s string) bool {
	if s == "" {
		return false
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return true
}

// readOutcome is what came of one source.
type readOutcome struct {
	snapshot *toolmark.Snapshot
	err      error
}

// readAll reads the sources side by side and gives what came of each, in order. One
// that fails does not stop the others.
func (p *program) readAll(ctx context.Context, list []source, timeout time.Duration, quiet bool) []readOutcome {
	out := make([]readOutcome, len(list))
	var bar *progress
	for i := range list {
		if list[i].isLive() && !quiet {
			bar = startProgress(p.stderr, p.env.stderr)
			break
		}
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			out[i].snapshot, out[i].err = p.read(ctx, &list[i], timeout, bar)
		})
	}
	wg.Wait()
	bar.stop()
	return out
}

func (p *program) read(ctx context.Context, s *source, timeout time.Duration, bar *progress) (*toolmark.Snapshot, error) {
	name := s.name()
	return p.readSteps(ctx, s, timeout, func(stage string) { bar.show(name, stage) })
}

// readSteps reads a source and tells what it is doing at each step of a live one.
func (p *program) readSteps(ctx context.Context, s *source, timeout time.Duration, step func(stage string)) (*toolmark.Snapshot, error) {
	if !s.isLive() {
		return p.readFile(s.path)
	}
	live, err := p.expand(s.live)
	if err != nil {
		return nil, err
	}
	p.env.steady()
	snapshot, err := probe.Probe(ctx, live, probe.Options{
		Timeout: timeout, ClientVersion: version(), Now: p.env.now,
		Progress: step,
	})
	if err != nil {
		return nil, err
	}
	return snapshot, nil
}

func (p *program) readFile(path string) (*toolmark.Snapshot, error) {
	data, err := p.readBytes(path, maxFile)
	if err != nil {
		if _, missing := os.Stat(path); errors.Is(missing, fs.ErrNotExist) && path != "-" && !strings.ContainsAny(path, `./\`) {
			return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: path + ": no such file; to start a command put -- before it, as in: -- " + path}
		}
		return nil, err
	}
	return p.asSnapshot(path, data)
}

// readBytes reads a file or standard input of at most limit bytes.
func (p *program) readBytes(path string, limit int64) ([]byte, error) {
	in := p.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, openError(path, err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: path + ": is a folder, not a file"}
		}
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: path + ": cannot be read", Err: err}
	}
	if int64(len(data)) > limit {
		return nil, &toolmark.Error{Code: toolmark.ErrTooLarge, Message: fmt.Sprintf("%s: more than %d MiB", path, limit>>20)}
	}
	if p.taken.Add(int64(len(data))) > muchInput {
		p.env.steady()
	}
	return data, nil
}

// muchInput is from how many bytes on it is worth while to collect what is not needed.
const muchInput = 64 << 10

func openError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &toolmark.Error{Code: toolmark.ErrNotFound, Message: path + ": no such file"}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &toolmark.Error{Code: toolmark.ErrNotFound, Message: path + ": cannot be opened", Err: err}
}

// inFile puts the file's name before an error about what it holds.
func inFile(path string, err error) error {
	if path == "-" {
		path = "standard input"
	}
	var e *toolmark.Error
	if errors.As(err, &e) {
		return &toolmark.Error{Code: e.Code, Message: path + ": " + e.Message, Err: e.Err}
	}
	return fmt.Errorf("%s: %w", path, err)
}
