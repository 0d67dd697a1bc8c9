package license

import (
	"errors"
	"fmt"
	"strings"
)

// Limits of an expression.
const (
	// MaxExpression is the most bytes of an expression.
	MaxExpression = 2048
	// MaxDepth is how deep parentheses may be nested.
	MaxDepth = 50
)

// SyntaxError says why a text is no SPDX expression, and where. It holds nothing of
// the text.
type SyntaxError struct {
	Offset int // in bytes
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("at byte %d: %s", e.Offset, e.Reason) }

type operator uint8

const (
	leaf operator = iota
	and
	or
)

// node is a part of an expression: a licence, or two or more parts that are joined.
type node struct {
	op    operator
	parts []*node

	id        string // as written, without the plus
	exception string // as written, "" where there is none
	plus      bool
}

// parse reads an expression. The error is a *SyntaxError.
func parse(text string) (*node, error) {
	if len(text) > MaxExpression {
		return nil, &SyntaxError{MaxExpression, fmt.Sprintf("an expression has at most %d bytes", MaxExpression)}
	}
	p := &parser{text: text}
	if err := p.next(); err != nil {
		return nil, err
	}
	n, err := p.either(0)
	if err != nil {
		return nil, err
	}
	if p.token != "" {
		return nil, p.fail("AND, OR or the end is expected here")
	}
	return n, nil
}

type parser struct {
	text      string
	at, start int    // start is where the token begins
	token     string // "" at the end
}

func (p *parser) fail(reason string) error { return &SyntaxError{p.start, reason} }

// next reads a token: a parenthesis, or a run of what identifiers are made of.
func (p *parser) next() error {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	p.start = p.at
	if p.at == len(p.text) {
		p.token = ""
		return nil
	}
	if c := p.text[p.at]; c == '(' || c == ')' {
		p.at++
	}
	for p.at < len(p.text) && isWord(p.text[p.at]) && p.text[p.start] != '(' && p.text[p.start] != ')' {
		p.at++
	}
	if p.at == p.start {
		return p.fail("a character that no SPDX expression has; write alternatives with OR, several licences with AND")
	}
	p.token = p.text[p.start:p.at]
	return nil
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == ':' || c == '+'
}

// is reports whether the token is an operator, in capitals or in small letters (SPDX
// 3.0, annex "SPDX license expressions", "Case sensitivity").
func (p *parser) is(operator string) bool {
	return p.token == operator || p.token == strings.ToLower(operator)
}

func (p *parser) either(depth int) (*node, error) { return p.joined(or, "OR", p.both, depth) }
func (p *parser) both(depth int) (*node, error)   { return p.joined(and, "AND", p.single, depth) }

func (p *parser) joined(op operator, word string, part func(int) (*node, error), depth int) (*node, error) {
	first, err := part(depth)
	if err != nil {
		return nil, err
	}
	n := &node{op: op, parts: []*node{first}}
	for p.is(word) {
		if err := p.next(); err != nil {
			return nil, err
		}
		next, err := part(depth)
		if err != nil {
			return nil, err
		}
		n.parts = append(n.parts, next)
	}
	if len(n.parts) == 1 {
		return first, nil
	}
	return n, nil
}

func (p *parser) single(depth int) (*node, error) {
	switch {
	case p.token == "":
		return nil, p.fail("a licence is expected here, and the expression ends")
	case p.token == "(":
		if depth == MaxDepth {
			return nil, p.fail(fmt.Sprintf("parentheses are nested at most %d deep", MaxDepth))
		}
		if err := p.next(); err != nil {
			return nil, err
		}
		n, err := p.either(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.token != ")" {
			return nil, p.fail("a closing parenthesis is missing here")
		}
		return n, p.next()
	case p.token == ")" || p.is("AND") || p.is("OR") || p.is("WITH"):
		return nil, p.fail("a licence is expected here")
	}
	id, plus := strings.CutSuffix(p.token, "+")
	if err := identifier(id); err != nil {
		return nil, p.fail(err.Error())
	}
	n := &node{id: id, plus: plus}
	if err := p.next(); err != nil {
		return nil, err
	}
	if !p.is("WITH") {
		return n, nil
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.token == "" || p.token == "(" || p.token == ")" || strings.Contains(p.token, "+") || identifier(p.token) != nil {
		return nil, p.fail("the identifier of an exception is expected behind WITH")
	}
	n.exception = p.token
	return n, p.next()
}

// identifier holds a word to idstring of the grammar; a colon only parts a DocumentRef
// from what it refers to.
func identifier(id string) error {
	document, ref, colon := strings.Cut(id, ":")
	switch {
	case id == "":
		return errors.New("a licence is expected before the plus")
	case strings.Contains(id, "+"):
		return errors.New("a plus stands only behind an identifier")
	case colon && (!strings.HasPrefix(document, "DocumentRef-") || !strings.HasPrefix(ref, "LicenseRef-") && !strings.HasPrefix(ref, "AdditionRef-") || strings.Contains(ref, ":")):
		return errors.New("a colon stands only between a DocumentRef- and a LicenseRef-")
	}
	return nil
}

// reference reports whether an identifier stands for a text that only its author knows.
func reference(id string) bool {
	return strings.HasPrefix(id, "LicenseRef-") || strings.HasPrefix(id, "DocumentRef-") || strings.HasPrefix(id, "AdditionRef-")
}
