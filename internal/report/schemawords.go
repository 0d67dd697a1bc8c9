package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// schemaWords says what a change of a schema is. tokens are those of its pointer, which
// starts with the member that holds the schema.
func (s *DriftServer) schemaWords(c *pin.Change, tokens []string) phrase {
	if len(tokens) < 2 {
		return ours("the " + schemaName(c) + " " + did(c))
	}
	at := placeInSchema(tokens[1:])
	subject := func() phrase { return at.subject(c) }
	of := func(what string) phrase { return append(ours(what+" of "), subject()...).ours(" ") }
	switch at.keyword {
	case "":
		return s.memberWords(c, tokens, at)
	case "required":
		return s.requiredWords(c, at)
	case "enum":
		return listWords(c, at, "the enum of ")
	case "type":
		if len(at.rest) > 0 {
			return listWords(c, at, "the types of ")
		}
		return fromTo(of("the type"), c)
	case "description", "title", "examples", "$comment":
		return fromToText(of("the "+strings.TrimPrefix(at.keyword, "$")), c)
	case "additionalProperties", "unevaluatedProperties":
		if words := opennessWords(c); words != "" {
			if at.path == "" {
				return ours("members that are not named " + words)
			}
			return append(ours("members that are not named in "), subject()...).ours(" " + words)
		}
	case "anyOf", "oneOf", "allOf":
		if len(at.rest) == 1 {
			return append(ours("an option of "), subject()...).ours(" (" + at.keyword + ") " + strings.Replace(did(c), "was", "were", 1))
		}
	case "$schema":
		return fromTo(ours("the schema's dialect "), c)
	case "properties", "$defs", "definitions", "patternProperties":
		return append(ours("the members of "), subject()...).ours(" (" + at.keyword + ") " + strings.Replace(did(c), "was", "were", 1))
	}
	what := at.keyword
	if len(at.rest) > 0 {
		what += "/" + strings.Join(at.rest, "/")
	}
	return fromTo(append(ours("").name(what).ours(" of "), subject()...).ours(" "), c)
}

func schemaName(c *pin.Change) string {
	if c.Kind == pin.KindOutputSchema {
		return "output schema"
	}
	return "input schema"
}

// subject names what a place of a schema is about.
func (p *schemaPlace) subject(c *pin.Change) phrase {
	noun := "parameter "
	if c.Kind == pin.KindOutputSchema {
		noun = "result member "
	}
	if p.path == "" {
		return ours("the " + schemaName(c))
	}
	return ours(noun).name(p.path)
}

// fromToText is fromTo for texts, which the diff below shows.
func fromToText(p phrase, c *pin.Change) phrase { return p.ours(did(c)) }

// schemaTypes are the types of JSON Schema.
var schemaTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// memberWords speaks of a schema that came, went or was replaced as a whole.
func (s *DriftServer) memberWords(c *pin.Change, tokens []string, at schemaPlace) phrase {
	p := at.subject(c)
	if c.Op == pin.OpChanged {
		return append(ours("the schema of "), p...).ours(" was replaced")
	}
	side, index, v := s.New, c.NewIndex, c.New
	if c.Op == pin.OpRemoved {
		side, index, v = s.Old, c.OldIndex, c.Old
	}
	if at.property {
		// Whether it is required stands two levels up.
		required := side.at(index, pointerOf(tokens[:len(tokens)-2])).Get("required")
		word := "optional "
		if slices.ContainsFunc(required.Items, func(e toolmark.Value) bool {
			return e.Kind == toolmark.KindString && e.Text == tokens[len(tokens)-1]
		}) {
			word = "required "
		}
		p = append(ours(word), p...)
	}
	if t := v.Get("type"); t.Kind == toolmark.KindString && slices.Contains(schemaTypes, t.Text) {
		p = p.ours(" (" + t.Text + ")")
	}
	return p.ours(" " + did(c))
}

// requiredWords speaks of required: an element, or the whole list.
func (s *DriftServer) requiredWords(c *pin.Change, at schemaPlace) phrase {
	noun := "parameter"
	if c.Kind == pin.KindOutputSchema {
		noun = "result member"
	}
	inner := at.path
	names := func(v *toolmark.Value) (list []string) {
		switch {
		case v == nil:
		case v.Kind == toolmark.KindString:
			list = append(list, v.Text)
		case v.Kind == toolmark.KindArray:
			for i := range v.Items {
				if v.Items[i].Kind == toolmark.KindString {
					list = append(list, v.Items[i].Text)
				}
			}
		}
		if inner != "" {
			for i := range list {
				list[i] = inner + "." + list[i]
			}
		}
		return list
	}
	old, now := names(c.Old), names(c.New)
	gained, lost := without(now, old), without(old, now)
	if len(gained)+len(lost) == 0 {
		return append(ours("the list of required members of "), at.subject(c)...).ours(" is written in another way")
	}
	var p phrase
	if len(gained) > 0 {
		p = named(p, noun, gained).ours(" became required")
	}
	if len(lost) > 0 {
		if p != nil {
			p = p.ours("; ")
		}
		p = named(p, noun, lost)
		if len(lost) > 1 {
			p = p.ours(" are no longer required")
		} else {
			p = p.ours(" is no longer required")
		}
	}
	return p
}

// listWords speaks of a list of values: what it gained and what it lost.
func listWords(c *pin.Change, at schemaPlace, what string) phrase {
	p := append(ours(what), at.subject(c)...)
	if len(at.rest) > 0 {
		switch c.Op {
		case pin.OpAdded:
			return p.ours(" gained ").value(c.New)
		case pin.OpRemoved:
			return p.ours(" lost ").value(c.Old)
		}
		return p.ours(" lost ").value(c.Old).ours(" and gained ").value(c.New)
	}
	switch {
	case c.Op == pin.OpRemoved:
		return p.ours(" was removed")
	case c.Op == pin.OpAdded:
		return p.ours(" was added: ").value(c.New)
	case c.Old.Kind != toolmark.KindArray || c.New.Kind != toolmark.KindArray:
		return fromTo(p.ours(" "), c)
	}
	values := func(v *toolmark.Value) (list []string) {
		for i := range v.Items {
			list = append(list, phrase{}.value(&v.Items[i])[0].text)
		}
		return list
	}
	old, now := values(c.Old), values(c.New)
	gained, lost := without(now, old), without(old, now)
	if len(gained)+len(lost) == 0 {
		return p.ours(" has the same values in another order")
	}
	if len(gained) > 0 {
		p = named(p.ours(" gained"), "", gained)
	}
	if len(lost) > 0 {
		p = named(p.ours(map[bool]string{true: " and lost", false: " lost"}[len(gained) > 0]), "", lost)
	}
	return p
}

// mostNamed is how many names of one kind a phrase lists.
const mostNamed = 6

func named(p phrase, noun string, list []string) phrase {
	if noun != "" {
		if len(list) > 1 {
			noun += "s"
		}
		p = p.ours(noun)
	}
	for i, name := range list {
		switch {
		case i == mostNamed:
			return p.ours(fmt.Sprintf(" and %d more", len(list)-i))
		case i > 0:
			p = p.ours(",")
		}
		p = p.ours(" ").name(name)
	}
	return p
}

// without gives what is in the first list and not in the second, each once.
func without(list, drop []string) (out []string) {
	gone := map[string]bool{}
	for _, s := range drop {
		gone[s] = true
	}
	for _, s := range list {
		if !gone[s] {
			gone[s] = true
			out = append(out, s)
		}
	}
	return out
}

// opennessWords speaks of a keyword that says whether members nobody named are accepted;
// "" where it is a schema.
func opennessWords(c *pin.Change) string {
	closed := func(v *toolmark.Value) (is, known bool) {
		if v == nil {
			return false, true
		}
		return v.Kind == toolmark.KindFalse, v.Kind == toolmark.KindFalse || v.Kind == toolmark.KindTrue
	}
	was, known := closed(c.Old)
	is, fine := closed(c.New)
	switch {
	case !known || !fine:
		return ""
	case is && !was:
		return "are refused now"
	case was && !is:
		return "are accepted now"
	}
	return "are accepted as before"
}
