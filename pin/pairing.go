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
func pair(a, b []toolmark.Value, key string, renames bool) pairs {
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
	match(p, a, b, func(v *toolmark.Value) (string, bool) {
		name := nameOf(v, key)
		if len(byName[name]) == 0 || counts[name] == 0 {
			return "", false
		}
		return string(contents(nil, v, "")), true
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
		match(p, a, b, func(v *toolmark.Value) (string, bool) { return string(contents(nil, v, key)), true })
	}
	return p
}

// match pairs entries that are still free and have the same form, in order; form says
// too whether an entry takes part.
func match(p pairs, a, b []toolmark.Value, form func(*toolmark.Value) (string, bool)) {
	if !slices.Contains(p.to, -1) || !slices.Contains(p.from, -1) {
		return
	}
	byForm := map[string][]int{}
	for k := range b {
		if p.from[k] < 0 {
			if f, ok := form(&b[k]); ok {
				byForm[f] = append(byForm[f], k)
			}
		}
	}
	if len(byForm) == 0 {
		return
	}
	for i := range a {
		if p.to[i] >= 0 {
			continue
		}
		f, ok := form(&a[i])
		if same := byForm[f]; ok && len(same) > 0 {
			p.set(i, same[0])
			byForm[f] = same[1:]
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
	maxAlike  = 4  // removed tools that are considered for an added one
	alikeName = 0.5
	alikeText = 0.8
)

// resemble gives, for each added tool, the removed tool it resembles, -1 where there is
// none; no removed tool is given twice, and the closest come first. Two tools resemble
// each other where more than half of the words of their names are the same, or four
// fifths of those of their descriptions: of the shorter one each, for what a rename would
// hide is what was added.
func resemble(removed, added []*toolmark.Value) []int {
	type words struct{ name, text []int }
	index := map[string]int{}
	read := func(v *toolmark.Value) words {
		return words{wordSet(nameOf(v, "name"), index), wordSet(nameOf(v, "description"), index)}
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
		first := len(matches)
		for i, old := range olds {
			byName, byText := common(w.name, old.name), 0.0
			if min(len(w.text), len(old.text)) >= fewWords {
				byText = common(w.text, old.text)
			}
			if byName <= alikeName && byText < alikeText {
				continue
			}
			// The closest few are enough, and of equal ones the first.
			m := match{i, k, byName + byText}
			at := len(matches)
			for at > first && matches[at-1].score < m.score {
				at--
			}
			if at-first < maxAlike {
				matches = slices.Insert(matches, at, m)
				matches = matches[:min(len(matches), first+maxAlike)]
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

// common gives the share of the smaller of two sorted sets that is in the other.
func common(a, b []int) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := 0
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i] == b[k]:
			n, i, k = n+1, i+1, k+1
		case a[i] < b[k]:
			i++
		default:
			k++
		}
	}
	return float64(n) / float64(min(len(a), len(b)))
}

// wordSet gives the words of a text as numbers, sorted, each once: in lower case, and in
// a name the parts between separators and humps. The index holds a number for each word.
func wordSet(text string, index map[string]int) []int {
	var set []int
	for _, token := range tokens(text, 4*maxWords) {
		from := 0
		for i := 1; i <= len(token) && len(set) < maxWords; i++ {
			if i < len(token) && token[i] != '_' && (token[i] < 'A' || token[i] > 'Z' || token[i-1] >= 'A' && token[i-1] <= 'Z') {
				continue
			}
			part := strings.ToLower(strings.Trim(token[from:i], "_"))
			from = i
			if strings.Trim(part, " ") == "" {
				continue
			}
			n, ok := index[part]
			if !ok {
				n = len(index)
				index[part] = n
			}
			set = append(set, n)
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}
