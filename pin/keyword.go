package pin

import (
	"math/big"

	"github.com/toolmark/toolmark"
)

// keyword reports whether it is shown that every value of a satisfies one keyword of s.
func (p *prover) keyword(a *alternative, s node, k string, level, links int) bool {
	v := s.get(k).v
	switch k {
	case "type":
		t, ok := s.typesOf()
		return ok && a.types&^t == 0
	case "$ref":
		if t, ok := s.target(); ok {
			return p.holds(a, t, level, links+1)
		}
		return false // the same text may name two things
	case "allOf":
		for _, e := range s.elements(k) {
			if !p.holds(a, e, level, links+1) {
				return false
			}
		}
		return v.Kind == toolmark.KindArray
	case "anyOf":
		return p.choice(a, s.elements(k), level, links)
	case "oneOf":
		return p.oneOf(a, s, level, links)
	case "not":
		for _, c := range a.parts {
			if c.has(k) && p.included([]node{s.get(k)}, c.get(k), level) {
				return true
			}
		}
		return false
	case "if", "then", "else":
		return p.literal(a, s, "if", "then", "else")
	case "enum", "const":
		return false // eachValue
	}
	switch k {
	case "properties", "patternProperties", "additionalProperties", "propertyNames", "required", "minProperties",
		"maxProperties", "dependentRequired", "dependentSchemas", "dependencies":
		return a.types&typeObject == 0 || p.object(a, s, k, v, level)
	case "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains":
		return a.types&typeArray == 0 || p.array(a, s, k, v, level)
	case "minLength", "maxLength", "pattern":
		return a.types&typeString == 0 || p.string(a, s, k, v)
	case "format":
		return a.types&(typeString|typeNumber) == 0 || p.literal(a, s, k)
	case "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf":
		return a.types&typeNumber == 0 || p.number(a, s, k, v)
	}
	return false
}

// oneOf: where no value can satisfy two options it is anyOf. Otherwise the left must
// have the same oneOf, option by option.
func (p *prover) oneOf(a *alternative, s node, level, links int) bool {
	options := s.elements("oneOf")
	if p.apart(options) && p.choice(a, options, level, links) {
		return true
	}
	for _, c := range a.parts {
		other := c.elements("oneOf")
		if len(other) != len(options) || len(other) == 0 {
			continue
		}
		all := true
		for i := range other {
			if all = p.equal(other[i], options[i], level); !all {
				break
			}
		}
		if all {
			return true
		}
	}
	return false
}

// atMember gives what the left says about the value of a member of that name.
func (p *prover) atMember(a *alternative, name string) []node {
	facts := []node{}
	for _, c := range a.parts {
		if !p.spend(len(c.get("properties").v.Members) / 16) {
			return facts // fewer facts, more values
		}
		if m := c.member("properties", name); m.v.Kind != toolmark.KindAbsent {
			facts = append(facts, m)
			continue
		}
		// A pattern might match the name and take the place of additionalProperties.
		if len(c.names("patternProperties")) == 0 && c.has("additionalProperties") {
			facts = append(facts, c.get("additionalProperties"))
		}
	}
	return facts
}

func (p *prover) object(a *alternative, s node, k string, v *toolmark.Value, level int) bool {
	switch k {
	case "properties":
		if v.Kind != toolmark.KindObject {
			return false
		}
		for _, name := range s.names(k) {
			if !p.spend(len(v.Members)/16) || !p.included(p.atMember(a, name), s.member(k, name), level+1) {
				return false
			}
		}
		return true
	case "patternProperties":
		if v.Kind != toolmark.KindObject {
			return false
		}
		for _, pattern := range s.names(k) {
			facts := []node{}
			for _, c := range a.parts {
				if m := c.member(k, pattern); m.v.Kind != toolmark.KindAbsent {
					facts = append(facts, m)
				}
			}
			if !p.included(facts, s.member(k, pattern), level+1) {
				return false
			}
		}
		return true
	case "additionalProperties":
		return p.additional(a, s, level)
	case "propertyNames":
		// The names of members are strings.
		facts := []node{{v: stringSchema, r: s.r}}
		for _, c := range a.parts {
			if c.has(k) {
				facts = append(facts, c.get(k))
			}
		}
		return p.included(facts, s.get(k), level+1)
	case "required":
		if v.Kind != toolmark.KindArray || !p.spend(len(v.Items)) {
			return false
		}
		have := a.required()
		for i := range v.Items {
			if v.Items[i].Kind != toolmark.KindString || !have[v.Items[i].Text] {
				return false
			}
		}
		return true
	case "minProperties":
		n, ok := number(v)
		return ok && (n.Cmp(big.NewRat(int64(len(a.required())), 1)) <= 0 || p.count(a, k, n, 1))
	case "maxProperties":
		n, ok := number(v)
		return ok && p.count(a, k, n, -1)
	}
	return p.literal(a, s, k)
}

var stringSchema = &toolmark.Value{Kind: toolmark.KindObject, Members: []toolmark.Member{
	{Name: "type", Value: toolmark.Value{Kind: toolmark.KindString, Text: "string"}},
}}

// additional shows additionalProperties of s for every member that s does not name.
// That some of them match a pattern of s and are exempt is left out: more is asked than
// is needed.
func (p *prover) additional(a *alternative, s node, level int) bool {
	const k = "additionalProperties"
	rest := []node{} // what the left says about a member that nobody names
	asked := map[string]bool{}
	for _, c := range a.parts {
		for _, name := range c.names("properties") {
			if !p.spend(1 + len(s.get("properties").v.Members)/16) {
				return false
			}
			if asked[name] || s.member("properties", name).v.Kind != toolmark.KindAbsent {
				continue
			}
			asked[name] = true
			if !p.included(p.atMember(a, name), s.get(k), level+1) {
				return false
			}
		}
		// Members that match no pattern of s match none of c's if those are among them.
		among := true
		for _, pattern := range c.names("patternProperties") {
			among = among && s.member("patternProperties", pattern).v.Kind != toolmark.KindAbsent
		}
		if among && c.has(k) {
			rest = append(rest, c.get(k))
		}
	}
	return p.included(rest, s.get(k), level+1)
}

// required gives the names that every object of the alternative has.
func (a *alternative) required() map[string]bool {
	have := map[string]bool{}
	for _, c := range a.parts {
		r := c.get("required").v
		for i := range r.Items {
			if r.Items[i].Kind == toolmark.KindString {
				have[r.Items[i].Text] = true
			}
		}
	}
	return have
}

// count shows a keyword that is one end of a count.
func (p *prover) count(a *alternative, k string, want *big.Rat, sign int) bool {
	if sign > 0 && want.Sign() <= 0 {
		return true
	}
	for _, c := range a.parts {
		if n, ok := number(c.get(k).v); ok && n.Cmp(want)*sign >= 0 {
			return true
		}
	}
	return false
}

func (p *prover) array(a *alternative, s node, k string, v *toolmark.Value, level int) bool {
	switch k {
	case "prefixItems":
		if v.Kind != toolmark.KindArray {
			return false
		}
		for i, e := range s.elements(k) {
			if !p.included(a.atElement(i), e, level+1) {
				return false
			}
		}
		return true
	case "items":
		if v.Kind == toolmark.KindArray { // the tuple of draft-07
			return p.literal(a, s, "items", "additionalItems", "prefixItems")
		}
		first, last := len(s.elements("prefixItems")), 0
		for _, c := range a.parts {
			last = max(last, len(c.elements("prefixItems")))
		}
		// The element after all that are named stands for those behind it.
		for i := first; i <= max(first, last); i++ {
			if !p.included(a.atElement(i), s.get(k), level+1) {
				return false
			}
		}
		return true
	case "minItems", "maxItems":
		sign := 1
		if k == "maxItems" {
			sign = -1
		}
		n, ok := number(v)
		return ok && p.count(a, k, n, sign)
	case "uniqueItems":
		return v.Kind == toolmark.KindFalse || p.literal(a, s, k)
	case "additionalItems":
		return p.literal(a, s, "items", "additionalItems", "prefixItems")
	}
	return p.literal(a, s, "contains", "minContains", "maxContains")
}

// atElement gives what the left says about the element of that index.
func (a *alternative) atElement(i int) []node {
	facts := []node{}
	for _, c := range a.parts {
		prefix := c.elements("prefixItems")
		if i < len(prefix) {
			facts = append(facts, prefix[i])
		} else if items := c.get("items"); items.v.Kind == toolmark.KindObject || items.v.Kind == toolmark.KindFalse {
			facts = append(facts, items)
		}
	}
	return facts
}

func (p *prover) string(a *alternative, s node, k string, v *toolmark.Value) bool {
	switch k {
	case "pattern":
		return p.literal(a, s, k)
	case "minLength", "maxLength":
		sign := 1
		if k == "maxLength" {
			sign = -1
		}
		n, ok := number(v)
		return ok && p.count(a, k, n, sign)
	}
	return false
}

func (p *prover) number(a *alternative, s node, k string, v *toolmark.Value) bool {
	want, ok := number(v)
	if !ok {
		return false // draft-04 has booleans here
	}
	if k == "multipleOf" {
		if want.Sign() <= 0 {
			return false
		}
		if a.types&typeNumber == typeInteger && new(big.Rat).Inv(want).IsInt() {
			return true
		}
		for _, c := range a.parts {
			if n, ok := number(c.get(k).v); ok && new(big.Rat).Quo(n, want).IsInt() {
				return true
			}
		}
		return false
	}
	plain, exclusive, sign := "minimum", "exclusiveMinimum", 1
	if k == "maximum" || k == "exclusiveMaximum" {
		plain, exclusive, sign = "maximum", "exclusiveMaximum", -1
	}
	need := bound{at: want, strict: k == exclusive, known: true}
	var have bound
	for _, c := range a.parts {
		have = tighter(have, c.limits(plain, exclusive, sign), sign)
	}
	if a.types&typeNumber == typeInteger {
		have, need = have.whole(sign), need.whole(sign)
	}
	return within(have, need, sign)
}

// eachValue reports whether a lists its values and each satisfies the keyword. Arrays
// and objects are judged only by type, enum and const.
func (p *prover) eachValue(a *alternative, s node, k string, links int) bool {
	if !a.listed {
		return false
	}
	for _, v := range a.values {
		if !p.valid(v, s, k, links) {
			return false
		}
	}
	return true
}

func (p *prover) valid(v *toolmark.Value, s node, k string, links int) bool {
	if !p.spend(1) || links > maxLinks {
		return false
	}
	t := typeOf(v)
	value := s.get(k).v
	switch k {
	case "type":
		allowed, ok := s.typesOf()
		return ok && t&^allowed == 0
	case "const":
		return same(v, value)
	case "enum":
		for i := range value.Items {
			if p.spend(1+(value.Items[i].End-value.Items[i].Start)/64) && same(v, &value.Items[i]) {
				return true
			}
		}
		return false
	case "$ref":
		target, ok := s.target()
		return ok && p.validAll(v, target, links+1)
	case "allOf":
		for _, e := range s.elements(k) {
			if !p.validAll(v, e, links+1) {
				return false
			}
		}
		return true
	case "anyOf":
		for _, e := range s.elements(k) {
			if p.validAll(v, e, links+1) {
				return true
			}
		}
		return false
	case "oneOf", "not", "if", "then", "else", "pattern", "format":
		return false
	}
	one := &alternative{types: t, parts: nil, listed: true, values: []*toolmark.Value{v}}
	if t&(typeObject|typeArray) == 0 {
		switch k {
		case "minLength", "maxLength":
			n, ok := number(value)
			have := big.NewRat(int64(toolmark.CodePoints(v.Text)), 1)
			return t != typeString || ok && (k == "minLength" && have.Cmp(n) >= 0 || k == "maxLength" && have.Cmp(n) <= 0)
		case "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf":
			if t&typeNumber == 0 {
				return true
			}
			have, ok := number(v)
			want, fine := number(value)
			if !ok || !fine {
				return false
			}
			switch c := have.Cmp(want); k {
			case "minimum":
				return c >= 0
			case "exclusiveMinimum":
				return c > 0
			case "maximum":
				return c <= 0
			case "exclusiveMaximum":
				return c < 0
			}
			return want.Sign() > 0 && new(big.Rat).Quo(have, want).IsInt()
		}
	}
	return p.keyword(one, s, k, 0, links+1) // true where the keyword is about other types
}

func (p *prover) validAll(v *toolmark.Value, s node, links int) bool {
	if s.v.Kind == toolmark.KindTrue {
		return true
	}
	if s.v.Kind != toolmark.KindObject {
		return false
	}
	for _, k := range s.keywords() {
		switch keywords[k] {
		case unknownWord, annotationWord, definitionWord, dialectWord:
			continue
		}
		if !p.valid(v, s, k, links) {
			return false
		}
	}
	return true
}
