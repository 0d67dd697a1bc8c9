package atr

import (
	"fmt"
	"unicode/utf16"

	"github.com/toolmark/toolmark"
)

// op is the kind of a node.
type op uint8

const (
	opEmpty op = iota
	opClass
	opConcat
	opAlternate
	opRepeat
	opLook
	opBegin   // ^
	opEnd     // $
	opWord    // \b
	opNotWord // \B
	opBack    // a back-reference
)

// node is a regular expression of ECMA-262 §22.2, without its captures: which text a
// group has taken matters to back-references only, and those are not evaluated here.
type node struct {
	op       op
	class    *class  // opClass
	sub      []*node // opConcat, opAlternate; one for opRepeat and opLook
	min, max int     // opRepeat; max < 0 is no bound
	behind   bool    // opLook: lookbehind
	negative bool    // opLook
	lead     *class  // every match begins with one of these; nil: not known
}

// pattern flags and limits of the parser.
const (
	maxPatternUnits = 1 << 16
	maxDepth        = 200
	maxRepeat       = 1 << 20 // larger bounds of {n,m} are no bound
)

// parser reads the pattern language of ECMA-262 with annex B, as /…/i or /…/iu.
type parser struct {
	src      []rune // UTF-16 units, or code points with the u flag
	pos      int
	unicode  bool
	groups   int
	named    bool
	depth    int
	intern   *interner
	backrefs bool
	negative int           // depth of negative lookaround
	opened   int           // capturing groups begun
	closed   map[int]*node // capturing groups that are done
}

// parse reads a pattern. Classes are closed under the equality of the i flag.
func parse(source string, unicodeMode bool, intern *interner) (root *node, backrefs bool, err error) {
	p := &parser{src: units(source, unicodeMode), unicode: unicodeMode, intern: intern}
	if len(p.src) > maxPatternUnits {
		return nil, false, fmt.Errorf("pattern of %d units: the limit is %d", len(p.src), maxPatternUnits)
	}
	p.countGroups()
	root, err = p.disjunction()
	if err != nil {
		return nil, false, err
	}
	if p.pos < len(p.src) {
		return nil, false, p.fault("unmatched )")
	}
	root.findLead()
	return root, p.backrefs, nil
}

// units gives text (WTF-8) as UTF-16 code units, or as code points.
func units(s string, codePoints bool) []rune {
	list := make([]rune, 0, len(s))
	for i := 0; i < len(s); {
		r, size := toolmark.DecodeRune(s[i:])
		i += size
		if r > 0xffff && !codePoints {
			high, low := utf16.EncodeRune(r)
			list = append(list, high, low)
			continue
		}
		list = append(list, r)
	}
	return list
}

func (p *parser) fault(format string, args ...any) error {
	return fmt.Errorf("at %d: %s", p.pos, fmt.Sprintf(format, args...))
}

func (p *parser) more() bool { return p.pos < len(p.src) }

func (p *parser) peek(s string) bool {
	i := p.pos
	for _, r := range s {
		if i >= len(p.src) || p.src[i] != r {
			return false
		}
		i++
	}
	return true
}

func (p *parser) take(s string) bool {
	if !p.peek(s) {
		return false
	}
	p.pos += len(s)
	return true
}

// countGroups counts the capturing groups: \5 is a back-reference only where there
// are five.
func (p *parser) countGroups() {
	inClass := false
	for i := 0; i < len(p.src); i++ {
		switch p.src[i] {
		case '\\':
			i++
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '(':
			if inClass {
				break
			}
			if i+1 < len(p.src) && p.src[i+1] == '?' {
				if i+3 < len(p.src) && p.src[i+2] == '<' && p.src[i+3] != '=' && p.src[i+3] != '!' {
					p.groups++
					p.named = true
				}
				break
			}
			p.groups++
		}
	}
}

func (p *parser) disjunction() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fault("nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	var branches []*node
	for {
		branch, err := p.alternative()
		if err != nil {
			return nil, err
		}
		branches = append(branches, branch)
		if !p.take("|") {
			break
		}
	}
	if len(branches) == 1 {
		return branches[0], nil
	}
	return &node{op: opAlternate, sub: branches}, nil
}

func (p *parser) alternative() (*node, error) {
	var list []*node
	for p.more() && !p.peek("|") && !p.peek(")") {
		term, err := p.term()
		if err != nil {
			return nil, err
		}
		if term, err = p.quantified(term); err != nil {
			return nil, err
		}
		if term.op == opConcat {
			list = append(list, term.sub...)
		} else if term.op != opEmpty {
			list = append(list, term)
		}
	}
	switch len(list) {
	case 0:
		return &node{op: opEmpty}, nil
	case 1:
		return list[0], nil
	}
	return &node{op: opConcat, sub: list}, nil
}

func (p *parser) term() (*node, error) {
	switch r := p.src[p.pos]; r {
	case '^':
		p.pos++
		return &node{op: opBegin}, nil
	case '$':
		p.pos++
		return &node{op: opEnd}, nil
	case '(':
		return p.group()
	case '[':
		return p.brackets()
	case '.':
		p.pos++
		return p.class(newSet(lineEnds...), true), nil
	case '\\':
		return p.escape()
	case '*', '+', '?':
		return nil, p.fault("nothing to repeat")
	case '{':
		if p.unicode {
			return nil, p.fault("lone {")
		}
		if _, _, n := p.bounds(); n > 0 {
			return nil, p.fault("nothing to repeat")
		}
		p.pos++
		return p.one(r), nil
	case ']', '}':
		if p.unicode {
			return nil, p.fault("lone %c", r)
		}
		p.pos++
		return p.one(r), nil
	default:
		p.pos++
		return p.one(r), nil
	}
}

func (p *parser) one(r rune) *node { return p.class(newSet(r, r), false) }

func (p *parser) wordEdge(o op) *node {
	return &node{op: o, class: p.intern.class(wordRanges, false, p.unicode)}
}

func (p *parser) class(s set, negated bool) *node {
	return &node{op: opClass, class: p.intern.class(s, negated, p.unicode)}
}

func (p *parser) group() (*node, error) {
	p.pos++
	n := &node{op: opEmpty}
	capture := 0
	switch {
	case p.take("?:"):
	case p.take("?="):
		n = &node{op: opLook}
	case p.take("?!"):
		n = &node{op: opLook, negative: true}
	case p.take("?<="):
		n = &node{op: opLook, behind: true}
	case p.take("?<!"):
		n = &node{op: opLook, behind: true, negative: true}
	case p.take("?<"):
		for p.more() && !p.peek(">") {
			p.pos++
		}
		if !p.take(">") {
			return nil, p.fault("group name without >")
		}
		p.opened++
		capture = p.opened
	case p.take("?"):
		return nil, p.fault("group of an unknown kind")
	default:
		p.opened++
		capture = p.opened
	}
	if n.negative {
		p.negative++
	}
	body, err := p.disjunction()
	if err != nil {
		return nil, err
	}
	if n.negative {
		p.negative--
	}
	if capture > 0 && free(body) {
		if p.closed == nil {
			p.closed = map[int]*node{}
		}
		p.closed[capture] = body
	}
	if !p.take(")") {
		return nil, p.fault("missing )")
	}
	if n.op == opLook {
		n.sub = []*node{body}
		return n, nil
	}
	return body, nil
}

// bounds reads {n}, {n,} or {n,m} ahead without taking it, and says how long it is;
// zero where there is none.
func (p *parser) bounds() (minimum, maximum, length int) {
	i := p.pos
	if i >= len(p.src) || p.src[i] != '{' {
		return 0, 0, 0
	}
	i++
	number := func() (int, bool) {
		n, from := 0, i
		for ; i < len(p.src) && p.src[i] >= '0' && p.src[i] <= '9'; i++ {
			n = min(n*10+int(p.src[i]-'0'), maxRepeat)
		}
		return n, i > from
	}
	minimum, ok := number()
	if !ok {
		return 0, 0, 0
	}
	maximum = minimum
	if i < len(p.src) && p.src[i] == ',' {
		i++
		if maximum, ok = number(); !ok {
			maximum = -1
		}
	}
	if i >= len(p.src) || p.src[i] != '}' {
		return 0, 0, 0
	}
	if maximum >= maxRepeat {
		maximum = -1
	}
	return minimum, maximum, i + 1 - p.pos
}

func (p *parser) quantified(n *node) (*node, error) {
	if !p.more() {
		return n, nil
	}
	minimum, maximum := 0, -1
	switch p.src[p.pos] {
	case '*':
		p.pos++
	case '+':
		p.pos++
		minimum = 1
	case '?':
		p.pos++
		maximum = 1
	case '{':
		var length int
		if minimum, maximum, length = p.bounds(); length == 0 {
			if p.unicode {
				return nil, p.fault("incomplete quantifier")
			}
			return n, nil
		}
		p.pos += length
	default:
		return n, nil
	}
	p.take("?") // lazy: which match is taken first, not whether there is one
	if maximum >= 0 && maximum < minimum {
		return nil, p.fault("numbers out of order in {}")
	}
	switch n.op {
	case opBegin, opEnd, opWord, opNotWord:
		return nil, p.fault("nothing to repeat")
	case opLook:
		if p.unicode || n.behind {
			return nil, p.fault("nothing to repeat")
		}
	}
	return &node{op: opRepeat, sub: []*node{n}, min: minimum, max: maximum}, nil
}

// findLead sets lead in the node and all below it.
func (n *node) findLead() {
	for _, sub := range n.sub {
		sub.findLead()
	}
	switch n.op {
	case opClass:
		n.lead = n.class
	case opRepeat:
		if n.min > 0 {
			n.lead = n.sub[0].lead
		}
	case opConcat:
		for _, sub := range n.sub {
			switch sub.op {
			case opLook, opBegin, opEnd, opWord, opNotWord:
				continue // takes nothing: what begins is what comes next
			}
			n.lead = sub.lead
			return
		}
	}
}
