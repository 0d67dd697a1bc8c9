package pin

import (
	"strings"

	"github.com/toolmark/toolmark"
)

// maxNotes bounds how many schemas are visited for what one of them says: references may
// unfold without end.
const maxNotes = 20_000

// note is one thing a schema says to a reader: the name of a parameter (word is ""), or
// the value of title, description, default, examples or $comment at a parameter. Of
// unknown keywords, whose effect nobody knows, each is a note of its own kind.
type note struct {
	at      int // the parameter, however deep; anyOf, allOf and $ref only arrange
	word    string
	value   string
	unknown bool
}

// beside says how two schemas that accept the same differ in what else they say: they
// are equivalent, or an annotation differs, or an unknown keyword. Each visit is a step.
func beside(a, b node, steps *int) Effect {
	trails := map[trail]int{}
	x, ok := notes(a, trails, steps)
	y, fine := notes(b, trails, steps)
	if !ok || !fine {
		return EffectRestructured
	}
	effect := EffectEquivalent
	for _, pair := range [...][2]map[note]bool{{x, y}, {y, x}} {
		for n := range pair[0] {
			switch {
			case pair[1][n]:
			case n.unknown:
				return EffectRestructured
			default:
				effect = EffectAnnotation
			}
		}
	}
	return effect
}

// trail is a way down to a parameter; numbers stand for trails, as a hostile one is long.
type trail struct {
	from int
	word string
	name string
}

type collector struct {
	set    map[note]bool
	trails map[trail]int
	left   int
	steps  *int
}

// notes collects what a schema says to a reader. ok is false where there is too much.
func notes(s node, trails map[trail]int, steps *int) (set map[note]bool, ok bool) {
	c := &collector{set: map[note]bool{}, trails: trails, left: maxNotes, steps: steps}
	c.visit(s, 0, nil)
	return c.set, c.left > 0 && *steps > 0
}

func (c *collector) below(at int, word, name string) int {
	t := trail{at, word, name}
	n, ok := c.trails[t]
	if !ok {
		n = len(c.trails) + 1
		c.trails[t] = n
	}
	return n
}

func (c *collector) visit(s node, at int, open []place) {
	cost := 1 + s.width()/16
	c.left -= cost
	*c.steps -= cost
	if c.left <= 0 || *c.steps <= 0 || s.v.Kind != toolmark.KindObject {
		return
	}
	if len(open) > maxNesting {
		c.left = 0
		return
	}
	here := place{s.v, s.r}
	for _, o := range open {
		if o == here {
			return // recursive
		}
	}
	open = append(open[:len(open):len(open)], here)
	for _, k := range s.keywords() {
		value := s.get(k)
		switch keywords[k] {
		case annotationWord:
			c.set[note{at: at, word: k, value: string(canon(nil, value.v))}] = true
		case unknownWord:
			c.set[note{at: at, word: k, value: string(canon(nil, value.v)), unknown: true}] = true
		case dialectWord:
			if s.v != s.r.tree {
				c.set[note{at: at, word: k, value: string(canon(nil, value.v)), unknown: true}] = true
			}
		case mapWord:
			for _, name := range s.names(k) {
				below := c.below(at, k, name)
				c.set[note{at: below}] = true // a parameter is named, whatever is said of it
				c.visit(s.member(k, name), below, open)
			}
		case listWord:
			below := at
			if k == "prefixItems" {
				below = c.below(at, k, "")
			}
			for _, e := range s.elements(k) {
				c.visit(e, below, open)
			}
		case schemaWord:
			c.visit(value, c.below(at, k, ""), open)
		}
	}
	if t, ok := s.target(); ok {
		c.visit(t, at, open)
	}
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
