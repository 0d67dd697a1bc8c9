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
			numbers, err := c.condition(pattern, r.Tags.Suppress, r.any(), slices.Contains(fields, cond.Field))
			if err != nil {
				return nil, fmt.Errorf("%s: condition %d: %w", r.ID, i, err)
			}
			info.conditions = append(info.conditions, numbers...)
		}
		if reads(&info) {
			p.rules = append(p.rules, info)
		} else {
			p.idle++
		}
	}
	slices.SortFunc(p.rules, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	c.choose(rules)
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
	needs    [][]need  // per pattern: all that are known
}

// condition gives the patterns of a condition; one that is -1 where no text is tried
// on it. Branches of an alternation are patterns of their own where it comes to
// the same: where any condition will do, and no matter which match is the first. Each
// then has its own texts that it cannot do without. A pattern is read in any case:
// one that cannot be is an error.
func (c *compiler) condition(source string, suppress, split, active bool) ([]int32, error) {
	root, backrefs, err := parse(source, hasUnicodeFlag(source), new(interner))
	if err != nil {
		return nil, err
	}
	if !active {
		return []int32{-1}, nil
	}
	branches := []*node{root}
	if split && !suppress && !backrefs {
		branches = branchesOf(root)
	}
	if len(branches) == 1 {
		n, err := c.pattern(source, -1, root, suppress, backrefs)
		return []int32{n}, err
	}
	var list []int32
	for i, branch := range branches {
		n, err := c.pattern(source, i, branch, suppress, false)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// branchesOf splits an expression at its top-level alternation.
func branchesOf(n *node) []*node {
	if n.op == opAlternate {
		return n.sub
	}
	return []*node{n}
}

func (c *compiler) pattern(source string, branch int, root *node, suppress, backrefs bool) (int32, error) {
	key := fmt.Sprint(suppress, branch, source)
	if n, ok := c.patterns[key]; ok {
		return n, nil
	}
	p := &pattern{
		source: source, branch: int32(branch), unicode: hasUnicodeFlag(source), suppress: suppress, backrefs: backrefs,
		other: needsOther(root), width: root.span(), sight: int32(root.sight()),
	}
	if backrefs {
		if _, err := backtracking(p); err != nil {
			return -1, err
		}
	}
	must, head, hasHead := mustHave(root)
	p.must = must
	if hasHead {
		p.head = []mask{head}
	}
	c.needs = append(c.needs, needsOf(root))
	n := int32(len(c.pack.patterns))
	c.pack.patterns = append(c.pack.patterns, p)
	c.patterns[key] = n
	return n, nil
}

// needsOther reports whether each match of n holds a character above ASCII.
func needsOther(n *node) bool {
	switch n.op {
	case opClass:
		return n.class.ascii == [2]uint64{}
	case opConcat:
		return slices.ContainsFunc(n.sub, needsOther)
	case opAlternate:
		return !slices.ContainsFunc(n.sub, func(sub *node) bool { return !needsOther(sub) })
	case opRepeat:
		return n.min > 0 && needsOther(n.sub[0])
	}
	return false
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

// oftenHit is how many hits in the sample make one more need worth while, tooOften how
// many make looking for a text cost more than it saves.
const (
	oftenHit = 20
	tooOften = 1500
)

// choose picks the needs by which patterns are found: those with the fewest hits in
// the texts that the authors of the rules call honest.
func (c *compiler) choose(rules []*ruleFile) {
	var sample []byte
	for _, r := range rules {
		for _, text := range r.honest() {
			for _, u := range units(text, false) {
				sample = append(sample, foldByte(u))
			}
			sample = append(sample, '\n')
		}
	}
	sample = append(sample, make([]byte, padding)...)
	for _, needs := range c.needs {
		for _, n := range needs {
			c.set(n.texts)
		}
	}
	c.finish()
	tried := c.pack.index
	tried.settle(sample)
	tried.build(len(c.sets))
	found := newHits(&tried, len(c.sets))
	found.reset()
	tried.scan(sample, &found)

	all := c.sets
	c.pack.index, c.sets, c.literals, c.wanted = index{}, map[string]int32{}, map[string]int32{}, nil
	for i, needs := range c.needs {
		count := func(n need) int { return len(found.ends(all[strings.Join(n.texts, "\x00")])) }
		slices.SortStableFunc(needs, func(a, b need) int { return count(a) - count(b) })
		bound := slices.IndexFunc(needs, func(n need) bool { return n.before.bounded() })
		for k, n := range needs {
			// One that is rare is enough to find the pattern; one with a bound says
			// where to look; more are kept while what there is still hits often.
			if k == 0 || count(n) <= tooOften && (k == bound || k < maxNeeds && count(needs[k-1]) > oftenHit) {
				c.pack.patterns[i].needs = append(c.pack.patterns[i].needs, patternNeed{c.set(n.texts), n.before})
			}
		}
	}
	c.finish()
	c.pack.index.settle(sample)
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

// interner gives equal classes one object and one number. What is written alike is
// looked up as it is written, which saves closing it again.
type interner struct {
	classes map[string]*class
	written map[string]*class
}

func (i *interner) class(s set, negated, unicodeMode bool) *class {
	if i.classes == nil {
		i.classes, i.written = map[string]*class{}, map[string]*class{}
	}
	var buffer [96]byte
	as := buffer[:0]
	for _, flag := range []bool{negated, unicodeMode} {
		if flag {
			as = append(as, 1)
		} else {
			as = append(as, 0)
		}
	}
	for _, r := range s {
		as = append(as, byte(r), byte(r>>8), byte(r>>16))
	}
	if c := i.written[string(as)]; c != nil {
		return c
	}
	c := newClass(s, negated, unicodeMode)
	key := c.key()
	if old := i.classes[key]; old != nil {
		c = old
	} else {
		c.number = len(i.classes)
		i.classes[key] = c
	}
	i.written[string(as)] = c
	return c
}
