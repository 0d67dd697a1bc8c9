package pin

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/toolmark/toolmark"
)

// Apply makes the new manifest's object from the old one's and the drift between them:
// Apply(Comparable(old), Diff(old, new)) is Comparable(new), but that a member which was
// added stands last where the others kept their order. That Apply can do so is what it
// means that a drift shows every change; nothing else needs it.
//
// An error says that a change does not fit. The drift must be one of Diff, with all its
// changes. Old is not changed; the result shares its parts.
func Apply(old *toolmark.Value, d *Drift) (*toolmark.Value, error) {
	if d.Unread != "" {
		return nil, fmt.Errorf("apply a drift: there is no new list")
	}
	a := applier{manifest: newChangeSet(), tools: map[int]*changeSet{}}
	for i := range d.Changes {
		a.take(&d.Changes[i])
	}
	made, err := a.value(old, "", a.manifest)
	if err != nil {
		return nil, fmt.Errorf("apply a drift: %w", err)
	}
	return made, nil
}

// applier holds the changes of the manifest and those of each tool by its old index.
type applier struct {
	manifest *changeSet
	tools    map[int]*changeSet
}

// changeSet holds changes by their place in the old tree.
type changeSet struct {
	at    map[string]*Change   // changed or removed
	below map[string][]*Change // added, by the object or array they were added to
	moved map[string]*Change
}

func newChangeSet() *changeSet {
	return &changeSet{at: map[string]*Change{}, below: map[string][]*Change{}, moved: map[string]*Change{}}
}

const toolsAt = "/tools"

func (a *applier) take(c *Change) {
	set, at := a.manifest, string(c.OldPointer)
	switch {
	case c.OldIndex < 0 && c.NewIndex >= 0: // a tool
		set.below[toolsAt] = append(set.below[toolsAt], c)
		return
	case c.OldIndex >= 0 && c.NewIndex < 0:
		set.at[toolmark.Pointer(toolsAt, c.OldIndex)] = c
		return
	case c.OldIndex >= 0:
		if a.tools[c.OldIndex] == nil {
			a.tools[c.OldIndex] = newChangeSet()
		}
		set = a.tools[c.OldIndex]
	}
	switch c.Op {
	case OpMoved:
		set.moved[at] = c
	case OpAdded:
		set.below[at] = append(set.below[at], c)
	default:
		set.at[at] = c
	}
}

// value gives what became of a value that stands at a place of the old tree. It is nil
// for one that was removed.
func (a *applier) value(v *toolmark.Value, at string, set *changeSet) (*toolmark.Value, error) {
	if c := set.at[at]; c != nil {
		if c.Op == OpRemoved {
			return nil, nil
		}
		if c.New == nil {
			return nil, fmt.Errorf("%s has no new value", c.Pointer)
		}
		return c.New, nil
	}
	switch v.Kind {
	case toolmark.KindObject:
		return a.object(v, at, set)
	case toolmark.KindArray:
		return a.array(v, at, set)
	}
	return v, nil
}

func (a *applier) object(v *toolmark.Value, at string, set *changeSet) (*toolmark.Value, error) {
	made := *v
	made.Members = make([]toolmark.Member, 0, len(v.Members))
	for i := range v.Members {
		m := v.Members[i]
		value, err := a.value(&m.Value, toolmark.Pointer(at, m.Name), set)
		if err != nil {
			return nil, err
		}
		if value != nil {
			m.Value = *value
			made.Members = append(made.Members, m)
		}
	}
	for _, c := range set.below[at] {
		made.Members = append(made.Members, toolmark.Member{Name: last(string(c.Pointer)), Value: *c.New})
	}
	if c := set.moved[at]; c != nil {
		place := make(map[string]int, len(c.New.Items))
		for i := range c.New.Items {
			place[c.New.Items[i].Text] = i
		}
		slices.SortStableFunc(made.Members, func(x, y toolmark.Member) int { return place[x.Name] - place[y.Name] })
	}
	return &made, nil
}

func (a *applier) array(v *toolmark.Value, at string, set *changeSet) (*toolmark.Value, error) {
	added := map[int]*toolmark.Value{}
	for _, c := range set.below[at] {
		index := c.NewIndex
		if index < 0 || c.OldIndex >= 0 {
			i, err := strconv.Atoi(last(string(c.Pointer)))
			if err != nil {
				return nil, fmt.Errorf("%s is no place in an array", c.Pointer)
			}
			index = i
		}
		added[index] = c.New
	}
	kept := make([]*toolmark.Value, len(v.Items)) // nil for what was removed
	left := []*toolmark.Value{}
	for i := range v.Items {
		where, changes := toolmark.Pointer(at, i), set
		if at == toolsAt && set == a.manifest && set.at[where] == nil {
			if where, changes = "", a.tools[i]; changes == nil {
				changes = newChangeSet()
			}
		}
		value, err := a.value(&v.Items[i], where, changes)
		if err != nil {
			return nil, err
		}
		if kept[i] = value; value != nil {
			left = append(left, value)
		}
	}
	made := *v
	made.Items = make([]toolmark.Value, len(left)+len(added))
	var moves []int
	if c := set.moved[at]; c != nil {
		moves = c.Moves
	}
	for k := range made.Items {
		value := added[k]
		switch {
		case value != nil:
		case moves != nil && k < len(moves) && moves[k] >= 0 && moves[k] < len(kept):
			value = kept[moves[k]]
		case moves == nil && len(left) > 0:
			value, left = left[0], left[1:]
		}
		if value == nil {
			return nil, fmt.Errorf("nothing stands at %s", toolmark.Pointer(at, k))
		}
		made.Items[k] = *value
	}
	return &made, nil
}
