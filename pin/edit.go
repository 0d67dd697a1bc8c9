package pin

import (
	"encoding/binary"
	"slices"

	"github.com/toolmark/toolmark"
)

// edit is one difference of two trees. The places are JSON Pointers; the old one counts
// in the old tree, the new one in the new tree, and the one of the side on which there
// is nothing is where its object or array stands.
type edit struct {
	op           Op
	oldAt, newAt string
	old, new     *toolmark.Value
}

// differ compares trees. Equality of array elements is asked often, so every subtree of
// an array is given a number, equal numbers for equal trees. The numbers come from a
// table of the trees' own contents, not from a hash, so two different trees never have
// the same one.
type differ struct {
	ids   map[*toolmark.Value]uint32
	table map[string]uint32
	key   []byte
	cells int // spent on aligning
	looks int // values compared to skip what did not change
	bytes int // of pointers
}

// Limits of the alignment of arrays. Beyond them elements are compared by position.
const (
	maxAlign    = 250_000    // elements of one array times elements of the other
	maxAlignAll = 20_000_000 // the same, of all arrays together
	maxLooks    = 20_000_000 // values
	maxPointers = 64 << 20   // bytes of all pointers, a level's at once
)

// identical reports whether two trees are the same to the last literal and the order of
// members. Where they stood in the input does not count.
func identical(a, b *toolmark.Value) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	for i := range a.Items {
		if !identical(&a.Items[i], &b.Items[i]) {
			return false
		}
	}
	for i := range a.Members {
		if a.Members[i].Name != b.Members[i].Name || !identical(&a.Members[i].Value, &b.Members[i].Value) {
			return false
		}
	}
	return true
}

// affords reports whether there is room for the pointers of what two values hold. A
// hostile megabyte could hold a change every few bytes behind a pointer of half a
// megabyte; beyond the limit a value is one change.
func (d *differ) affords(o, n *toolmark.Value, oldAt, newAt string) bool {
	d.bytes += len(oldAt)*(1+len(o.Members)+len(o.Items)) + len(newAt)*(1+len(n.Members)+len(n.Items))
	return d.bytes <= maxPointers
}

// unchanged reports whether two values are identical, so that they need not be walked.
// In a deep tree with a change at its bottom every level is looked at again, so there is
// a limit, beyond which the answer is false and the walk finds what there is.
func (d *differ) unchanged(a, b *toolmark.Value) bool {
	if d.looks++; d.looks > maxLooks {
		return false
	}
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	for i := range a.Items {
		if !d.unchanged(&a.Items[i], &b.Items[i]) {
			return false
		}
	}
	for i := range a.Members {
		if a.Members[i].Name != b.Members[i].Name || !d.unchanged(&a.Members[i].Value, &b.Members[i].Value) {
			return false
		}
	}
	return true
}

// id gives the number of a tree: equal for identical trees, different for others.
func (d *differ) id(v *toolmark.Value) uint32 {
	if id, ok := d.ids[v]; ok {
		return id
	}
	children := make([]uint32, 0, len(v.Items)+len(v.Members))
	for i := range v.Items {
		children = append(children, d.id(&v.Items[i]))
	}
	for i := range v.Members {
		children = append(children, d.id(&v.Members[i].Value))
	}
	key := append(d.key[:0], byte(v.Kind))
	key = append(key, v.Text...)
	for i, child := range children {
		if len(v.Members) > 0 {
			key = binary.AppendUvarint(key, uint64(len(v.Members[i].Name)))
			key = append(key, v.Members[i].Name...)
		}
		key = binary.AppendUvarint(key, uint64(child))
	}
	d.key = key
	if d.ids == nil {
		d.ids, d.table = map[*toolmark.Value]uint32{}, map[string]uint32{}
	}
	id, ok := d.table[string(key)]
	if !ok {
		id = uint32(len(d.table)) // DefaultMaxNodes is far below 2^32
		d.table[string(key)] = id
	}
	d.ids[v] = id
	return id
}

// walk emits the differences of two trees, each at the deepest place that holds it
// whole. emit sees nothing if and only if the trees are identical.
func (d *differ) walk(o, n *toolmark.Value, oldAt, newAt string, emit func(edit)) {
	switch {
	case o.Kind == n.Kind && len(o.Members)+len(n.Members)+len(o.Items)+len(n.Items) > 0 && !d.affords(o, n, oldAt, newAt):
		if !identical(o, n) {
			emit(edit{op: OpChanged, oldAt: oldAt, newAt: newAt, old: o, new: n})
		}
	case o.Kind == toolmark.KindObject && n.Kind == toolmark.KindObject && !repeats(o) && !repeats(n):
		d.members(o, n, oldAt, newAt, emit, func(name string, a, b *toolmark.Value) {
			d.walk(a, b, toolmark.Pointer(oldAt, name), toolmark.Pointer(newAt, name), emit)
		})
	case o.Kind == toolmark.KindArray && n.Kind == toolmark.KindArray:
		d.elements(o, n, oldAt, newAt, emit, func(i, k int) {
			d.walk(&o.Items[i], &n.Items[k], toolmark.Pointer(oldAt, i), toolmark.Pointer(newAt, k), emit)
		})
	case !identical(o, n):
		emit(edit{op: OpChanged, oldAt: oldAt, newAt: newAt, old: o, new: n})
	}
}

// members emits what members were added and removed and whether the common ones stand
// in another order, and calls both for each common one that differs. No name may stand twice.
func (d *differ) members(o, n *toolmark.Value, oldAt, newAt string, emit func(edit), both func(name string, a, b *toolmark.Value)) {
	find := finder(n)
	other := finder(o)
	last, moved := -1, false
	for i := range o.Members {
		m := &o.Members[i]
		k := find(m.Name)
		if k < 0 {
			emit(edit{op: OpRemoved, oldAt: toolmark.Pointer(oldAt, m.Name), newAt: newAt, old: &m.Value})
			continue
		}
		moved = moved || k < last
		last = k
		if d.unchanged(&m.Value, &n.Members[k].Value) {
			continue
		}
		both(m.Name, &m.Value, &n.Members[k].Value)
	}
	for i := range n.Members {
		if m := &n.Members[i]; other(m.Name) < 0 {
			emit(edit{op: OpAdded, oldAt: oldAt, newAt: toolmark.Pointer(newAt, m.Name), new: &m.Value})
		}
	}
	if moved {
		emit(edit{op: OpMoved, oldAt: oldAt, newAt: newAt, old: names(o), new: names(n)})
	}
}

// elements emits how one array became another. Elements are aligned so that as many as
// possible stay; those between two that stay are paired in order and handed to both.
// Where an element would have to move the whole array is one change.
func (d *differ) elements(o, n *toolmark.Value, oldAt, newAt string, emit func(edit), both func(i, k int)) {
	a, b := d.idsOf(o), d.idsOf(n)
	if slices.Equal(a, b) {
		return
	}
	steps := d.align(a, b)
	gone := map[uint32]bool{}
	for _, s := range steps {
		for i := s.from; i < s.to; i++ {
			gone[a[i]] = true
		}
	}
	for _, s := range steps {
		for k := s.newFrom; k < s.newTo; k++ {
			if gone[b[k]] {
				emit(edit{op: OpChanged, oldAt: oldAt, newAt: newAt, old: o, new: n})
				return
			}
		}
	}
	for _, s := range steps {
		i, k := s.from, s.newFrom
		for ; i < s.to && k < s.newTo; i, k = i+1, k+1 {
			both(i, k)
		}
		for ; i < s.to; i++ {
			emit(edit{op: OpRemoved, oldAt: toolmark.Pointer(oldAt, i), newAt: newAt, old: &o.Items[i]})
		}
		for ; k < s.newTo; k++ {
			emit(edit{op: OpAdded, oldAt: oldAt, newAt: toolmark.Pointer(newAt, k), new: &n.Items[k]})
		}
	}
}

func (d *differ) idsOf(v *toolmark.Value) []uint32 {
	ids := make([]uint32, len(v.Items))
	for i := range v.Items {
		ids[i] = d.id(&v.Items[i])
	}
	return ids
}

// gap is a stretch of two lists between elements that stay.
type gap struct{ from, to, newFrom, newTo int }

// align gives the gaps between the elements of a longest common subsequence; beyond
// the limits, one gap between what is equal at both ends.
func (d *differ) align(a, b []uint32) []gap {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	endA, endB := len(a), len(b)
	for endA > head && endB > head && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	rows, columns := endA-head, endB-head
	if rows == 0 && columns == 0 {
		return nil
	}
	if rows == 0 || columns == 0 || rows > maxAlign/columns || d.cells > maxAlignAll {
		return []gap{{head, endA, head, endB}}
	}
	d.cells += rows * columns
	// length[i][k] is the longest common subsequence of a[head+i:endA] and b[head+k:endB].
	length := make([]uint16, (rows+1)*(columns+1))
	at := func(i, k int) *uint16 { return &length[i*(columns+1)+k] }
	for i := rows - 1; i >= 0; i-- {
		for k := columns - 1; k >= 0; k-- {
			if a[head+i] == b[head+k] {
				*at(i, k) = *at(i+1, k+1) + 1
			} else {
				*at(i, k) = max(*at(i+1, k), *at(i, k+1))
			}
		}
	}
	var gaps []gap
	open := gap{head, head, head, head}
	i, k := 0, 0
	for i < rows && k < columns {
		switch {
		case a[head+i] == b[head+k]:
			if open.from < head+i || open.newFrom < head+k {
				gaps = append(gaps, gap{open.from, head + i, open.newFrom, head + k})
			}
			i, k = i+1, k+1
			open = gap{from: head + i, newFrom: head + k}
		case *at(i+1, k) >= *at(i, k+1):
			i++
		default:
			k++
		}
	}
	if open.from < endA || open.newFrom < endB {
		gaps = append(gaps, gap{open.from, endA, open.newFrom, endB})
	}
	return gaps
}

// repeats reports whether a name stands twice in an object.
func repeats(v *toolmark.Value) bool {
	if len(v.Members) <= 16 {
		for i := range v.Members {
			for k := range i {
				if v.Members[i].Name == v.Members[k].Name {
					return true
				}
			}
		}
		return false
	}
	seen := make(map[string]struct{}, len(v.Members))
	for i := range v.Members {
		seen[v.Members[i].Name] = struct{}{}
	}
	return len(seen) < len(v.Members)
}

// finder gives a function from a name to the index of the member of that name, -1 where
// there is none.
func finder(v *toolmark.Value) func(string) int {
	if len(v.Members) <= 16 {
		return func(name string) int {
			for i := range v.Members {
				if v.Members[i].Name == name {
					return i
				}
			}
			return -1
		}
	}
	index := make(map[string]int, len(v.Members))
	for i := range v.Members {
		index[v.Members[i].Name] = i
	}
	return func(name string) int {
		if i, ok := index[name]; ok {
			return i
		}
		return -1
	}
}

// names gives the names of an object's members as an array of strings.
func names(v *toolmark.Value) *toolmark.Value {
	list := &toolmark.Value{Kind: toolmark.KindArray, Items: make([]toolmark.Value, len(v.Members))}
	for i := range v.Members {
		list.Items[i] = toolmark.Value{Kind: toolmark.KindString, Text: v.Members[i].Name}
	}
	return list
}
