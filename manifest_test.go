package toolmark_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

func read(t *testing.T, text string) (*toolmark.Manifest, error) {
	t.Helper()
	v, err := canonjson.Parse([]byte(text), canonjson.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return toolmark.ReadManifest(v)
}

func TestFourShapesOfAManifest(t *testing.T) {
	const list = `"tools": [{"name": "a", "description": null, "input_schema": {"type": "object"}}, {"name": "b", "inputSchema": null}]`
	for shape, text := range map[string]string{
		"result":   `{` + list + `, "nextCursor": ""}`,
		"response": `{"jsonrpc": "2.0", "id": 7, "result": {` + list + `}}`,
		"body":     `{` + list + `, "pin": null, "other_servers": [{"name": "o", "tools": [{"name": "x", "description": 5}]}, {"name": "p"}], "unknown": 1}`,
		"snapshot": `{"toolmarkSnapshot": 1, "serverInfo": {"name": "s", "version": "2"}, "instructions": "Hi", "capabilities": {}, "prompts": [], ` + list + `}`,
	} {
		m, err := read(t, text)
		if err != nil {
			t.Errorf("%s: %v", shape, err)
			continue
		}
		if len(m.Tools) != 2 || m.Tools[0].Name != "a" || m.Tools[0].Description() != "" {
			t.Errorf("%s: %+v", shape, m.Tools)
		}
		if schema, member := m.Tools[0].InputSchema(); member != "input_schema" || schema.Kind != toolmark.KindObject {
			t.Errorf("%s: schema in %q", shape, member)
		}
		if schema, member := m.Tools[1].InputSchema(); schema != nil || member != "" {
			t.Errorf("%s: a null schema is %v in %q", shape, schema, member)
		}
		switch shape {
		case "response":
			if m.ToolsPointer != "/result/tools" {
				t.Errorf("tools at %q", m.ToolsPointer)
			}
		case "body":
			if len(m.OtherServers) != 2 || m.OtherServers[0].Name != "o" || strings.Join(m.OtherServers[0].Tools, "") != "x" {
				t.Errorf("other servers %+v", m.OtherServers)
			}
		case "snapshot":
			if m.Server != (toolmark.ServerInfo{Name: "s", Version: "2", Given: true}) || m.Instructions != "Hi" || m.Prompts == nil {
				t.Errorf("%+v", m)
			}
		}
	}
}

func TestFaultsOfAManifestNameTheirPlace(t *testing.T) {
	many := make([]string, toolmark.MaxTools+1)
	for i := range many {
		many[i] = fmt.Sprintf(`{"name": "t%d"}`, i)
	}
	servers := strings.Repeat(`{"name": "s"},`, toolmark.MaxOtherServers) + `{"name": "s"}`
	for _, c := range []struct {
		text  string
		code  toolmark.ErrorCode
		place string
	}{
		{`[]`, toolmark.ErrInvalidManifest, "at the top"},
		{`"tools"`, toolmark.ErrInvalidManifest, "at the top"},
		{`{}`, toolmark.ErrInvalidManifest, "at /tools"},
		{`{"tools": {}}`, toolmark.ErrInvalidManifest, "at /tools"},
		{`{"tools": null}`, toolmark.ErrInvalidManifest, "at /tools"},
		{`{"tools": [5]}`, toolmark.ErrInvalidManifest, "at /tools/0"},
		{`{"tools": [{"name": "a"}, {}]}`, toolmark.ErrInvalidManifest, "at /tools/1"},
		{`{"tools": [{"name": null}]}`, toolmark.ErrInvalidManifest, "at /tools/0/name"},
		{`{"tools": [{"name": ""}]}`, toolmark.ErrInvalidManifest, "at /tools/0/name"},
		{`{"tools": [{"name": "` + strings.Repeat("é", toolmark.MaxName+1) + `"}]}`, toolmark.ErrInvalidManifest, "at /tools/0/name"},
		{`{"tools": [{"name": "a", "description": ["x"]}]}`, toolmark.ErrInvalidManifest, "at /tools/0/description"},
		{`{"tools": [{"name": "a", "inputSchema": true}]}`, toolmark.ErrInvalidManifest, "at /tools/0/inputSchema"},
		{`{"tools": [{"name": "a", "input_schema": []}]}`, toolmark.ErrInvalidManifest, "at /tools/0/input_schema"},
		{`{"tools": [` + strings.Join(many, ",") + `]}`, toolmark.ErrTooLarge, "at /tools"},
		{`{"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}`, toolmark.ErrInvalidManifest, "at /error"},
		{`{"jsonrpc": "2.0", "id": 1}`, toolmark.ErrInvalidManifest, "at /result"},
		{`{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{}]}}`, toolmark.ErrInvalidManifest, "at /result/tools/0"},
		{`{"tools": [], "pin": 5}`, toolmark.ErrInvalidManifest, "at /pin"},
		{`{"tools": [], "pin": "` + strings.Repeat("A", 64) + `"}`, toolmark.ErrInvalidManifest, "at /pin"},
		{`{"tools": [], "other_servers": {}}`, toolmark.ErrInvalidManifest, "at /other_servers"},
		{`{"tools": [], "other_servers": [{"tools": []}]}`, toolmark.ErrInvalidManifest, "at /other_servers/0/name"},
		{`{"tools": [], "other_servers": [{"name": "o", "tools": [{"name": 1}]}]}`, toolmark.ErrInvalidManifest, "at /other_servers/0/tools/0"},
		{`{"tools": [], "other_servers": [` + servers + `]}`, toolmark.ErrTooLarge, "at /other_servers"},
		{`{"tools": [], "prompts": {}}`, toolmark.ErrInvalidManifest, "at /prompts"},
		{`{"tools": [], "serverInfo": "x"}`, toolmark.ErrInvalidManifest, "at /serverInfo"},
	} {
		_, err := read(t, c.text)
		var e *toolmark.Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.HasPrefix(e.Error(), c.place+":") {
			t.Errorf("%.60s: %v, want %s %s", c.text, err, c.code, c.place)
		}
	}
	if _, err := read(t, `{"tools": [{"name": "`+strings.Repeat("é", toolmark.MaxName)+`"}]}`); err != nil {
		t.Errorf("a name of %d characters is refused: %v", toolmark.MaxName, err)
	}
}

func TestPointers(t *testing.T) {
	if got, want := toolmark.Pointer(toolmark.Pointer("", "a/b~c"), 3), "/a~1b~0c/3"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := toolmark.Pointer("/x", ""), "/x/"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
