package rule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader decodes the YAML of one file strictly and keeps every fault with its line.
type reader struct {
	file   string
	rule   string // id of the rule, once it is known
	faults []error
}

// fault records what is wrong at a line.
func (r *reader) fault(line int, format string, args ...any) {
	where := fmt.Sprintf("%s:%d: ", r.file, line)
	if r.rule != "" {
		where += "rule " + r.rule + ": "
	}
	r.faults = append(r.faults, errors.New(where+fmt.Sprintf(format, args...)))
}

// document parses data, which must be one document with a mapping or a sequence.
func (r *reader) document(data []byte, kind yaml.Kind) *yaml.Node {
	if len(data) > maxFile {
		r.fault(1, "the file has %d bytes; at most %d are allowed", len(data), maxFile)
		return nil
	}
	var doc, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&doc); err != nil && err != io.EOF {
		r.faults = append(r.faults, fmt.Errorf("%s: %w", r.file, err))
		return nil
	}
	if err := decoder.Decode(&more); err != io.EOF {
		r.fault(max(more.Line, 1), "must be one document")
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != kind {
		r.fault(1, "must be one %s", kindNames[kind])
		return nil
	}
	return doc.Content[0]
}

var kindNames = map[yaml.Kind]string{
	yaml.MappingNode: "mapping", yaml.SequenceNode: "list", yaml.ScalarNode: "text", yaml.AliasNode: "alias",
}

// members calls the decoder of each member of a mapping. A key without decoder, a
// key that stands twice and a missing required one are faults.
func (r *reader) members(n *yaml.Node, decoders map[string]func(key, value *yaml.Node), required ...string) bool {
	if n.Kind != yaml.MappingNode {
		r.fault(n.Line, "must be a mapping, not a %s", kindNames[n.Kind])
		return false
	}
	before := len(r.faults)
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		decode, ok := decoders[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !ok:
			r.fault(key.Line, "unknown key %q", key.Value)
		case seen[key.Value]:
			r.fault(key.Line, "key %q stands twice", key.Value)
		default:
			seen[key.Value] = true
			decode(key, value)
		}
	}
	for _, name := range required {
		if !seen[name] {
			r.fault(n.Line, "key %q is missing", name)
		}
	}
	return len(r.faults) == before
}

// text reads a string that is not empty.
func (r *reader) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || n.Value == "" {
		r.fault(n.Line, "must be text")
		return ""
	}
	return n.Value
}

// texts reads a list of strings.
func (r *reader) texts(n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		r.fault(n.Line, "must be a list")
		return nil
	}
	list := make([]string, 0, len(n.Content))
	for _, item := range n.Content {
		list = append(list, r.text(item))
	}
	return list
}

// number reads a whole number from least to most.
func (r *reader) number(n *yaml.Node, least, most int) int {
	var value int
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(&value) != nil || value < least || value > most {
		r.fault(n.Line, "must be a number from %d to %d", least, most)
		return least
	}
	return value
}

// oneOf reads one of a few words.
func (r *reader) oneOf(n *yaml.Node, words ...string) string {
	text := r.text(n)
	for _, w := range words {
		if w == text {
			return text
		}
	}
	if text != "" {
		r.fault(n.Line, "%q: must be one of %s", text, strings.Join(words, ", "))
	}
	return words[0]
}
