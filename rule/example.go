package rule

import (
	"errors"
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v3"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/textcheck"
)

// Example is a text, or a whole tool, that a rule must match or must not match.
type Example struct {
	// Text stands in the surface Surface; "" where the example is a whole tool.
	Text    string
	Surface toolmark.Surface
	// Tool is the tool's definition; nil where the example is a text.
	Tool *yaml.Node
	// By is the alternative that must match; "" for a clean example.
	By string
	// Severity is that of the match: the rule's, or toolmark.Info where the example
	// says that a downgrade weakens it.
	Severity toolmark.Severity
	weakened bool
	// File and Line say where it stands: in the rule's file, or in one that extends it.
	File string
	Line int
}

// Examples are the examples of a rule.
type Examples struct{ Match, Clean []Example }

// Examples gives the rule's examples, those of the files that extend it last. It
// decodes them where that was deferred.
func (r *Rule) Examples() (Examples, error) {
	var all Examples
	for i := range r.sources {
		examples, err := r.sources[i].read(r.ID)
		if err != nil {
			return Examples{}, err
		}
		all.Match = append(all.Match, examples.Match...)
		all.Clean = append(all.Clean, examples.Clean...)
	}
	for i := range all.Match {
		if !all.Match[i].weakened {
			all.Match[i].Severity = r.Severity
		}
	}
	return all, nil
}

// exampleSource is a file with examples: decoded, or, where waits is not nil, not yet.
type exampleSource struct {
	file     string
	waits    fs.FS
	examples Examples
}

func (s *exampleSource) read(rule string) (Examples, error) {
	if s.waits == nil {
		return s.examples, nil
	}
	data, err := fs.ReadFile(s.waits, s.file)
	if err != nil {
		return Examples{}, fmt.Errorf("examples of rule %s: %w", rule, err)
	}
	reader := &ruleReader{reader: reader{file: s.file, rule: rule}}
	n := reader.document(data, yaml.MappingNode)
	if n == nil {
		return Examples{}, errors.Join(reader.faults...)
	}
	var examples Examples
	found := false
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "examples" {
			examples, found = reader.readExamples(n.Content[i+1]), true
		}
	}
	if !found {
		reader.fault(n.Line, "key %q is missing", "examples")
	}
	return examples, errors.Join(reader.faults...)
}

const minExamples = 2

// readExamples decodes the examples and sees that there are enough of them.
func (r *ruleReader) readExamples(n *yaml.Node) Examples {
	var examples Examples
	r.members(n, map[string]func(key, value *yaml.Node){
		"match": func(_, v *yaml.Node) { examples.Match = r.exampleList(v, true) },
		"clean": func(_, v *yaml.Node) { examples.Clean = r.exampleList(v, false) },
	}, "match", "clean")
	if len(r.faults) == 0 && (len(examples.Match) < minExamples || len(examples.Clean) < minExamples) {
		r.fault(n.Line, "needs at least %d examples that match and %d that are clean", minExamples, minExamples)
	}
	return examples
}

func (r *ruleReader) exampleList(v *yaml.Node, match bool) []Example {
	if v.Kind != yaml.SequenceNode {
		r.fault(v.Line, "must be a list of examples")
		return nil
	}
	list := make([]Example, 0, len(v.Content))
	for _, item := range v.Content {
		e := Example{Surface: toolmark.SurfaceDescription, File: r.file, Line: item.Line}
		decoders := map[string]func(key, value *yaml.Node){
			"text": func(_, v *yaml.Node) { e.Text = r.text(v) },
			"tool": func(_, v *yaml.Node) { e.Tool = v },
			"surface": func(_, v *yaml.Node) {
				surface, err := toolmark.ParseSurface(r.text(v))
				if err != nil {
					r.fault(v.Line, "%v", err)
				}
				e.Surface = surface
			},
		}
		required := []string{}
		if match {
			required = append(required, "by")
			decoders["by"] = func(_, v *yaml.Node) { e.By = r.text(v) }
			decoders["severity"] = func(_, v *yaml.Node) {
				r.oneOf(v, "info")
				e.Severity, e.weakened = toolmark.Info, true
			}
		}
		if !r.members(item, decoders, required...) {
			continue
		}
		switch {
		case (e.Text == "") == (e.Tool == nil):
			r.fault(item.Line, "an example has either \"text\" or \"tool\"")
		case e.Tool != nil && e.Tool.Kind != yaml.MappingNode:
			r.fault(item.Line, "\"tool\" must be a tool's definition")
		}
		list = append(list, e)
	}
	return list
}

// Fields gives the fields of the example: its text, or the texts of its tool in the
// order in which a scan reads them — description, then the input schema's strings.
func (e *Example) Fields() []Field {
	if e.Tool == nil {
		return []Field{newField(e.Surface, "/"+string(e.Surface), e.Text)}
	}
	var fields []Field
	add := func(surface toolmark.Surface, pointer, text string) {
		if text != "" {
			fields = append(fields, newField(surface, pointer, text))
		}
	}
	if d := memberOf(e.Tool, "description"); d != nil {
		add(toolmark.SurfaceDescription, "/description", d.Value)
	}
	for _, name := range []string{"inputSchema", "input_schema"} {
		if schema := memberOf(e.Tool, name); schema != nil {
			schemaTexts(schema, "/"+name, add)
		}
	}
	return fields
}

func newField(surface toolmark.Surface, pointer, text string) Field {
	return Field{Surface: surface, Pointer: pointer, Text: text, Readings: textcheck.Readings(text)}
}

func memberOf(n *yaml.Node, name string) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// schemaTexts gives the strings of a JSON schema with their surfaces.
func schemaTexts(n *yaml.Node, at string, add func(surface toolmark.Surface, pointer, text string)) {
	every := func(n *yaml.Node, at string, surface toolmark.Surface) {
		eachString(n, at, func(pointer, text string) { add(surface, pointer, text) })
	}
	if n.Kind == yaml.SequenceNode {
		for i, item := range n.Content {
			schemaTexts(item, toolmark.Pointer(at, i), add)
		}
		return
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		where := at + "/" + toolmark.EscapePointer(key)
		switch key {
		case "description":
			every(value, where, toolmark.SurfaceParameter)
		case "enum", "const":
			every(value, where, toolmark.SurfaceEnum)
		case "default":
			every(value, where, toolmark.SurfaceDefault)
		case "examples", "example":
			every(value, where, toolmark.SurfaceExample)
		case "properties":
			for j := 0; value.Kind == yaml.MappingNode && j+1 < len(value.Content); j += 2 {
				name := value.Content[j].Value
				place := where + "/" + toolmark.EscapePointer(name)
				add(toolmark.SurfaceParameterName, place, name)
				schemaTexts(value.Content[j+1], place, add)
			}
		case "type", "format", "required", "$ref", "$schema", "$id":
		default:
			if value.Kind == yaml.ScalarNode {
				every(value, where, toolmark.SurfaceSchema)
				continue
			}
			schemaTexts(value, where, add)
		}
	}
}

func eachString(n *yaml.Node, at string, use func(pointer, text string)) {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!str" {
			use(at, n.Value)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			eachString(item, toolmark.Pointer(at, i), use)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			eachString(n.Content[i+1], at+"/"+toolmark.EscapePointer(n.Content[i].Value), use)
		}
	}
}

// where names the example's place for an error.
func (e *Example) where(r *Rule) string { return fmt.Sprintf("%s:%d: rule %s", e.File, e.Line, r.ID) }
