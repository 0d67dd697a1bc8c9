package lockfile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// Acceptance says who accepted a server's definitions.
type Acceptance struct {
	At   time.Time // to the second, in UTC
	By   string
	How  string // HowAsked, HowExpected or HowUnattended; "" is not known
	Note string // "" is none
}

// How a server's definitions were accepted.
const (
	HowAsked      = "asked"      // by a person who had them on the screen
	HowExpected   = "expected"   // by the digest of what was looked at before
	HowUnattended = "unattended" // whatever they were
)

// Entry is what was accepted of one server. It is not changed once it is made.
type Entry struct {
	Name     string
	Source   Source
	Accepted Acceptance
	// Manifest is what the server declared, in the form that Normal gives.
	Manifest *toolmark.Manifest
	// Pin has the list's pin and the tools' own hashes, in the manifest's order.
	Pin pin.Pin
	// Fingerprint is the list's; where it is "" NoFingerprint says why.
	Fingerprint   toolmark.Fingerprint
	NoFingerprint string

	// tree is the entry as it stands in the file.
	tree toolmark.Value
}

// New makes an entry. The error is a *toolmark.Error: ErrUsage for a name or a source
// that a lockfile cannot have, ErrInvalidManifest for a manifest that has two tool lists.
func New(name string, src Source, m *toolmark.Manifest, a Acceptance) (*Entry, error) {
	if wrong := checkName(name); wrong != "" {
		return nil, &toolmark.Error{Code: toolmark.ErrUsage, Message: wrong}
	}
	if wrong := src.check(); wrong != "" {
		return nil, &toolmark.Error{Code: toolmark.ErrUsage, Message: wrong}
	}
	normal, err := Normal(m)
	if err != nil {
		return nil, err
	}
	e := &Entry{Name: name, Source: src, Manifest: normal, Accepted: a}
	e.Accepted.At = a.At.UTC().Truncate(time.Second)
	e.compute()
	e.tree = e.build(nil)
	return e, nil
}

// Renew is New for a server that has an entry already: what a newer version of Toolmark
// has written beside what this one knows is kept.
func (e *Entry) Renew(src Source, m *toolmark.Manifest, a Acceptance) (*Entry, error) {
	n, err := New(e.Name, src, m, a)
	if err != nil {
		return nil, err
	}
	n.tree = n.build(e)
	return n, nil
}

// Same reports whether two entries say the same of a server, whoever accepted it.
func (e *Entry) Same(other *Entry) bool {
	a, b := without(e.tree, "accepted"), without(other.tree, "accepted")
	return hash(without(a, "hashes")) == hash(without(b, "hashes"))
}

// Equal reports whether two entries are the same in everything.
func (e *Entry) Equal(other *Entry) bool { return hash(e.tree) == hash(other.tree) }

// Normal gives a manifest as a lockfile holds it, so that it can be compared with an
// entry's: what pin.Comparable gives, the members of all objects sorted, the tools sorted by
// name. Tools of one name keep their order, because clients take the first or the last.
// Values keep their Start and End.
//
// A manifest with two members "tools" is refused: two readers see two lists.
func Normal(m *toolmark.Manifest) (*toolmark.Manifest, error) {
	tree := sorted(*pin.Comparable(m, pin.Options{}))
	lists := 0
	for i := range tree.Members {
		member := &tree.Members[i]
		if member.Name != "tools" {
			continue
		}
		lists++
		items := slices.Clone(member.Value.Items)
		slices.SortStableFunc(items, func(a, b toolmark.Value) int {
			return strings.Compare(a.Get("name").Text, b.Get("name").Text)
		})
		member.Value.Items = items
	}
	if lists > 1 {
		return nil, &toolmark.Error{Code: toolmark.ErrInvalidManifest, Message: "at " + m.ToolsPointer + ": the tool list stands twice, so two readers see two lists; it cannot be locked"}
	}
	return toolmark.ReadManifest(&tree)
}

// MaxName is the most characters of an entry's name.
const MaxName = 128

// checkName says what is wrong with an entry's name; "" is nothing. Names stand in
// commands, URLs' fragments and file names of reports.
func checkName(name string) string {
	switch {
	case name == "":
		return "a locked server needs a name: --name NAME"
	case len(name) > MaxName:
		return fmt.Sprintf("a locked server's name has at most %d characters", MaxName)
	case strings.Trim(name, " ") != name || name[0] == '-':
		return "a locked server's name does not start with - or a space, nor end with one"
	}
	for _, c := range []byte(name) {
		if c < ' ' || c > '~' || strings.IndexByte("#\"'\\`$", c) >= 0 {
			return "a locked server's name has letters, digits, spaces and . _ - / : @ + and the like: ASCII without # $ ` \\ and quotes"
		}
	}
	return ""
}

// compute fills in what follows from the manifest.
func (e *Entry) compute() {
	e.Pin = pin.Compute(e.Manifest.Tools)
	e.Fingerprint, e.NoFingerprint = "", ""
	fp, err := pin.Fingerprint(e.Manifest.Server, e.Manifest.Tools)
	if err != nil {
		e.NoFingerprint = err.Error()
		return
	}
	e.Fingerprint = fp
}

// build makes the tree. Members of the old entry that are not known here are kept.
func (e *Entry) build(old *Entry) toolmark.Value {
	var o, accepted, manifest object
	accepted.add("at", str(e.Accepted.At.Format(time.RFC3339)))
	accepted.add("by", str(e.Accepted.By))
	if e.Accepted.How != "" {
		accepted.add("how", str(e.Accepted.How))
	}
	if e.Accepted.Note != "" {
		accepted.add("note", str(e.Accepted.Note))
	}
	tools := toolmark.Value{Kind: toolmark.KindArray}
	for i := range e.Manifest.Tree.Members {
		if m := e.Manifest.Tree.Members[i]; m.Name != "tools" {
			manifest.add(m.Name, m.Value)
		}
	}
	for i := range e.Manifest.Tools {
		tools.Items = append(tools.Items, e.tool(i))
	}
	o.add("accepted", accepted.value())
	o.add("hashes", e.hashes(""))
	o.add("manifest", manifest.value())
	o.add("source", e.Source.value())
	o.add("tools", tools)
	if old != nil {
		for _, m := range old.tree.Members {
			if !slices.Contains(entryMembers, m.Name) {
				o.members = append(o.members, m)
			}
		}
	}
	tree := o.value()
	return with(tree, "hashes", e.hashes(integrity(tree)))
}

var entryMembers = []string{"accepted", "hashes", "manifest", "source", "tools"}

// integrity is the hash that an entry has of itself: of all of it but this hash.
func integrity(tree toolmark.Value) string {
	return hash(with(tree, "hashes", without(*tree.Get("hashes"), "integrity")))
}

func (e *Entry) hashes(integrity string) toolmark.Value {
	var o object
	o.add("pin", str(e.Pin.SHA256))
	if e.Fingerprint != "" {
		o.add("fingerprint", str(string(e.Fingerprint)))
	} else {
		o.add("fingerprint", toolmark.Value{Kind: toolmark.KindNull})
		o.add("noFingerprint", str(e.NoFingerprint))
	}
	o.add("integrity", str(integrity))
	return o.value()
}

func (e *Entry) tool(i int) toolmark.Value {
	t := &e.Manifest.Tools[i]
	var o, hashes object
	hashes.add("sha256", str(e.Pin.Tools[i].SHA256))
	hashes.add("integrity", str(hash(*t.Tree)))
	o.add("name", str(t.Name))
	o.add("hashes", hashes.value())
	o.add("definition", *t.Tree)
	return o.value()
}

// Pointer gives the JSON Pointer in the lockfile of a place in the entry's manifest.
// Places count from the object that holds "tools": "/tools/3/description",
// "/serverInfo/version"; "" is the entry itself.
func (e *Entry) Pointer(place string) string {
	base := toolmark.Pointer("/servers", e.Name)
	switch {
	case place == "":
		return base
	case place == "/tools":
		return base + "/tools"
	}
	if below, ok := strings.CutPrefix(place, "/tools/"); ok {
		number, rest, deeper := strings.Cut(below, "/")
		if deeper {
			rest = "/" + rest
		}
		return base + "/tools/" + number + "/definition" + rest
	}
	return base + "/manifest" + place
}

// Digest tells manifests apart in all that a lockfile holds of them, so that a person can
// accept exactly what was shown: 32 hex digits of the SHA-256 of the lossless compact form of
// what Normal gave.
func Digest(normal *toolmark.Manifest) string { return hash(*normal.Tree)[:32] }
