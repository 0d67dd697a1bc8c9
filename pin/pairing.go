package pin

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
)

// pairs says which entry of one list is which of another; -1 is none.
type pairs struct {
	to   []int // for each old entry its place in the new list
	from []int // for each new entry its place in the old list
}

func (p *pairs) set(i, k int) { p.to[i], p.from[k] = k, i }

// moved reports whether the paired entries stand in another order.
func (p *pairs) moved() bool {
	last := -1
	for _, i := range p.from {
		if i >= 0 {
			if i < last {
				return true
			}
			last = i
		}
	}
	return false
}

// pair finds the same entries in two lists: by the name that stands under key, equal
// contents first where a name stands more than once, then in order; and, where renames
// are looked for, entries whose contents are equal but for the name.
func (c *comparison) pair(a, b []toolmark.Value, key string, renames bool) pairs {
	p := pairs{to: slices.Repeat([]int{-1}, len(a)), from: slices.Repeat([]int{-1}, len(b))}
	byName := make(map[string][]int, len(b))
	for k := range b {
		name := nameOf(&b[k], key)
		byName[name] = append(byName[name], k)
	}
	counts := make(map[string]int, len(a))
	for i := range a {
		counts[nameOf(&a[i], key)]++
	}
	// Most names stand once, and then contents need not be looked at.
	for i := range a {
		name := nameOf(&a[i], key)
		if free := byName[name]; len(free) == 1 && counts[name] == 1 {
			p.set(i, free[0])
		}
	}
	c.match(p, a, b, func(v *toolmark.Value) string { return string(contents(nil, v, "")) }, func(i, k int) bool {
		return nameOf(&a[i], key) == nameOf(&b[k], key)
	})
	for i := range a {
		if p.to[i] >= 0 {
			continue
		}
		for _, k := range byName[nameOf(&a[i], key)] {
			if p.from[k] < 0 {
				p.set(i, k)
				break
			}
		}
	}
	if renames {
		c.match(p, a, b, func(v *toolmark.Value) string { return string(contents(nil, v, key)) }, func(int, int) bool { return true })
	}
	return p
}

// match pairs entries that are still free and have the same form, in order.
func (c *comparison) match(p pairs, a, b []toolmark.Value, form func(*toolmark.Value) string, also func(i, k int) bool) {
	if !slices.Contains(p.to, -1) || !slices.Contains(p.from, -1) {
		return
	}
	byForm := map[string][]int{}
	for k := range b {
		if p.from[k] < 0 {
			f := form(&b[k])
			byForm[f] = append(byForm[f], k)
		}
	}
	for i := range a {
		if p.to[i] >= 0 {
			continue
		}
		f := form(&a[i])
		if at := slices.IndexFunc(byForm[f], func(k int) bool { return also(i, k) }); at >= 0 {
			p.set(i, byForm[f][at])
			byForm[f] = slices.Delete(byForm[f], at, at+1)
		}
	}
}

func nameOf(v *toolmark.Value, key string) string {
	if n := v.Get(key); n.Kind == toolmark.KindString {
		return n.Text
	}
	return ""
}

// contents gives an entry's members but one in a form in which the order of members
// does not count; numbers keep their spelling and a member that stands twice its place,
// so equal forms are the same definition.
func contents(dst []byte, v *toolmark.Value, without string) []byte {
	switch v.Kind {
	case toolmark.KindObject:
		order := make([]*toolmark.Member, 0, len(v.Members))
		for i := range v.Members {
			if without == "" || v.Members[i].Name != without {
				order = append(order, &v.Members[i])
			}
		}
		slices.SortStableFunc(order, func(a, b *toolmark.Member) int {
			return strings.Compare(a.Name, b.Name)
		})
		dst = append(dst, '{')
		for _, m := range order {
			dst = append(toolmark.AppendQuoted(dst, m.Name), ':')
			dst = append(contents(dst, &m.Value, ""), ',')
		}
		return append(dst, '}')
	case toolmark.KindArray:
		dst = append(dst, '[')
		for i := range v.Items {
			dst = append(contents(dst, &v.Items[i], ""), ',')
		}
		return append(dst, ']')
	case toolmark.KindString:
		return toolmark.AppendQuoted(dst, v.Text)
	case toolmark.KindNumber:
		return append(dst, v.Text...)
	}
	return append(dst, byte('0'+v.Kind))
}

// Resemblance of a removed and an added tool.
const (
	maxWords  = 64 // words of a description that are looked at
	fewWords  = 8  // a description of fewer words is like many others
	alikeName = 0.5
	alikeText = 0.8
)

// resemble gives, for each added tool, the removed tool it resembles, -1 where there is
// none; no removed tool is given twice, and the closest come first. Two tools resemble
// each other where more than half of the words of their names are the same, or four
// fifths of those of their descriptions: of the shorter one each, for what a rename would
// hide is what was added.
func resemble(removed, added []*toolmark.Value) []int {
	type words struct{ name, text map[string]bool }
	read := func(v *toolmark.Value) words {
		return words{wordSet(nameOf(v, "name")), wordSet(nameOf(v, "description"))}
	}
	olds := make([]words, len(removed))
	for i, v := range removed {
		olds[i] = read(v)
	}
	type match struct {
		i, k  int
		score float64
	}
	var matches []match
	for k, v := range added {
		w := read(v)
		for i, old := range olds {
			byName, byText := common(w.name, old.name), common(w.text, old.text)
			if min(len(w.text), len(old.text)) < fewWords {
				byText = 0
			}
			if byName > alikeName || byText >= alikeText {
				matches = append(matches, match{i, k, byName + byText})
			}
		}
	}
	slices.SortStableFunc(matches, func(x, y match) int { return cmp.Compare(y.score, x.score) })
	best := slices.Repeat([]int{-1}, len(added))
	used := make([]bool, len(removed))
	for _, m := range matches {
		if best[m.k] < 0 && !used[m.i] {
			best[m.k], used[m.i] = m.i, true
		}
	}
	return best
}

// common gives the share of the smaller set that is in the other.
func common(a, b map[string]bool) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 0
	}
	n := 0
	for w := range a {
		if b[w] {
			n++
		}
	}
	return float64(n) / float64(len(a))
}

// wordSet gives the words of a text in lower case; in a name, parts between separators
// and humps are words too.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, token := range tokens(text, 4*maxWords) {
		from := 0
		for i := 1; i <= len(token); i++ {
			if i < len(token) && token[i] != '_' && (token[i] < 'A' || token[i] > 'Z' || token[i-1] >= 'A' && token[i-1] <= 'Z') {
				continue
			}
			if part := strings.ToLower(strings.Trim(token[from:i], "_ ")); part != "" && len(set) < maxWords {
				set[part] = true
			}
			from = i
		}
	}
	return set
}
