package pin

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

// Fingerprint gives the fingerprint of a server and its tools: "tmfp1:" and the SHA-256
// of the RFC 8785 form of
//
//	{"server":{"name":…,"version":…},"tools":[{"description":…,"inputSchema":…,"name":…},…]}
//
// where absent strings are "", an absent schema is {}, and the tools are sorted by name
// in UTF-16 code units, equal names by their own RFC 8785 form. A schema stands under
// inputSchema also where the server wrote input_schema. The list must be one that
// toolmark.ReadManifest accepted.
//
// Where RFC 8785 cannot carry what is hashed there is no fingerprint, and the error is a
// *canonjson.NotCanonicalError with the reason and the JSON Pointer from the manifest:
// a lone surrogate, a number that does not survive as a double, a duplicate key. A key
// that stands twice in the tool's own object counts as well, whatever it is, because
// two readers then see two tools. Members that are not hashed are not looked into.
func Fingerprint(server toolmark.ServerInfo, tools []toolmark.Tool) (toolmark.Fingerprint, error) {
	head := []byte(`{"server":{"name":`)
	var err error
	if head, err = appendString(head, server.Name, "/serverInfo/name"); err != nil {
		return "", err
	}
	head = append(head, `,"version":`...)
	if head, err = appendString(head, server.Version, "/serverInfo/version"); err != nil {
		return "", err
	}
	head = append(head, `},"tools":[`...)

	var text []byte
	entries := make([]entry, len(tools))
	for i := range tools {
		from := len(text)
		if text, err = appendTool(text, &tools[i], toolmark.Pointer("/tools", i)); err != nil {
			return "", err
		}
		entries[i] = entry{name: tools[i].Name, from: from, to: len(text)}
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(
			canonjson.CompareUTF16(a.name, b.name),
			bytes.Compare(text[a.from:a.to], text[b.from:b.to]),
		)
	})
	h := sha256.New()
	h.Write(head) // a hash never fails to write
	for i, e := range entries {
		if i > 0 {
			h.Write([]byte{','})
		}
		h.Write(text[e.from:e.to])
	}
	h.Write([]byte("]}"))
	return toolmark.Fingerprint(toolmark.FingerprintPrefix + hexSum([32]byte(h.Sum(nil)))), nil
}

// appendTool appends the part of a tool that is hashed; at is the tool's own pointer.
func appendTool(dst []byte, t *toolmark.Tool, at string) ([]byte, error) {
	if name, found := canonjson.FirstDuplicate(t.Tree); found {
		return dst, &canonjson.NotCanonicalError{
			Pointer: toolmark.Pointer(at, name),
			Reason:  canonjson.ReasonDuplicateKey,
		}
	}
	dst = append(dst, `{"description":`...)
	dst, err := appendString(dst, t.Description(), at+"/description")
	if err != nil {
		return dst, err
	}
	dst = append(dst, `,"inputSchema":`...)
	if schema, member := t.InputSchema(); schema == nil {
		dst = append(dst, "{}"...)
	} else if dst, err = canonjson.AppendJCS(dst, schema); err != nil {
		return dst, below(err, at+"/"+member)
	}
	dst = append(dst, `,"name":`...)
	if dst, err = appendString(dst, t.Name, at+"/name"); err != nil {
		return dst, err
	}
	return append(dst, '}'), nil
}

func appendString(dst []byte, s, at string) ([]byte, error) {
	dst, err := canonjson.AppendJCS(dst, &toolmark.Value{Kind: toolmark.KindString, Text: s})
	return dst, below(err, at)
}

// below moves the place of a refusal down from the value that was written to where that
// value stands in the manifest.
func below(err error, at string) error {
	var refused *canonjson.NotCanonicalError
	if errors.As(err, &refused) {
		return &canonjson.NotCanonicalError{Pointer: at + refused.Pointer, Reason: refused.Reason}
	}
	return err
}
