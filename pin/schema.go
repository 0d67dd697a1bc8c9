package pin

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

// root is one whole schema, against which the references in it are read.
type root struct {
	tree *toolmark.Value
	// dialect is what $schema names; see dialectOf.
	dialect dialect
	// opaque: nothing can be proven about the schema (a member stands twice, or
	// unevaluatedProperties or unevaluatedItems look across subschemas).
	opaque bool
	// noRefs: $id changes what references mean, so none is followed.
	noRefs bool
	// widest is how many members the widest object has: what it costs to follow a reference.
	widest int
	// refers: there is a reference in it.
	refers bool
	// versioned: it uses something that the dialects read differently.
	versioned bool
}

// dialect groups the revisions of JSON Schema that read the keywords compared here alike.
type dialect uint8

const (
	dialectUnknown dialect = iota // draft-04 and older, or not JSON Schema's
	dialect07                     // draft-06, draft-07: siblings of $ref are ignored
	dialect2020                   // 2019-09, 2020-12, and no $schema (MCP 2025-11-25: 2020-12)
)

func dialectOf(schema *toolmark.Value) dialect {
	v := schema.Get("$schema")
	if v.Kind == toolmark.KindAbsent {
		return dialect2020
	}
	if v.Kind != toolmark.KindString {
		return dialectUnknown
	}
	text := strings.TrimSuffix(v.Text, "#")
	if at := strings.Index(text, "://"); at >= 0 && (text[:at] == "http" || text[:at] == "https") {
		text = text[at+3:]
	}
	switch text {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/draft/2019-09/schema":
		return dialect2020
	case "json-schema.org/draft-06/schema", "json-schema.org/draft-07/schema":
		return dialect07
	}
	return dialectUnknown
}

func newRoot(schema *toolmark.Value) *root {
	r := &root{tree: schema, dialect: dialectOf(schema)}
	r.look(schema, true)
	return r
}

// look asks every object, whether it is a schema or not: to take data for a schema only
// makes the answer more careful.
func (r *root) look(v *toolmark.Value, top bool) {
	if v.Kind == toolmark.KindObject && repeats(v) {
		r.opaque = true
	}
	r.widest = max(r.widest, len(v.Members))
	for i := range v.Members {
		value := &v.Members[i].Value
		switch v.Members[i].Name {
		case "$ref", "$dynamicRef", "$recursiveRef":
			r.refers = true
		}
		switch v.Members[i].Name {
		case "unevaluatedProperties", "unevaluatedItems":
			r.opaque = true
		case "$id", "id", "$anchor", "$dynamicAnchor":
			// As the name of a parameter its value is a schema, not a string.
			if value.Kind == toolmark.KindString && !top {
				r.noRefs = true
			}
		case "$dynamicRef", "$recursiveRef", "prefixItems", "additionalItems", "dependencies", "dependentRequired",
			"dependentSchemas", "minContains", "maxContains", "if":
			r.versioned = true
		case "items":
			r.versioned = r.versioned || value.Kind == toolmark.KindArray
		case "$ref":
			for k := range v.Members {
				name := v.Members[k].Name
				r.versioned = r.versioned || name != "$ref" && keywords[name] != annotationWord && keywords[name] != definitionWord && name != "$schema"
			}
		}
		r.look(value, false)
	}
	for i := range v.Items {
		r.look(&v.Items[i], false)
	}
}

// word is the class of a keyword of JSON Schema (2020-12, with those of draft-07 that
// went out of use).
type word uint8

const (
	unknownWord    word = iota // not JSON Schema's, or about identity: $id, $anchor, $vocabulary
	annotationWord             // says something to a reader and accepts or refuses nothing
	definitionWord             // holds schemas that count only where they are referred to
	dialectWord                // $schema
	valueWord                  // asserts by a value: type, enum, minimum
	schemaWord                 // holds one schema
	listWord                   // holds an array of schemas
	mapWord                    // holds an object of schemas
)

var keywords = map[string]word{
	"title": annotationWord, "description": annotationWord, "default": annotationWord, "examples": annotationWord,
	"$comment": annotationWord, "deprecated": annotationWord, "readOnly": annotationWord, "writeOnly": annotationWord,
	"$defs": definitionWord, "definitions": definitionWord, "$schema": dialectWord,
	"$ref": valueWord, "type": valueWord, "enum": valueWord, "const": valueWord, "required": valueWord,
	"minimum": valueWord, "maximum": valueWord, "exclusiveMinimum": valueWord, "exclusiveMaximum": valueWord,
	"multipleOf": valueWord, "minLength": valueWord, "maxLength": valueWord, "pattern": valueWord, "format": valueWord,
	"minItems": valueWord, "maxItems": valueWord, "uniqueItems": valueWord, "minProperties": valueWord,
	"maxProperties": valueWord, "minContains": valueWord, "maxContains": valueWord, "dependentRequired": valueWord,
	"items": schemaWord, "additionalItems": schemaWord, "additionalProperties": schemaWord, "propertyNames": schemaWord,
	"contains": schemaWord, "not": schemaWord, "if": schemaWord, "then": schemaWord, "else": schemaWord,
	"unevaluatedItems": schemaWord, "unevaluatedProperties": schemaWord,
	"allOf": listWord, "anyOf": listWord, "oneOf": listWord, "prefixItems": listWord,
	"properties": mapWord, "patternProperties": mapWord, "dependentSchemas": mapWord,
	// What a validator of 2020-12 does not know and others do, or what changes meaning.
	"dependencies": valueWord, "$dynamicRef": valueWord, "$recursiveRef": valueWord,
}

// turns are the keywords below which a schema that accepts more may make the whole
// accept less.
func turns(keyword string) bool {
	switch keyword {
	case "not", "if", "oneOf", "contains", "unevaluatedItems", "unevaluatedProperties":
		return true
	}
	return false
}

// node is a schema, or a keyword's value, at a place: the value and the root against
// which its references are read. mix replaces some keywords by those of another schema.
type node struct {
	v   *toolmark.Value
	r   *root
	mix *mix
}

// mix says which keywords, or which members of a keyword's object, are taken from other.
type mix struct {
	other node
	units map[unit]bool
}

// unit is a keyword, or one member of the object that is its value.
type unit struct{ keyword, name string }

// get gives the value of a keyword; its kind is KindAbsent where there is none.
func (s node) get(keyword string) node {
	if s.mix != nil && s.mix.units[unit{keyword: keyword}] {
		return s.mix.other.get(keyword)
	}
	return node{v: s.v.Get(keyword), r: s.r}
}

// has reports whether the keyword stands there.
func (s node) has(keyword string) bool { return s.get(keyword).v.Kind != toolmark.KindAbsent }

// names gives the names in the object that is the value of a keyword.
func (s node) names(keyword string) []string {
	m := s.get(keyword).v
	list := make([]string, 0, len(m.Members))
	for i := range m.Members {
		name := m.Members[i].Name
		if s.mix == nil || !s.mix.units[unit{keyword, name}] || s.member(keyword, name).v.Kind != toolmark.KindAbsent {
			list = append(list, name)
		}
	}
	if s.mix != nil {
		for u := range s.mix.units {
			if u.keyword == keyword && u.name != "" && m.Get(u.name).Kind == toolmark.KindAbsent &&
				s.mix.other.get(keyword).v.Get(u.name).Kind != toolmark.KindAbsent {
				list = append(list, u.name)
			}
		}
		slices.Sort(list)
	}
	return list
}

// width is what it costs to look up a keyword: the members of the schema, or those of the
// widest object where it holds a reference.
func (s node) width() int {
	n := len(s.v.Members)
	if s.has("$ref") {
		n = max(n, s.r.widest)
	}
	return n
}

// member gives one member of the object that is the value of a keyword.
func (s node) member(keyword, name string) node {
	if s.mix != nil && s.mix.units[unit{keyword, name}] && name != "" {
		o := s.mix.other.get(keyword)
		return node{v: o.v.Get(name), r: o.r}
	}
	m := s.get(keyword)
	return node{v: m.v.Get(name), r: m.r}
}

// elements gives the elements of the array that is the value of a keyword.
func (s node) elements(keyword string) []node {
	v := s.get(keyword)
	list := make([]node, len(v.v.Items))
	for i := range v.v.Items {
		list[i] = node{v: &v.v.Items[i], r: v.r}
	}
	return list
}

// keywords gives the keywords that stand there.
func (s node) keywords() []string {
	list := make([]string, 0, len(s.v.Members))
	for i := range s.v.Members {
		if name := s.v.Members[i].Name; s.mix == nil || !s.mix.units[unit{keyword: name}] || s.has(name) {
			list = append(list, name)
		}
	}
	if s.mix != nil {
		for u := range s.mix.units {
			if s.v.Get(u.keyword).Kind == toolmark.KindAbsent && s.has(u.keyword) {
				list = append(list, u.keyword)
			}
		}
		slices.Sort(list)
		list = slices.Compact(list)
	}
	return list
}

// target gives the schema a $ref refers to, and whether it is known. Only references
// within the same document are followed (RFC 6901 in a URI fragment); nothing is
// fetched.
func (s node) target() (node, bool) {
	ref := s.get("$ref")
	if ref.v.Kind != toolmark.KindString || ref.r.noRefs || !strings.HasPrefix(ref.v.Text, "#") {
		return node{}, false
	}
	if ref.r.dialect != dialect2020 && ref.r.versioned {
		return node{}, false // the siblings may count or not
	}
	pointer, err := url.PathUnescape(ref.v.Text[1:])
	if err != nil || pointer != "" && pointer[0] != '/' {
		return node{}, false
	}
	at := ref.r.tree
	if pointer == "" {
		return node{v: at, r: ref.r}, true
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch at.Kind {
		case toolmark.KindObject:
			at = at.Get(token)
		case toolmark.KindArray:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at.Items) || strconv.Itoa(i) != token {
				return node{}, false
			}
			at = &at.Items[i]
		default:
			return node{}, false
		}
	}
	return node{v: at, r: ref.r}, at.Kind == toolmark.KindObject || at.Kind == toolmark.KindTrue || at.Kind == toolmark.KindFalse
}

// refers reports whether a reference stands anywhere in a value, so that two equal
// values may still mean different things.
func refers(v *toolmark.Value) bool {
	for i := range v.Members {
		switch v.Members[i].Name {
		case "$ref", "$dynamicRef", "$recursiveRef":
			return true
		}
		if refers(&v.Members[i].Value) {
			return true
		}
	}
	for i := range v.Items {
		if refers(&v.Items[i]) {
			return true
		}
	}
	return false
}

// canon gives a value in a form in which the order of members and the spelling of
// numbers do not count. Equal forms are equal values; a number that is too long to
// compute with keeps its spelling.
func canon(dst []byte, v *toolmark.Value) []byte {
	switch v.Kind {
	case toolmark.KindNumber:
		if n, ok := number(v); ok {
			return append(dst, n.RatString()...)
		}
		return append(append(dst, '!'), v.Text...)
	case toolmark.KindArray:
		dst = append(dst, '[')
		for i := range v.Items {
			dst = append(canon(dst, &v.Items[i]), ',')
		}
		return append(dst, ']')
	case toolmark.KindObject:
		order := make([]*toolmark.Member, len(v.Members))
		for i := range v.Members {
			order[i] = &v.Members[i]
		}
		slices.SortStableFunc(order, func(a, b *toolmark.Member) int { return strings.Compare(a.Name, b.Name) })
		dst = append(dst, '{')
		for _, m := range order {
			dst = append(toolmark.AppendQuoted(dst, m.Name), ':')
			dst = append(canon(dst, &m.Value), ',')
		}
		return append(dst, '}')
	}
	return canonjson.Append(dst, v)
}

// same reports whether two values are equal as JSON Schema compares values: numbers by
// value, members in any order.
func same(a, b *toolmark.Value) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case toolmark.KindNumber, toolmark.KindArray, toolmark.KindObject:
		return string(canon(nil, a)) == string(canon(nil, b))
	}
	return a.Text == b.Text
}
