package canonjson

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
)

// order is scratch space in which objects sort their members, the innermost last.
type order struct {
	indexes []int32
}

// members appends to o the members of one object as indexes, sorted by name with
// compare and, of equal names, only the last one. The result stays valid while inner
// objects use o; give its place back with o.release.
func (o *order) members(members []toolmark.Member, compare func(a, b string) int) []int32 {
	base := len(o.indexes)
	for i := range members {
		o.indexes = append(o.indexes, int32(i))
	}
	list := o.indexes[base:]
	if len(list) <= 16 {
		for i := 1; i < len(list); i++ {
			x := list[i]
			k := i
			for ; k > 0 && compare(members[list[k-1]].Name, members[x].Name) > 0; k-- {
				list[k] = list[k-1]
			}
			list[k] = x
		}
	} else {
		slices.SortFunc(list, func(a, b int32) int {
			return cmp.Or(compare(members[a].Name, members[b].Name), cmp.Compare(a, b))
		})
	}
	kept := list[:0]
	for i, x := range list {
		if i+1 < len(list) && members[list[i+1]].Name == members[x].Name {
			continue
		}
		kept = append(kept, x)
	}
	return kept
}

// release gives back the place of the innermost object, whose first index is at base.
func (o *order) release(base int) { o.indexes = o.indexes[:base] }

// compareCodePoints orders strings by code point, as CPython does: in WTF-8 that is
// the order of bytes.
func compareCodePoints(a, b string) int { return strings.Compare(a, b) }

// CompareUTF16 orders WTF-8 strings by UTF-16 code unit (RFC 8785, section 3.2.3). It
// differs from the order of bytes only between U+E000–U+FFFF, which start with 0xEE or
// 0xEF, and characters beyond, which start with 0xF0 or more and whose UTF-16 form
// starts with a surrogate, U+D800–U+DBFF.
func CompareUTF16(a, b string) int {
	n := min(len(a), len(b))
	for i := 0; i < n; i++ {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0) {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	}
	return cmp.Compare(len(a), len(b))
}
