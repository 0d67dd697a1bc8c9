package httpapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Reading the OpenAPI document for people. It is our own file, held by tests to be
// valid, so what is missing reads as empty here.

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }
func array(v any) []any           { l, _ := v.([]any); return l }
func text(v any) string           { s, _ := v.(string); return s }

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// order gives the keys of an object in the order in which the file has them: paths and
// schemas stand there from the most to the least important.
func order(file []byte, member string, m map[string]any) []string {
	names := sorted(m)
	start := bytes.Index(file, []byte("\n  \""+member+"\""))
	if start < 0 {
		start = bytes.Index(file, []byte("\n    \""+member+"\""))
	}
	place := func(name string) int {
		quoted, _ := json.Marshal(name)
		return bytes.Index(file[max(start, 0):], append(quoted, ':'))
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	return names
}

// resolve follows a reference into components.
func resolve(components map[string]any, v any) map[string]any {
	m := object(v)
	ref := text(m["$ref"])
	if ref == "" {
		return m
	}
	kind, name, _ := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
	return object(object(components[kind])[name])
}

// content gives the schema of the JSON that a body or response has, or its media type
// where that is another.
func content(v map[string]any) docsType {
	media := object(v["content"])
	if s := object(object(media["application/json"])["schema"]); s != nil {
		return typeOf(s)
	}
	return docsType{Text: strings.Join(sorted(media), " or ")}
}

func fields(s map[string]any) []docsField {
	var out []docsField
	var required []string
	for _, r := range array(s["required"]) {
		required = append(required, text(r))
	}
	properties := object(s["properties"])
	names := sorted(properties)
	// Those that must be there first, in their own order.
	slices.SortStableFunc(names, func(a, b string) int {
		i, j := slices.Index(required, a), slices.Index(required, b)
		if i < 0 {
			i = len(required)
		}
		if j < 0 {
			j = len(required)
		}
		return i - j
	})
	for _, name := range names {
		p := object(properties[name])
		out = append(out, docsField{Name: name, Text: text(p["description"]), Type: typeOf(p), Required: slices.Contains(required, name)})
	}
	return out
}

// typeOf says in a few words what a schema takes.
func typeOf(s map[string]any) docsType {
	if ref := text(s["$ref"]); ref != "" {
		name := ref[strings.LastIndex(ref, "/")+1:]
		return docsType{Text: name, Ref: name}
	}
	if values := array(s["enum"]); values != nil {
		return docsType{Text: oneOf(values)}
	}
	if c, ok := s["const"]; ok {
		return docsType{Text: oneOf([]any{c})}
	}
	var kinds []string
	switch t := s["type"].(type) {
	case string:
		kinds = []string{t}
	case []any:
		for _, k := range t {
			kinds = append(kinds, text(k))
		}
	}
	for _, alternatives := range [][]any{array(s["oneOf"]), array(s["anyOf"])} {
		for _, a := range alternatives {
			kinds = append(kinds, typeOf(object(a)).Text)
		}
	}
	result := docsType{Text: strings.Join(kinds, " or ")}
	if items := object(s["items"]); items != nil {
		of := typeOf(items)
		result.Text, result.Ref = result.Text+" of "+of.Text, of.Ref
	}
	return result
}

func oneOf(values []any) string {
	var words []string
	for _, v := range values {
		b, _ := json.Marshal(v)
		words = append(words, string(b))
	}
	return strings.Join(words, " or ")
}
