package pin

import (
	"cmp"
	"slices"

	"github.com/toolmark/toolmark"
)

// Drift is the difference of two manifests: what happened to which tool, and every place
// that differs. The zero Drift says that nothing differs at all.
type Drift struct {
	// Tools are the tools of which anything differs, in the order of the new list, those
	// that were removed last.
	Tools []ToolDrift `json:"tools"`
	// Changes are the differences, the ones that weigh most first; see Sort.
	Changes []Change `json:"changes"`
	// Unread says, in words for a person, why there is no new list to compare; "" where
	// there is one. Nothing may then be said of the tools.
	Unread toolmark.Text `json:"unread,omitempty"`
}

// ToolDrift is what happened to one tool.
type ToolDrift struct {
	Status Status `json:"status"`
	// Name is the name in the new list, or in the old one for a tool that was removed.
	Name    toolmark.Text `json:"name"`
	OldName toolmark.Text `json:"old_name,omitempty"` // of a renamed tool
	// OldIndex and NewIndex are its places in the lists, -1 where it is not. Names need
	// not be unique, so these tell tools apart.
	OldIndex int `json:"old_index"`
	NewIndex int `json:"new_index"`
	// Schema and OutputSchema are what the changes do to the schemas as wholes; "" where
	// nothing differs.
	Schema       Effect `json:"schema,omitempty"`
	OutputSchema Effect `json:"output_schema,omitempty"`
	// Resembles names the removed tool that this added one most resembles, if one does:
	// a rename with other changes. Both remain an addition and a removal.
	Resembles toolmark.Text `json:"resembles,omitempty"`
	// Severity is that of its worst change.
	Severity toolmark.Severity `json:"severity"`
}

// Change is one difference.
type Change struct {
	Code     toolmark.Code
	Severity toolmark.Severity
	Op       Op
	Kind     Kind
	Effect   Effect
	// Tool is the tool's name in the new list (in the old one if it was removed), "*"
	// for what is not about one tool. OldTool is the name before, for a renamed tool.
	Tool    toolmark.Text
	OldTool toolmark.Text
	// OldIndex and NewIndex are the tool's places in the lists, -1 where it is not.
	OldIndex, NewIndex int
	// Pointer is the place as a JSON Pointer, from the tool's own object, or for "*" from
	// the object that holds "tools". It counts in the new tree; for what was removed, in
	// the old one. OldPointer is the place in the old tree.
	Pointer, OldPointer toolmark.Text
	// Old and New are the values, nil where there is none. For OpMoved they are arrays of
	// the names in the old and the new order.
	Old, New *toolmark.Value
	// Moves says, for a list of the manifest that has another order, for each place of the
	// new list where that entry stood in the old one, -1 for one that was added.
	Moves []int
	// AddsText: there is text now which a model may read and which was not there before.
	AddsText bool
	// Reason says in our own words what happened; it holds no text of the manifest.
	Reason string
	// Findings are what a scan found here and had not found before. Diff leaves it empty;
	// see Attach.
	Findings []toolmark.Finding
}

// Neutral reports whether the change is shown but fails nothing: another order, or
// another way to write the same.
func (c *Change) Neutral() bool {
	return len(c.Findings) == 0 && (c.Kind == KindOrder || c.Effect == EffectEquivalent)
}

// Fails reports whether the change weighs at least as much as what a check should fail
// on.
func (c *Change) Fails(on toolmark.Severity) bool { return !c.Neutral() && c.Severity >= on }

// Options are the choices of Diff. The zero Options compare everything.
type Options struct {
	// Ignore names further members of the manifest's object that are not compared. The
	// members that say how a list was fetched never are: see Comparable.
	Ignore []string
	// ToolsOnly compares nothing but the tools, for a source that has nothing else.
	ToolsOnly bool
}

// Diff compares two manifests. It gives no changes if and only if what Comparable gives
// for them is the same to the last number's spelling and the order of members.
//
// A manifest that is nil was not read. Where old is nil everything is added; where new is
// nil the drift is what Unread gives: no list is not an empty list.
//
// The time it takes is linear in the size of the manifests but for what it takes to
// understand schemas and to align arrays, which is bounded; beyond those bounds a schema
// change is restructured and an array is compared by position.
func Diff(old, new *toolmark.Manifest, opts Options) *Drift {
	if new == nil {
		return Unread("")
	}
	o, n := Comparable(old, opts), Comparable(new, opts)
	if identical(o, n) {
		return &Drift{}
	}
	c := &comparison{drift: &Drift{}, steps: stepsAll}
	c.manifest(o, n)
	c.drift.Sort()
	return c.drift
}

// Unread gives the drift of a server whose list could not be read, with the reason for a
// person.
func Unread(reason string) *Drift {
	if reason == "" {
		reason = "there is no list to compare"
	}
	return &Drift{Unread: toolmark.Text(reason), Changes: []Change{{
		Code: toolmark.CodeUnread, Severity: toolmark.Medium, Op: OpRemoved, Kind: KindUnread,
		Tool: toolmark.WholeList, OldIndex: -1, NewIndex: -1,
		Reason: "the new list could not be read, so nothing is known about it",
	}}}
}

// Empty reports whether nothing differs at all.
func (d *Drift) Empty() bool { return len(d.Changes) == 0 }

// Changed reports whether anything differs that is not neutral. A list that could not be
// read is not known to be unchanged, so it is changed.
func (d *Drift) Changed() bool {
	return slices.ContainsFunc(d.Changes, func(c Change) bool { return !c.Neutral() })
}

// Written reports whether anything is written otherwise than before, if only in form:
// anything but another order. A scan of the new manifest may then find what one of the old
// had not: the name of a definition, say, means nothing to a validator, and a model reads
// it all the same.
func (d *Drift) Written() bool {
	return slices.ContainsFunc(d.Changes, func(c Change) bool { return c.Kind != KindOrder })
}

// Fails reports whether any change weighs at least as much as what a check should fail
// on.
func (d *Drift) Fails(on toolmark.Severity) bool {
	return slices.ContainsFunc(d.Changes, func(c Change) bool { return c.Fails(on) })
}

// Worst gives the greatest severity of a change that is not neutral, 0 where there is
// none.
func (d *Drift) Worst() toolmark.Severity {
	var worst toolmark.Severity
	for i := range d.Changes {
		if c := &d.Changes[i]; !c.Neutral() {
			worst = max(worst, c.Severity)
		}
	}
	return worst
}

// Of gives the changes of one entry of Tools, in the order of Changes.
func (d *Drift) Of(t *ToolDrift) []*Change {
	var list []*Change
	for i := range d.Changes {
		if c := &d.Changes[i]; c.OldIndex == t.OldIndex && c.NewIndex == t.NewIndex {
			list = append(list, c)
		}
	}
	return list
}

// Sort puts the changes in their order: those with findings first, neutral ones last,
// otherwise by severity; then by tool as sent, the whole list before them; then by code
// and place.
func (d *Drift) Sort() {
	index := func(c *Change) int {
		if c.NewIndex >= 0 {
			return c.NewIndex
		}
		if c.OldIndex >= 0 {
			return 1<<30 + c.OldIndex
		}
		return -1
	}
	slices.SortStableFunc(d.Changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(rank(&a), rank(&b)),
			cmp.Compare(b.Severity, a.Severity),
			cmp.Compare(index(&a), index(&b)),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Pointer, b.Pointer),
		)
	})
}

func rank(c *Change) int {
	switch {
	case len(c.Findings) > 0:
		return 0
	case c.Neutral():
		return 2
	}
	return 1
}
