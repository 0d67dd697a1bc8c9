package probe

import (
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

// serverInfoMeta is where a server says who it is since MCP 2026-07-28.
const serverInfoMeta = "io.modelcontextprotocol/serverInfo"

// notKept are members of the handshake's result that a snapshot does not take over
// under their name: what it writes itself, what would make it look like another
// shape of input (toolmark.ReadManifest), and what belongs to one answer only.
var notKept = map[string]bool{
	"toolmarkSnapshot": true, "source": true, "readAt": true, "protocolVersion": true,
	"serverInfo": true, "capabilities": true, "instructions": true,
	"tools": true, "prompts": true, "resources": true, "resourceTemplates": true,
	"jsonrpc": true, "id": true, "result": true, "error": true,
	"server": true, "pin": true, "other_servers": true,
	"resultType": true, "ttlMs": true, "cacheScope": true,
}

// snapshot puts the parts together as one JSON document and reads the manifest from
// it. Values of the server are copied byte for byte; the order of the members is
// fixed: toolmarkSnapshot, source, readAt, protocolVersion, serverInfo, capabilities,
// instructions, further members of the handshake in the order sent, tools, prompts,
// resources, resourceTemplates. What the server did not send is left out.
func (p *prober) snapshot(got *parts) (*toolmark.Snapshot, error) {
	readAt := p.opts.Now().UTC()
	b := append([]byte(nil), `{"toolmarkSnapshot":1,"source":`...)
	b = toolmark.AppendQuoted(b, p.source)
	b = toolmark.AppendQuoted(append(b, `,"readAt":`...), readAt.Format(time.RFC3339))
	b = toolmark.AppendQuoted(append(b, `,"protocolVersion":`...), got.version)
	put := func(name string, raw []byte) {
		b = toolmark.AppendQuoted(append(b, ','), name)
		b = append(append(b, ':'), raw...)
	}
	hello := got.hello.result
	info := hello.Get("serverInfo")
	if info.Absent() {
		info = hello.Get("_meta").Get(serverInfoMeta)
	}
	for _, part := range []struct {
		name  string
		value *toolmark.Value
	}{
		{"serverInfo", info},
		{"capabilities", hello.Get("capabilities")},
		{"instructions", hello.Get("instructions")},
	} {
		if !part.value.Absent() {
			put(part.name, got.hello.slice(part.value))
		}
	}
	for i := range hello.Members {
		if m := &hello.Members[i]; !notKept[m.Name] {
			b = append(append(b, ','), got.hello.raw[m.NameStart:m.Value.End]...)
		}
	}
	for i, l := range lists {
		if got.lists[i] != nil {
			put(l.member, got.lists[i])
		}
	}
	b = append(b, '}')
	tree, err := canonjson.Parse(b, canonjson.Options{})
	if err != nil {
		return nil, p.unreadable(err)
	}
	m, err := toolmark.ReadManifest(tree)
	if err != nil {
		return nil, p.unreadable(err)
	}
	return &toolmark.Snapshot{Source: p.source, Manifest: m, ReadAt: readAt, Bytes: b, Warnings: p.notes.all(), LeftOut: got.leftOut}, nil
}

func (p *prober) unreadable(err error) error {
	code := toolmark.ErrUnreadableList
	if e, ok := asFailure(err); ok {
		code = e.Code
	}
	return failure(code, err, "%s: what the server declares cannot be read", printable(p.source))
}
