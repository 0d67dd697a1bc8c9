package atr

import (
	"fmt"
	"slices"
	"strings"
)

// compile makes a pack out of rules. fields are the fields of an event that hold the
// text; conditions on other fields never hold.
func compile(version string, rules []*ruleFile, fields ...string) (*Pack, error) {
	p := &Pack{version: version}
	c := compiler{pack: p, patterns: map[string]int32{}, sets: map[string]int32{}, literals: map[string]int32{}}
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.ID] {
			return nil, fmt.Errorf("two rules have the id %s", r.ID)
		}
		seen[r.ID] = true
		p.total++
		if !r.runs() {
			continue
		}
		info := Rule{
			ID: r.ID, Title: strings.TrimSpace(r.Title), Severity: r.Severity, Maturity: r.Maturity,
			Confidence: r.confidence(), all: r.all(),
		}
		for i, cond := range r.Detection.Conditions {
			pattern := plain(*cond.Value)
			number, err := c.pattern(pattern, r.Tags.Suppress, slices.Contains(fields, cond.Field))
			if err != nil {
				return nil, fmt.Errorf("%s: condition %d: %w", r.ID, i, err)
			}
			info.conditions = append(info.conditions, number)
		}
		if reads(&info) {
			p.rules = append(p.rules, info)
		} else {
			p.idle++
		}
	}
	slices.SortFunc(p.rules, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	c.finish()
	p.link()
	return p, nil
}

// reads reports whether a rule can match at all.
func reads(r *Rule) bool {
	if r.all {
		return !slices.Contains(r.conditions, -1)
	}
	return slices.ContainsFunc(r.conditions, func(n int32) bool { return n >= 0 })
}

type compiler struct {
	pack     *Pack
	patterns map[string]int32
	sets     map[string]int32
	literals map[string]int32
	wanted   [][]int32 // per literal: sets
}

// pattern gives the number of a pattern, -1 where no text is tried on it. It is
// parsed in any case: one that cannot be read is an error.
func (c *compiler) pattern(source string, suppress, active bool) (int32, error) {
	root, backrefs, err := parse(source, hasUnicodeFlag(source), new(interner).class)
	if err != nil {
		return -1, err
	}
	if !active {
		return -1, nil
	}
	key := fmt.Sprint(suppress, source)
	if n, ok := c.patterns[key]; ok {
		return n, nil
	}
	p := &pattern{source: source, unicode: hasUnicodeFlag(source), suppress: suppress, backrefs: backrefs}
	if backrefs {
		if _, err := backtracking(p); err != nil {
			return -1, err
		}
	}
	for _, n := range needsOf(root) {
		p.needs = append(p.needs, patternNeed{c.set(n.texts), int32(n.before)})
	}
	p.width, p.sight = int32(root.width()), int32(root.sight())
	n := int32(len(c.pack.patterns))
	c.pack.patterns = append(c.pack.patterns, p)
	c.patterns[key] = n
	return n, nil
}

func (c *compiler) set(texts []string) int32 {
	key := strings.Join(texts, "\x00")
	if n, ok := c.sets[key]; ok {
		return n
	}
	n := int32(len(c.sets))
	c.sets[key] = n
	for _, t := range texts {
		l, ok := c.literals[t]
		if !ok {
			l = int32(len(c.wanted))
			c.literals[t] = l
			c.wanted = append(c.wanted, nil)
			c.pack.index.literals = append(c.pack.index.literals, literal{text: t})
		}
		c.wanted[l] = append(c.wanted[l], n)
	}
	return n
}

func (c *compiler) finish() {
	c.pack.sets = len(c.sets)
	for l, sets := range c.wanted {
		lit := &c.pack.index.literals[l]
		lit.from = int32(len(c.pack.index.users))
		c.pack.index.users = append(c.pack.index.users, sets...)
		lit.to = int32(len(c.pack.index.users))
	}
}

// interner gives equal classes one object and one number.
type interner struct{ classes map[string]*class }

func (i *interner) class(c *class) *class {
	if i.classes == nil {
		i.classes = map[string]*class{}
	}
	key := c.key()
	if old := i.classes[key]; old != nil {
		return old
	}
	c.number = len(i.classes)
	i.classes[key] = c
	return c
}
