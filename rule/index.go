package rule

import (
	"slices"
	"strings"
)

// index knows a fixed list of literals, and finds in folded text every place where one
// of them stands, in one pass (lookup.go).
//
// What wants to know of a literal is an atom: a word of a family, or a text that a
// regular expression cannot do without. An atom that several families or patterns
// have in common is one; each may be in many sets, of which a text holds something
// where it holds one of their atoms. So what a text costs depends on the words in
// it, and hardly on the number of rules.
type index struct {
	literals []literal
	atoms    []atom
	sets     int              // the number of sets
	numbers  map[string]int32 // literals, while it is built
	known    map[string]int32 // atoms, while it is built
	lookup
}

// literal is a folded text and who wants to know of it.
type literal struct {
	text string
	// atom and phrase are its first atoms, plus one: phrases of which the second word
	// is known to begin with some byte have a chain of their own.
	atom, phrase int32
}

// atom is one use of a literal: as a word or phrase (entry), as the beginning of a
// phrase in a pattern (entry and loose), or (entry nil) as it is.
type atom struct {
	next  int32 // atom of the same literal, plus one
	entry *entry
	loose bool
	sets  []int32
	// spaced: white space is a part of the text itself.
	spaced bool
	// second is the first byte of the phrase's second word; 0: it may be any.
	second byte
	// left and right say what stands beside it, if it begins, or ends, with a character
	// of \w: edgeClosed: none of \w; edgeBroken: no letter or digit of ASCII; 0: anything.
	left, right edge
}

// newSet makes an empty set.
func (x *index) newSet() int32 {
	x.sets++
	return int32(x.sets - 1)
}

// addEntry adds a word or phrase to a set.
func (x *index) addEntry(set int32, e *entry) {
	x.add(set, e.identity(), e.key(), atom{entry: e, second: e.secondByte()})
}

// addLoose adds a word or phrase as it may stand in a regular expression.
func (x *index) addLoose(set int32, e *entry) {
	left, right := e.edges()
	if len(e.parts) == 1 {
		x.addText(set, e.key(), closedIf(left), closedIf(right))
		return
	}
	x.add(set, string([]byte{0, 1, byte(closedIf(left))})+e.identity(), e.key(), atom{entry: e, loose: true, left: closedIf(left), second: e.secondByte()})
}

// addText adds a text to a set.
func (x *index) addText(set int32, text string, left, right edge) {
	if left < edgeBroken {
		left = 0
	}
	if right < edgeBroken {
		right = 0
	}
	x.add(set, string([]byte{0, 2, byte(left), byte(right)})+text, text, atom{
		left: left, right: right, spaced: strings.ContainsFunc(text, func(r rune) bool { return classOf(r) == classSpace }),
	})
}

func closedIf(is bool) edge {
	if is {
		return edgeClosed
	}
	return 0
}

// add adds an atom to a set.
func (x *index) add(set int32, identity, text string, a atom) {
	if x.numbers == nil {
		x.numbers, x.known = map[string]int32{}, map[string]int32{}
	}
	n, ok := x.known[identity]
	if !ok {
		n = int32(len(x.atoms))
		x.known[identity] = n
		number, ok := x.numbers[text]
		if !ok {
			number = int32(len(x.literals))
			x.numbers[text] = number
			x.literals = append(x.literals, literal{text: text})
		}
		l := &x.literals[number]
		first := &l.atom
		if a.second != 0 {
			first = &l.phrase
		}
		a.next = *first
		x.atoms = append(x.atoms, a)
		*first = n + 1
	}
	found := &x.atoms[n]
	if k := len(found.sets); k > 0 && found.sets[k-1] == set {
		return // twice in one list; sets are filled one after the other
	}
	found.sets = append(found.sets, set)
}

// flattenSets writes the sets of all atoms one after the other.
func (x *index) flattenSets() {
	n := 0
	for i := range x.atoms {
		n += len(x.atoms[i].sets)
	}
	x.allSets = make([]int32, 0, 2*n)
	x.setAt = make([]int32, 1, 1+len(x.atoms)+len(x.atoms)/2)
	for i := range x.atoms {
		x.allSets = append(x.allSets, x.atoms[i].sets...)
		x.setAt = append(x.setAt, int32(len(x.allSets)))
	}
}

// group gives a number that stands for all of some atoms that are found together: that
// of the one, or one behind all atoms.
func (x *index) group(atoms []use) int32 {
	if len(atoms) == 1 {
		return atoms[0].atom
	}
	from := len(x.allSets)
	for _, u := range atoms {
		x.allSets = append(x.allSets, x.atoms[u.atom].sets...)
	}
	slices.Sort(x.allSets[from:])
	x.allSets = x.allSets[:from+len(slices.Compact(x.allSets[from:]))]
	x.setAt = append(x.setAt, int32(len(x.allSets)))
	return int32(len(x.setAt) - 2)
}

// setsOf gives the sets of an atom or a group.
func (x *index) setsOf(number int32) []int32 {
	return x.allSets[x.setAt[number]:x.setAt[number+1]]
}
