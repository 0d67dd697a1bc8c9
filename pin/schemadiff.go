package pin

import (
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
)

// schemaEdit is one difference of two schemas and what it does.
type schemaEdit struct {
	edit
	effect Effect
	// keyword is the keyword it is a change of; "" for a schema as a whole.
	keyword string
	text    bool // it adds text that the old schema has nowhere
}

// schemaDiffer compares two schemas place by place.
type schemaDiffer struct {
	*differ
	old, new *root
	words    vocabulary // of the old schema
	steps    *int
	edits    []schemaEdit
}

// schemaDiff gives the differences of two schemas, and what they do as a whole. oldAt
// and newAt are where the schemas stand.
//
// What each place does is asked one level at a time: the keywords of a schema that
// differ are put into the old schema one after the other, and each step is compared with
// the one before. So where every step is equivalent the whole is. Because a place is
// looked at without its surroundings, the whole is compared as well, and has the last
// word: see settle.
func (d *differ) schemaDiff(o, n *toolmark.Value, oldAt, newAt string, steps *int) ([]schemaEdit, Effect) {
	s := &schemaDiffer{differ: d, old: newRoot(o), new: newRoot(n), words: wordsOf(o), steps: steps}
	s.schema(o, n, oldAt, newAt, true)
	return s.edits, s.settle(o, n)
}

// settle compares the schemas as wholes and makes the places agree with the answer.
func (s *schemaDiffer) settle(o, n *toolmark.Value) Effect {
	whole := relation(node{v: o, r: s.old}, node{v: n, r: s.new}, s.steps)
	has := func(what func(*schemaEdit) bool) bool {
		return slices.ContainsFunc(s.edits, func(e schemaEdit) bool { return e.op != OpMoved && what(&e) })
	}
	quiet := !has(func(e *schemaEdit) bool { return e.effect != EffectEquivalent })
	switch {
	case !has(func(*schemaEdit) bool { return true }):
		return EffectEquivalent // the order of members, and nothing else
	case has(func(e *schemaEdit) bool {
		return e.keyword != "" && keywords[e.keyword] == unknownWord && e.effect != EffectEquivalent
	}):
		return EffectRestructured // what an unknown keyword does nobody knows
	case whole != EffectEquivalent && quiet:
		s.setAll(EffectRestructured) // every place looks equivalent; the whole is not shown to be
		return EffectRestructured
	case whole != EffectEquivalent, quiet:
		return whole
	}
	text := has(func(e *schemaEdit) bool { return e.text })
	said := beside(node{v: o, r: s.old}, node{v: n, r: s.new}, s.steps)
	switch {
	case said == EffectEquivalent && text:
		return EffectAnnotation
	case said == EffectEquivalent:
		// Definitions under other names, for example: no place alone shows it.
		s.setAll(EffectEquivalent)
	}
	return said
}

func (s *schemaDiffer) setAll(e Effect) {
	for i := range s.edits {
		if s.edits[i].op != OpMoved {
			s.edits[i].effect = e
		}
	}
}

func (s *schemaDiffer) add(e edit, keyword string, effect Effect, text bool) {
	if e.op == OpMoved {
		effect, text = EffectEquivalent, false
	}
	s.edits = append(s.edits, schemaEdit{edit: e, effect: effect, keyword: keyword, text: text})
}

// pending is a difference of one level that waits for its effect.
type pending struct {
	edit
	unit unit
}

// schema compares two schemas. plain is false where a schema that accepts more may make
// the whole accept less.
func (s *schemaDiffer) schema(o, n *toolmark.Value, oldAt, newAt string, plain bool) {
	object := toolmark.KindObject
	if o.Kind != object || n.Kind != object || repeats(o) || repeats(n) ||
		(o.Get("$ref").Kind == toolmark.KindAbsent) != (n.Get("$ref").Kind == toolmark.KindAbsent) {
		if !identical(o, n) {
			s.whole(o, n, oldAt, newAt, plain)
		}
		return
	}
	if !s.affords(o, n, oldAt, newAt) {
		s.whole(o, n, oldAt, newAt, plain)
		return
	}
	var level []pending
	s.members(o, n, oldAt, newAt, func(e edit) {
		switch e.op {
		case OpMoved:
			s.add(e, "", EffectEquivalent, false)
		case OpAdded:
			level = append(level, pending{e, unit{keyword: last(e.newAt)}})
		default:
			level = append(level, pending{e, unit{keyword: last(e.oldAt)}})
		}
	}, func(name string, a, b *toolmark.Value) {
		level = s.keyword(level, name, a, b, toolmark.Pointer(oldAt, name), toolmark.Pointer(newAt, name), plain)
	})
	s.judge(o, n, level, plain)
}

// keyword compares one keyword that stands in both schemas. Schemas in it are compared
// by themselves; what else differs is added to the level.
func (s *schemaDiffer) keyword(level []pending, k string, a, b *toolmark.Value, oldAt, newAt string, plain bool) []pending {
	plain = plain && !turns(k)
	class := keywords[k]
	if k == "items" && a.Kind == toolmark.KindArray || k == "dependencies" {
		class = valueWord
	}
	same := func(kind toolmark.Kind) bool { return a.Kind == kind && b.Kind == kind }
	collect := func(name string) func(edit) {
		return func(e edit) {
			if e.op == OpMoved {
				s.add(e, "", EffectEquivalent, false)
				return
			}
			level = append(level, pending{e, unit{keyword: k, name: name}})
		}
	}
	switch {
	case (class == mapWord || class == definitionWord) && same(toolmark.KindObject) && !repeats(a) && !repeats(b):
		s.members(a, b, oldAt, newAt, func(e edit) {
			name := ""
			switch e.op {
			case OpAdded:
				name = last(e.newAt)
			case OpRemoved:
				name = last(e.oldAt)
			}
			collect(name)(e)
		}, func(name string, x, y *toolmark.Value) {
			s.schema(x, y, toolmark.Pointer(oldAt, name), toolmark.Pointer(newAt, name), plain)
		})
	case class == schemaWord && same(toolmark.KindObject):
		s.schema(a, b, oldAt, newAt, plain)
	case class == listWord && same(toolmark.KindArray):
		s.elements(a, b, oldAt, newAt, collect(""), func(i, j int) {
			s.schema(&a.Items[i], &b.Items[j], toolmark.Pointer(oldAt, i), toolmark.Pointer(newAt, j), plain)
		})
	default:
		s.walk(a, b, oldAt, newAt, collect(""))
	}
	return level
}

// whole reports a schema that was replaced by another.
func (s *schemaDiffer) whole(o, n *toolmark.Value, oldAt, newAt string, plain bool) {
	a, b := node{v: o, r: s.old}, node{v: n, r: s.new}
	effect := direction(relation(a, b, s.steps), plain)
	text := s.words.newText("", n)
	if effect == EffectEquivalent {
		if effect = beside(a, b, s.steps); effect == EffectEquivalent && text {
			effect = EffectAnnotation
		}
	}
	s.add(edit{op: OpChanged, oldAt: oldAt, newAt: newAt, old: o, new: n}, "", effect, text)
}

// direction gives up the claim that a schema accepts more or less where that says
// nothing about the whole.
func direction(e Effect, plain bool) Effect {
	if !plain && (e == EffectWidened || e == EffectNarrowed) {
		return EffectRestructured
	}
	return e
}

// judge gives the differences of one level their effects.
func (s *schemaDiffer) judge(o, n *toolmark.Value, level []pending, plain bool) {
	var units []unit
	known := map[unit]bool{}
	for _, p := range level {
		text := p.new != nil && s.words.newText(p.unit.keyword, p.new)
		if p.unit.name != "" {
			text = p.new != nil && (s.words.newText("", p.new) || !s.words[p.unit.name] &&
				(keywords[p.unit.keyword] != definitionWord || !identifier(p.unit.name)))
		}
		switch keywords[p.unit.keyword] {
		case annotationWord:
			effect := EffectAnnotation
			if p.op == OpChanged && same(p.old, p.new) {
				effect = EffectEquivalent
			}
			s.add(p.edit, p.unit.keyword, effect, text)
		case definitionWord:
			effect := EffectEquivalent // it counts where it is referred to
			if text {
				effect = EffectAnnotation
			}
			s.add(p.edit, p.unit.keyword, effect, text)
		case dialectWord:
			effect := EffectRestructured
			if o == s.old.tree && n == s.new.tree && comparable(s.old, s.new) && s.old.dialect != dialectUnknown && s.new.dialect != dialectUnknown {
				effect = EffectEquivalent
			}
			s.add(p.edit, p.unit.keyword, effect, text)
		case unknownWord:
			effect := EffectRestructured
			if p.op == OpChanged && same(p.old, p.new) {
				effect = EffectEquivalent
			}
			s.add(p.edit, p.unit.keyword, effect, text)
		default:
			if !known[p.unit] {
				known[p.unit] = true
				units = append(units, p.unit)
			}
		}
	}
	if len(units) == 0 {
		return
	}
	effects := s.effects(o, n, units, plain)
	for _, p := range level {
		effect, ok := effects[p.unit]
		if !ok {
			continue
		}
		text := p.new != nil && s.words.newText(p.unit.keyword, p.new)
		if p.unit.name != "" && p.new != nil {
			text = s.words.newText("", p.new) || !s.words[p.unit.name]
		}
		if effect == EffectEquivalent && text {
			effect = EffectAnnotation
		}
		s.add(p.edit, p.unit.keyword, effect, text)
	}
}

// How many keywords, or members of them, of one level are judged one by one, and how many
// together. Of more only the whole schema is compared.
const (
	maxUnits    = 32
	maxTogether = 256
)

// effects gives what each unit does. All together are asked first: a type list that
// became an anyOf is two units, and equivalent only as a pair.
func (s *schemaDiffer) effects(o, n *toolmark.Value, units []unit, plain bool) map[unit]Effect {
	old := node{v: o, r: s.old}
	after := func(count int) node {
		m := &mix{other: node{v: n, r: s.new}, units: map[unit]bool{}}
		for _, u := range units[:count] {
			m.units[u] = true
		}
		return node{v: o, r: s.old, mix: m}
	}
	effects := make(map[unit]Effect, len(units))
	if len(units) > maxTogether {
		for _, u := range units {
			effects[u] = EffectRestructured
		}
		return effects
	}
	together := relation(old, after(len(units)), s.steps)
	if together == EffectEquivalent {
		together = beside(old, after(len(units)), s.steps)
	}
	for i, u := range units {
		effect := together
		if together != EffectEquivalent && len(units) > 1 && len(units) <= maxUnits {
			step := relation(after(i), after(i+1), s.steps)
			if step == EffectEquivalent {
				step = beside(after(i), after(i+1), s.steps)
			}
			if together == EffectRestructured || step == EffectEquivalent {
				effect = step
			}
		}
		effects[u] = direction(effect, plain)
	}
	return effects
}

// last gives the last token of a JSON Pointer.
func last(pointer string) string {
	for i := len(pointer) - 1; i >= 0; i-- {
		if pointer[i] == '/' {
			return unescape(pointer[i+1:])
		}
	}
	return ""
}

// unescape undoes toolmark.EscapePointer.
func unescape(token string) string {
	if !strings.Contains(token, "~") {
		return token
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}
