package atr

import (
	"strings"
	"unicode"
	"unicode/utf16"
)

// escape reads \… outside brackets.
func (p *parser) escape() (*node, error) {
	if p.pos+1 >= len(p.src) {
		return nil, p.fault(`\ at the end`)
	}
	r := p.src[p.pos+1]
	switch {
	case r == 'b':
		p.pos += 2
		return p.wordEdge(opWord), nil
	case r == 'B':
		p.pos += 2
		return p.wordEdge(opNotWord), nil
	case r >= '1' && r <= '9':
		i, n := p.pos+1, 0
		for ; i < len(p.src) && p.src[i] >= '0' && p.src[i] <= '9'; i++ {
			n = min(n*10+int(p.src[i]-'0'), maxRepeat)
		}
		if n <= p.groups || p.unicode {
			p.pos = i
			return p.reference(n)
		}
	case r == 'k' && (p.unicode || p.named):
		p.pos += 2
		for p.more() && !p.peek(">") {
			p.pos++
		}
		if !p.take(">") {
			return nil, p.fault(`\k without a name`)
		}
		return p.reference(0)
	}
	if s, negated, ok, err := p.classEscape(); ok || err != nil {
		if err != nil {
			return nil, err
		}
		return p.class(s, negated), nil
	}
	c, err := p.character(false)
	if err != nil {
		return nil, err
	}
	return p.one(c), nil
}

// reference makes a back-reference to a group, 0 for one that is named. What stands
// for it here takes more than it does, which negation would turn around.
func (p *parser) reference(group int) (*node, error) {
	if p.negative > 0 {
		return nil, p.fault("back-reference in a negative lookaround")
	}
	p.backrefs = true
	n := &node{op: opBack}
	if body := p.closed[group]; body != nil {
		n.sub = []*node{body}
	}
	return n, nil
}

// free reports whether what the node matches depends on nothing around it.
func free(n *node) bool {
	switch n.op {
	case opLook, opBegin, opEnd, opWord, opNotWord, opBack:
		return false
	}
	for _, sub := range n.sub {
		if !free(sub) {
			return false
		}
	}
	return true
}

// classEscape reads \d \D \s \S \w \W \p{…} \P{…}.
func (p *parser) classEscape() (s set, negated, ok bool, err error) {
	r := p.src[p.pos+1]
	switch r {
	case 'd', 'D':
		s = newSet('0', '9')
	case 's', 'S':
		s = newSet(whiteSpace...)
	case 'w', 'W':
		s = newSet(wordRanges...)
		if p.unicode {
			s = s.closed(true) // ſ and the Kelvin sign
		}
	case 'p', 'P':
		if !p.unicode {
			return nil, false, false, nil
		}
		rest := string(p.src[p.pos+2:])
		name, _, found := strings.Cut(strings.TrimPrefix(rest, "{"), "}")
		if !found || !strings.HasPrefix(rest, "{") {
			return nil, false, false, p.fault(`\p without {…}`)
		}
		s, found = property(name)
		if !found {
			return nil, false, false, p.fault("unknown property %q", name)
		}
		p.pos += len([]rune(name)) + 2
		p.pos += 2
		return s, r == 'P', true, nil
	default:
		return nil, false, false, nil
	}
	p.pos += 2
	return s, unicode.IsUpper(r), true, nil
}

// property gives the characters of a general category or a script.
func property(name string) (set, bool) {
	if key, value, ok := strings.Cut(name, "="); ok {
		switch key {
		case "Script", "sc", "Script_Extensions", "scx", "General_Category", "gc":
			name = value
		default:
			return nil, false
		}
	}
	table := unicode.Categories[name]
	if table == nil {
		table = unicode.Scripts[name]
	}
	if table == nil {
		if alias, ok := unicode.CategoryAliases[name]; ok {
			table = unicode.Categories[alias]
		}
	}
	if table == nil {
		return nil, false
	}
	var s set
	for _, r := range table.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			s = append(s, c, c)
		}
	}
	for _, r := range table.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			s = append(s, c, c)
		}
	}
	return s.sorted(), true
}

// character reads an escape that stands for one character, the \ included.
func (p *parser) character(inClass bool) (rune, error) {
	r := p.src[p.pos+1]
	p.pos += 2
	switch r {
	case 't':
		return '\t', nil
	case 'n':
		return '\n', nil
	case 'v':
		return '\v', nil
	case 'f':
		return '\f', nil
	case 'r':
		return '\r', nil
	case 'b':
		if inClass {
			return '\b', nil
		}
	case 'c':
		if p.more() {
			if c := p.src[p.pos]; c|0x20 >= 'a' && c|0x20 <= 'z' {
				p.pos++
				return c & 31, nil
			}
		}
		if p.unicode {
			return 0, p.fault(`\c without a letter`)
		}
		p.pos--
		return '\\', nil
	case 'x':
		if v, ok := p.hex(2); ok {
			return v, nil
		}
		if p.unicode {
			return 0, p.fault(`\x without two digits`)
		}
	case 'u':
		return p.unicodeEscape()
	case '0', '1', '2', '3', '4', '5', '6', '7':
		v := r - '0'
		for n := 1; n < 3 && p.more() && p.src[p.pos] >= '0' && p.src[p.pos] <= '7' && v*8+p.src[p.pos]-'0' <= 0xff; n++ {
			v = v*8 + p.src[p.pos] - '0'
			p.pos++
		}
		return v, nil
	}
	return r, nil
}

func (p *parser) unicodeEscape() (rune, error) {
	if p.unicode && p.peek("{") {
		v := rune(0)
		for p.pos++; p.more() && p.src[p.pos] != '}'; p.pos++ {
			d, ok := hexDigit(p.src[p.pos])
			if !ok || v > unicode.MaxRune {
				return 0, p.fault(`\u{ without hex digits`)
			}
			v = v<<4 | d
		}
		if !p.take("}") || v > unicode.MaxRune {
			return 0, p.fault(`\u{ is not a code point`)
		}
		return v, nil
	}
	v, ok := p.hex(4)
	if !ok {
		if p.unicode {
			return 0, p.fault(`\u without four digits`)
		}
		return 'u', nil
	}
	if p.unicode && utf16.IsSurrogate(v) && p.peek(`\u`) {
		back := p.pos
		p.pos += 2
		if low, ok := p.hex(4); ok {
			if joined := utf16.DecodeRune(v, low); joined != unicode.ReplacementChar {
				return joined, nil
			}
		}
		p.pos = back
	}
	return v, nil
}

func (p *parser) hex(digits int) (rune, bool) {
	if p.pos+digits > len(p.src) {
		return 0, false
	}
	v := rune(0)
	for _, r := range p.src[p.pos : p.pos+digits] {
		d, ok := hexDigit(r)
		if !ok {
			return 0, false
		}
		v = v<<4 | d
	}
	p.pos += digits
	return v, true
}

func hexDigit(r rune) (rune, bool) {
	switch {
	case r >= '0' && r <= '9':
		return r - '0', true
	case r|0x20 >= 'a' && r|0x20 <= 'f':
		return r | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// brackets reads […].
func (p *parser) brackets() (*node, error) {
	p.pos++
	negated := p.take("^")
	var s set
	for {
		if !p.more() {
			return nil, p.fault("missing ]")
		}
		if p.take("]") {
			return p.class(s.sorted(), negated), nil
		}
		from, one, err := p.member(&s)
		if err != nil {
			return nil, err
		}
		if !p.peek("-") || p.peek("-]") || p.pos+1 >= len(p.src) {
			if one {
				s = append(s, from, from)
			}
			continue
		}
		p.pos++
		to, otherOne, err := p.member(&s)
		if err != nil {
			return nil, err
		}
		switch {
		case !one || !otherOne: // annex B: the hyphen is a member
			if p.unicode {
				return nil, p.fault("range of classes")
			}
			s = append(s, '-', '-')
			if one {
				s = append(s, from, from)
			}
			if otherOne {
				s = append(s, to, to)
			}
		case to < from:
			return nil, p.fault("range out of order")
		default:
			s = append(s, from, to)
		}
	}
}

// member reads one member of brackets: a character, or a class that it adds to s.
func (p *parser) member(s *set) (r rune, one bool, err error) {
	if p.src[p.pos] != '\\' {
		p.pos++
		return p.src[p.pos-1], true, nil
	}
	if p.pos+1 >= len(p.src) {
		return 0, false, p.fault(`\ at the end`)
	}
	more, negated, ok, err := p.classEscape()
	if err != nil {
		return 0, false, err
	}
	if ok {
		if negated {
			more = more.complement(p.unicode)
		}
		*s = append(*s, more...)
		return 0, false, nil
	}
	r, err = p.character(true)
	return r, true, err
}
