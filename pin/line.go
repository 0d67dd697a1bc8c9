package pin

import (
	"fmt"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

// Line gives what `toolmark pin --lines` prints for one request body, without a line
// end:
//
//	<sha256 of the list> <sha256 of tool 1>,<sha256 of tool 2>,…
//
// with the tools in the order sent, or
//
//	invalid <reason>
//
// where the body cannot be read. The reason is one line of ASCII.
//
// Line answers for any body as CPython's json module and the published recipe do, and
// does not apply the limits and types of a manifest, so that it can be held against
// that recipe: any number of tools; a name of any length; a description that Python
// takes for false ("", 0, -0.0, 1e-400, false, null, [], {}) counts as "" and any other
// is hashed as it stands; a schema is any value but null; an empty "tools" that is a
// string or an object is an empty list. It differs in these points, each one a line
// that CPython reads and Line does not, or the reverse:
//
//   - NaN, Infinity and -Infinity are not JSON: invalid;
//   - bytes that are not UTF-8 are invalid; CPython lets encoded surrogates pass and
//     reads UTF-16 and UTF-32 too;
//   - nesting deeper than canonjson.DefaultMaxDepth is invalid; CPython stops somewhat
//     below its recursion limit of 1,000;
//   - more than canonjson.DefaultMaxBytes or canonjson.DefaultMaxNodes are invalid;
//   - a name that is not a string is invalid; CPython hashes one as long as it can
//     compare them;
//   - an integer of more than 4,300 digits is hashed as it stands; CPython refuses it.
func Line(line []byte) string {
	root, err := canonjson.Parse(line, canonjson.Options{})
	if err != nil {
		return "invalid " + err.Error()
	}
	if root.Kind != toolmark.KindObject {
		return fmt.Sprintf("invalid the body is not an object but %s", root.Kind)
	}
	tools := root.Get("tools")
	switch {
	case tools.Kind == toolmark.KindArray:
	case tools.Kind == toolmark.KindAbsent:
		return "invalid the body has no \"tools\""
	case tools.Kind == toolmark.KindObject && len(tools.Members) == 0, tools.Kind == toolmark.KindString && tools.Text == "":
	default:
		return fmt.Sprintf("invalid /tools is not an array but %s", tools.Kind)
	}
	list, invalid := readTools(tools.Items)
	if invalid != "" {
		return "invalid " + invalid
	}
	l := listOf(list)
	out := make([]byte, 0, 65*(len(l.entries)+1))
	out = append(out, l.hash()...)
	out = append(out, ' ')
	for i := range l.entries {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, l.toolHash(i)...)
	}
	return string(out)
}

// readTools takes as tools what the published recipe does: objects with a name. It gives
// the reason why one is none.
func readTools(items []toolmark.Value) (tools []toolmark.Tool, invalid string) {
	tools = make([]toolmark.Tool, len(items))
	for i := range items {
		t := &items[i]
		if t.Kind != toolmark.KindObject {
			return nil, fmt.Sprintf("/tools/%d is not an object but %s", i, t.Kind)
		}
		name := t.Get("name")
		if name.Kind != toolmark.KindString {
			return nil, fmt.Sprintf("/tools/%d/name is not a string but %s", i, name.Kind)
		}
		tools[i] = toolmark.Tool{Name: name.Text, Tree: t}
	}
	return tools, ""
}
