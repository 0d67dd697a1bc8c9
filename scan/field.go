package scan

import (
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/textcheck"
)

const (
	// longestIdentifier is the most bytes of a plain member name that is not read as text.
	longestIdentifier = 24
	// longestReference is the same for a type, format or reference: the URLs of JSON
	// Schema dialects and of $defs are longer. A name in "required" stands in
	// "properties" too, and is read there.
	longestReference = 64
)

// field is one text of a manifest with the place it stands in.
type field struct {
	surface toolmark.Surface
	pointer string
	text    string
	options textcheck.Options
}

// collector gathers the texts of one tool, or of another part of a manifest.
type collector struct {
	fields []field
}

func (c *collector) add(surface toolmark.Surface, pointer, text string) {
	if text == "" {
		return
	}
	c.fields = append(c.fields, field{surface: surface, pointer: pointer, text: text})
}

func (c *collector) addName(surface toolmark.Surface, pointer, text string) {
	if text == "" {
		return
	}
	c.fields = append(c.fields, field{surface: surface, pointer: pointer, text: text, options: textcheck.Options{Name: true}})
}

// tool collects a tool's texts. A member that stands twice is read twice: which one
// a client shows is up to its JSON reader.
func (c *collector) tool(v *toolmark.Value, scope toolmark.Scope) {
	// The description comes first, whatever the order sent: it is what a model
	// reads first, and the ordered join of a tool's texts starts with it.
	for i := range v.Members {
		if m := &v.Members[i]; m.Name == "description" {
			c.strings(toolmark.SurfaceDescription, "/description", &m.Value)
		}
	}
	for i := range v.Members {
		m := &v.Members[i]
		at := "/" + toolmark.EscapePointer(m.Name)
		switch m.Name {
		case "description":
			continue
		case "inputSchema", "input_schema":
			c.schema(at, &m.Value)
			continue
		}
		if scope != toolmark.ScopeAll {
			continue
		}
		switch m.Name {
		case "name":
			c.addName(toolmark.SurfaceName, at, m.Value.Text)
		case "title":
			c.strings(toolmark.SurfaceTitle, at, &m.Value)
		case "annotations":
			c.members(toolmark.SurfaceAnnotation, at, &m.Value)
		case "outputSchema", "output_schema":
			c.members(toolmark.SurfaceOutput, at, &m.Value)
		case "icons":
			c.icons(at, &m.Value)
		default:
			c.key(toolmark.SurfaceMeta, at, m.Name)
			c.members(toolmark.SurfaceMeta, at, &m.Value)
		}
	}
}

// keyword says how the value of a JSON Schema keyword (2020-12 and the drafts
// before it) is read.
type keyword uint8

const (
	kwOther      keyword = iota // an unknown member: its name and every string in it are text
	kwText                      // text that is the schema author's: title, $comment, pattern
	kwStructural                // names of types, formats, references: text only if they do not look like it
	kwParameter                 // a description
	kwProperties                // names that a model fills in, each with a schema
	kwNamed                     // names that only schemas refer to, each with a schema
	kwSchema                    // a schema, or an array of schemas
	kwEnum
	kwDefault
	kwExample
)

var keywords = map[string]keyword{
	"description": kwParameter,
	"title":       kwText, "$comment": kwText, "pattern": kwText,
	"type": kwStructural, "format": kwStructural, "$schema": kwStructural, "$ref": kwStructural, "$id": kwStructural,
	"id": kwStructural, "$anchor": kwStructural, "$dynamicRef": kwStructural, "$dynamicAnchor": kwStructural,
	"required": kwStructural, "contentEncoding": kwStructural, "contentMediaType": kwStructural,
	"dependentRequired": kwStructural, "$vocabulary": kwStructural,
	"minimum": kwStructural, "maximum": kwStructural, "exclusiveMinimum": kwStructural, "exclusiveMaximum": kwStructural,
	"multipleOf": kwStructural, "minLength": kwStructural, "maxLength": kwStructural, "minItems": kwStructural,
	"maxItems": kwStructural, "uniqueItems": kwStructural, "minProperties": kwStructural, "maxProperties": kwStructural,
	"minContains": kwStructural, "maxContains": kwStructural, "readOnly": kwStructural, "writeOnly": kwStructural,
	"deprecated": kwStructural, "nullable": kwStructural,
	"properties": kwProperties, "patternProperties": kwProperties,
	"$defs": kwNamed, "definitions": kwNamed, "dependentSchemas": kwNamed, "dependencies": kwNamed,
	"items": kwSchema, "additionalItems": kwSchema, "prefixItems": kwSchema, "additionalProperties": kwSchema,
	"unevaluatedItems": kwSchema, "unevaluatedProperties": kwSchema, "propertyNames": kwSchema, "contains": kwSchema,
	"allOf": kwSchema, "anyOf": kwSchema, "oneOf": kwSchema, "not": kwSchema, "if": kwSchema, "then": kwSchema,
	"else": kwSchema, "contentSchema": kwSchema,
	"enum": kwEnum, "const": kwEnum, "default": kwDefault, "examples": kwExample, "example": kwExample,
}

// schema collects the texts of a JSON Schema at any depth.
func (c *collector) schema(at string, v *toolmark.Value) {
	switch v.Kind {
	case toolmark.KindArray: // anyOf and its kind
		for i := range v.Items {
			c.schema(toolmark.Pointer(at, i), &v.Items[i])
		}
		return
	case toolmark.KindObject:
	default: // true, false, or something that is no schema
		c.strings(toolmark.SurfaceSchema, at, v)
		return
	}
	for i := range v.Members {
		m := &v.Members[i]
		below := at + "/" + toolmark.EscapePointer(m.Name)
		switch keywords[m.Name] {
		case kwParameter:
			c.strings(toolmark.SurfaceParameter, below, &m.Value)
		case kwText:
			c.strings(toolmark.SurfaceSchema, below, &m.Value)
		case kwStructural:
			c.structural(below, &m.Value)
		case kwProperties:
			c.named(below, &m.Value, true)
		case kwNamed:
			c.named(below, &m.Value, false)
		case kwSchema:
			c.schema(below, &m.Value)
		case kwEnum:
			c.members(toolmark.SurfaceEnum, below, &m.Value)
		case kwDefault:
			c.members(toolmark.SurfaceDefault, below, &m.Value)
		case kwExample:
			c.members(toolmark.SurfaceExample, below, &m.Value)
		default:
			c.key(toolmark.SurfaceSchema, below, m.Name)
			c.members(toolmark.SurfaceSchema, below, &m.Value)
		}
	}
}

func (c *collector) named(at string, v *toolmark.Value, filledIn bool) {
	if v.Kind != toolmark.KindObject {
		c.strings(toolmark.SurfaceSchema, at, v)
		return
	}
	for i := range v.Members {
		m := &v.Members[i]
		below := at + "/" + toolmark.EscapePointer(m.Name)
		if filledIn {
			c.addName(toolmark.SurfaceParameterName, below, m.Name)
		} else {
			c.key(toolmark.SurfaceSchema, below, m.Name)
		}
		c.schema(below, &m.Value)
	}
}

// strings collects a string, or every string of what stands where one should.
func (c *collector) strings(surface toolmark.Surface, at string, v *toolmark.Value) {
	if v.Kind == toolmark.KindString {
		c.add(surface, at, v.Text)
		return
	}
	c.members(surface, at, v)
}

// members collects every string of a value and every member name that is not plain.
func (c *collector) members(surface toolmark.Surface, at string, v *toolmark.Value) {
	switch v.Kind {
	case toolmark.KindString:
		c.add(surface, at, v.Text)
	case toolmark.KindArray:
		for i := range v.Items {
			c.members(surface, toolmark.Pointer(at, i), &v.Items[i])
		}
	case toolmark.KindObject:
		for i := range v.Members {
			m := &v.Members[i]
			below := at + "/" + toolmark.EscapePointer(m.Name)
			c.key(surface, below, m.Name)
			c.members(surface, below, &m.Value)
		}
	}
}

// structural collects strings that ought to be names of types, formats and
// references, where they are not.
func (c *collector) structural(at string, v *toolmark.Value) {
	switch v.Kind {
	case toolmark.KindString:
		if len(v.Text) > longestReference || !plain(v.Text) {
			c.addName(toolmark.SurfaceSchema, at, v.Text)
		}
	case toolmark.KindArray:
		for i := range v.Items {
			c.structural(toolmark.Pointer(at, i), &v.Items[i])
		}
	case toolmark.KindObject:
		c.members(toolmark.SurfaceSchema, at, v)
	}
}

// key collects a member name, unless it is a short plain identifier or reference
// that can hold no sentence. Words joined by underscores can hold one, so the
// length decides.
func (c *collector) key(surface toolmark.Surface, at, name string) {
	if len(name) <= longestIdentifier && plain(name) {
		return
	}
	c.addName(surface, at, name)
}

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		case strings.IndexByte("_-./:#$", b) >= 0:
		default:
			return false
		}
	}
	return true
}

// icons collects what is text in an icons array (MCP 2025-11-25, Icons); a data:
// payload is not.
func (c *collector) icons(at string, v *toolmark.Value) {
	before := len(c.fields)
	c.members(toolmark.SurfaceMeta, at, v)
	kept := c.fields[:before]
	for _, f := range c.fields[before:] {
		if !strings.HasPrefix(f.text, "data:") {
			f.options.Data = true
			kept = append(kept, f)
		}
	}
	c.fields = kept
}

// server collects what a manifest says beside its tools.
func (c *collector) server(m *toolmark.Manifest) {
	root := m.Tree
	base := strings.TrimSuffix(m.ToolsPointer, "/tools")
	if base != "" {
		root = m.Tree.Get("result")
	}
	for i := range root.Members {
		member := &root.Members[i]
		at := base + "/" + toolmark.EscapePointer(member.Name)
		switch member.Name {
		case "instructions":
			c.strings(toolmark.SurfaceInstructions, at, &member.Value)
		case "serverInfo":
			c.serverInfo(at, &member.Value)
		case "prompts":
			c.members(toolmark.SurfacePrompt, at, &member.Value)
		case "resources", "resourceTemplates":
			c.members(toolmark.SurfaceResource, at, &member.Value)
		case "_meta":
			c.members(toolmark.SurfaceMeta, at, &member.Value)
		}
	}
}

func (c *collector) serverInfo(at string, v *toolmark.Value) {
	if v.Kind != toolmark.KindObject {
		c.strings(toolmark.SurfaceServer, at, v)
		return
	}
	for i := range v.Members {
		m := &v.Members[i]
		below := at + "/" + toolmark.EscapePointer(m.Name)
		if m.Name == "icons" {
			c.icons(below, &m.Value)
			continue
		}
		c.members(toolmark.SurfaceServer, below, &m.Value)
	}
}
