package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/lockfile"
	"github.com/toolmark/toolmark/internal/probe"
)

// recorded gives a source as a lockfile in the folder dir records it.
func recorded(s *source, dir string) lockfile.Source {
	switch {
	case s.path == "-":
		return lockfile.Source{Stdin: true}
	case s.path != "":
		return lockfile.Source{File: lockfile.Relative(dir, s.path)}
	case s.live.URL != "":
		out := lockfile.Source{URL: s.live.URL}
		for name, values := range s.live.Header {
			for _, v := range values {
				out.Headers = append(out.Headers, lockfile.Record(name, v))
			}
		}
		return out
	}
	out := lockfile.Source{Command: s.live.Command, Dir: lockfile.Relative(dir, ".")}
	if out.Dir == "." {
		out.Dir = ""
	}
	for _, e := range s.live.Env {
		name, value, _ := strings.Cut(e, "=")
		out.Env = append(out.Env, lockfile.Record(name, value))
	}
	return out
}

// lockedSource is the inverse of recorded: the source of an entry as this process reads it.
// Given are the headers and variables of the command line. Of them a server gets only
// those whose names are recorded, so that no server gets another one's secret.
func lockedSource(e *lockfile.Entry, dir string, given *sourceFlags) (source, error) {
	r := &e.Source
	switch {
	case r.Stdin:
		return source{path: "-"}, nil
	case r.File != "":
		return source{path: lockfile.Path(dir, r.File)}, nil
	case r.URL != "":
		header, err := given.headers()
		if err != nil {
			return source{}, err
		}
		live := probe.Source{URL: r.URL, Header: http.Header{}}
		for _, h := range r.Headers {
			name := http.CanonicalHeaderKey(h.Name)
			switch values := header.Values(name); {
			case len(values) > 0:
				live.Header[name] = values
			case h.Recorded:
				live.Header.Add(name, h.Value)
			default:
				return source{}, unrecorded(e.Name, "header", "--header '"+h.Name+": …'", `'`+h.Name+`: ${NAME}'`)
			}
		}
		return source{live: live}, nil
	}
	live := probe.Source{Command: r.Command}
	if r.Dir != "" || dir != "." {
		live.Dir = lockfile.Path(dir, r.Dir)
	}
	for _, v := range r.Env {
		value, ok := v.Value, v.Recorded
		for _, g := range given.env {
			if name, text, _ := strings.Cut(g, "="); name == v.Name {
				value, ok = text, true
			}
		}
		if !ok {
			return source{}, unrecorded(e.Name, "variable", "--env "+v.Name+"=…", `'`+v.Name+`=${NAME}'`)
		}
		live.Env = append(live.Env, v.Name+"="+value)
	}
	return source{live: live}, nil
}

func unrecorded(server, what, flag, form string) error {
	return &toolmark.Error{Code: toolmark.ErrAuthRequired, Message: fmt.Sprintf(
		"%s: the value of a %s it was locked with is not recorded, because it may be a secret; give %s, or lock it with %s, which is read from the environment", server, what, flag, form)}
}

// expand puts variables of the environment in the place of ${NAME} in the values of
// headers and of variables for a command.
func (p *program) expand(live probe.Source) (probe.Source, error) {
	value := func(text string) (string, error) {
		out, missing := lockfile.Expand(text, p.env.getenv)
		if missing != "" {
			return "", &toolmark.Error{Code: toolmark.ErrUsage, Message: fmt.Sprintf("%s: the variable %s is not set in the environment", live.Name(), missing)}
		}
		return out, nil
	}
	header := http.Header{}
	for name, values := range live.Header {
		for _, v := range values {
			text, err := value(v)
			if err != nil {
				return live, err
			}
			header.Add(name, text)
		}
	}
	var env []string
	for _, e := range live.Env {
		name, v, _ := strings.Cut(e, "=")
		text, err := value(v)
		if err != nil {
			return live, err
		}
		env = append(env, name+"="+text)
	}
	live.Header, live.Env = header, env
	return live, nil
}

// secretWord finds what looks as if a secret stood in a command or an address, which are
// recorded as they are.
var secretWord = regexp.MustCompile(`(?i)(key|token|secret|passw(or)?d|bearer)[= ]\S`)

// warnOfSecrets warns where a lockfile would hold one.
func (p *program) warnOfSecrets(s *lockfile.Source) {
	text := s.URL
	if len(s.Command) > 0 {
		text = strings.Join(s.Command, " ")
	}
	if secretWord.MatchString(text) {
		p.warn("the source is recorded as it is, and it looks as if it held a secret: give it with --env or --header as ${NAME}, which is read from the environment")
	}
}

// beside gives the path of a file as people see it from the working directory, and as
// reports for a repository name it: with slashes.
func beside(path string) string {
	return (&source{path: path}).file()
}
