package lint

import (
	"strings"

	"github.com/toolmark/toolmark"
)

// text is one string of a manifest.
type text struct {
	// tool is the index of the tool it belongs to, whole for none.
	tool int
	// pointer is the place, from the tool's own object or from the manifest.
	pointer string
	// key is the member that holds it, or that holds the array it stands in.
	key  string
	text string
	// name says that it is the name of a member, not a value.
	name bool
}

// walk calls visit for every string of a manifest that a model or a reviewer reads:
// everything of the tools, the instructions, prompts, resources and templates. Payloads of
// data: URIs are not text.
func walk(m *toolmark.Manifest, visit func(text)) {
	for i := range m.Tools {
		walkValue(m.Tools[i].Tree, text{tool: i}, visit)
	}
	base := strings.TrimSuffix(m.ToolsPointer, "/tools")
	if m.Instructions != "" {
		visit(text{tool: whole, pointer: base + "/instructions", key: "instructions", text: m.Instructions})
	}
	for _, part := range []struct {
		name  string
		value *toolmark.Value
	}{{"prompts", m.Prompts}, {"resources", m.Resources}, {"resourceTemplates", m.ResourceTemplates}} {
		if part.value != nil {
			walkValue(part.value, text{tool: whole, pointer: base + "/" + part.name, key: part.name}, visit)
		}
	}
}

func walkValue(v *toolmark.Value, at text, visit func(text)) {
	switch v.Kind {
	case toolmark.KindString:
		if !strings.HasPrefix(v.Text, "data:") {
			at.text = v.Text
			visit(at)
		}
	case toolmark.KindArray:
		for i := range v.Items {
			inner := at
			inner.pointer = toolmark.Pointer(at.pointer, i)
			walkValue(&v.Items[i], inner, visit)
		}
	case toolmark.KindObject:
		for i := range v.Members {
			member := &v.Members[i]
			inner := at
			inner.pointer = toolmark.Pointer(at.pointer, member.Name)
			inner.key = member.Name
			name := inner
			name.text, name.name = member.Name, true
			visit(name)
			walkValue(&member.Value, inner, visit)
		}
	}
}
