package rule

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// pattern is a regular expression of a rule. It is compiled when it is first
// needed: most texts need none of them.
type pattern struct {
	source   string
	families []*family // those the source names, in order of their numbers
	compile  func() (*regexp.Regexp, error)
}

// placeholder is the rune that stands for family number n while a pattern's syntax
// is looked at, so that a family of a thousand words costs nothing until the
// pattern is compiled. It is of a private-use plane, which no rule may name.
const placeholder = 0xf0000

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
	for _, r := range source {
		if r >= placeholder {
			return nil, nil, fmt.Errorf("a private-use character")
		}
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
	p.compile = sync.OnceValues(p.compileNow)
	return p, tree, nil
}

func (p *pattern) compileNow() (*regexp.Regexp, error) {
	re, err := regexp.Compile(p.expanded())
	if err != nil {
		return nil, fmt.Errorf("pattern does not compile: %w", err)
	}
	return re, nil
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
		if runKind(re.Sub[0]) == runAny {
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

// runKind says what a part of a pattern is made of.
type runKindOf uint8

const (
	runEmpty runKindOf = iota // nothing
	runGlue                   // white space, hyphens, underscores
	runSolid                  // no white space
	runAny
)

func runKind(re *syntax.Regexp) runKindOf {
	switch re.Op {
	case syntax.OpLiteral:
		kind := runEmpty
		for _, r := range re.Rune {
			if r >= placeholder {
				return runAny
			}
			kind = bothKinds(kind, kindOfRange(r, r))
		}
		return kind
	case syntax.OpCharClass:
		kind := runEmpty
		for i := 0; i < len(re.Rune); i += 2 {
			kind = bothKinds(kind, kindOfRange(re.Rune[i], re.Rune[i+1]))
		}
		return kind
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return runAny
	}
	kind := runEmpty
	for _, sub := range re.Sub {
		kind = bothKinds(kind, runKind(sub))
	}
	return kind
}

func bothKinds(a, b runKindOf) runKindOf {
	switch {
	case a == runEmpty || a == b:
		return b
	case b == runEmpty:
		return a
	}
	return runAny
}

// spaces are the runes of class space, which is a short list in Unicode.
var spaces = []rune{
	'\t', '\n', '\v', '\f', '\r', ' ', 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005,
	0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
}

func kindOfRange(lo, hi rune) runKindOf {
	n := 0
	for _, s := range spaces {
		if lo <= s && s <= hi {
			n++
		}
	}
	switch {
	case n == 0 && (lo != hi || lo != '-' && lo != '_'):
		return runSolid
	case n == 0 || n == int(hi-lo)+1:
		return runGlue
	}
	return runAny
}
