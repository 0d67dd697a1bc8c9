package canonjson

import (
	"strconv"
	"strings"

	"github.com/toolmark/toolmark"
)

// NotCanonicalError says that a value has no RFC 8785 form that keeps its meaning.
type NotCanonicalError struct {
	// Pointer is the JSON Pointer (RFC 6901) of the value, or of the member whose
	// name it is, from the value that was to be written. Hostile, WTF-8.
	Pointer string
	// Reason is in our own words and holds no text of the value.
	Reason string
}

// Error names the reason and the place, as ASCII.
func (e *NotCanonicalError) Error() string {
	return "RFC 8785 cannot carry this: " + e.Reason + " " + place(e.Pointer)
}

// The reasons of a NotCanonicalError.
const (
	ReasonDuplicateKey  = "a key stands twice in one object"
	ReasonLoneSurrogate = "a string holds half a surrogate pair"
	ReasonInexactNumber = "a number that is not exactly a double"
)

// AppendJCS appends v to dst in the form of RFC 8785 (JSON Canonicalization Scheme), or
// returns a *NotCanonicalError for the first thing in v that this form would lose. On
// an error dst may have grown but its first bytes are as they were.
//
// RFC 8785 takes I-JSON (RFC 7493), so it has no place for duplicate keys and lone
// surrogates, and it prints every number as the shortest decimal that reads back as
// the same double. That last step is where two values may become one: 2^53+1 and 2^53
// are the same double and would get the same hash. The rule here: a number is accepted
// if its double has a fraction, or if the decimal value of its literal equals the
// decimal value of what RFC 8785 prints for it.
//
// Integers are where JSON readers disagree: some read them exactly, some as doubles. So
// two accepted integers that print alike are equal, both being equal to what is
// printed, and what is printed is itself accepted. "Exactly a double" would not do:
// 2^63, written 9223372036854775808, is one and prints as 9223372036854776000, which is
// another integer. A number with a fraction is a double for every reader, however many
// digits are written: 333333333.33333329, which stands in RFC 8785's own example, and
// 333333333.3333333 are one value, and have one pin too. A literal that is no integer
// but whose double is one, or that is not zero but whose double is, is refused. 1, 1.0
// and 1e0 are the same value, and so are 0 and -0.
func AppendJCS(dst []byte, v *toolmark.Value) ([]byte, error) {
	var scratch [128]int32
	j := jcs{order: order{indexes: scratch[:0]}}
	out, ok := j.append(dst, v)
	if ok {
		return out, nil
	}
	var p strings.Builder
	for i := len(j.path) - 1; i >= 0; i-- {
		p.WriteByte('/')
		p.WriteString(j.path[i])
	}
	return out, &NotCanonicalError{Pointer: p.String(), Reason: j.reason}
}

type jcs struct {
	order order
	// reason and path say what was refused and where, the innermost token first.
	reason string
	path   []string
}

func (j *jcs) refuse(dst []byte, reason string) ([]byte, bool) {
	j.reason = reason
	return dst, false
}

func (j *jcs) append(dst []byte, v *toolmark.Value) ([]byte, bool) {
	switch v.Kind {
	case toolmark.KindString:
		if hasSurrogate(v.Text) {
			return j.refuse(dst, ReasonLoneSurrogate)
		}
		return quoteUTF8(dst, v.Text), true
	case toolmark.KindNumber:
		f, ok := survives(v.Text)
		if !ok {
			return j.refuse(dst, ReasonInexactNumber)
		}
		return appendECMAScript(dst, f), true
	case toolmark.KindArray:
		dst = append(dst, '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			var ok bool
			if dst, ok = j.append(dst, &v.Items[i]); !ok {
				j.path = append(j.path, strconv.Itoa(i))
				return dst, false
			}
		}
		return append(dst, ']'), true
	case toolmark.KindObject:
		return j.object(dst, v)
	}
	return appendWord(dst, v.Kind), true
}

func (j *jcs) object(dst []byte, v *toolmark.Value) ([]byte, bool) {
	base := len(j.order.indexes)
	list := j.order.members(v.Members, CompareUTF16)
	if len(list) < len(v.Members) {
		name, _ := FirstDuplicate(v)
		j.path = append(j.path, toolmark.EscapePointer(name))
		return j.refuse(dst, ReasonDuplicateKey)
	}
	dst = append(dst, '{')
	for i, x := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		m := &v.Members[x]
		if hasSurrogate(m.Name) {
			j.path = append(j.path, toolmark.EscapePointer(m.Name))
			return j.refuse(dst, ReasonLoneSurrogate)
		}
		dst = quoteUTF8(dst, m.Name)
		dst = append(dst, ':')
		var ok bool
		if dst, ok = j.append(dst, &m.Value); !ok {
			j.path = append(j.path, toolmark.EscapePointer(m.Name))
			return dst, false
		}
	}
	j.order.release(base)
	return append(dst, '}'), true
}

// hasSurrogate reports whether WTF-8 text holds a lone surrogate: 0xED and then 0xA0
// or more. U+D000–U+D7FF start with 0xED too.
func hasSurrogate(s string) bool {
	for {
		i := strings.IndexByte(s, 0xed)
		if i < 0 || i+1 >= len(s) {
			return false
		}
		if s[i+1] >= 0xa0 {
			return true
		}
		s = s[i+1:]
	}
}
