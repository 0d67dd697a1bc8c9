package pin

import (
	"strings"

	"github.com/toolmark/toolmark"
)

// maxNotes bounds how many annotations of one schema are compared, and how many schemas
// are visited for them: references may unfold without end.
const maxNotes = 20_000

// notes collects what a schema says to a reader: the names of its parameters, and for each (however deep, but without counting anyOf, allOf and $ref, which only arrange) the values
// of title, description, default, examples and $comment, and those of unknown keywords.
// ok is false where there are too many.
func notes(s node) (set map[string]bool, ok bool) {
	c := &collector{set: map[string]bool{}, left: maxNotes}
	c.visit(s, "", nil)
	return c.set, c.left > 0
}

type collector struct {
	set  map[string]bool
	left int
}

func (c *collector) visit(s node, at string, open []place) {
	if c.left--; c.left <= 0 || s.v.Kind != toolmark.KindObject || len(open) > maxNesting {
		return
	}
	here := place{s.v, s.r}
	if s.mix == nil {
		for _, o := range open {
			if o == here {
				return // recursive
			}
		}
		open = append(open[:len(open):len(open)], here)
	}
	for _, k := range s.keywords() {
		value := s.get(k)
		switch keywords[k] {
		case annotationWord:
			c.set[at+"\x00"+k+"\x00"+string(canon(nil, value.v))] = true
		case unknownWord:
			c.set[unsaid+at+"\x00"+k+"\x00"+string(canon(nil, value.v))] = true
		case dialectWord:
			if s.v != s.r.tree {
				c.set[unsaid+at+"\x00"+k+"\x00"+string(canon(nil, value.v))] = true
			}
		case mapWord:
			for _, name := range s.names(k) {
				below := at + "\x00" + k + "\x00" + name
				c.set[below] = true // a parameter is named, whatever is said of it
				c.visit(s.member(k, name), below, open)
			}
		case listWord:
			below := at
			if k == "prefixItems" {
				below += "\x00" + k
			}
			for _, e := range s.elements(k) {
				c.visit(e, below, open)
			}
		case schemaWord:
			c.visit(value, at+"\x00"+k, open)
		}
	}
	if t, ok := s.target(); ok {
		c.visit(t, at, open)
	}
}

// unsaid marks the notes that are keywords nobody knows the effect of.
const unsaid = "?"

// beside says how two schemas that accept the same differ in what else they say: they
// are equivalent, or an annotation differs, or an unknown keyword.
func beside(a, b node) Effect {
	x, ok := notes(a)
	y, fine := notes(b)
	if !ok || !fine {
		return EffectRestructured
	}
	effect := EffectEquivalent
	for _, pair := range [...][2]map[string]bool{{x, y}, {y, x}} {
		for k := range pair[0] {
			switch {
			case pair[1][k]:
			case strings.HasPrefix(k, unsaid):
				return EffectRestructured
			default:
				effect = EffectAnnotation
			}
		}
	}
	return effect
}

// vocabulary is what a schema may say anywhere without being text to a reader.
type vocabulary map[string]bool

// wordsOf gives every string and every name of a value.
func wordsOf(v *toolmark.Value) vocabulary {
	words := vocabulary{}
	words.add(v)
	return words
}

func (w vocabulary) add(v *toolmark.Value) {
	if v.Kind == toolmark.KindString {
		w[v.Text] = true
	}
	for i := range v.Items {
		w.add(&v.Items[i])
	}
	for i := range v.Members {
		w[v.Members[i].Name] = true
		w.add(&v.Members[i].Value)
	}
}

// newText reports whether a schema, or the value of the named keyword, has text that
// stands nowhere in the old schema: names of parameters, enum values and patterns count,
// keywords, types, formats, dialects and local references do not.
func (w vocabulary) newText(keyword string, v *toolmark.Value) bool {
	switch v.Kind {
	case toolmark.KindString:
		return !w[v.Text] && !structural(keyword, v.Text)
	case toolmark.KindArray:
		for i := range v.Items {
			if w.newText(keyword, &v.Items[i]) {
				return true
			}
		}
	case toolmark.KindObject:
		kind := keywords[keyword]
		for i := range v.Members {
			m := &v.Members[i]
			below := m.Name
			switch {
			case kind == definitionWord:
				// A definition's name is an identifier, or it is text.
				if !w[m.Name] && !identifier(m.Name) {
					return true
				}
				below = ""
			case kind == mapWord:
				if !w[m.Name] {
					return true
				}
				below = ""
			case keywords[m.Name] == unknownWord && !w[m.Name]:
				return true
			}
			if w.newText(below, &m.Value) {
				return true
			}
		}
	}
	return false
}

// structural reports whether a keyword's string is part of how schemas are written.
func structural(keyword, text string) bool {
	switch keyword {
	case "type":
		_, ok := typeNamed(text)
		return ok
	case "format":
		return plainFormat(text)
	case "$schema":
		schema := &toolmark.Value{Kind: toolmark.KindObject, Members: []toolmark.Member{{
			Name: keyword, Value: toolmark.Value{Kind: toolmark.KindString, Text: text},
		}}}
		return dialectOf(schema) != dialectUnknown
	case "$ref":
		if !strings.HasPrefix(text, "#") {
			return false
		}
		for token := range strings.SplitSeq(strings.TrimLeft(text, "#/"), "/") {
			if !identifier(token) {
				return false
			}
		}
		return true
	}
	return false
}

// identifier reports whether text looks like a name in a program and not like text.
func identifier(text string) bool {
	if len(text) > 64 {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '$', c == '.', c == '-':
		default:
			return false
		}
	}
	return true
}
