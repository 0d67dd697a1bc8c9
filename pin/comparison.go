package pin

import (
	"slices"

	"github.com/toolmark/toolmark"
)

// fetching are the members of a manifest's object that say how or when a list was
// fetched, or what a request asks for, and nothing of what the server declares.
var fetching = map[string]bool{
	"toolmarkSnapshot": true, "source": true, "readAt": true, // a snapshot's own
	"nextCursor": true, "ttlMs": true, "cacheScope": true, "resultType": true, // one page of a list (MCP 2026-07-28)
	"jsonrpc": true, "id": true, // the envelope
	"pin": true, "other_servers": true, "surfaces": true, // a request body's
}

// Comparable gives the part of a manifest that Diff compares: the object that holds
// "tools", without the members that only say how the list was fetched (snapshot marks,
// cursors and cache hints, the JSON-RPC envelope, what a request body asks for) and
// without those that the options ignore. A request body's server stands as serverInfo.
// Members that are null stay; every member of a tool stays. For a nil manifest it is an
// object with an empty list.
func Comparable(m *toolmark.Manifest, opts Options) *toolmark.Value {
	part := &toolmark.Value{Kind: toolmark.KindObject}
	if m == nil {
		part.Members = []toolmark.Member{{Name: "tools", Value: toolmark.Value{Kind: toolmark.KindArray}}}
		return part
	}
	tree := m.Tree
	if m.ToolsPointer == "/result/tools" {
		tree = tree.Get("result")
	}
	// ReadManifest reads a request body's server where there is no serverInfo.
	server := tree.Get("serverInfo").Absent() && tree.Get("server").Kind == toolmark.KindObject
	for i := range tree.Members {
		member := tree.Members[i]
		if server && member.Name == "serverInfo" {
			continue
		}
		if server && member.Name == "server" {
			member.Name = "serverInfo"
		}
		if fetching[member.Name] || slices.Contains(opts.Ignore, member.Name) || opts.ToolsOnly && member.Name != "tools" {
			continue
		}
		part.Members = append(part.Members, member)
	}
	return part
}

// comparison is one run of Diff.
type comparison struct {
	differ
	drift *Drift
	steps int
}

// subject is what changes are about: one tool, or the manifest.
type subject struct {
	tool, oldTool      string
	oldIndex, newIndex int
}

var wholeManifest = subject{tool: toolmark.WholeList, oldIndex: -1, newIndex: -1}

// add records a change. at is nil for what has no effect of its own.
func (c *comparison) add(s subject, e edit, kind Kind, effect Effect, text bool, code toolmark.Code) *Change {
	change := Change{
		Code: code, Op: e.op, Kind: kind, Effect: effect, AddsText: text,
		Tool: toolmark.Text(s.tool), OldTool: toolmark.Text(s.oldTool), OldIndex: s.oldIndex, NewIndex: s.newIndex,
		Pointer: toolmark.Text(e.newAt), OldPointer: toolmark.Text(e.oldAt), Old: e.old, New: e.new,
	}
	if e.op == OpRemoved {
		change.Pointer = change.OldPointer
	}
	if e.op == OpMoved {
		change.Kind, change.Effect = KindOrder, ""
	}
	if s.oldTool == s.tool {
		change.OldTool = ""
	}
	change.Severity, change.Reason = weigh(&change)
	c.drift.Changes = append(c.drift.Changes, change)
	return &c.drift.Changes[len(c.drift.Changes)-1]
}

// plain records what differs at the places of a value that is no schema.
func (c *comparison) plain(s subject, o, n *toolmark.Value, oldAt, newAt string, kind Kind, code toolmark.Code) {
	c.walk(o, n, oldAt, newAt, func(e edit) { c.record(s, e, kind, code) })
}

// record records an edit of a value that is no schema.
func (c *comparison) record(s subject, e edit, kind Kind, code toolmark.Code) {
	var effect Effect
	if e.op == OpChanged && same(e.old, e.new) || e.op != OpChanged && e.op != OpMoved && isNull(e) {
		effect = EffectEquivalent // the spelling of a number, or null where nothing was
	}
	c.add(s, e, kind, effect, addsText(e), code)
}

// isNull reports whether an edit adds or removes a member that is null at the top of a
// tool or of the manifest, where MCP gives null and nothing the same meaning.
func isNull(e edit) bool {
	v, at := e.old, e.oldAt
	if e.op == OpAdded {
		v, at = e.new, e.newAt
	}
	return v.Kind == toolmark.KindNull && len(at) > 0 && slices.Index([]byte(at[1:]), '/') < 0
}

// addsText reports whether an edit brings a string, or another one.
func addsText(e edit) bool {
	if e.op == OpRemoved || e.op == OpMoved {
		return false
	}
	return hasText(e.new)
}

func hasText(v *toolmark.Value) bool {
	if v.Kind == toolmark.KindString && v.Text != "" || len(v.Members) > 0 {
		return true
	}
	return slices.ContainsFunc(v.Items, func(e toolmark.Value) bool { return hasText(&e) })
}

// manifest compares two manifests' objects.
func (c *comparison) manifest(o, n *toolmark.Value) {
	if repeats(o) || repeats(n) {
		// Two readers may see two manifests, so no part of it can be compared alone.
		c.add(wholeManifest, edit{op: OpChanged, old: o, new: n}, KindMetadata, "", true, toolmark.CodeMemberChanged)
		return
	}
	c.members(o, n, "", "", func(e edit) {
		name := last(e.newAt)
		if e.op == OpRemoved {
			name = last(e.oldAt)
		}
		if e.op == OpMoved {
			c.record(wholeManifest, e, KindOrder, toolmark.CodeMemberChanged)
			return
		}
		c.part(name, e)
	}, func(name string, a, b *toolmark.Value) {
		if a.Absent() != b.Absent() || a.Kind != b.Kind {
			c.part(name, edit{op: OpChanged, oldAt: toolmark.Pointer("", name), newAt: toolmark.Pointer("", name), old: a, new: b})
			return
		}
		c.common(name, a, b)
	})
}

// part records a member of the manifest that came, went or is of another kind.
func (c *comparison) part(name string, e edit) {
	kind, code := partKind(name)
	empty := &toolmark.Value{Kind: toolmark.KindArray}
	switch {
	case name == "tools" && e.op != OpChanged: // ReadManifest saw an array
		if e.op == OpAdded {
			c.tools(empty, e.new)
		} else {
			c.tools(e.old, empty)
		}
	default:
		c.record(wholeManifest, e, kind, code)
	}
}

func partKind(name string) (Kind, toolmark.Code) {
	switch name {
	case "instructions":
		return KindInstructions, toolmark.CodeContextChanged
	case "prompts":
		return KindPrompt, toolmark.CodeContextChanged
	case "resources", "resourceTemplates":
		return KindResource, toolmark.CodeContextChanged
	case "serverInfo":
		return KindServerName, toolmark.CodeServerChanged
	}
	return KindMetadata, toolmark.CodeMemberChanged
}

// common compares a member that stands in both manifests.
func (c *comparison) common(name string, a, b *toolmark.Value) {
	kind, code := partKind(name)
	at := toolmark.Pointer("", name)
	switch {
	case name == "tools" && a.Kind == toolmark.KindArray:
		c.tools(a, b)
	case name == "prompts" && a.Kind == toolmark.KindArray:
		c.entries(a, b, at, "name", kind)
	case name == "resources" && a.Kind == toolmark.KindArray:
		c.entries(a, b, at, "uri", kind)
	case name == "resourceTemplates" && a.Kind == toolmark.KindArray:
		c.entries(a, b, at, "uriTemplate", kind)
	case name == "serverInfo":
		c.walk(a, b, at, at, func(e edit) {
			where := e.newAt
			if e.op == OpRemoved {
				where = e.oldAt
			}
			switch where {
			case at + "/name":
				c.record(wholeManifest, e, KindServerName, code)
			case at + "/version":
				c.record(wholeManifest, e, KindServerVersion, code)
			case at + "/title":
				c.record(wholeManifest, e, KindTitle, toolmark.CodeMemberChanged)
			default:
				c.record(wholeManifest, e, KindMetadata, toolmark.CodeMemberChanged)
			}
		})
	default:
		c.plain(wholeManifest, a, b, at, at, kind, code)
	}
}

// entries compares a list whose entries are told apart by one of their members.
func (c *comparison) entries(a, b *toolmark.Value, at, key string, kind Kind) {
	p := pair(a.Items, b.Items, key, false)
	for i := range a.Items {
		old := toolmark.Pointer(at, i)
		if k := p.to[i]; k < 0 {
			c.record(wholeManifest, edit{op: OpRemoved, oldAt: old, newAt: at, old: &a.Items[i]}, kind, toolmark.CodeContextChanged)
		} else if !identical(&a.Items[i], &b.Items[k]) {
			c.plain(wholeManifest, &a.Items[i], &b.Items[k], old, toolmark.Pointer(at, k), kind, toolmark.CodeContextChanged)
		}
	}
	for k := range b.Items {
		if p.from[k] < 0 {
			c.record(wholeManifest, edit{op: OpAdded, oldAt: at, newAt: toolmark.Pointer(at, k), new: &b.Items[k]}, kind, toolmark.CodeContextChanged)
		}
	}
	c.order(p, a.Items, b.Items, at, key, toolmark.CodeContextChanged)
}

// order records that the entries both lists have stand in another order.
func (c *comparison) order(p pairs, a, b []toolmark.Value, at, key string, code toolmark.Code) {
	if !p.moved() {
		return
	}
	list := func(items []toolmark.Value) *toolmark.Value {
		v := &toolmark.Value{Kind: toolmark.KindArray}
		for i := range items {
			v.Items = append(v.Items, toolmark.Value{Kind: toolmark.KindString, Text: items[i].Get(key).Text})
		}
		return v
	}
	change := c.add(wholeManifest, edit{op: OpMoved, oldAt: at, newAt: at, old: list(a), new: list(b)}, KindOrder, "", false, code)
	change.Moves = p.from
}
