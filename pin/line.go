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
	l, err := readLine(line)
	if err != nil {
		return "invalid " + err.Error()
	}
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

// CanonicalLine gives the canonical JSON whose hash Line prints, for the same bodies
// and with the same reasons why there is none.
func CanonicalLine(line []byte) ([]byte, error) {
	l, err := readLine(line)
	if err != nil {
		return nil, err
	}
	return l.canonical(), nil
}

// readLine reads a body as Line does. An error is one line of ASCII.
func readLine(line []byte) (*list, error) {
	root, err := canonjson.Parse(line, canonjson.Options{})
	if err != nil {
		return nil, err
	}
	if root.Kind != toolmark.KindObject {
		return nil, notList("the body is not an object but %s", root.Kind)
	}
	tools := root.Get("tools")
	switch {
	case tools.Kind == toolmark.KindArray:
	case tools.Kind == toolmark.KindAbsent:
		return nil, notList("the body has no \"tools\"")
	case tools.Kind == toolmark.KindObject && len(tools.Members) == 0, tools.Kind == toolmark.KindString && tools.Text == "":
	default:
		return nil, notList("/tools is not an array but %s", tools.Kind)
	}
	list := make([]toolmark.Tool, len(tools.Items))
	for i := range tools.Items {
		t := &tools.Items[i]
		if t.Kind != toolmark.KindObject {
			return nil, notList("/tools/%d is not an object but %s", i, t.Kind)
		}
		name := t.Get("name")
		if name.Kind != toolmark.KindString {
			return nil, notList("/tools/%d/name is not a string but %s", i, name.Kind)
		}
		list[i] = toolmark.Tool{Name: name.Text, Tree: t}
	}
	return listOf(list), nil
}

func notList(format string, args ...any) error {
	return &toolmark.Error{Code: toolmark.ErrInvalidManifest, Message: fmt.Sprintf(format, args...)}
}
