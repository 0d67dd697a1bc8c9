package rule

import (
	"cmp"
	"math"
	"slices"
)

// finish checks what no single file can tell, and builds what matching reads.
func (l *loader) finish() {
	s := l.set
	slices.SortStableFunc(s.rules, func(a, b *Rule) int { return cmp.Compare(a.ID, b.ID) })
	for i, rule := range s.rules {
		rule.index = i
		s.byID[rule.ID] = rule
		if i > 0 && s.rules[i-1].ID == rule.ID {
			r := reader{file: rule.File, rule: rule.ID}
			r.fault(1, "the id is that of %s too", s.rules[i-1].File)
			l.faults = append(l.faults, r.faults...)
		}
		if s.retired[rule.ID] {
			r := reader{file: rule.File, rule: rule.ID}
			r.fault(1, "the id is retired: ids are permanent, a new rule needs a new one")
			l.faults = append(l.faults, r.faults...)
		}
		for _, alt := range rule.alternatives {
			alt.order = len(s.alternatives)
			s.alternatives = append(s.alternatives, alt)
			for _, c := range alt.conditions {
				l.use(c)
			}
			l.useExcuses(alt.unless)
			l.useExcuses(alt.downgrade)
		}
		l.useExcuses(rule.unless)
		l.useExcuses(rule.downgrade)
	}
	if len(l.faults) > 0 {
		return // what is there is not whole
	}
	l.trigger()
	s.build()
}

func (l *loader) useExcuses(list []*excuse) {
	for _, e := range list {
		if e.number > 0 {
			continue // that of another alternative, too
		}
		l.set.excuses++
		e.number = l.set.excuses
		l.use(&e.condition)
	}
}

// use gives sets in the index to what a condition looks for.
func (l *loader) use(c *condition) {
	if c.regex != nil {
		for _, chain := range c.regex.chains {
			for i := range chain {
				chain[i].set = l.literalSet(*chain[i].texts)
			}
		}
		c.regex.mergeChains()
	}
	n := c.near
	if n == nil {
		return
	}
	for _, list := range [][]*family{n.families, n.without, n.opens, {n.not, n.omit, n.notAfter}} {
		for _, f := range list {
			if f == nil || f.set >= 0 {
				continue
			}
			set := l.set.index.newSet()
			f.set = int(set)
			for _, e := range f.entries {
				l.set.index.addEntry(set, e)
			}
		}
	}
}

// mergeChains makes one chain of those that ask for the same.
func (p *pattern) mergeChains() {
	var kept []chain
next:
	for _, c := range p.chains {
		for _, k := range kept {
			if slices.EqualFunc(k, c, func(x, y need) bool { return x.set == y.set }) {
				for i := range k {
					k[i].before, k[i].after, k[i].gap = k[i].before.or(c[i].before), k[i].after.or(c[i].after), k[i].gap.or(c[i].gap)
				}
				continue next
			}
		}
		kept = append(kept, c)
	}
	p.chains = kept
}

// trigger files each alternative under sets of which a text holds one if it holds a
// match: those of one condition, for each of its ways the rarest.
func (l *loader) trigger() {
	s := l.set
	frequencies := make([]float64, s.index.sets)
	for i := range s.index.literals {
		word := &s.index.literals[i]
		for _, first := range []int32{word.atom, word.phrase} {
			for n := first; n > 0; n = s.index.atoms[n-1].next {
				atom := &s.index.atoms[n-1]
				for _, set := range atom.sets {
					frequencies[set] += frequency(word.text, atom.entry != nil || min(atom.left, atom.right) >= edgeBroken)
				}
			}
		}
	}
	s.triggers = make([][]trigger, s.index.sets)
	for _, alt := range s.alternatives {
		var best [][]int
		least := math.Inf(1)
		for _, c := range alt.conditions {
			ways := c.ways()
			sum := 0.0
			for _, way := range ways {
				// The rarest first: most texts lack it.
				slices.SortStableFunc(way, func(a, b int) int { return cmp.Compare(frequencies[a], frequencies[b]) })
				sum += frequencies[way[0]]
			}
			if sum < least {
				best, least = ways, sum
			}
		}
		for _, way := range best {
			s.triggers[way[0]] = append(s.triggers[way[0]], trigger{alt, slices.Compact(way[1:])})
		}
	}
}

// build makes what is quickly made of the rest.
func (s *Set) build() {
	s.index.build()
	s.spaced = newBitset(s.index.sets)
	for i := range s.index.atoms {
		if atom := &s.index.atoms[i]; atom.spaced {
			for _, set := range atom.sets {
				s.spaced.add(int(set))
			}
		}
	}
	s.all = s.flatten(func(*alternative) bool { return true })
	s.tool = s.flatten(func(alt *alternative) bool { return alt.span == SpanTool })
	for _, alt := range s.alternatives {
		if alt.span == SpanTool && !slices.Contains(s.toolMasks, alt.rule.surfaces) {
			s.toolMasks = append(s.toolMasks, alt.rule.surfaces)
		}
	}
}

// trigger is an alternative that may match a text which holds something of the set
// that the trigger is filed under, and of some more.
type trigger struct {
	alt  *alternative
	sets []int
}

// quickTrigger is a trigger as it is read, with the place of its sets in triggers.sets.
type quickTrigger struct {
	alt      int32 // its order
	from, to int32
	sentence bool // all must stand in one sentence
}

// flatten makes of the triggers of some alternatives what is quickly read.
func (s *Set) flatten(wanted func(*alternative) bool) triggers {
	n := 0
	for _, list := range s.triggers {
		n += len(list)
	}
	t := triggers{
		at: make([]int32, 0, len(s.triggers)+1), some: newBitset(s.index.sets),
		quick: make([]quickTrigger, 0, n), sets: make([]int32, 0, 3*n),
	}
	for set, list := range s.triggers {
		t.at = append(t.at, int32(len(t.quick)))
		for i := range list {
			if !wanted(list[i].alt) {
				continue
			}
			t.some.add(set)
			q := quickTrigger{
				alt: int32(list[i].alt.order), from: int32(len(t.sets)),
				sentence: list[i].alt.span == SpanSentence && len(list[i].sets) > 0,
			}
			for _, set := range list[i].sets {
				t.sets = append(t.sets, int32(set))
			}
			q.to = int32(len(t.sets))
			t.quick = append(t.quick, q)
		}
	}
	t.at = append(t.at, int32(len(t.quick)))
	return t
}

// holds reports whether sets hold something of each set of the trigger.
func (t *triggers) holds(q *quickTrigger, sets bitset) bool {
	for _, set := range t.sets[q.from:q.to] {
		if !sets.has(int(set)) {
			return false
		}
	}
	return true
}

// ways gives lists of sets: a text in which c matches holds something of each set of
// one of the lists.
func (c *condition) ways() [][]int {
	if c.near != nil {
		var way []int
		for _, f := range c.near.families {
			way = append(way, f.set)
		}
		return [][]int{way}
	}
	var ways [][]int
	for _, chain := range c.regex.chains {
		var way []int
		for i := range chain {
			way = append(way, chain[i].set)
		}
		ways = append(ways, way)
	}
	return ways
}

// mayMatch reports whether sets hold something of all that each condition asks for.
func (alt *alternative) mayMatch(sets bitset) bool {
	for _, c := range alt.conditions {
		if c.near != nil {
			if slices.ContainsFunc(c.near.families, func(f *family) bool { return !sets.has(f.set) }) {
				return false
			}
		} else if !slices.ContainsFunc(c.regex.needed(), func(c chain) bool { return c.isIn(sets) }) {
			return false
		}
	}
	return true
}

// isIn reports whether sets hold something of each need.
func (c chain) isIn(sets bitset) bool {
	for i := range c {
		if !sets.has(c[i].set) {
			return false
		}
	}
	return true
}
