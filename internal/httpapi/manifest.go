package httpapi

import (
	"errors"
	"fmt"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/scan"
)

// scanRequest is the body of a manifest scan, read.
type scanRequest struct {
	manifest *toolmark.Manifest
	scope    toolmark.Scope
}

// parse reads a body as JSON. The fault of a body that is none names the byte offset
// and the line; the connection is closed behind it, since what is not JSON may be the
// wrong bytes altogether.
func parse(body []byte) (*toolmark.Value, error) {
	v, err := canonjson.Parse(body, canonjson.Options{MaxBytes: toolmark.MaxBody})
	if err == nil {
		return v, nil
	}
	var list faults
	var syntax *canonjson.SyntaxError
	if errors.As(err, &syntax) {
		list.add(faultJSON, fmt.Sprintf("line %d, column %d: %s", syntax.Line, syntax.Column, syntax.Reason), syntax.Offset)
	} else {
		list.add(faultJSON, "the body cannot be read as JSON")
	}
	f := list.failure().(*failure)
	f.hangUp = true
	return nil, f
}

// readScan reads the request of a manifest scan from its tree, and lists every fault.
// toolmark.ReadManifest reads more shapes than the API takes and stops at the first
// fault, so the API walks the tree itself. Null counts as absent for every optional
// member; members that the API does not know are ignored, whatever they hold.
func readScan(v *toolmark.Value) (*scanRequest, error) {
	var list faults
	if v.Kind != toolmark.KindObject {
		list.add(faultObject, "the body must be an object, not "+article(v))
		return nil, list.failure()
	}
	m := &toolmark.Manifest{Tree: v, ToolsPointer: "/tools"}
	list.tools(m, v.Get("tools"))
	list.pin(m, v.Get("pin"))
	list.others(m, v.Get("other_servers"))
	scope := list.surfaces(v.Get("surfaces"))
	list.server(m, v.Get("server"))
	if err := list.failure(); err != nil {
		return nil, err
	}
	if err := scan.CheckSize(m); err != nil {
		var limit *toolmark.Error
		if !errors.As(err, &limit) {
			return nil, internal(err)
		}
		list.add(faultCount, limit.Message, "tools")
		return nil, list.failure()
	}
	if scope == toolmark.ScopeAll {
		readContext(m, v)
	}
	return &scanRequest{manifest: m, scope: scope}, nil
}

// readContext reads what "surfaces": "all" scans beside the tools. The API does not
// know these members, so one of the wrong kind is ignored like any other.
func readContext(m *toolmark.Manifest, v *toolmark.Value) {
	if s := v.Get("instructions"); s.Kind == toolmark.KindString {
		m.Instructions = s.Text
	}
	list := func(name string) *toolmark.Value {
		if p := v.Get(name); p.Kind == toolmark.KindArray {
			return p
		}
		return nil
	}
	m.Prompts, m.Resources, m.ResourceTemplates = list("prompts"), list("resources"), list("resourceTemplates")
}

func (f *faults) tools(m *toolmark.Manifest, v *toolmark.Value) {
	switch {
	case v.Kind == toolmark.KindAbsent:
		f.add(faultMissing, "tools is required", "tools")
		return
	case v.Kind != toolmark.KindArray:
		f.add(faultList, "tools must be an array, not "+article(v), "tools")
		return
	}
	items := v.Items
	if len(items) > toolmark.MaxTools {
		f.add(faultCount, fmt.Sprintf("%d tools; at most %d are allowed", len(items), toolmark.MaxTools), "tools")
		items = items[:toolmark.MaxTools]
	}
	m.Tools = make([]toolmark.Tool, 0, len(items))
	for i := range items {
		f.tool(m, &items[i], i)
	}
}

func (f *faults) tool(m *toolmark.Manifest, v *toolmark.Value, i int) {
	if v.Kind != toolmark.KindObject {
		f.add(faultObject, "a tool must be an object, not "+article(v), "tools", i)
		return
	}
	name := v.Get("name")
	if f.text(name, "a tool's name", "tools", i, "name") {
		if n := toolmark.CodePoints(name.Text); n < 1 {
			f.add(faultShort, "a tool's name has at least 1 character", "tools", i, "name")
		} else if n > toolmark.MaxName {
			f.add(faultLong, fmt.Sprintf("a tool's name has at most %d characters, this one %d", toolmark.MaxName, n), "tools", i, "name")
		}
	}
	if d := v.Get("description"); !d.Absent() {
		f.text(d, "a description", "tools", i, "description")
	}
	tool := toolmark.Tool{Name: name.Text, Tree: v}
	if schema, member := tool.InputSchema(); schema != nil && schema.Kind != toolmark.KindObject {
		f.add(faultObject, "an input schema must be an object, not "+article(schema), "tools", i, member)
	}
	m.Tools = append(m.Tools, tool)
}

// text holds a value to being a string, and there.
func (f *faults) text(v *toolmark.Value, what string, loc ...any) bool {
	switch v.Kind {
	case toolmark.KindString:
		return true
	case toolmark.KindAbsent:
		f.add(faultMissing, what+" is required", loc...)
	default:
		f.add(faultString, what+" must be a string, not "+article(v), loc...)
	}
	return false
}

func (f *faults) pin(m *toolmark.Manifest, v *toolmark.Value) {
	if v.Absent() || !f.text(v, "a pin", "pin") {
		return
	}
	if !toolmark.IsPin(v.Text) {
		f.add(faultPattern, "a pin is 64 lower-case hex digits; send exactly what an earlier scan returned", "pin")
		return
	}
	m.Pin = v.Text
}

func (f *faults) others(m *toolmark.Manifest, v *toolmark.Value) {
	if v.Absent() {
		return
	}
	if v.Kind != toolmark.KindArray {
		f.add(faultList, "other_servers must be an array, not "+article(v), "other_servers")
		return
	}
	items := v.Items
	if len(items) > toolmark.MaxOtherServers {
		f.add(faultCount, fmt.Sprintf("%d servers; at most %d are allowed", len(items), toolmark.MaxOtherServers), "other_servers")
		items = items[:toolmark.MaxOtherServers]
	}
	for i := range items {
		if f.full() {
			return
		}
		f.other(m, &items[i], i)
	}
}

func (f *faults) other(m *toolmark.Manifest, v *toolmark.Value, i int) {
	if v.Kind != toolmark.KindObject {
		f.add(faultObject, "an entry of other_servers must be an object, not "+article(v), "other_servers", i)
		return
	}
	name := v.Get("name")
	f.text(name, "another server's name", "other_servers", i, "name")
	server := toolmark.OtherServer{Name: name.Text}
	tools := v.Get("tools")
	if !tools.Absent() && tools.Kind != toolmark.KindArray {
		f.add(faultList, "another server's tools must be an array, not "+article(tools), "other_servers", i, "tools")
		return
	}
	for j := range tools.Items {
		tool := &tools.Items[j]
		if tool.Kind != toolmark.KindObject {
			f.add(faultObject, "another server's tool must be an object, not "+article(tool), "other_servers", i, "tools", j)
		} else if n := tool.Get("name"); f.text(n, "another server's tool name", "other_servers", i, "tools", j, "name") {
			server.Tools = append(server.Tools, n.Text)
		}
		if f.full() {
			return
		}
	}
	m.OtherServers = append(m.OtherServers, server)
}

func (f *faults) surfaces(v *toolmark.Value) toolmark.Scope {
	if v.Absent() || !f.text(v, "surfaces", "surfaces") {
		return toolmark.ScopeStandard
	}
	scope, err := toolmark.ParseScope(v.Text)
	if err != nil {
		f.add(faultEnum, `surfaces is "standard" or "all"`, "surfaces")
	}
	return scope
}

func (f *faults) server(m *toolmark.Manifest, v *toolmark.Value) {
	if v.Absent() {
		return
	}
	if v.Kind != toolmark.KindObject {
		f.add(faultObject, "server must be an object, not "+article(v), "server")
		return
	}
	info := toolmark.ServerInfo{Given: true}
	if s := v.Get("name"); !s.Absent() && f.text(s, "a server's name", "server", "name") {
		info.Name = s.Text
	}
	if s := v.Get("version"); !s.Absent() && f.text(s, "a server's version", "server", "version") {
		info.Version = s.Text
	}
	m.Server = info
}

// article gives the kind of a value in words, with its article.
func article(v *toolmark.Value) string {
	switch v.Kind {
	case toolmark.KindAbsent, toolmark.KindNull:
		return v.Kind.String()
	case toolmark.KindArray, toolmark.KindObject:
		return "an " + v.Kind.String()
	}
	return "a " + v.Kind.String()
}
