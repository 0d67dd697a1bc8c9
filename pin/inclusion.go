package pin

import (
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
)

// This file proves that one schema accepts nothing that another refuses. The only claim
// it ever makes is "included"; whatever it cannot show, and whatever it has no budget
// left to show, is "not shown". Equality is inclusion both ways, so a mistake in what is
// left out can only make an equal schema look different, never a different one equal.
//
// The argument, step by step:
//
//   - A schema on the left is replaced by alternatives that together accept at least
//     what it accepts: its anyOf and oneOf split, its allOf and $ref are joined, and any
//     constraint that is not understood is dropped. Dropping one can only add values, and
//     if all of those are included, so are the fewer that really are accepted.
//   - Every keyword on the right must be shown to hold for every value of every
//     alternative. A keyword that is not understood there is shown only by the same
//     keyword, with the same value and free of references, on the left.
//   - Each member and each element is a smaller value. A recursive schema leads to a
//     question that is already being asked; if the values have become smaller since, the
//     answer is assumed, which is induction on the depth of the value. If they have not,
//     nothing is shown.

// Budgets, in steps of some microseconds at most. The greatest schemas of real servers,
// recursive ones of 20 KB, take 40,000 for one question.
const (
	stepsEach  = 100_000   // one question
	stepsAll   = 1_000_000 // all questions of one Diff
	maxAlts    = 64        // alternatives of one schema
	maxLinks   = 50        // references followed without reaching a smaller value
	maxNesting = 200       // levels of members and elements
)

// types is a set of the types of JSON Schema; integers are their own type.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeObject
	typeArray
	typeString
	typeInteger
	typeFraction
	typeNumber = typeInteger | typeFraction
	typeAny    = typeNull | typeBoolean | typeObject | typeArray | typeString | typeNumber
)

// typesOf gives the types a schema's type keyword allows; false where it is not one.
func (s node) typesOf() (types, bool) {
	v := s.get("type").v
	switch v.Kind {
	case toolmark.KindAbsent:
		return typeAny, true
	case toolmark.KindString:
		return typeNamed(v.Text)
	case toolmark.KindArray:
		var all types
		for i := range v.Items {
			t, ok := typeNamed(v.Items[i].Text)
			if !ok || v.Items[i].Kind != toolmark.KindString {
				return typeAny, false
			}
			all |= t
		}
		return all, true
	}
	return typeAny, false
}

func typeNamed(name string) (types, bool) {
	switch name {
	case "null":
		return typeNull, true
	case "boolean":
		return typeBoolean, true
	case "object":
		return typeObject, true
	case "array":
		return typeArray, true
	case "string":
		return typeString, true
	case "integer":
		return typeInteger, true
	case "number":
		return typeNumber, true
	}
	return typeAny, false
}

// typeOf gives the type of a value. A number that is too long to compute with may be
// either kind.
func typeOf(v *toolmark.Value) types {
	switch v.Kind {
	case toolmark.KindNull:
		return typeNull
	case toolmark.KindFalse, toolmark.KindTrue:
		return typeBoolean
	case toolmark.KindObject:
		return typeObject
	case toolmark.KindArray:
		return typeArray
	case toolmark.KindString:
		return typeString
	case toolmark.KindNumber:
		n, ok := number(v)
		switch {
		case !ok:
			return typeNumber
		case n.IsInt():
			return typeInteger
		}
		return typeFraction
	}
	return 0
}

// alternative is one way to satisfy a schema: all of the parts at once, by a value of
// these types and, where listed, one of these values.
type alternative struct {
	types  types
	parts  []node
	listed bool
	values []*toolmark.Value
}

func (a *alternative) empty() bool { return a.types == 0 || a.listed && len(a.values) == 0 }

// restrict keeps the listed values that are of the alternative's types, and the types
// that the listed values have.
func (a *alternative) restrict() {
	if !a.listed {
		return
	}
	var kept []*toolmark.Value
	var have types
	for _, v := range a.values {
		if t := typeOf(v); t&a.types != 0 {
			kept = append(kept, v)
			have |= t
		}
	}
	a.values, a.types = kept, a.types&have
}

// prover answers questions of inclusion within a budget.
type prover struct {
	steps int // left for this question
	all   *int
	open  map[question]int
	hits  int // answers that were taken from open
	// known are answers that took none from open, so that they hold anywhere.
	known map[question]bool
}

// question is a question being asked, named by the schemas it is about.
type question struct {
	left  [2]place
	count int
	right place
}

// place tells schemas apart that are the same value below two roots.
type place struct {
	v *toolmark.Value
	r *root
}

func (p *prover) spend(n int) bool {
	p.steps -= n
	*p.all -= n
	return p.steps > 0 && *p.all > 0
}

// relation is how the values that two schemas accept compare.
func relation(old, new node, all *int) Effect {
	if !comparable(old.r, new.r) {
		return EffectRestructured
	}
	grows := (&prover{steps: stepsEach, all: all}).included([]node{old}, new, 0)
	shrinks := (&prover{steps: stepsEach, all: all}).included([]node{new}, old, 0)
	switch {
	case grows && shrinks:
		return EffectEquivalent
	case grows:
		return EffectWidened
	case shrinks:
		return EffectNarrowed
	}
	return EffectRestructured
}

// comparable reports whether two roots are read alike.
func comparable(a, b *root) bool {
	if a.opaque || b.opaque {
		return false
	}
	if a.dialect == b.dialect {
		return a.dialect != dialectUnknown || identical(a.tree.Get("$schema"), b.tree.Get("$schema"))
	}
	return a.dialect != dialectUnknown && b.dialect != dialectUnknown && !a.versioned && !b.versioned
}

// included reports whether it is shown that every value which satisfies all of left
// satisfies right.
func (p *prover) included(left []node, right node, level int) bool {
	if !p.spend(1) || level > maxNesting {
		return false
	}
	if right.v.Kind == toolmark.KindTrue || p.itself(left, right) {
		return true
	}
	q := question{count: len(left), right: place{right.v, right.r}}
	for i := range min(len(left), len(q.left)) {
		q.left[i] = place{left[i].v, left[i].r}
	}
	// Only plain questions are recognised again: one of many parts would need more than
	// two names, and a mixed schema shares its name with the plain one.
	if len(left) > len(q.left) || right.mix != nil || mixed(left) {
		return p.ask(left, right, level)
	}
	if answer, ok := p.known[q]; ok {
		return answer
	}
	if asked, ok := p.open[q]; ok {
		p.hits++
		return level > asked
	}
	if p.open == nil {
		p.open, p.known = map[question]int{}, map[question]bool{}
	}
	p.open[q] = level
	hits := p.hits
	answer := p.ask(left, right, level)
	delete(p.open, q)
	if p.hits == hits {
		p.known[q] = answer
	}
	return answer
}

func (p *prover) ask(left []node, right node, level int) bool {
	for _, a := range p.alternatives(left) {
		if !p.holds(&a, right, level, 0) {
			return false
		}
	}
	return true
}

// itself reports whether right is one of the schemas of left: the same text, and no
// reference in it that could mean two things. Both are read alike, see comparable.
func (p *prover) itself(left []node, right node) bool {
	if right.mix != nil {
		return false
	}
	for _, s := range left {
		if s.mix == nil && p.spend((right.v.End-right.v.Start)/64) && identical(s.v, right.v) {
			return !right.r.refers || !refers(right.v)
		}
	}
	return false
}

func mixed(list []node) bool {
	for _, s := range list {
		if s.mix != nil {
			return true
		}
	}
	return false
}

// alternatives gives alternatives that together accept at least what satisfies all of
// the schemas.
func (p *prover) alternatives(all []node) []alternative {
	a := alternative{types: typeAny}
	var choices [][]node
	queue := append([]node(nil), all...)
	seen := map[place]bool{}
	for i := 0; i < len(queue); i++ {
		s := queue[i]
		if !p.spend(1 + s.width()/16) {
			return []alternative{{types: typeAny}}
		}
		switch s.v.Kind {
		case toolmark.KindFalse:
			return nil
		case toolmark.KindObject:
		default:
			continue // true, or no schema
		}
		if s.mix == nil {
			if seen[place{s.v, s.r}] {
				continue
			}
			seen[place{s.v, s.r}] = true
		}
		if s.r.dialect != dialect2020 && s.r.versioned && s.has("$ref") {
			continue // what stands beside the reference may not count
		}
		a.parts = append(a.parts, s)
		if t, ok := s.typesOf(); ok {
			a.types &= t
		}
		if e := s.get("enum").v; e.Kind == toolmark.KindArray {
			list := make([]*toolmark.Value, len(e.Items))
			for k := range e.Items {
				list[k] = &e.Items[k]
			}
			p.list(&a, list)
		}
		if c := s.get("const").v; c.Kind != toolmark.KindAbsent {
			p.list(&a, []*toolmark.Value{c})
		}
		if t, ok := s.target(); ok {
			queue = append(queue, t)
		}
		queue = append(queue, s.elements("allOf")...)
		for _, k := range [...]string{"anyOf", "oneOf"} {
			if s.get(k).v.Kind == toolmark.KindArray {
				choices = append(choices, s.elements(k))
			}
		}
	}
	a.restrict()
	if a.empty() {
		return nil
	}
	if !a.listed && a.types&^(typeNull|typeBoolean) == 0 {
		a.listed = true
		if a.types&typeNull != 0 {
			a.values = append(a.values, &toolmark.Value{Kind: toolmark.KindNull})
		}
		if a.types&typeBoolean != 0 {
			a.values = append(a.values, &toolmark.Value{Kind: toolmark.KindFalse}, &toolmark.Value{Kind: toolmark.KindTrue})
		}
	}
	list := []alternative{a}
	for _, c := range choices {
		var options []alternative
		for _, s := range c {
			options = append(options, p.alternatives([]node{s})...)
		}
		if len(options)*len(list) > maxAlts || !p.spend(len(options)*len(list)) {
			continue // to drop a choice adds values
		}
		var next []alternative
		for _, x := range list {
			for _, y := range options {
				if z := p.join(x, y); !z.empty() {
					next = append(next, z)
				}
			}
		}
		list = next
	}
	return list
}

// join gives what satisfies both alternatives.
func (p *prover) join(x, y alternative) alternative {
	z := alternative{types: x.types & y.types, listed: x.listed, values: x.values}
	z.parts = append(append(z.parts, x.parts...), y.parts...)
	if y.listed {
		p.list(&z, y.values)
	}
	z.restrict()
	return z
}

// list says that the values are among those of the list.
func (p *prover) list(a *alternative, list []*toolmark.Value) {
	if !a.listed {
		a.listed, a.values = true, list
		return
	}
	if slices.ContainsFunc(list, vague) || slices.ContainsFunc(a.values, vague) {
		return
	}
	if !p.spend(len(list) * len(a.values) / 8) {
		return
	}
	var both []*toolmark.Value
	for _, v := range a.values {
		if contains(list, v) {
			both = append(both, v)
		}
	}
	a.values = both
}

// vague reports whether a value holds a number that is not computed with, so that it
// may equal another one that is spelled otherwise.
func vague(v *toolmark.Value) bool {
	if v.Kind == toolmark.KindNumber {
		_, ok := number(v)
		return !ok
	}
	return slices.ContainsFunc(v.Items, func(e toolmark.Value) bool { return vague(&e) }) ||
		slices.ContainsFunc(v.Members, func(m toolmark.Member) bool { return vague(&m.Value) })
}

func contains(list []*toolmark.Value, v *toolmark.Value) bool {
	for _, w := range list {
		if same(v, w) {
			return true
		}
	}
	return false
}

// holds reports whether it is shown that every value of a satisfies s. links counts
// the steps taken on the right without reaching a smaller value.
func (p *prover) holds(a *alternative, s node, level, links int) bool {
	if !p.spend(1+s.width()/16) || links > maxLinks {
		return false
	}
	if a.empty() || s.v.Kind == toolmark.KindTrue {
		return true
	}
	if s.v.Kind != toolmark.KindObject {
		return false
	}
	for _, k := range s.keywords() {
		switch keywords[k] {
		case unknownWord, annotationWord, definitionWord, dialectWord:
			continue // says nothing about values; a change of an unknown one is judged by itself
		}
		if !p.keyword(a, s, k, level, links) && !p.eachValue(a, s, k, links) {
			return false
		}
	}
	return true
}

// choice shows that every value of a satisfies one of the options: all the same one, or
// one for each type.
func (p *prover) choice(a *alternative, options []node, level, links int) bool {
	for _, o := range options {
		if p.holds(a, o, level, links+1) {
			return true
		}
	}
	if a.types&(a.types-1) == 0 {
		return false
	}
	for rest := a.types; rest != 0; rest &= rest - 1 {
		one := *a
		one.types = rest & -rest
		one.restrict()
		shown := one.empty()
		for i := 0; i < len(options) && !shown; i++ {
			shown = p.holds(&one, options[i], level, links+1)
		}
		if !shown {
			return false
		}
	}
	return true
}

// apart reports whether no value can satisfy two of the options, by their types.
func (p *prover) apart(options []node) bool {
	var used types
	for _, o := range options {
		var all types
		for _, a := range p.alternatives([]node{o}) {
			all |= a.types
		}
		if used&all != 0 {
			return false
		}
		used |= all
	}
	return true
}

// equal reports whether two schemas are shown to accept the same.
func (p *prover) equal(a, b node, level int) bool {
	return p.included([]node{a}, b, level) && p.included([]node{b}, a, level)
}

// literal reports whether a part on the left has the same keywords with the same values,
// or lacks them too, and none of those holds a reference.
func (p *prover) literal(a *alternative, s node, names ...string) bool {
	for _, c := range a.parts {
		all := true
		for _, k := range names {
			x, y := c.get(k).v, s.get(k).v
			if !p.spend(1+(y.End-y.Start)/64) || !same(x, y) || refers(y) {
				all = false
				break
			}
		}
		if all {
			return true
		}
	}
	return false
}

// plainFormat reports whether text looks like the name of a type or a format.
func plainFormat(text string) bool {
	return len(text) <= 32 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
