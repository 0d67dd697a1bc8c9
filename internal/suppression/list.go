package suppression

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/toolmark/toolmark"
)

// MaxBytes is the most bytes of a list.
const MaxBytes = 1 << 20

// Entry is one accepted finding.
type Entry struct {
	Code   toolmark.Code
	Tool   string // the tool's name, or "*"
	Place  string // JSON Pointer; "" is any
	Rule   string // a rule's id or opaque reference; "" is any
	Server string // the server's name; "" is any
	Reason string
	// Expires is the last day on which the entry holds, in UTC; zero is no end.
	Expires time.Time
	// Line is where the entry starts in its file, from 1.
	Line int
}

// List is the accepted findings of one file.
type List struct {
	// Name is the file's name, for messages.
	Name    string
	Entries []Entry
}

// placeless are the codes whose findings are about a name or a tool as a whole: an
// entry for them needs no place.
var placeless = []toolmark.Code{
	toolmark.CodeShadowing, toolmark.CodeDuplicateName, toolmark.CodeUnscannable,
	toolmark.CodeToolAdded, toolmark.CodeToolRemoved,
}

type wireFile struct {
	Suppressions []yaml.Node `yaml:"suppressions"`
}

type wireEntry struct {
	Code    string `yaml:"code"`
	Tool    string `yaml:"tool"`
	Place   string `yaml:"place"`
	Rule    string `yaml:"rule"`
	Server  string `yaml:"server"`
	Reason  string `yaml:"reason"`
	Expires string `yaml:"expires"`
}

// Parse reads a list. Name is the file's name for messages. An error is a
// *toolmark.Error with ErrUsage that names file and line.
func Parse(data []byte, name string) (*List, error) {
	list := &List{Name: name}
	if len(data) > MaxBytes {
		return nil, list.fault(0, "has %d bytes; at most %d are allowed", len(data), MaxBytes)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	var file wireFile
	if err := dec.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, list.fault(0, "%s", yamlMessage(err))
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, list.fault(0, "holds more than one YAML document")
	}
	for i := range file.Suppressions {
		node := &file.Suppressions[i]
		entry, err := list.entry(node)
		if err != nil {
			return nil, err
		}
		list.Entries = append(list.Entries, entry)
	}
	return list, nil
}

func (l *List) entry(node *yaml.Node) (Entry, error) {
	entry := Entry{Line: node.Line}
	if node.Kind != yaml.MappingNode {
		return entry, l.fault(node.Line, "a suppression is a mapping with code, tool, place or rule, and reason")
	}
	// A node decodes without KnownFields, so its keys are held against the list here.
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if !slices.Contains([]string{"code", "tool", "place", "rule", "server", "reason", "expires"}, key.Value) {
			return entry, l.fault(key.Line, "unknown key %q; known are code, tool, place, rule, server, reason, expires", key.Value)
		}
	}
	var w wireEntry
	if err := node.Decode(&w); err != nil {
		return entry, l.fault(node.Line, "%s", yamlMessage(err))
	}
	code, err := toolmark.ParseCode(w.Code)
	switch {
	case w.Code == "":
		return entry, l.fault(node.Line, "the suppression has no code")
	case err != nil:
		return entry, l.fault(node.Line, "unknown code %q", w.Code)
	case code == toolmark.CodeRugPull:
		return entry, l.fault(node.Line, "a changed pin (E301) cannot be suppressed; give the new pin instead")
	case code == toolmark.CodeUnread:
		return entry, l.fault(node.Line, "an unreachable server (D190) cannot be suppressed; check the others by name instead")
	case w.Tool == "":
		return entry, l.fault(node.Line, "the suppression names no tool; write its name, or \"*\" for a finding about the whole list")
	case strings.TrimSpace(w.Reason) == "":
		return entry, l.fault(node.Line, "the suppression has no reason")
	case w.Place == "" && w.Rule == "" && !slices.Contains(placeless, code):
		return entry, l.fault(node.Line, "a suppression of %s names a place or a rule", code)
	case w.Place != "" && !strings.HasPrefix(w.Place, "/"):
		return entry, l.fault(node.Line, "place %q is no JSON Pointer; it starts with /, as in /description", w.Place)
	}
	if w.Expires != "" {
		day, err := time.Parse(time.DateOnly, strings.TrimSuffix(w.Expires, "T00:00:00Z"))
		if err != nil {
			return entry, l.fault(node.Line, "expires %q is no date; write it as 2026-12-31", w.Expires)
		}
		entry.Expires = day
	}
	entry.Code, entry.Tool, entry.Place, entry.Rule = code, w.Tool, w.Place, w.Rule
	entry.Server, entry.Reason = w.Server, strings.Join(strings.Fields(w.Reason), " ")
	return entry, nil
}

func (l *List) fault(line int, format string, args ...any) error {
	where := l.Name
	if line > 0 {
		where = fmt.Sprintf("%s:%d", l.Name, line)
	}
	return &toolmark.Error{Code: toolmark.ErrUsage, Message: where + ": " + fmt.Sprintf(format, args...)}
}

func yamlMessage(err error) string {
	var te *yaml.TypeError
	if errors.As(err, &te) {
		return strings.Join(te.Errors, "; ")
	}
	return strings.TrimPrefix(err.Error(), "yaml: ")
}

// expired reports whether the entry no longer holds at that time.
func (e *Entry) expired(now time.Time) bool {
	return !e.Expires.IsZero() && !now.UTC().Before(e.Expires.AddDate(0, 0, 1))
}

// String names the entry as a person would look for it.
func (e *Entry) String() string {
	s := fmt.Sprintf("%s for tool %q", e.Code, e.Tool)
	if e.Place != "" {
		s += " at " + e.Place
	}
	if e.Rule != "" {
		s += ", rule " + e.Rule
	}
	return s
}
