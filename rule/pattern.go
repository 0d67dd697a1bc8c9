package rule

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// pattern is a regular expression of a rule. It is compiled when it is first
// needed: most texts need none of them.
type pattern struct {
	source   string
	families []*family // those the source names, in order, one for each place
	chains   []chain   // see needed: every match holds the needs of one of them, in order
	anchored bool      // it has $, \z, or ^ for lines: see window.go
	begins   bool      // it has ^ for the beginning of the text

	// waiting is the chains as they stand in a compiled set, of so many sets.
	waiting string
	sets    int
	decode  sync.Once

	once     sync.Once
	compiled *regexp.Regexp
	fault    error

	// later is the pattern where its ^ cannot match, see behind.
	later       *regexp.Regexp
	compileOnce sync.Once

	// automaton says in which stretches the pattern matches at all.
	automaton     *automaton
	automatonOnce sync.Once
	cache         atomic.Pointer[automatonCache]
}

// namesPrivateUse reports whether a pattern has a character of the planes from which
// placeholders are taken, written out or as \x{…}.
func namesPrivateUse(source string) bool {
	for i, r := range source {
		if r >= placeholder {
			return true
		}
		if hex, ok := strings.CutPrefix(source[i:], `\x{`); ok {
			hex, _, _ = strings.Cut(hex, "}")
			if n, err := strconv.ParseUint(hex, 16, 32); err == nil && n >= placeholder {
				return true
			}
		}
	}
	return false
}

// insideBrackets reports whether a character class is open at the end of s.
func insideBrackets(s string) bool {
	open := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			open = true
		case ']':
			open = false
		}
	}
	return open
}

// placeholder is the rune that stands for family number n while a pattern's syntax
// is looked at, so that a family of a thousand words costs nothing until the
// pattern is compiled. It is of a private-use plane, which no rule may name.
const placeholder = 0xf0000

// maxFamilies is the most families of a set.
const maxFamilies = 1 << 14

// parsePattern reads a regular expression in which {{name}} stands for a family.
func parsePattern(source string, find func(name string) (*family, error), unbounded bool) (*pattern, *syntax.Regexp, error) {
	p := &pattern{source: source}
	var skeleton strings.Builder
	rest := source
	for {
		before, after, ok := strings.Cut(rest, "{{")
		skeleton.WriteString(before)
		if !ok {
			break
		}
		if insideBrackets(before) {
			return nil, nil, fmt.Errorf("a family cannot stand inside [ ]")
		}
		name, tail, ok := strings.Cut(after, "}}")
		if !ok {
			return nil, nil, fmt.Errorf("{{ without }}")
		}
		f, err := find(name)
		if err != nil {
			return nil, nil, err
		}
		fmt.Fprintf(&skeleton, "%c", placeholder+f.number)
		p.families = append(p.families, f)
		rest = tail
	}
	if namesPrivateUse(source) {
		return nil, nil, fmt.Errorf("a private-use character")
	}
	tree, err := syntax.Parse(skeleton.String(), syntax.Perl|syntax.DotNL)
	if err != nil {
		return nil, nil, fmt.Errorf("pattern does not compile: %w", err)
	}
	if !unbounded {
		if gap := unboundedGap(tree); gap != "" {
			return nil, nil, fmt.Errorf("unbounded gap %s: give it a bound, such as {0,40}, or say why under \"unbounded\"", gap)
		}
	}
	return p, tree, nil
}

// needed gives the chains.
func (p *pattern) needed() []chain {
	p.decode.Do(func() {
		if p.waiting == "" {
			return
		}
		c := &codec{in: p.waiting, sets: p.sets}
		if c.chains(&p.chains); c.failed || len(c.in) > 0 {
			// Its sum was right when the set was read. To match without the pattern
			// would be a silent skip.
			panic(fmt.Sprintf("rule: the compiled needs of %q are damaged", p.source))
		}
	})
	return p.chains
}

// compile compiles the pattern, once.
func (p *pattern) compile() (*regexp.Regexp, error) {
	p.once.Do(func() {
		if p.compiled, p.fault = regexp.Compile(p.expanded()); p.fault != nil {
			p.fault = fmt.Errorf("pattern does not compile: %w", p.fault)
		}
	})
	return p.compiled, p.fault
}

// expanded gives the pattern with its families written out.
func (p *pattern) expanded() string {
	var b strings.Builder
	b.WriteString("(?s)")
	rest := p.source
	for i := 0; ; i++ {
		before, after, ok := strings.Cut(rest, "{{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, rest, _ = strings.Cut(after, "}}")
		b.WriteString("(?i:")
		for j := range p.families[i].entries {
			if j > 0 {
				b.WriteByte('|')
			}
			p.families[i].entries[j].regex(&b)
		}
		b.WriteByte(')')
	}
}

// behind gives the pattern for a stretch that does not begin where its unit does: ^
// matches nowhere in it.
func (p *pattern) behind() *regexp.Regexp {
	if !p.begins {
		return p.regexp()
	}
	p.compileOnce.Do(func() {
		tree, err := syntax.Parse(p.expanded(), syntax.Perl)
		if err != nil {
			panic(fmt.Sprintf("rule: %q: %v", p.source, err))
		}
		neverBegin(tree)
		p.later = regexp.MustCompile(tree.String())
	})
	return p.later
}

// neverBegin makes each ^ of a tree what never matches.
func neverBegin(re *syntax.Regexp) {
	if re.Op == syntax.OpBeginText {
		*re = syntax.Regexp{Op: syntax.OpNoMatch}
	}
	for _, sub := range re.Sub {
		neverBegin(sub)
	}
}

// at gives the pattern for a stretch, by whether its unit begins with it.
func (p *pattern) at(beginning bool) *regexp.Regexp {
	if beginning {
		return p.regexp()
	}
	return p.behind()
}

// regexp gives the compiled pattern. A pattern that does not compile is a fault of
// the rule set that Verify reports; running on without it would be a silent skip.
func (p *pattern) regexp() *regexp.Regexp {
	re, err := p.compile()
	if err != nil {
		panic(fmt.Sprintf("rule: %q: %v", p.source, err))
	}
	return re
}

// unboundedGap gives the first part of the pattern that may go on over any number
// of words, "" where there is none. Runs of white space (\s+) and of anything but
// white space (\w*, [^\s]+) end by themselves.
func unboundedGap(re *syntax.Regexp) string {
	if re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Max < 0 {
		if kindOf(re.Sub[0]).gap() {
			return re.String()
		}
	}
	for _, sub := range re.Sub {
		if gap := unboundedGap(sub); gap != "" {
			return gap
		}
	}
	return ""
}

// runKind says what a part of a pattern may be made of.
type runKind uint8

const (
	runSpace runKind = 1 << iota // white space as \s has it
	runOther                     // what is not white space, a hyphen or an underscore
)

// gap reports whether a run of such characters may go on over any number of words.
func (k runKind) gap() bool { return k&runSpace != 0 && k&runOther != 0 }

func kindOf(re *syntax.Regexp) runKind {
	var kind runKind
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r >= placeholder {
				return runSpace | runOther // a family may hold anything
			}
			kind |= kindOfRange(r, r)
		}
	case syntax.OpCharClass:
		if families, _ := familiesIn(re); len(families) > 0 {
			return runSpace | runOther
		}
		for i := 0; i < len(re.Rune); i += 2 {
			kind |= kindOfRange(re.Rune[i], re.Rune[i+1])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return runSpace | runOther
	}
	for _, sub := range re.Sub {
		kind |= kindOf(sub)
	}
	return kind
}

func kindOfRange(lo, hi rune) runKind {
	var kind runKind
	for _, s := range "\t\n\f\r " {
		if lo <= s && s <= hi {
			kind |= runSpace
		}
	}
	for r := lo; r <= hi; r++ {
		if !isGlue(r) {
			return kind | runOther
		}
	}
	return kind
}
