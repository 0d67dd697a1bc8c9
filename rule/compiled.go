package rule

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"slices"

	"github.com/toolmark/toolmark"
)

// The compiled form of a rule set holds all that matching reads, in the order in
// which it is read, so that a program need not parse its rules at each start. It holds
// no examples and no compiled patterns: the ones stay in the rules' files, the others
// are made when first needed. So are the chains of patterns, which most texts ask nothing of.
//
// It is for the program that it is built into, of the same version, and no format to
// exchange: Load refuses what its own Compile would not have written for these files,
// and reads the files instead.
//
//	compiledMagic            the format, changed whenever what is written here changes
//	stamp                    4 bytes: CRC-32C of all files, names and contents
//	sum                      4 bytes: CRC-32C of what follows
//	table of texts           their number, their lengths, their bytes
//	the set                  see codec.set
//
// Numbers are unsigned varints; a text is its number in the table; lists begin with
// their length.
const compiledMagic = "toolmark rules 7\n"

// Compile loads the rule set in fsys, checks all that Load checks, and gives its
// compiled form, for Options.Compiled. The same files give the same bytes.
func Compile(fsys fs.FS) ([]byte, error) {
	s, err := Load(fsys)
	if err != nil {
		return nil, err
	}
	stamp, err := stampOf(fsys)
	if err != nil {
		return nil, err
	}
	c := &codec{writing: true, numbers: map[string]uint64{}}
	c.set(s)
	var out []byte
	out = binary.AppendUvarint(out, uint64(len(c.texts)))
	for _, text := range c.texts {
		out = binary.AppendUvarint(out, uint64(len(text)))
	}
	for _, text := range c.texts {
		out = append(out, text...)
	}
	out = append(out, c.out...)
	head := binary.LittleEndian.AppendUint32([]byte(compiledMagic), stamp)
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(out, castagnoli))
	return append(head, out...), nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stampOf tells the files of a rule set from those of another. It is to notice a
// compiled form that was not made anew, not to withstand somebody.
func stampOf(fsys fs.FS) (uint32, error) {
	files, err := ruleFiles(fsys)
	if err != nil {
		return 0, fmt.Errorf("load rules: %w", err)
	}
	sum := uint32(0)
	for _, file := range files {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return 0, fmt.Errorf("load rules: %w", err)
		}
		sum = crc32.Update(sum, castagnoli, fmt.Appendf(nil, "%s %d\n", file, len(data)))
		sum = crc32.Update(sum, castagnoli, data)
	}
	return sum, nil
}

var (
	errStale   = errors.New("the compiled rules are not those of the files: compile them anew")
	errDamaged = errors.New("load rules: the compiled rules are damaged")
)

// loadCompiled reads what Compile wrote for the same files; errStale where it is for
// others.
func loadCompiled(data string, fsys fs.FS) (*Set, error) {
	stamp, err := stampOf(fsys)
	if err != nil {
		return nil, err
	}
	head := string(binary.LittleEndian.AppendUint32([]byte(compiledMagic), stamp))
	if len(data) < len(head) || data[:len(head)] != head {
		return nil, errStale
	}
	data = data[len(head):]
	if len(data) < 4 {
		return nil, errDamaged
	}
	body := data[4:]
	if sum := sumOf(body); string(binary.LittleEndian.AppendUint32(nil, sum)) != data[:4] {
		return nil, errDamaged
	}
	return readCompiled(body, fsys)
}

// sumOf gives the CRC-32C of s. It does not make a copy of all of it.
func sumOf(s string) uint32 {
	buffer := make([]byte, 1<<14)
	sum := uint32(0)
	for s != "" {
		n := copy(buffer, s)
		sum, s = crc32.Update(sum, castagnoli, buffer[:n]), s[n:]
	}
	return sum
}

func readCompiled(body string, fsys fs.FS) (*Set, error) {
	c := &codec{in: body, fsys: fsys}
	lengths := make([]int, c.length())
	total := 0
	for i := range lengths {
		lengths[i] = c.length()
		total += lengths[i]
	}
	if c.failed || total > len(c.in) {
		return nil, errDamaged
	}
	for _, n := range lengths {
		c.texts = append(c.texts, c.in[:n])
		c.in = c.in[n:]
	}
	s := &Set{byID: map[string]*Rule{}, families: map[string]*family{}, retired: map[string]bool{}}
	c.set(s)
	if c.failed || len(c.in) > 0 {
		return nil, errDamaged
	}
	s.build()
	return s, nil
}

// codec writes a set, or reads one: each member is named once, for both.
type codec struct {
	writing bool
	out     []byte
	numbers map[string]uint64 // of texts, in writing
	in      string
	fsys    fs.FS
	failed  bool
	texts   []string

	entries  []*entry
	families []*family
	excuses  []*excuse
	sets     int
	known    map[*entry]int // in writing
	places   map[*family]int
}

func (c *codec) fail() { c.failed, c.in = true, "" }

func (c *codec) uint(v uint64) uint64 {
	if c.writing {
		c.out = binary.AppendUvarint(c.out, v)
		return v
	}
	var x uint64
	for i := 0; i < len(c.in) && i < binary.MaxVarintLen64; i++ {
		b := c.in[i]
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.in = c.in[i+1:]
			return x
		}
	}
	c.fail()
	return 0
}

// length reads a number of things that each take a byte or more, apart from texts.
func (c *codec) length() int {
	n := c.uint(0)
	if n > uint64(len(c.in)) {
		c.fail()
		return 0
	}
	return int(n)
}

func number[T ~int | ~int32 | ~uint8 | ~uint16 | ~uint32 | ~uint64](c *codec, v *T) {
	*v = T(c.uint(uint64(*v)))
}

// index is a number below n.
func (c *codec) index(v *int, n int) {
	number(c, v)
	if !c.writing && (*v < 0 || *v >= n) {
		c.fail()
		*v = 0
	}
}

func (c *codec) flag(v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	*v = c.uint(n) == 1
}

func text[T ~string](c *codec, v *T) {
	if !c.writing {
		if n := c.uint(0); n < uint64(len(c.texts)) {
			*v = T(c.texts[n])
		} else {
			c.fail()
		}
		return
	}
	n, ok := c.numbers[string(*v)]
	if !ok {
		n = uint64(len(c.texts))
		c.numbers[string(*v)] = n
		c.texts = append(c.texts, string(*v))
	}
	c.uint(n)
}

// list writes or reads a list whose items each take a byte or more.
func list[T any](c *codec, l *[]T, item func(*T)) {
	if c.writing {
		c.uint(uint64(len(*l)))
	} else if n := c.length(); n > 0 {
		*l = make([]T, n)
	}
	for i := range *l {
		item(&(*l)[i])
		if c.failed {
			return
		}
	}
}

func textList[T ~string](c *codec, l *[]T) { list(c, l, func(v *T) { text(c, v) }) }

func (c *codec) set(s *Set) {
	if c.writing {
		c.known, c.places = map[*entry]int{}, map[*family]int{}
		for _, name := range slices.Sorted(maps.Keys(s.families)) {
			f := s.families[name]
			c.places[f] = len(c.families)
			c.families = append(c.families, f)
			for _, e := range f.entries {
				if _, ok := c.known[e]; !ok {
					c.known[e] = len(c.entries)
					c.entries = append(c.entries, e)
				}
			}
		}
		c.excuses = excusesOf(s)
	}
	c.allEntries()
	list(c, &c.families, c.family)
	c.indexTables(&s.index)
	list(c, &c.excuses, c.excuse)
	list(c, &s.rules, c.rule)
	retired := slices.Sorted(maps.Keys(s.retired))
	textList(c, &retired)
	if !c.writing && !c.failed {
		c.link(s, retired)
	}
	c.triggers(s)
}

// link gives what was read its numbers and names.
func (c *codec) link(s *Set, retired []string) {
	for i, f := range c.families {
		f.number = i
		s.families[f.name] = f
	}
	s.excuses = len(c.excuses)
	for i, r := range s.rules {
		r.index = i
		s.byID[r.ID] = r
		for _, alt := range r.alternatives {
			alt.rule, alt.order = r, len(s.alternatives)
			s.alternatives = append(s.alternatives, alt)
		}
	}
	for _, id := range retired {
		s.retired[id] = true
	}
}

// excusesOf gives the excuses of a set in the order of their numbers.
func excusesOf(s *Set) []*excuse {
	all := make([]*excuse, s.excuses)
	keep := func(lists ...[]*excuse) {
		for _, list := range lists {
			for _, e := range list {
				all[e.number-1] = e
			}
		}
	}
	for _, r := range s.rules {
		keep(r.unless, r.downgrade)
		for _, alt := range r.alternatives {
			keep(alt.unless, alt.downgrade)
		}
	}
	return all
}

// allEntries is the words of all families, each once. There are many: they are made
// in two pieces.
func (c *codec) allEntries() {
	parts := 0
	for _, e := range c.entries {
		parts += len(e.parts)
	}
	n := len(c.entries)
	if c.writing {
		c.uint(uint64(parts))
		c.uint(uint64(n))
	} else {
		parts, n = c.length(), c.length()
	}
	if !c.writing {
		entries := make([]entry, n)
		c.entries = make([]*entry, n)
		for i := range entries {
			c.entries[i] = &entries[i]
		}
	}
	pieces := make([]part, 0, parts)
	for _, e := range c.entries {
		n := len(e.parts)<<4 | e.rarest<<1 | int(flag(e.turkish, 1))
		number(c, &n)
		n, e.rarest, e.turkish = n>>4, n>>1&7, n&1 != 0
		if !c.writing {
			if n <= e.rarest || n > cap(pieces)-len(pieces) {
				c.fail()
				return
			}
			pieces = pieces[:len(pieces)+n]
			e.parts = pieces[len(pieces)-n:][:n:n]
		}
		for i := range e.parts {
			p := &e.parts[i]
			flags := flag(p.before, 1) | flag(p.after, 2) | flag(p.any, 4) | flag(p.source != p.text, 8)
			number(c, &flags)
			p.before, p.after, p.any = flags&1 != 0, flags&2 != 0, flags&4 != 0
			text(c, &p.text)
			if flags&8 != 0 {
				text(c, &p.source)
			} else {
				p.source = p.text
			}
		}
	}
}

func (c *codec) entry(e **entry) {
	n := c.known[*e]
	c.index(&n, len(c.entries))
	if !c.failed {
		*e = c.entries[n]
	}
}

func (c *codec) family(f **family) {
	if *f == nil {
		*f = &family{}
	}
	text(c, &(*f).name)
	set := (*f).set + 1
	number(c, &set)
	(*f).set = set - 1
	list(c, &(*f).entries, c.entry)
}

// optional is a family or none.
func (c *codec) optional(f **family) {
	n := 0
	if *f != nil {
		n = c.places[*f] + 1
	}
	c.index(&n, len(c.families)+1)
	if n > 0 {
		*f = c.families[n-1]
	}
}

func (c *codec) member(f **family) {
	n := c.places[*f]
	c.index(&n, len(c.families))
	if !c.failed {
		*f = c.families[n]
	}
}

func (c *codec) indexTables(x *index) {
	sets, uses := x.sets, 0
	for i := range x.atoms {
		uses += len(x.atoms[i].sets)
	}
	number(c, &sets)
	number(c, &uses)
	c.sets = sets
	if !c.writing && (sets > len(c.in) || uses > len(c.in)) {
		c.fail()
		return
	}
	list(c, &x.literals, func(l *literal) {
		text(c, &l.text)
		number(c, &l.atom)
		number(c, &l.phrase)
	})
	all := make([]int32, 0, uses)
	list(c, &x.atoms, func(a *atom) {
		number(c, &a.next)
		n := 0
		if a.entry != nil {
			n = c.known[a.entry] + 1
		}
		c.index(&n, len(c.entries)+1)
		if n > 0 {
			a.entry = c.entries[n-1]
		}
		number(c, &a.second)
		flags := flag(a.spaced, 1) | flag(a.loose, 2) | byte(a.left)<<2 | byte(a.right)<<4
		number(c, &flags)
		a.spaced, a.loose, a.left, a.right = flags&1 != 0, flags&2 != 0, edge(flags>>2&3), edge(flags>>4&3)
		k := len(a.sets)
		number(c, &k)
		if !c.writing {
			if k > cap(all)-len(all) {
				c.fail()
				return
			}
			all = all[:len(all)+k]
			a.sets = all[len(all)-k:][:k:k]
		}
		for i := range a.sets {
			set := int(a.sets[i])
			c.index(&set, sets)
			a.sets[i] = int32(set)
		}
	})
	if c.writing || c.failed {
		return
	}
	for i := range x.literals {
		l := &x.literals[i]
		if l.text == "" || int(max(l.atom, l.phrase)) > len(x.atoms) {
			c.fail()
			return
		}
	}
	x.sets = sets
	for i := range x.atoms {
		if int(x.atoms[i].next) > i { // chains lead back to earlier atoms
			c.fail()
			return
		}
	}
}

func (c *codec) condition(k *condition) {
	kind := 0
	switch {
	case k.regex != nil:
		kind = 1
	case k.near != nil:
		kind = 2
	}
	switch c.index(&kind, 3); kind {
	case 1:
		if k.regex == nil {
			k.regex = &pattern{}
		}
		c.pattern(k.regex)
	case 2:
		if k.near == nil {
			k.near = &near{}
		}
		c.near(k.near)
	}
}

func (c *codec) pattern(p *pattern) {
	text(c, &p.source)
	list(c, &p.families, c.member)
	c.flag(&p.anchored)
	c.flag(&p.begins)
	if c.writing {
		inner := &codec{writing: true, sets: c.sets}
		chains := p.needed()
		inner.chains(&chains)
		c.uint(uint64(len(inner.out)))
		c.out = append(c.out, inner.out...)
		return
	}
	n := c.length()
	if c.failed {
		return
	}
	p.waiting, p.sets = c.in[:n], c.sets
	c.in = c.in[n:]
}

func (c *codec) chains(l *[]chain) {
	list(c, l, func(k *chain) {
		list(c, (*[]need)(k), func(n *need) {
			c.index(&n.set, c.sets)
			c.span(&n.before)
			c.span(&n.after)
			c.span(&n.gap)
		})
	})
}

// span is a length: most have few runs.
func (c *codec) span(l *length) {
	flags := flag(l.unbounded, 1)
	for i := range l.runs {
		flags |= flag(l.runs[i] > 0, 2<<i)
	}
	number(c, &flags)
	if l.unbounded = flags&1 != 0; l.unbounded {
		return
	}
	number(c, &l.runes)
	for i := range l.runs {
		if flags&(2<<i) != 0 {
			number(c, &l.runs[i])
		}
	}
}

func (c *codec) near(n *near) {
	list(c, &n.families, c.member)
	anyOrder := len(n.orders) > 1
	c.flag(&anyOrder)
	if !c.writing {
		if len(n.families) > maxNear {
			c.fail()
			return
		}
		n.orders = ordersOf(len(n.families), anyOrder)
	}
	number(c, &n.within)
	list(c, &n.without, c.member)
	list(c, &n.opens, c.member)
	c.flag(&n.opening)
	c.flag(&n.clause)
	c.flag(&n.negated)
	c.optional(&n.not)
	c.optional(&n.omit)
	c.optional(&n.notAfter)
}

func (c *codec) excuse(e **excuse) {
	if *e == nil {
		*e = &excuse{}
	}
	x := *e
	number(c, &x.number)
	c.condition(&x.condition)
	c.flag(&x.quoted)
	text(c, &x.scope)
	number(c, &x.around)
}

func (c *codec) excuseRef(e **excuse) {
	n := 0
	if c.writing {
		n = (*e).number - 1
	}
	c.index(&n, len(c.excuses))
	if !c.failed {
		*e = c.excuses[n]
	}
}

func (c *codec) rule(rule **Rule) {
	if *rule == nil {
		*rule = &Rule{}
	}
	r := *rule
	for _, v := range []*string{&r.ID, &r.Title, &r.Explain, &r.Fix, &r.File} {
		text(c, v)
	}
	text(c, &r.Act)
	number(c, &r.Severity)
	if r.Severity > toolmark.High {
		c.fail()
	}
	weight := r.Weight + MaxWeight
	number(c, &weight)
	if weight < 0 || weight > 2*MaxWeight {
		c.fail()
	}
	r.Weight = weight - MaxWeight
	textList(c, &r.References)
	textList(c, &r.Surfaces)
	textList(c, &r.Readings)
	r.surfaces = maskOf(r.Surfaces)
	list(c, &r.unless, c.excuseRef)
	list(c, &r.downgrade, c.excuseRef)
	list(c, &r.sources, func(s *exampleSource) {
		text(c, &s.file)
		if !c.writing {
			s.waits = c.fsys
		}
	})
	list(c, &r.alternatives, func(a **alternative) {
		if *a == nil {
			*a = &alternative{}
		}
		c.alternative(*a)
	})
}

func (c *codec) alternative(a *alternative) {
	text(c, &a.id)
	text(c, &a.span)
	text(c, &a.file)
	number(c, &a.line)
	list(c, &a.conditions, func(k **condition) {
		if *k == nil {
			*k = &condition{}
		}
		c.condition(*k)
	})
	list(c, &a.unless, c.excuseRef)
	list(c, &a.downgrade, c.excuseRef)
}

// triggers writes those of all sets; the sets and alternatives that numbers name are
// there by now.
func (c *codec) triggers(s *Set) {
	list(c, &s.triggers, func(l *[]trigger) {
		list(c, l, func(t *trigger) {
			n := 0
			if c.writing {
				n = t.alt.order
			}
			c.index(&n, len(s.alternatives))
			if !c.failed {
				t.alt = s.alternatives[n]
			}
			list(c, &t.sets, func(set *int) { c.index(set, s.index.sets) })
		})
	})
	if len(s.triggers) != s.index.sets {
		c.fail()
	}
}

// ordersOf gives the orders in which n families may stand.
func ordersOf(n int, anyOrder bool) [][]int {
	given := make([]int, n)
	for i := range given {
		given[i] = i
	}
	if anyOrder {
		return permutations(given)
	}
	return [][]int{given}
}
