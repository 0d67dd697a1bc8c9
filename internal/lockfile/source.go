package lockfile

import (
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
)

// Source says where a server's manifest is read: exactly one of File, URL, Command and
// Stdin.
type Source struct {
	// File is a path with slashes: from the lockfile's folder, or absolute.
	File string
	// URL is an MCP endpoint, http or https.
	URL string
	// Command is a program and its arguments.
	Command []string
	// Dir is the working directory of Command with slashes: from the lockfile's folder, or
	// absolute; "" is that folder.
	Dir string
	// Stdin: the manifest came by standard input and cannot be read again.
	Stdin bool
	// Headers are sent to URL, Env are given to Command. Both are sorted by name.
	Headers, Env []Setting
}

// Setting is a header or a variable.
type Setting struct {
	Name string
	// Value may hold ${NAME}, which stands for a variable of the environment.
	Value string
	// Recorded tells a value that is in the file from one that must be given each time.
	Recorded bool
}

// Record makes a Setting of what was given, without the value where that may be a secret:
// it is recorded only where it refers to the environment and has nothing beside that
// could be one, or where the name says that it is a locale or a time zone.
func Record(name, value string) Setting {
	s := Setting{Name: name}
	if reference.MatchString(value) && words.MatchString(reference.ReplaceAllString(value, "")) || public(name) {
		s.Value, s.Recorded = value, true
	}
	return s
}

var (
	reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	// words are what may stand beside a reference: a scheme such as "Bearer ".
	words = regexp.MustCompile(`^[A-Za-z]{0,16}[ :=]{0,2}$`)
)

func public(name string) bool {
	switch strings.ToUpper(name) {
	case "LANG", "LANGUAGE", "TZ", "ACCEPT-LANGUAGE", "NO_COLOR":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// Expand puts variables of the environment in the place of each ${NAME}. Missing is the
// first that is not set or empty; then the text is not to be used.
func Expand(text string, getenv func(string) string) (expanded, missing string) {
	expanded = reference.ReplaceAllStringFunc(text, func(ref string) string {
		name := ref[2 : len(ref)-1]
		value := getenv(name)
		if value == "" && missing == "" {
			missing = name
		}
		return value
	})
	return expanded, missing
}

// Path gives a path of the source as the system reads it, with dir as the lockfile's folder.
func Path(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Relative is the inverse of Path: the form in which a path is recorded in a lockfile in
// the folder dir. Both are seen from the working directory.
func Relative(dir, path string) string {
	a, errDir := filepath.Abs(dir)
	b, err := filepath.Abs(path)
	if errDir == nil && err == nil {
		if rel, err := filepath.Rel(a, b); err == nil {
			return filepath.ToSlash(rel)
		}
		path = b // another volume
	}
	return filepath.ToSlash(path)
}

// value gives the source as it stands in the file.
func (s *Source) value() toolmark.Value {
	var o object
	switch {
	case s.Stdin:
		o.add("stdin", toolmark.Value{Kind: toolmark.KindTrue})
	case s.File != "":
		o.add("file", str(s.File))
	case s.URL != "":
		if len(s.Headers) > 0 {
			o.add("headers", settings(s.Headers))
		}
		o.add("url", str(s.URL))
	default:
		list := toolmark.Value{Kind: toolmark.KindArray}
		for _, word := range s.Command {
			list.Items = append(list.Items, str(word))
		}
		o.add("command", list)
		if s.Dir != "" && s.Dir != "." {
			o.add("dir", str(s.Dir))
		}
		if len(s.Env) > 0 {
			o.add("env", settings(s.Env))
		}
	}
	return o.value()
}

func settings(list []Setting) toolmark.Value {
	var o object
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	for _, s := range list {
		if s.Recorded {
			o.add(s.Name, str(s.Value))
		} else {
			o.add(s.Name, toolmark.Value{Kind: toolmark.KindNull})
		}
	}
	return o.value()
}

// check reports, in words, what is wrong with a source; "" is nothing.
func (s *Source) check() string {
	forms := 0
	for _, is := range []bool{s.Stdin, s.File != "", s.URL != "", len(s.Command) > 0} {
		if is {
			forms++
		}
	}
	switch {
	case forms != 1:
		return "a source is exactly one of file, url, command and stdin"
	case len(s.Command) > 0 && s.Command[0] == "":
		return "a command starts with the name of a program"
	}
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return "a url is http:// or https:// and a host"
		}
		if u.User != nil {
			return "a url with a user or a password is not recorded; give --header 'Authorization: …' instead"
		}
	}
	return ""
}

// readSource is the inverse of Source.value. Members it does not know are left to the
// entry's tree.
func readSource(v *toolmark.Value, at string) (Source, *fault) {
	var s Source
	if v.Kind != toolmark.KindObject {
		return s, &fault{at, v, "a source is an object"}
	}
	for i := range v.Members {
		m := &v.Members[i]
		here := toolmark.Pointer(at, m.Name)
		var text *string
		switch m.Name {
		case "stdin":
			s.Stdin = m.Value.Kind == toolmark.KindTrue
			continue
		case "file":
			text = &s.File
		case "url":
			text = &s.URL
		case "dir":
			text = &s.Dir
		case "command":
			for j := range m.Value.Items {
				item := &m.Value.Items[j]
				if item.Kind != toolmark.KindString {
					return s, &fault{toolmark.Pointer(here, j), item, "a word of a command is a string"}
				}
				s.Command = append(s.Command, item.Text)
			}
			continue
		case "headers", "env":
			list, f := readSettings(&m.Value, here)
			if f != nil {
				return s, f
			}
			if m.Name == "env" {
				s.Env = list
			} else {
				s.Headers = list
			}
			continue
		default:
			continue
		}
		if m.Value.Kind != toolmark.KindString {
			return s, &fault{here, &m.Value, "this is a string"}
		}
		*text = m.Value.Text
	}
	if wrong := s.check(); wrong != "" {
		return s, &fault{at, v, wrong}
	}
	return s, nil
}

func readSettings(v *toolmark.Value, at string) ([]Setting, *fault) {
	if v.Kind != toolmark.KindObject {
		return nil, &fault{at, v, "this is an object of names and values"}
	}
	var list []Setting
	for i := range v.Members {
		m := &v.Members[i]
		switch m.Value.Kind {
		case toolmark.KindNull:
			list = append(list, Setting{Name: m.Name})
		case toolmark.KindString:
			list = append(list, Setting{Name: m.Name, Value: m.Value.Text, Recorded: true})
		default:
			return nil, &fault{toolmark.Pointer(at, m.Name), &m.Value, "a value is a string, or null where it is not recorded"}
		}
	}
	return list, nil
}

// Header gives the recorded headers with their references resolved; missing names
// variables of the environment that are not set, unrecorded the headers whose values have
// to be given.
func (s *Source) Header(getenv func(string) string) (h http.Header, missing, unrecorded []string) {
	h = http.Header{}
	for _, x := range s.Headers {
		value, absent := Expand(x.Value, getenv)
		switch {
		case !x.Recorded:
			unrecorded = append(unrecorded, x.Name)
		case absent != "":
			missing = append(missing, absent)
		default:
			h.Add(x.Name, value)
		}
	}
	return h, missing, unrecorded
}

// Environ is Header for the variables of a command; each is "NAME=value".
func (s *Source) Environ(getenv func(string) string) (env, missing, unrecorded []string) {
	for _, x := range s.Env {
		value, absent := Expand(x.Value, getenv)
		switch {
		case !x.Recorded:
			unrecorded = append(unrecorded, x.Name)
		case absent != "":
			missing = append(missing, absent)
		default:
			env = append(env, x.Name+"="+value)
		}
	}
	return env, missing, unrecorded
}
