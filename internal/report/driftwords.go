package report

import (
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// words says in a sentence what a change is: "parameter "to" became required".
func (s *DriftServer) words(c *pin.Change) phrase {
	tokens := tokensOf(string(c.Pointer))
	switch c.Kind {
	case pin.KindTool:
		return s.toolWords(c)
	case pin.KindOrder:
		return orderWords(tokens)
	case pin.KindDescription:
		return ours("the description " + did(c))
	case pin.KindSchema, pin.KindOutputSchema:
		return s.schemaWords(c, tokens)
	case pin.KindAnnotation:
		return annotationWords(c, tokens)
	case pin.KindTitle:
		return fromTo(ours("the title "), c)
	case pin.KindInstructions:
		return ours("the server's instructions " + strings.Replace(did(c), "was", "were", 1))
	case pin.KindPrompt:
		return s.entryWords(c, tokens, "prompt", "name")
	case pin.KindResource:
		if len(tokens) > 0 && tokens[0] == "resourceTemplates" {
			return s.entryWords(c, tokens, "resource template", "uriTemplate")
		}
		return s.entryWords(c, tokens, "resource", "uri")
	case pin.KindServerName:
		return fromTo(ours("the server's name "), c)
	case pin.KindServerVersion:
		return fromTo(ours("the server's version "), c)
	case pin.KindUnread:
		return ours("the list could not be read, so nothing is known of it")
	}
	if c.Pointer == "" {
		return ours("the definition " + did(c) + ": a member stands twice, so two readers may see two definitions")
	}
	return fromTo(ours("member ").name(strings.TrimPrefix(string(c.Pointer), "/")).ours(" "), c)
}

func did(c *pin.Change) string {
	switch c.Op {
	case pin.OpAdded:
		return "was added"
	case pin.OpRemoved:
		return "was removed"
	}
	return "changed"
}

// fromTo ends a phrase with what happened, and with both values where they are short.
func fromTo(p phrase, c *pin.Change) phrase {
	switch {
	case !short(c.Old) || !short(c.New):
		return p.ours(did(c))
	case c.Op == pin.OpAdded:
		return p.ours("is ").value(c.New).ours(" now; there was none")
	case c.Op == pin.OpRemoved:
		return p.ours("was removed; it was ").value(c.Old)
	}
	return p.ours("changed from ").value(c.Old).ours(" to ").value(c.New)
}

// short reports whether a value can be quoted within a sentence.
func short(v *toolmark.Value) bool {
	switch {
	case v == nil:
		return true
	case v.Kind == toolmark.KindObject:
		return false
	case v.Kind == toolmark.KindArray:
		return len(v.Items) <= 4 && !slices.ContainsFunc(v.Items, func(e toolmark.Value) bool {
			return e.Kind == toolmark.KindArray || !short(&e)
		})
	}
	return len(v.Text) <= 60 && !strings.ContainsAny(v.Text, "\r\n")
}

func (s *DriftServer) toolWords(c *pin.Change) phrase {
	switch c.Op {
	case pin.OpAdded:
		p := ours("the tool was added")
		for i := range s.Drift.Tools {
			if t := &s.Drift.Tools[i]; t.NewIndex == c.NewIndex && t.Resembles != "" {
				return p.ours("; it resembles ").name(string(t.Resembles)).ours(", which was removed")
			}
		}
		return p
	case pin.OpRemoved:
		return ours("the tool was removed")
	}
	return ours("the tool was renamed from ").name(string(c.OldTool))
}

func orderWords(tokens []string) phrase {
	switch {
	case len(tokens) == 0:
		return ours("its members stand in another order")
	case len(tokens) == 1 && slices.Contains([]string{"tools", "prompts", "resources", "resourceTemplates"}, tokens[0]):
		return ours("the list of ").ours(tokens[0]).ours(" stands in another order")
	}
	return ours("the members of ").name(strings.Join(tokens, "/")).ours(" stand in another order")
}

// entryWords speaks of an entry of prompts, resources or templates, or of a place in one.
func (s *DriftServer) entryWords(c *pin.Change, tokens []string, noun, key string) phrase {
	if len(tokens) < 2 {
		return ours("the list of " + noun + "s " + did(c))
	}
	entry := c.New
	if entry == nil {
		entry = c.Old
	}
	if len(tokens) > 2 {
		side := s.New
		if c.Op == pin.OpRemoved {
			side = s.Old
		}
		entry = side.at(-1, pointerOf(tokens[:2]))
	}
	p := ours(noun + " ")
	if name := entry.Get(key); name.Kind == toolmark.KindString {
		p = p.name(name.Text)
	} else {
		p = p.name(tokens[1])
	}
	if len(tokens) == 2 {
		return p.ours(" " + did(c))
	}
	return fromTo(p.ours(": ").name(strings.Join(tokens[2:], "/")).ours(" "), c)
}

// hintSays is what a hint means (MCP, ToolAnnotations), false and true; and its default.
var hintSays = map[string]struct {
	says [2]string
	def  bool
}{
	"readOnlyHint":    {[2]string{"the tool may change things", "the tool changes nothing, so clients may run it without asking"}, false},
	"destructiveHint": {[2]string{"the tool only adds, so clients may run it without asking", "the tool may destroy or overwrite"}, true},
	"idempotentHint":  {[2]string{"a second call may do more", "a second call does nothing more, so clients may repeat it"}, false},
	"openWorldHint":   {[2]string{"the tool stays within a closed system", "the tool reaches the outside world"}, true},
}

func annotationWords(c *pin.Change, tokens []string) phrase {
	if len(tokens) < 2 {
		p := ours("the annotations " + strings.Replace(did(c), "was", "were", 1))
		v := c.New
		if v == nil {
			v = c.Old
		}
		if v != nil && v.Kind == toolmark.KindObject && len(v.Members) <= 8 {
			for i := range v.Members {
				p = p.ours(map[bool]string{true: ": ", false: ", "}[i == 0]).name(v.Members[i].Name).ours(" ").value(&v.Members[i].Value)
			}
		}
		return p
	}
	name := strings.Join(tokens[1:], "/")
	hint, known := hintSays[name]
	if !known {
		p := fromTo(ours("annotation ").name(name).ours(" "), c)
		for hint := range hintSays {
			if strings.EqualFold(strings.NewReplacer("_", "", "-", "").Replace(name), hint) {
				return p.ours("; clients read " + hint + " and not this spelling")
			}
		}
		return p
	}
	p := ours(name + " ")
	said := func(v *toolmark.Value) (bool, bool) {
		if v.Absent() {
			return hint.def, true
		}
		return v.Kind == toolmark.KindTrue, v.Kind == toolmark.KindTrue || v.Kind == toolmark.KindFalse
	}
	words := map[bool]string{false: "false", true: "true"}
	switch {
	case c.New == nil:
		p = p.ours("was ").value(c.Old).ours(" and is no longer set, which means " + words[hint.def])
	case c.Old == nil:
		p = p.ours("is ").value(c.New).ours(" now; it was not set, which means " + words[hint.def])
	default:
		p = p.ours("changed from ").value(c.Old).ours(" to ").value(c.New)
	}
	if is, ok := said(c.New); ok {
		i := 0
		if is {
			i = 1
		}
		return p.ours(": " + hint.says[i])
	}
	return p.ours(": not a boolean, so each client reads it its own way")
}

// inEffect says in words what a change does to what is accepted; "" where that says
// nothing.
func inEffect(e pin.Effect) string {
	switch e {
	case pin.EffectEquivalent:
		return "means the same"
	case pin.EffectAnnotation:
		return "accepts the same, reads differently"
	case pin.EffectWidened:
		return "widened: accepts all it accepted, maybe more"
	case pin.EffectNarrowed:
		return "narrowed: accepts nothing new, maybe less"
	case pin.EffectRestructured:
		return "restructured: accepts other values, or cannot be compared"
	}
	return ""
}

// at gives the value of a pointer in a tool, or for -1 in the object that holds the
// tools; never nil.
func (s *DriftSide) at(index int, pointer string) *toolmark.Value {
	if s == nil || s.Manifest == nil {
		return &toolmark.Value{}
	}
	root := s.base()
	if index >= 0 {
		if index >= len(s.Manifest.Tools) {
			return &toolmark.Value{}
		}
		root = s.Manifest.Tools[index].Tree
	}
	if found := resolve(root, pointer); len(found) > 0 {
		return found[len(found)-1].value
	}
	return &toolmark.Value{}
}

// base gives the object that holds "tools".
func (s *DriftSide) base() *toolmark.Value {
	at := strings.TrimSuffix(s.Manifest.ToolsPointer, "/tools")
	if found := resolve(s.Manifest.Tree, at); len(found) > 0 {
		return found[len(found)-1].value
	}
	return s.Manifest.Tree
}
