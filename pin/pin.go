// Package pin computes what tells one tool list from another: the pin, the fingerprint
// and the drift.
//
// A pin is the SHA-256 of a tool list in the form that CPython's json module gives it
// (canonjson.AppendPython); a fingerprint is the SHA-256 of server and tools in the
// form of RFC 8785 (canonjson.AppendJCS). The two are different forms for different
// readers: a pin exists for every list and changes with the spelling of a number, a
// fingerprint does not, and exists only where RFC 8785 can carry the list. They are
// never compared with each other.
//
// Both cover of each tool exactly its name, its description and its input schema.
// Neither says what changed, and equal hashes are not proof that two snapshots are
// equal in the members that are not hashed.
//
// A drift (Diff) is the difference of two whole manifests: every place that differs,
// what it is about, and what it does. It is computed from the trees and never from a
// hash. Where it calls a schema change widened, narrowed or equivalent, that is proven;
// docs/drift.md has the argument. It does not judge whether a new text is hostile; that
// is what package scan is for, and Attach puts the two together.
package pin

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

// Pin is the pin of a list and the hash of each of its tools.
type Pin struct {
	// SHA256 is the list's pin, 64 lower-case hex digits.
	SHA256 string
	// Tools are the hashes of the tools' own objects, in the order sent.
	Tools []toolmark.ToolHash
	// Size is what Size gives for the list: the characters of its canonical JSON.
	Size int
}

// Compute gives the pin of a tool list. It does not depend on the order of tools, nor
// on the order of members, white space or the spelling of escapes.
//
// What is hashed is the array of one object a tool, {"description", "input_schema",
// "name"}: an absent description is "", an absent schema {}. The objects are sorted by
// name in code point order, equal names by their own canonical JSON. The list must be
// one that toolmark.ReadManifest accepted.
func Compute(tools []toolmark.Tool) Pin {
	l := listOf(tools)
	p := Pin{Tools: make([]toolmark.ToolHash, len(tools)), Size: l.size()}
	for i := range l.entries {
		p.Tools[i] = toolmark.ToolHash{Name: toolmark.Text(tools[i].Name), SHA256: l.toolHash(i)}
	}
	p.SHA256 = l.hash()
	return p
}

// Canonical gives the canonical JSON whose SHA-256 is the pin. It is ASCII.
func Canonical(tools []toolmark.Tool) []byte {
	l := listOf(tools)
	return l.canonical()
}

// Size gives the number of characters of a list's canonical JSON, which is what
// toolmark.MaxCharacters limits. It is the length of what Canonical gives.
func Size(tools []toolmark.Tool) int {
	l := listOf(tools)
	return l.size()
}

// list is the canonical JSON of tools, each written once.
type list struct {
	text    []byte
	entries []entry
	order   []int32 // the entries as sorted; nil before sort
	room    int     // expected length of text
}

type entry struct {
	name     string
	from, to int // the tool's own object in list.text
}

func newList(tools int) *list {
	return &list{entries: make([]entry, 0, tools)}
}

func listOf(tools []toolmark.Tool) *list {
	l := newList(len(tools))
	for i := range tools {
		l.expect(tools[i].Tree)
	}
	for i := range tools {
		l.add(&tools[i])
	}
	return l
}

// expect makes room for a tool. Its canonical form is seldom longer than what was sent;
// where escapes make it so, the text grows.
func (l *list) expect(tree *toolmark.Value) { l.room += tree.End - tree.Start + 64 }

// add writes one tool. A description that Python takes for false counts as "".
func (l *list) add(t *toolmark.Tool) {
	if l.text == nil {
		l.text = make([]byte, 0, l.room)
	}
	description := t.Tree.Get("description")
	schema, _ := t.InputSchema()
	from := len(l.text)
	l.text = append(l.text, `{"description":`...)
	if falsy(description) {
		l.text = append(l.text, `""`...)
	} else {
		l.text = canonjson.AppendPython(l.text, description)
	}
	l.text = append(l.text, `,"input_schema":`...)
	if schema == nil {
		l.text = append(l.text, "{}"...)
	} else {
		l.text = canonjson.AppendPython(l.text, schema)
	}
	l.text = append(l.text, `,"name":`...)
	l.text = canonjson.AppendPython(l.text, &toolmark.Value{Kind: toolmark.KindString, Text: t.Name})
	l.text = append(l.text, '}')
	l.entries = append(l.entries, entry{name: t.Name, from: from, to: len(l.text)})
}

// toolJSON gives the canonical JSON of one tool.
func (l *list) toolJSON(i int) []byte { return l.text[l.entries[i].from:l.entries[i].to] }

func (l *list) toolHash(i int) string { return hexSum(sha256.Sum256(l.toolJSON(i))) }

// sort orders the entries. WTF-8 sorts by code point as bytes do.
func (l *list) sort() {
	l.order = make([]int32, len(l.entries))
	for i := range l.order {
		l.order[i] = int32(i)
	}
	slices.SortStableFunc(l.order, func(a, b int32) int {
		return cmp.Or(
			strings.Compare(l.entries[a].name, l.entries[b].name),
			bytes.Compare(l.toolJSON(int(a)), l.toolJSON(int(b))),
		)
	})
}

// size gives the length of the list's canonical JSON: the tools, the commas between
// them and the brackets.
func (l *list) size() int { return len(l.text) + max(len(l.entries)-1, 0) + 2 }

// pieces gives the list's canonical JSON in pieces; sort must have run.
func (l *list) pieces(yield func([]byte)) {
	yield([]byte{'['})
	for k, i := range l.order {
		if k > 0 {
			yield([]byte{','})
		}
		yield(l.toolJSON(int(i)))
	}
	yield([]byte{']'})
}

func (l *list) canonical() []byte {
	l.sort()
	out := make([]byte, 0, l.size())
	l.pieces(func(piece []byte) { out = append(out, piece...) })
	return out
}

func (l *list) hash() string {
	l.sort()
	h := sha256.New()
	l.pieces(func(piece []byte) { h.Write(piece) }) // a hash never fails to write
	return hexSum([32]byte(h.Sum(nil)))
}

func hexSum(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }

// falsy reports what CPython's `v or ""` replaces: nothing, null, false, zero, and an
// empty string, array or object.
func falsy(v *toolmark.Value) bool {
	switch v.Kind {
	case toolmark.KindAbsent, toolmark.KindNull, toolmark.KindFalse:
		return true
	case toolmark.KindString:
		return v.Text == ""
	case toolmark.KindArray:
		return len(v.Items) == 0
	case toolmark.KindObject:
		return len(v.Members) == 0
	case toolmark.KindNumber:
		// What CPython made of the literal, so that 1e-400 is zero as it is there.
		switch string(canonjson.AppendPython(nil, v)) {
		case "0", "0.0", "-0.0":
			return true
		}
	}
	return false
}
