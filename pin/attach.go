package pin

import (
	"strings"

	"github.com/toolmark/toolmark"
)

// Attach gives each change the findings that a scan of the new manifest has at its place
// and a scan of the old one had not, raises the change's severity to theirs, and sorts
// the changes, so that those with findings come first. It returns the new findings that
// belong to no change: they are about places that did not change, such as a name that
// another server's tool has taken since.
//
// A finding is new where the old scan has none with the same code, reason and evidence
// for the tool that the drift says is the same. Indexes of findings are those of the
// lists that were compared.
func (d *Drift) Attach(old, new []toolmark.Finding) []toolmark.Finding {
	before := map[int]int{} // new index to old
	changed := map[int]bool{}
	for i := range d.Tools {
		t := &d.Tools[i]
		if t.NewIndex >= 0 {
			before[t.NewIndex], changed[t.NewIndex] = t.OldIndex, true
		}
	}
	type known struct {
		index int
		what  string
	}
	seen := map[known]bool{}
	unplaced := map[string]bool{}
	for i := range old {
		f := &old[i]
		for _, what := range evidence(f) {
			seen[known{f.Index, what}] = true
			unplaced[string(f.Tool)+"\x00"+what] = true
		}
	}
	var rest []toolmark.Finding
	for i := range new {
		f := new[i]
		fresh := false
		for _, what := range evidence(&f) {
			if f.Index >= 0 && changed[f.Index] {
				fresh = fresh || !seen[known{before[f.Index], what}]
			} else {
				// The tool did not change, but it may have moved.
				fresh = fresh || !unplaced[string(f.Tool)+"\x00"+what]
			}
		}
		if fresh && !d.place(f) {
			rest = append(rest, f)
		}
	}
	d.Sort()
	return rest
}

// evidence gives what tells findings apart, one for each place.
func evidence(f *toolmark.Finding) []string {
	base := string(f.Code) + "\x00" + f.Severity.String() + "\x00" + f.Reason
	places := f.Places()
	if len(places) == 0 {
		return []string{base}
	}
	list := make([]string, 0, len(places))
	for _, p := range places {
		list = append(list, strings.Join([]string{base, string(p.Pointer), p.Reading, p.Rule, p.Kind, string(p.Excerpt)}, "\x00"))
	}
	return list
}

// place gives a finding to the changes of its tool at whose places it was found; where
// it has no place there, to the first change of its tool.
func (d *Drift) place(f toolmark.Finding) bool {
	var first *Change
	placed := false
	for i := range d.Changes {
		c := &d.Changes[i]
		if c.NewIndex != f.Index || c.Op == OpRemoved || c.Op == OpMoved {
			continue
		}
		if f.Index < 0 && c.OldIndex >= 0 {
			continue
		}
		if first == nil && f.Index >= 0 {
			first = c
		}
		for _, p := range f.Places() {
			if under(string(p.Pointer), string(c.Pointer)) {
				c.take(f)
				placed = true
				break
			}
		}
	}
	if !placed && first != nil {
		first.take(f)
		placed = true
	}
	return placed
}

func (c *Change) take(f toolmark.Finding) {
	c.Findings = append(c.Findings, f)
	c.Severity = max(c.Severity, f.Severity)
}

// under reports whether a place is another one or lies in it.
func under(pointer, at string) bool {
	return pointer == at || strings.HasPrefix(pointer, at) && (at == "" || pointer[len(at):][0] == '/')
}
