package pin

import (
	"github.com/toolmark/toolmark"
)

// tools compares the lists of tools.
func (c *comparison) tools(a, b *toolmark.Value) {
	p := pair(a.Items, b.Items, "name", true)
	var removed, added []*toolmark.Value
	var gone []ToolDrift
	for i := range a.Items {
		if p.to[i] >= 0 {
			continue
		}
		v := &a.Items[i]
		s := subject{tool: nameOf(v, "name"), oldIndex: i, newIndex: -1}
		change := c.add(s, edit{op: OpRemoved, old: v}, KindTool, "", false, toolmark.CodeToolRemoved)
		removed = append(removed, v)
		gone = append(gone, ToolDrift{
			Status: StatusRemoved, Name: toolmark.Text(s.tool), OldIndex: i, NewIndex: -1, Severity: change.Severity,
		})
	}
	for k := range b.Items {
		v := &b.Items[k]
		i := p.from[k]
		if i >= 0 {
			if !identical(&a.Items[i], v) {
				c.drift.Tools = append(c.drift.Tools, c.tool(&a.Items[i], v, i, k))
			}
			continue
		}
		s := subject{tool: nameOf(v, "name"), oldIndex: -1, newIndex: k}
		change := c.add(s, edit{op: OpAdded, new: v}, KindTool, "", true, toolmark.CodeToolAdded)
		added = append(added, v)
		c.drift.Tools = append(c.drift.Tools, ToolDrift{
			Status: StatusAdded, Name: toolmark.Text(s.tool), OldIndex: -1, NewIndex: k, Severity: change.Severity,
		})
	}
	if len(removed) > 0 && len(added) > 0 {
		best := resemble(removed, added)
		n := 0
		for i := range c.drift.Tools {
			if t := &c.drift.Tools[i]; t.Status == StatusAdded {
				if best[n] >= 0 {
					t.Resembles = toolmark.Text(nameOf(removed[best[n]], "name"))
				}
				n++
			}
		}
	}
	c.drift.Tools = append(c.drift.Tools, gone...)
	c.order(p, a.Items, b.Items, "/tools", "name", toolmark.CodeMemberChanged)
}

// tool compares one tool with itself. The two differ.
func (c *comparison) tool(o, n *toolmark.Value, i, k int) ToolDrift {
	s := subject{tool: nameOf(n, "name"), oldTool: nameOf(o, "name"), oldIndex: i, newIndex: k}
	t := ToolDrift{Status: StatusChanged, Name: toolmark.Text(s.tool), OldIndex: i, NewIndex: k}
	from := len(c.drift.Changes)
	if s.oldTool != s.tool {
		t.Status, t.OldName = StatusRenamed, toolmark.Text(s.oldTool)
	}
	if repeats(o) || repeats(n) {
		// Two readers see two tools, so the tool is one change.
		c.add(s, edit{op: OpChanged, old: o, new: n}, KindMetadata, "", true, toolmark.CodeMemberChanged)
	} else {
		c.members(o, n, "", "", func(e edit) {
			switch e.op {
			case OpMoved:
				c.record(s, e, KindOrder, toolmark.CodeMemberChanged)
			case OpAdded:
				c.member(s, &t, last(e.newAt), e)
			default:
				c.member(s, &t, last(e.oldAt), e)
			}
		}, func(name string, a, b *toolmark.Value) {
			if !identical(a, b) {
				at := toolmark.Pointer("", name)
				c.member(s, &t, name, edit{op: OpChanged, oldAt: at, newAt: at, old: a, new: b})
			}
		})
	}
	neutral := true
	for _, change := range c.drift.Changes[from:] {
		t.Severity = max(t.Severity, change.Severity)
		neutral = neutral && change.Neutral()
	}
	if neutral {
		t.Status = StatusEquivalent
	}
	return t
}

// member compares one member of a tool. e is the difference of the whole member.
func (c *comparison) member(s subject, t *ToolDrift, name string, e edit) {
	both := e.op == OpChanged
	objects := both && e.old.Kind == toolmark.KindObject && e.new.Kind == toolmark.KindObject
	switch name {
	case "name":
		e.op = OpRenamed
		c.add(s, e, KindTool, "", true, toolmark.CodeToolRenamed)
	case "description":
		c.record(s, e, KindDescription, toolmark.CodeDescriptionChanged)
	case "title":
		c.record(s, e, KindTitle, toolmark.CodeMemberChanged)
	case "inputSchema", "input_schema":
		t.Schema = c.schema(s, e, KindSchema, toolmark.CodeSchemaChanged, objects)
	case "outputSchema":
		t.OutputSchema = c.schema(s, e, KindOutputSchema, toolmark.CodeMemberChanged, objects)
	case "annotations":
		if objects && !repeats(e.old) && !repeats(e.new) {
			c.walk(e.old, e.new, e.oldAt, e.newAt, func(e edit) { c.annotation(s, e) })
		} else {
			c.annotation(s, e)
		}
	default:
		if both {
			c.plain(s, e.old, e.new, e.oldAt, e.newAt, KindMetadata, toolmark.CodeMemberChanged)
		} else {
			c.record(s, e, KindMetadata, toolmark.CodeMemberChanged)
		}
	}
}

// schema compares a schema member and gives what its changes do as a whole.
func (c *comparison) schema(s subject, e edit, kind Kind, code toolmark.Code, objects bool) Effect {
	if !objects {
		effect := EffectRestructured
		switch {
		case e.op != OpChanged && isNull(e):
			effect = EffectEquivalent
		case e.op == OpAdded && e.new.Kind == toolmark.KindObject:
			effect = EffectNarrowed // nothing said means that anything is accepted
		case e.op == OpRemoved && e.old.Kind == toolmark.KindObject:
			effect = EffectWidened
		}
		c.add(s, e, kind, effect, addsText(e), code)
		return effect
	}
	edits, whole := c.schemaDiff(e.old, e.new, e.oldAt, e.newAt, &c.steps)
	for _, d := range edits {
		c.add(s, d.edit, kind, d.effect, d.text, code)
	}
	return whole
}

// annotation records a place of a tool's annotations.
func (c *comparison) annotation(s subject, e edit) {
	at := e.newAt
	if e.op == OpRemoved {
		at = e.oldAt
	}
	if at == "/annotations/title" {
		c.record(s, e, KindTitle, toolmark.CodeMemberChanged)
		return
	}
	c.record(s, e, KindAnnotation, toolmark.CodeAnnotationChanged)
}
