package rule

import (
	"cmp"
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
			if alt.span == SpanTool && !slices.Contains(s.toolMasks, rule.surfaces) {
				s.toolMasks = append(s.toolMasks, rule.surfaces)
			}
		}
		l.useExcuses(rule.unless)
		l.useExcuses(rule.downgrade)
	}
	if len(l.faults) > 0 {
		return // what is there is not whole
	}
	l.trigger()
	s.index.build()
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
		for i := range c.regex.needs {
			n := &c.regex.needs[i]
			n.set = l.literalSet(n.texts)
		}
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
			f.set = l.set.sets
			l.set.sets++
			for i := range f.entries {
				e := &f.entries[i]
				l.set.index.add(e.key(), user{set: int32(f.set), entry: e})
			}
		}
	}
}

// trigger files each alternative under one of the sets that it cannot match
// without: the one with the fewest literals, which is as a rule the rarest.
func (l *loader) trigger() {
	s := l.set
	sizes := make([]int, s.sets)
	for i := range s.index.users {
		sizes[s.index.users[i].set]++
	}
	s.triggers = make([][]*alternative, s.sets)
	for _, alt := range s.alternatives {
		for _, c := range alt.conditions {
			alt.sets = append(alt.sets, c.sets()...)
		}
		slices.SortStableFunc(alt.sets, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
		s.triggers[alt.sets[0]] = append(s.triggers[alt.sets[0]], alt)
	}
}

// sets gives the sets of which a text must hold something for c to match.
func (c *condition) sets() []int {
	var sets []int
	if c.near != nil {
		for _, f := range c.near.families {
			sets = append(sets, f.set)
		}
	}
	if c.regex != nil {
		for _, n := range c.regex.needs {
			sets = append(sets, n.set)
		}
	}
	return sets
}
