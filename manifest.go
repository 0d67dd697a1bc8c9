package toolmark

import (
	"fmt"
	"strings"
)

// Limits of a manifest. They hold for the HTTP API and, so that a list which passes
// on a desk passes in the service, everywhere else too.
const (
	// MaxTools is the most tools a list may have.
	MaxTools = 500
	// MaxName is the most code points a tool's name may have.
	MaxName = 256
	// MaxBody is the most bytes of one request body.
	MaxBody = 1 << 20
	// MaxCharacters is the most characters of the tools' canonical JSON and the
	// names of other servers' tools together.
	MaxCharacters = 131_072
	// MaxOtherServers is the most other servers a request may name.
	MaxOtherServers = 50
)

// ServerInfo is what a server says of itself (MCP, Implementation). It is
// self-reported, and optional since revision 2026-07-28.
type ServerInfo struct {
	Name    string
	Version string
	// Given tells a serverInfo that was sent from one that was not.
	Given bool
}

// Tool is one entry of a tools/list result.
type Tool struct {
	// Name is the tool's name as sent, 1 to MaxName code points.
	Name string
	// Tree is the tool's whole object as sent, unknown members included.
	Tree *Value
}

// Description gives the tool's description; "" where it is absent or null.
func (t *Tool) Description() string {
	if d := t.Tree.Get("description"); d.Kind == KindString {
		return d.Text
	}
	return ""
}

// InputSchema gives the tool's input schema and the name of the member it stands
// in: inputSchema, else input_schema. Null counts as absent; where neither stands
// the schema is nil and the name "".
func (t *Tool) InputSchema() (schema *Value, member string) {
	for _, name := range [...]string{"inputSchema", "input_schema"} {
		if v := t.Tree.Get(name); !v.Absent() {
			return v, name
		}
	}
	return nil, ""
}

// OtherServer is another MCP server of the same agent. Only names are known of it.
type OtherServer struct {
	Name  string
	Tools []string
}

// Manifest is what a server declares.
type Manifest struct {
	Server          ServerInfo
	ProtocolVersion string
	Instructions    string
	Tools           []Tool
	// Capabilities, Prompts, Resources and ResourceTemplates are as sent; nil where
	// the server sent none.
	Capabilities      *Value
	Prompts           *Value
	Resources         *Value
	ResourceTemplates *Value
	// Tree is the value the manifest was read from.
	Tree *Value
	// ToolsPointer is the JSON Pointer of the tool list in Tree.
	ToolsPointer string
	// Pin and OtherServers are what a request body adds to its list; Pin is "" where
	// it has none.
	Pin          string
	OtherServers []OtherServer
}

// ReadManifest reads a manifest from a JSON value in any of the four shapes people
// have at hand:
//
//   - a tools/list result: {"tools": […]}
//   - a JSON-RPC response around one: {"jsonrpc": "2.0", "id": …, "result": {"tools": […]}}
//   - a request body of the manifest-scan API: {"tools": […], "pin": …, "other_servers": […]}
//   - a snapshot: {"serverInfo": …, "instructions": …, "tools": […], "prompts": […], …}
//
// An error is an *Error with code ErrInvalidManifest or ErrTooLarge that names the
// JSON Pointer of the first fault. Members that no shape defines are kept in the
// trees and otherwise ignored.
func ReadManifest(v *Value) (*Manifest, error) {
	m := &Manifest{Tree: v}
	if v == nil || v.Kind != KindObject {
		return nil, invalid("", "a tool list is an object with a member \"tools\", not %s", article(v))
	}
	base := ""
	if rpc := v.Get("jsonrpc"); rpc.Kind == KindString && v.Get("tools").Kind == KindAbsent {
		if e := v.Get("error"); !e.Absent() {
			return nil, invalid("/error", "the JSON-RPC response is an error, not a tool list")
		}
		v, base = v.Get("result"), "/result"
		if v.Kind != KindObject {
			return nil, invalid(base, "a JSON-RPC response needs a \"result\" object, not %s", article(v))
		}
	}
	m.ToolsPointer = base + "/tools"
	if err := m.readTools(v.Get("tools")); err != nil {
		return nil, err
	}
	if err := m.readServer(v, base); err != nil {
		return nil, err
	}
	if err := m.readRequest(v, base); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Manifest) readTools(list *Value) error {
	at := m.ToolsPointer
	if list.Kind != KindArray {
		return invalid(at, "\"tools\" must be an array, not %s", article(list))
	}
	if len(list.Items) > MaxTools {
		return &Error{Code: ErrTooLarge, Message: fmt.Sprintf("at %s: %d tools; at most %d are allowed", at, len(list.Items), MaxTools)}
	}
	m.Tools = make([]Tool, 0, len(list.Items))
	for i := range list.Items {
		tool, err := readTool(&list.Items[i], Pointer(at, i))
		if err != nil {
			return err
		}
		m.Tools = append(m.Tools, tool)
	}
	return nil
}

func readTool(v *Value, at string) (Tool, error) {
	if v.Kind != KindObject {
		return Tool{}, invalid(at, "a tool must be an object, not %s", article(v))
	}
	name := v.Get("name")
	switch {
	case name.Kind == KindAbsent:
		return Tool{}, invalid(at, "the tool has no name")
	case name.Kind != KindString:
		return Tool{}, invalid(at+"/name", "a tool's name must be a string, not %s", article(name))
	}
	if n := CodePoints(name.Text); n < 1 || n > MaxName {
		return Tool{}, invalid(at+"/name", "a tool's name has 1 to %d characters, this one %d", MaxName, n)
	}
	if d := v.Get("description"); !d.Absent() && d.Kind != KindString {
		return Tool{}, invalid(at+"/description", "a description must be a string, not %s", article(d))
	}
	tool := Tool{Name: name.Text, Tree: v}
	if schema, member := tool.InputSchema(); schema != nil && schema.Kind != KindObject {
		return Tool{}, invalid(at+"/"+member, "an input schema must be an object, not %s", article(schema))
	}
	return tool, nil
}

func (m *Manifest) readServer(v *Value, base string) error {
	if info := v.Get("serverInfo"); !info.Absent() {
		if info.Kind != KindObject {
			return invalid(base+"/serverInfo", "serverInfo must be an object, not %s", article(info))
		}
		m.Server = ServerInfo{Name: stringOf(info, "name"), Version: stringOf(info, "version"), Given: true}
	}
	m.ProtocolVersion = stringOf(v, "protocolVersion")
	m.Instructions = stringOf(v, "instructions")
	for _, part := range []struct {
		name string
		kind Kind
		into **Value
	}{
		{"capabilities", KindObject, &m.Capabilities},
		{"prompts", KindArray, &m.Prompts},
		{"resources", KindArray, &m.Resources},
		{"resourceTemplates", KindArray, &m.ResourceTemplates},
	} {
		if p := v.Get(part.name); !p.Absent() {
			if p.Kind != part.kind {
				return invalid(base+"/"+part.name, "%s must be an %s, not %s", part.name, part.kind, article(p))
			}
			*part.into = p
		}
	}
	return nil
}

// readRequest reads what only a request body has. A pin is read as it stands; that
// it is 64 lower-case hex digits is checked where it is compared.
func (m *Manifest) readRequest(v *Value, base string) error {
	if pin := v.Get("pin"); !pin.Absent() {
		if pin.Kind != KindString {
			return invalid(base+"/pin", "a pin must be a string, not %s", article(pin))
		}
		if !IsPin(pin.Text) {
			return invalid(base+"/pin", "a pin is 64 lower-case hex digits; send exactly what an earlier scan returned")
		}
		m.Pin = pin.Text
	}
	// The API's own clients send server {name, version}; a snapshot has serverInfo.
	if s := v.Get("server"); !m.Server.Given && s.Kind == KindObject {
		m.Server = ServerInfo{Name: stringOf(s, "name"), Version: stringOf(s, "version"), Given: true}
	}
	others := v.Get("other_servers")
	if others.Absent() {
		return nil
	}
	at := base + "/other_servers"
	if others.Kind != KindArray {
		return invalid(at, "other_servers must be an array, not %s", article(others))
	}
	if len(others.Items) > MaxOtherServers {
		return &Error{Code: ErrTooLarge, Message: fmt.Sprintf("at %s: %d servers; at most %d are allowed", at, len(others.Items), MaxOtherServers)}
	}
	for i := range others.Items {
		server, err := readOtherServer(&others.Items[i], Pointer(at, i))
		if err != nil {
			return err
		}
		m.OtherServers = append(m.OtherServers, server)
	}
	return nil
}

func readOtherServer(v *Value, at string) (OtherServer, error) {
	if v.Kind != KindObject {
		return OtherServer{}, invalid(at, "an entry of other_servers must be an object, not %s", article(v))
	}
	name := v.Get("name")
	if name.Kind != KindString {
		return OtherServer{}, invalid(at+"/name", "another server's name must be a string, not %s", article(name))
	}
	server := OtherServer{Name: name.Text}
	tools := v.Get("tools")
	if tools.Absent() {
		return server, nil
	}
	if tools.Kind != KindArray {
		return OtherServer{}, invalid(at+"/tools", "another server's tools must be an array, not %s", article(tools))
	}
	for i := range tools.Items {
		tool := tools.Items[i].Get("name")
		if tool.Kind != KindString {
			return OtherServer{}, invalid(Pointer(at+"/tools", i), "another server's tool needs a string \"name\"")
		}
		server.Tools = append(server.Tools, tool.Text)
	}
	return server, nil
}

// IsPin reports whether text has the form of a pin: 64 lower-case hex digits.
func IsPin(text string) bool {
	if len(text) != 64 {
		return false
	}
	return strings.Trim(text, "0123456789abcdef") == ""
}

func stringOf(v *Value, name string) string {
	if s := v.Get(name); s.Kind == KindString {
		return s.Text
	}
	return ""
}

func article(v *Value) string {
	kind := KindAbsent
	if v != nil {
		kind = v.Kind
	}
	switch kind {
	case KindAbsent, KindNull:
		return kind.String()
	case KindArray, KindObject:
		return "an " + kind.String()
	}
	return "a " + kind.String()
}

func invalid(at, format string, args ...any) error {
	where := "at the top"
	if at != "" {
		where = "at " + at
	}
	return &Error{Code: ErrInvalidManifest, Message: where + ": " + fmt.Sprintf(format, args...)}
}
