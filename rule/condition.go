package rule

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// conditionReader reads the members that make a condition, wherever one may stand.
type conditionReader struct {
	r         *ruleReader
	regex     *yaml.Node
	unbounded bool
	near      near
	families  *yaml.Node
	order     string
	nearOnly  []*yaml.Node // members that mean something beside near only
}

func (r *ruleReader) newCondition() *conditionReader {
	return &conditionReader{r: r, near: near{within: defaultWithin}, order: "given"}
}

func (c *conditionReader) decoders() map[string]func(key, value *yaml.Node) {
	r := c.r
	beside := func(read func(v *yaml.Node)) func(key, value *yaml.Node) {
		return func(key, v *yaml.Node) {
			c.nearOnly = append(c.nearOnly, key)
			read(v)
		}
	}
	return map[string]func(key, value *yaml.Node){
		"regex":     func(_, v *yaml.Node) { c.regex = v },
		"unbounded": func(_, v *yaml.Node) { c.unbounded = r.text(v) != "" },
		"near":      func(_, v *yaml.Node) { c.families = v },
		"within":    beside(func(v *yaml.Node) { c.near.within = r.number(v, 1, MaxWithin) }),
		"order":     beside(func(v *yaml.Node) { c.order = r.oneOf(v, "given", "any") }),
		"without":   beside(func(v *yaml.Node) { c.near.without = c.familyList(v) }),
		"opens": beside(func(v *yaml.Node) {
			c.near.opening = true
			c.near.opens = c.familyList(v)
		}),
		"clause": beside(func(v *yaml.Node) {
			r.oneOf(v, "same")
			c.near.clause = true
		}),
		"negated": beside(func(v *yaml.Node) {
			r.oneOf(v, "skip")
			c.near.negated = true
			c.near.not = c.family(v, familyNot)
			c.near.omit = r.l.set.families[familyOmit]
			c.near.notAfter = r.l.set.families[familyNotAfter]
		}),
	}
}

// The families that "negated: skip" reads.
const (
	familyNot      = "not"
	familyOmit     = "omit"
	familyNotAfter = "not-after"
)

func (c *conditionReader) given() bool { return c.regex != nil || c.families != nil }

func (c *conditionReader) family(v *yaml.Node, name string) *family {
	f := c.r.l.set.families[name]
	if f == nil {
		c.r.fault(v.Line, "unknown family %q", name)
	}
	return f
}

func (c *conditionReader) familyList(v *yaml.Node) []*family {
	var list []*family
	for _, name := range c.r.texts(v) {
		if f := c.family(v, name); f != nil {
			list = append(list, f)
		}
	}
	return list
}

// finish gives the condition. It is only used where there were no faults.
func (c *conditionReader) finish(line int) *condition {
	r := c.r
	switch {
	case c.regex != nil && c.families != nil:
		r.fault(line, "either \"regex\" or \"near\", not both: put them under \"all\"")
	case c.regex != nil:
		if len(c.nearOnly) > 0 {
			r.fault(c.nearOnly[0].Line, "%q means nothing beside \"regex\"", c.nearOnly[0].Value)
		}
		return &condition{regex: c.pattern()}
	case c.families != nil:
		if c.unbounded {
			r.fault(line, "\"unbounded\" means nothing beside \"near\"")
		}
		return &condition{near: c.words()}
	default:
		r.fault(line, "\"regex\", \"near\" or \"all\" is missing")
	}
	return &condition{}
}

func (c *conditionReader) pattern() *pattern {
	r := c.r
	p, tree, err := parsePattern(r.text(c.regex), func(name string) (*family, error) {
		if f := r.l.set.families[name]; f != nil {
			return f, nil
		}
		return nil, fmt.Errorf("unknown family %q", name)
	}, c.unbounded)
	if err != nil {
		r.fault(c.regex.Line, "%v", err)
		return nil
	}
	if !r.l.options.Deferred {
		re, err := p.compile()
		if err == nil && re.MatchString("") {
			err = fmt.Errorf("the pattern matches nothing at all, and so everywhere")
		}
		if err != nil {
			r.fault(c.regex.Line, "%v", err)
			return nil
		}
	}
	if err := p.readNeeds(tree, r.l.numbered); err != nil {
		r.fault(c.regex.Line, "%v", err)
	}
	return p
}

func (c *conditionReader) words() *near {
	n := c.near
	n.families = c.familyList(c.families)
	if len(n.families) < 1 || len(n.families) > maxNear {
		c.r.fault(c.families.Line, "\"near\" must name one to %d families", maxNear)
		return &n
	}
	n.orders = ordersOf(len(n.families), c.order == "any")
	return &n
}

// permutations gives all orders of list, the given one first.
func permutations(list []int) [][]int {
	if len(list) <= 1 {
		return [][]int{append([]int(nil), list...)}
	}
	var all [][]int
	for i := range list {
		rest := append(append([]int(nil), list[:i]...), list[i+1:]...)
		for _, p := range permutations(rest) {
			all = append(all, append([]int{list[i]}, p...))
		}
	}
	return all
}
