package scan

import (
	"strconv"
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

// collector gathers the texts of one tool, or of another part of a manifest. It walks
// with the JSON Pointer of where it stands, and writes that down only where a text is.
type collector struct {
	fields []field
	at     []byte
}

// enter goes down to a member; leave goes back up to what it gave.
func (c *collector) enter(name string) int {
	was := len(c.at)
	c.at = append(append(c.at, '/'), toolmark.EscapePointer(name)...)
	return was
}

func (c *collector) enterItem(i int) int {
	was := len(c.at)
	c.at = strconv.AppendInt(append(c.at, '/'), int64(i), 10)
	return was
}

func (c *collector) leave(was int) { c.at = c.at[:was] }

func (c *collector) add(surface toolmark.Surface, text string) {
	if text == "" {
		return
	}
	c.fields = append(c.fields, field{surface: surface, pointer: string(c.at), text: text})
}

func (c *collector) addName(surface toolmark.Surface, text string) {
	if text == "" {
		return
	}
	c.fields = append(c.fields, field{surface: surface, pointer: string(c.at), text: text, options: textcheck.Options{Name: true}})
}

// tool collects a tool's texts. A member that stands twice is read twice: which one
// a client shows is up to its JSON reader.
func (c *collector) tool(v *toolmark.Value, scope toolmark.Scope) {
	// The description comes first, whatever the order sent: it is what a model
	// reads first, and the ordered join of a tool's texts starts with it.
	for i := range v.Members {
		if m := &v.Members[i]; m.Name == "description" {
			was := c.enter(m.Name)
			c.strings(toolmark.SurfaceDescription, &m.Value)
			c.leave(was)
		}
	}
	for i := range v.Members {
		if m := &v.Members[i]; m.Name != "description" {
			was := c.enter(m.Name)
			c.member(m, scope)
			c.leave(was)
		}
	}
}

func (c *collector) member(m *toolmark.Member, scope toolmark.Scope) {
	switch m.Name {
	case "inputSchema", "input_schema":
		c.schema(&m.Value)
		return
	}
	if scope != toolmark.ScopeAll {
		return
	}
	switch m.Name {
	case "name":
		c.addName(toolmark.SurfaceName, m.Value.Text)
	case "title":
		c.strings(toolmark.SurfaceTitle, &m.Value)
	case "annotations":
		c.members(toolmark.SurfaceAnnotation, &m.Value)
	case "outputSchema", "output_schema":
		c.members(toolmark.SurfaceOutput, &m.Value)
	case "icons":
		c.icons(&m.Value)
	default:
		c.key(toolmark.SurfaceMeta, m.Name)
		c.members(toolmark.SurfaceMeta, &m.Value)
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
func (c *collector) schema(v *toolmark.Value) {
	switch v.Kind {
	case toolmark.KindArray: // anyOf and its kind
		for i := range v.Items {
			was := c.enterItem(i)
			c.schema(&v.Items[i])
			c.leave(was)
		}
		return
	case toolmark.KindObject:
	default: // true, false, or something that is no schema
		c.strings(toolmark.SurfaceSchema, v)
		return
	}
	for i := range v.Members {
		m := &v.Members[i]
		was := c.enter(m.Name)
		switch keywords[m.Name] {
		case kwParameter:
			c.strings(toolmark.SurfaceParameter, &m.Value)
		case kwText:
			c.strings(toolmark.SurfaceSchema, &m.Value)
		case kwStructural:
			c.structural(&m.Value)
		case kwProperties:
			c.named(&m.Value, true)
		case kwNamed:
			c.named(&m.Value, false)
		case kwSchema:
			c.schema(&m.Value)
		case kwEnum:
			c.members(toolmark.SurfaceEnum, &m.Value)
		case kwDefault:
			c.members(toolmark.SurfaceDefault, &m.Value)
		case kwExample:
			c.members(toolmark.SurfaceExample, &m.Value)
		default:
			c.key(toolmark.SurfaceSchema, m.Name)
			c.members(toolmark.SurfaceSchema, &m.Value)
		}
		c.leave(was)
	}
}

func (c *collector) named(v *toolmark.Value, filledIn bool) {
	if v.Kind != toolmark.KindObject {
		c.strings(toolmark.SurfaceSchema, v)
		return
	}
	for i := range v.Members {
		m := &v.Members[i]
		was := c.enter(m.Name)
		if filledIn {
			c.addName(toolmark.SurfaceParameterName, m.Name)
		} else {
			c.key(toolmark.SurfaceSchema, m.Name)
		}
		c.schema(&m.Value)
		c.leave(was)
	}
}

// strings collects a string, or every string of what stands where one should.
func (c *collector) strings(surface toolmark.Surface, v *toolmark.Value) {
	if v.Kind == toolmark.KindString {
		c.add(surface, v.Text)
		return
	}
	c.members(surface, v)
}

// members collects every string of a value and every member name that is not plain.
func (c *collector) members(surface toolmark.Surface, v *toolmark.Value) {
	switch v.Kind {
	case toolmark.KindString:
		c.add(surface, v.Text)
	case toolmark.KindArray:
		for i := range v.Items {
			was := c.enterItem(i)
			c.members(surface, &v.Items[i])
			c.leave(was)
		}
	case toolmark.KindObject:
		for i := range v.Members {
			m := &v.Members[i]
			was := c.enter(m.Name)
			c.key(surface, m.Name)
			c.members(surface, &m.Value)
			c.leave(was)
		}
	}
}

// structural collects strings that ought to be names of types, formats and
// references, where they are not.
func (c *collector) structural(v *toolmark.Value) {
	switch v.Kind {
	case toolmark.KindString:
		if len(v.Text) > longestReference || !plain(v.Text) {
			c.addName(toolmark.SurfaceSchema, v.Text)
		}
	case toolmark.KindArray:
		for i := range v.Items {
			was := c.enterItem(i)
			c.structural(&v.Items[i])
			c.leave(was)
		}
	case toolmark.KindObject:
		c.members(toolmark.SurfaceSchema, v)
	}
}

// key collects a member name, unless it is a short plain identifier or reference
// that can hold no sentence. Words joined by underscores can hold one, so the
// length decides.
func (c *collector) key(surface toolmark.Surface, name string) {
	if len(name) <= longestIdentifier && plain(name) {
		return
	}
	c.addName(surface, name)
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
func (c *collector) icons(v *toolmark.Value) {
	before := len(c.fields)
	c.members(toolmark.SurfaceMeta, v)
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
	if base := strings.TrimSuffix(m.ToolsPointer, "/tools"); base != "" {
		root = m.Tree.Get("result")
		c.at = append(c.at, base...)
	}
	for i := range root.Members {
		member := &root.Members[i]
		was := c.enter(member.Name)
		switch member.Name {
		case "instructions":
			c.strings(toolmark.SurfaceInstructions, &member.Value)
		case "serverInfo":
			c.serverInfo(&member.Value)
		case "prompts":
			c.members(toolmark.SurfacePrompt, &member.Value)
		case "resources", "resourceTemplates":
			c.members(toolmark.SurfaceResource, &member.Value)
		case "_meta":
			c.members(toolmark.SurfaceMeta, &member.Value)
		}
		c.leave(was)
	}
}

func (c *collector) serverInfo(v *toolmark.Value) {
	if v.Kind != toolmark.KindObject {
		c.strings(toolmark.SurfaceServer, v)
		return
	}
	for i := range v.Members {
		m := &v.Members[i]
		was := c.enter(m.Name)
		if m.Name == "icons" {
			c.icons(&m.Value)
		} else {
			c.members(toolmark.SurfaceServer, &m.Value)
		}
		c.leave(was)
	}
}
