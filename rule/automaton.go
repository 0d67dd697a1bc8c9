package rule

import (
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// automaton tells whether a pattern matches anywhere in a stretch of text. Most
// stretches hold no match, and the engine of package regexp takes fifty to five hundred
// nanoseconds a byte to say so where a pattern has many branches.
//
// Slow, and right by definition: regexp. Fast: the states in which the program of the
// pattern may be after each character, worked out when they are first met and kept. A
// state is the set of instructions that wait for the next character, and what the last
// one was as far as \b and ^ ask. That is safe because the program is the one that
// package regexp runs, and its instructions say themselves what they match. Where the
// match is, regexp is asked: so this can only be wrong by a stretch passed over, which the
// comparison with the slow path looks for.
//
// Characters that no instruction tells apart are one class. States take memory, so
// a Set keeps so many bytes of them and starts anew when they are full; and where a
// text makes one new state after the other, regexp goes on alone.
type automaton struct {
	prog   *syntax.Prog
	ascii  [utf8.RuneSelf]uint16
	bounds []rune   // where intervals of other characters begin, in order
	class  []uint16 // of each interval
	sample []rune   // a character of each class
	low    int      // the classes of ASCII are those below it
}

// automatonCache is the states of an automaton that have been met.
type automatonCache struct {
	begin [4]*state // behind each kind of character
	bytes *atomic.Int64

	mu      sync.Mutex
	states  map[string]*state
	starts  map[startStep]step // of the pattern's own beginning, in each place
	visited []uint32           // per instruction: the walk that saw it last
	walk    uint32
	stack   []uint32
	key     []byte
}

// state is the state behind a character. It does not change but for what follows.
type state struct {
	before  charKind
	waiting []uint32 // instructions, in order
	// next has a state for each class of ASCII, and behind them what the end of the
	// text says; others is the same for the other classes.
	next   []atomic.Pointer[state]
	others atomic.Pointer[[]atomic.Pointer[state]]
}

// step is what follows from a set of instructions and a character.
type step struct {
	matched bool // before the character
	waiting []uint32
}

type startStep struct {
	before charKind
	class  uint16
}

// charKind is what \b, ^ and $ know of a character.
type charKind uint8

const (
	kindNone charKind = iota // the beginning of the text
	kindWord
	kindLine
	kindOther
)

// runeOf gives a character of the kind, as syntax.EmptyOpContext takes it.
func (k charKind) rune() rune { return [...]rune{-1, 'a', '\n', ' '}[k] }

func kindOfRune(r rune) charKind {
	switch {
	case syntax.IsWordChar(r):
		return kindWord
	case r == '\n':
		return kindLine
	}
	return kindOther
}

var (
	stateMatched = &state{} // a match ends before the character
	stateNone    = &state{} // the text ended without one
)

const (
	// maxAutomataBytes is about the most bytes of the states of a Set.
	maxAutomataBytes = 32 << 20
	// freeStates and bytesPerState bound the new states of one stretch.
	freeStates    = 32
	bytesPerState = 8
)

// newAutomaton makes the automaton of a pattern.
func newAutomaton(source string) *automaton {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		panic(fmt.Sprintf("rule: %q: %v", source, err))
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		panic(fmt.Sprintf("rule: %q: %v", source, err))
	}
	a := &automaton{prog: prog}
	a.classify()
	return a
}

// classify divides the characters into classes.
func (a *automaton) classify() {
	known := map[string]bool{}
	var lists [][]rune // pairs
	add := func(pairs []rune) {
		if key := string(pairs); !known[key] {
			known[key] = true
			lists = append(lists, pairs)
		}
	}
	add([]rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'})
	add([]rune{'\n', '\n'})
	for i := range a.prog.Inst {
		switch in := &a.prog.Inst[i]; in.Op {
		case syntax.InstRune, syntax.InstRune1:
			if len(in.Rune) != 1 {
				add(in.Rune)
				continue
			}
			if add([]rune{in.Rune[0], in.Rune[0]}); syntax.Flags(in.Arg)&syntax.FoldCase == 0 {
				continue
			}
			for r := unicode.SimpleFold(in.Rune[0]); r != in.Rune[0]; r = unicode.SimpleFold(r) {
				add([]rune{r, r})
			}
		}
	}
	bounds := []rune{0}
	for _, list := range lists {
		for i := 0; i < len(list); i += 2 {
			bounds = append(bounds, list[i], list[i+1]+1)
		}
	}
	for c := range rune(utf8.RuneSelf) + 1 {
		bounds = append(bounds, c) // the intervals of ASCII have one character each
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	class := make([]uint32, len(bounds))
	count := uint32(1)
	for _, list := range lists {
		// Each class of which some intervals are in the list, and others may not be, is
		// divided. A list does not name an interval twice.
		inside := map[uint32]uint32{}
		for i := 0; i < len(list); i += 2 {
			at, _ := slices.BinarySearch(bounds, list[i])
			for ; at < len(bounds) && bounds[at] <= list[i+1]; at++ {
				n, ok := inside[class[at]]
				if !ok {
					n = count
					inside[class[at]] = n
					count++
				}
				class[at] = n
			}
		}
	}
	// Those of ASCII come first.
	numbers := map[uint32]uint16{}
	a.class = make([]uint16, len(bounds))
	for i, c := range class {
		n, ok := numbers[c]
		if !ok {
			n = uint16(len(numbers))
			numbers[c] = n
			a.sample = append(a.sample, bounds[i])
		}
		a.class[i] = n
		if bounds[i] < utf8.RuneSelf {
			a.ascii[bounds[i]] = n
			a.low = len(numbers)
		}
	}
	a.bounds = bounds
}

// classOf gives the class of a character that is not of ASCII.
func (a *automaton) classOf(r rune) int {
	n := sort.Search(len(a.bounds), func(i int) bool { return a.bounds[i] > r })
	return int(a.class[n-1])
}

func (a *automaton) newCache(bytes *atomic.Int64) *automatonCache {
	c := &automatonCache{
		bytes: bytes, states: map[string]*state{}, starts: map[startStep]step{},
		visited: make([]uint32, len(a.prog.Inst)),
	}
	c.bytes.Add(int64(4 * len(c.visited)))
	for kind := range c.begin {
		c.begin[kind] = a.stateOf(c, charKind(kind), nil)
	}
	return c
}

// find reports whether a match stands in the text, before which stands a character of
// that kind; known is false where it gave up.
func (a *automaton) find(c *automatonCache, text string, before charKind) (matched, known bool) {
	s := c.begin[before]
	left := freeStates + len(text)/bytesPerState
	for i := 0; i < len(text); {
		var next *state
		size := 1
		if b := text[i]; b < utf8.RuneSelf {
			class := int(a.ascii[b])
			if next = s.next[class].Load(); next == nil {
				left--
				next = a.follow(c, s, class)
			}
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			class := a.classOf(r)
			if class < a.low {
				next = s.next[class].Load()
			} else if others := s.others.Load(); others != nil {
				next = (*others)[class-a.low].Load()
			}
			if next == nil {
				left--
				next = a.follow(c, s, class)
			}
		}
		if next == stateMatched {
			return true, true
		}
		if left < 0 {
			return false, false
		}
		s = next
		i += size
	}
	last := s.next[a.low].Load()
	if last == nil {
		last = a.follow(c, s, len(a.sample))
	}
	return last == stateMatched, true
}

// follow works out what follows a state, for a class or, with the number of classes,
// the end of the text.
func (a *automaton) follow(c *automatonCache, s *state, class int) *state {
	c.mu.Lock()
	defer c.mu.Unlock()
	start, ok := c.starts[startStep{s.before, uint16(class)}]
	if !ok {
		start = a.step(c, []uint32{uint32(a.prog.Start)}, s.before, class)
		c.starts[startStep{s.before, uint16(class)}] = start
		c.bytes.Add(int64(64 + 4*len(start.waiting)))
	}
	own := a.step(c, s.waiting, s.before, class)
	var next *state
	switch {
	case start.matched || own.matched:
		next = stateMatched
	case class == len(a.sample):
		next = stateNone
	default:
		waiting := own.waiting
		if len(start.waiting) > 0 {
			waiting = append(waiting, start.waiting...)
			slices.Sort(waiting)
			waiting = slices.Compact(waiting)
		}
		next = a.stateOf(c, kindOfRune(a.sample[class]), waiting)
	}
	switch {
	case class < a.low:
		s.next[class].Store(next)
	case class == len(a.sample):
		s.next[a.low].Store(next)
	default:
		others := s.others.Load()
		if others == nil {
			list := make([]atomic.Pointer[state], len(a.sample)-a.low)
			others = &list
			s.others.Store(others)
			c.bytes.Add(int64(8 * len(list)))
		}
		(*others)[class-a.low].Store(next)
	}
	return next
}

// step follows instructions up to a character and over it.
func (a *automaton) step(c *automatonCache, from []uint32, before charKind, class int) step {
	r := rune(-1)
	if class < len(a.sample) {
		r = a.sample[class]
	}
	empty := syntax.EmptyOpContext(before.rune(), r)
	c.walk++
	if c.walk == 0 {
		clear(c.visited)
		c.walk = 1
	}
	stack := append(c.stack[:0], from...)
	var s step
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if c.visited[pc] == c.walk {
			continue
		}
		c.visited[pc] = c.walk
		switch in := &a.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			s.matched = true
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, in.Arg, in.Out)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^empty == 0 {
				stack = append(stack, in.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r >= 0 && matchesRune(in, r) {
				s.waiting = append(s.waiting, in.Out)
			}
		}
	}
	c.stack = stack
	slices.Sort(s.waiting)
	s.waiting = slices.Compact(s.waiting)
	return s
}

func matchesRune(in *syntax.Inst, r rune) bool {
	switch in.Op {
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return r != '\n'
	}
	return in.MatchRune(r)
}

// stateOf gives the state with these instructions.
func (a *automaton) stateOf(c *automatonCache, before charKind, waiting []uint32) *state {
	c.key = append(c.key[:0], byte(before))
	for _, pc := range waiting {
		c.key = binary.LittleEndian.AppendUint32(c.key, pc)
	}
	if s := c.states[string(c.key)]; s != nil {
		return s
	}
	s := &state{before: before, waiting: waiting, next: make([]atomic.Pointer[state], a.low+1)}
	c.states[string(c.key)] = s
	c.bytes.Add(int64(160 + 8*len(waiting) + 8*len(s.next)))
	return s
}

// matches reports whether p matches in a stretch of text, as p.at(beginning) does.
func (a *analysis) matches(p *pattern, text string, beginning bool) bool {
	if !a.exhaustive {
		before := kindOther
		if beginning || !p.begins {
			before = kindNone
		}
		if matched, known := a.find(p, text, before); known {
			return matched
		}
	}
	return p.at(beginning).MatchString(text)
}

// goesOn reports whether a match may stand in text[from:], which is not empty before.
func (a *analysis) goesOn(p *pattern, text string, from int) bool {
	if a.exhaustive {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(text[:from])
	matched, known := a.find(p, text[from:], kindOfRune(r))
	return matched || !known
}

func (a *analysis) find(p *pattern, text string, before charKind) (matched, known bool) {
	p.automatonOnce.Do(func() { p.automaton = newAutomaton(p.expanded()) })
	cache := p.cache.Load()
	if cache == nil {
		cache = p.automaton.newCache(&a.set.automata)
		p.cache.Store(cache)
	}
	matched, known = p.automaton.find(cache, text, before)
	if a.set.automata.Load() > maxAutomataBytes {
		a.set.forgetAutomata()
	}
	return matched, known
}

// forgetAutomata drops all states. Who is at work with some goes on with them.
func (s *Set) forgetAutomata() {
	s.automata.Store(0)
	s.eachPattern(func(p *pattern) { p.cache.Store(nil) })
}

// eachPattern gives the patterns of all alternatives and excuses; some twice.
func (s *Set) eachPattern(use func(*pattern)) {
	excuses := func(list []*excuse) {
		for _, e := range list {
			if e.regex != nil {
				use(e.regex)
			}
		}
	}
	for _, alt := range s.alternatives {
		for _, c := range alt.conditions {
			if c.regex != nil {
				use(c.regex)
			}
		}
		excuses(alt.unless)
		excuses(alt.downgrade)
		excuses(alt.rule.unless)
		excuses(alt.rule.downgrade)
	}
}
