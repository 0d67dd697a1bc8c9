package lockfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

const (
	// Name is what the file is called unless a user says otherwise.
	Name = "toolmark.lock.json"
	// Version is the version of the format that is written, and the newest that is read.
	Version = 1
	// MaxBytes is the most bytes of a file.
	MaxBytes = 64 << 20

	// mark is the member that says that a file is a lockfile, and of which version.
	mark = "toolmarkLock"
	// maxDepth leaves a definition all the levels it may have by itself.
	maxDepth = canonjson.DefaultMaxDepth + 8
	maxNodes = 4 * canonjson.DefaultMaxNodes
)

// File is a lockfile as it was read. The zero File is a new one without entries.
type File struct {
	// name is the file's name for messages.
	name string
	data []byte
	tree toolmark.Value
	// entries are sorted by name.
	entries []*Entry
}

// fault is one thing that is wrong at a place of the file.
type fault struct {
	pointer string
	value   *toolmark.Value
	reason  string
}

// Parse reads a lockfile; name is what messages call it. The error is a *toolmark.Error:
// ErrInvalidJSON, ErrTooLarge, or ErrInvalidManifest for a file that is no lockfile, is of
// a newer format, or whose hashes do not hold. It names line and JSON Pointer.
func Parse(data []byte, name string) (*File, error) {
	f := &File{name: name, data: data}
	tree, err := canonjson.Parse(data, canonjson.Options{MaxBytes: MaxBytes, MaxDepth: maxDepth, MaxNodes: maxNodes})
	if err != nil {
		return nil, f.broken(err)
	}
	f.tree = *tree
	if wrong := f.read(); wrong != nil {
		line := f.lineOf(wrong.value)
		where := fmt.Sprintf("%s:%d", name, line)
		if wrong.pointer != "" {
			where += ": at " + wrong.pointer
		}
		return nil, &toolmark.Error{Code: toolmark.ErrInvalidManifest, Message: where + ": " + wrong.reason}
	}
	return f, nil
}

// IsLockfile reports whether a JSON value is one by its mark, of whatever version.
func IsLockfile(v *toolmark.Value) bool { return v.Get(mark).Kind != toolmark.KindAbsent }

// broken says where a file stops to be JSON.
func (f *File) broken(err error) error {
	var e *toolmark.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	where := f.name
	hint := "; restore it from version control, nothing was written"
	var syntax *canonjson.SyntaxError
	if errors.As(err, &syntax) {
		where = fmt.Sprintf("%s:%d:%d", f.name, syntax.Line, syntax.Column)
		lines := bytes.Split(f.data, []byte("\n"))
		if i := syntax.Line - 1; i < len(lines) {
			for _, sign := range []string{"<<<<<<<", "=======", ">>>>>>>", "|||||||"} {
				if bytes.HasPrefix(lines[i], []byte(sign)) {
					hint = "; this is a conflict of a merge: take either side, then lock that server again"
				}
			}
		}
		if len(bytes.TrimSpace(f.data)) == 0 {
			hint = "; the file is empty: restore it from version control, or remove it to start anew"
		}
	}
	return &toolmark.Error{Code: e.Code, Message: where + ": " + e.Message + hint, Err: e.Err}
}

// read checks the whole tree and makes the entries.
func (f *File) read() *fault {
	root := &f.tree
	if root.Kind != toolmark.KindObject || !IsLockfile(root) {
		return &fault{"", root, `this is no lockfile: it has no member "` + mark + `"`}
	}
	if m := repeated(root); m != nil {
		return &fault{toolmark.Pointer("", m.Name), &m.Value, "the member stands twice"}
	}
	version := root.Get(mark)
	if n, ok := index(version.Text); version.Kind != toolmark.KindNumber || !ok || n != Version {
		if ok && n > Version {
			return &fault{"/" + mark, version, fmt.Sprintf("the format is version %d and this Toolmark reads up to %d: update Toolmark", n, Version)}
		}
		return &fault{"/" + mark, version, fmt.Sprintf("the version of the format is not %d", Version)}
	}
	servers := root.Get("servers")
	if servers.Kind != toolmark.KindObject {
		return &fault{"/servers", servers, `a lockfile has an object "servers"`}
	}
	if m := repeated(servers); m != nil {
		return &fault{toolmark.Pointer("/servers", m.Name), &m.Value, "the server stands twice, as after a merge: remove one of the two and lock it again"}
	}
	for i := range servers.Members {
		m := &servers.Members[i]
		if wrong := checkName(m.Name); wrong != "" {
			return &fault{toolmark.Pointer("/servers", m.Name), &m.Value, wrong}
		}
		e, wrong := readEntry(m.Name, &m.Value)
		if wrong != nil {
			return wrong
		}
		f.entries = append(f.entries, e)
	}
	f.sort()
	return nil
}

func (f *File) sort() {
	slices.SortFunc(f.entries, func(a, b *Entry) int { return strings.Compare(a.Name, b.Name) })
}

// edited is the end of what is said where a hash does not hold.
const edited = "the file was damaged or edited by hand. Nothing was written: restore it from version control, or remove this server's entry and lock it again"

// readEntry is the inverse of Entry.build.
func readEntry(name string, v *toolmark.Value) (*Entry, *fault) {
	at := toolmark.Pointer("/servers", name)
	if v.Kind != toolmark.KindObject {
		return nil, &fault{at, v, "an entry is an object"}
	}
	if m := repeated(v); m != nil {
		return nil, &fault{toolmark.Pointer(at, m.Name), &m.Value, "the member stands twice"}
	}
	for _, part := range entryMembers {
		want := toolmark.KindObject
		if part == "tools" {
			want = toolmark.KindArray
		}
		if got := v.Get(part); got.Kind != want {
			where := got
			if got.Kind == toolmark.KindAbsent {
				where = v
			}
			return nil, &fault{toolmark.Pointer(at, part), where, "an entry has an " + want.String() + " of this name"}
		}
	}
	e := &Entry{Name: name, tree: *v}
	var wrong *fault
	if e.Source, wrong = readSource(v.Get("source"), at+"/source"); wrong != nil {
		return nil, wrong
	}
	if e.Accepted, wrong = readAcceptance(v.Get("accepted"), at+"/accepted"); wrong != nil {
		return nil, wrong
	}
	if wrong = e.readManifest(v, at); wrong != nil {
		return nil, wrong
	}
	return e, e.verify(v, at)
}

func readAcceptance(v *toolmark.Value, at string) (Acceptance, *fault) {
	var a Acceptance
	when, err := time.Parse(time.RFC3339, v.Get("at").Text)
	if err != nil {
		return a, &fault{at + "/at", v, "this is a time, as in 2026-05-02T09:00:00Z"}
	}
	a.At, a.By, a.How, a.Note = when.UTC(), v.Get("by").Text, v.Get("how").Text, v.Get("note").Text
	return a, nil
}

// readManifest puts the manifest together from "manifest" and "tools".
func (e *Entry) readManifest(v *toolmark.Value, at string) *fault {
	list := *v.Get("tools")
	items := make([]toolmark.Value, len(list.Items))
	for i := range list.Items {
		definition := list.Items[i].Get("definition")
		here := toolmark.Pointer(at+"/tools", i)
		if definition.Kind != toolmark.KindObject {
			return &fault{here, &list.Items[i], `a tool's block has an object "definition"`}
		}
		if name := definition.Get("name"); name.Kind != toolmark.KindString || name.Text != list.Items[i].Get("name").Text {
			return &fault{here + "/name", &list.Items[i], "the name beside the definition is not the one in it; " + edited}
		}
		items[i] = *definition
	}
	list.Items = items
	tree := *v.Get("manifest")
	tree.Start, tree.End = v.Start, v.End
	if tools := tree.Get("tools"); tools.Kind != toolmark.KindAbsent {
		return &fault{at + "/manifest/tools", tools, `the tools stand in "tools" beside it`}
	}
	tree.Members = append(slices.Clone(tree.Members), toolmark.Member{Name: "tools", Value: list})
	m, err := toolmark.ReadManifest(&tree)
	if err == nil {
		m, err = Normal(m)
	}
	if err != nil {
		return &fault{at, v, err.Error()}
	}
	m.Tree.Start, m.Tree.End = v.Start, v.End
	e.Manifest = m
	return nil
}

// verify holds every hash of an entry against what it is the hash of, from the inside
// out, so that the innermost place is named.
func (e *Entry) verify(v *toolmark.Value, at string) *fault {
	tools := v.Get("tools")
	e.compute()
	for i := range tools.Items {
		block := &tools.Items[i]
		here := toolmark.Pointer(at+"/tools", i)
		hashes := block.Get("hashes")
		if hashes.Get("integrity").Text != hash(*block.Get("definition")) {
			return &fault{here + "/definition", block, "the definition of " + quoted(block.Get("name").Text) + " is not the one that its hash was made of; " + edited}
		}
		if e.Manifest.Tools[i].Name != block.Get("name").Text {
			return &fault{here, block, "the tools are not sorted by name; " + edited}
		}
		if hashes.Get("sha256").Text != e.Pin.Tools[i].SHA256 {
			return &fault{here + "/hashes", hashes, "the hash of " + quoted(block.Get("name").Text) + " is not that of its definition; " + edited}
		}
	}
	hashes := v.Get("hashes")
	for _, h := range []struct{ name, want string }{
		{"pin", e.Pin.SHA256}, {"fingerprint", string(e.Fingerprint)},
	} {
		if hashes.Get(h.name).Text != h.want {
			return &fault{at + "/hashes", hashes, "the " + h.name + " is not that of the tools below, of which some came, went or changed; " + edited}
		}
	}
	if hashes.Get("integrity").Text != integrity(*v) {
		return &fault{at, v, "something of this entry outside of its tools (accepted, manifest, source, or the order of tools of one name) is not what its hash was made of; " + edited}
	}
	return nil
}

func quoted(text string) string { return string(toolmark.AppendQuoted(nil, text)) }

// Entries gives the entries, sorted by name.
func (f *File) Entries() []*Entry { return slices.Clone(f.entries) }

// Entry gives the entry of that name, nil where there is none.
func (f *File) Entry(name string) *Entry {
	for _, e := range f.entries {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Set puts an entry in, in the place of the one of its name if there is one.
func (f *File) Set(e *Entry) {
	f.Remove(e.Name)
	f.entries = append(f.entries, e)
	f.sort()
}

// Remove takes an entry out, and reports whether it was there.
func (f *File) Remove(name string) bool {
	n := len(f.entries)
	f.entries = slices.DeleteFunc(slices.Clone(f.entries), func(e *Entry) bool { return e.Name == name })
	return len(f.entries) < n
}

// Data gives the bytes the file was read from, in which the values of its entries'
// manifests have their places; nil for a new one.
func (f *File) Data() []byte { return f.data }

// Line gives the line, from 1, at which the value of a JSON Pointer starts in the file as
// it was read, or that of the nearest value around it. Whole reports which of the two.
func (f *File) Line(pointer string) (line int, whole bool) {
	v, whole := nearest(&f.tree, pointer)
	return f.lineOf(v), whole
}

func (f *File) lineOf(v *toolmark.Value) int {
	if v == nil {
		return 1
	}
	start := min(max(v.Start, 0), len(f.data))
	return 1 + bytes.Count(f.data[:start], []byte("\n"))
}
