package toolmark

import (
	"strconv"
	"strings"
)

// Kind is the kind of a JSON value (RFC 8259, section 3).
type Kind uint8

// The kinds of JSON values. The zero Kind is KindAbsent: no value at all, which is
// not the same as null.
const (
	KindAbsent Kind = iota
	KindNull
	KindFalse
	KindTrue
	KindNumber
	KindString
	KindArray
	KindObject
)

// String gives the name a person would use: "null", "boolean", "number", ….
func (k Kind) String() string {
	switch k {
	case KindAbsent:
		return "nothing"
	case KindNull:
		return "null"
	case KindFalse, KindTrue:
		return "boolean"
	case KindNumber:
		return "number"
	case KindString:
		return "string"
	case KindArray:
		return "array"
	case KindObject:
		return "object"
	}
	return "kind " + strconv.Itoa(int(k))
}

// Value is one JSON value as it was written: numbers keep their literal, strings
// keep lone surrogates, object members keep their order and their duplicates.
// A Value is made by canonjson.Parse and is not changed afterwards; copies share
// their contents.
type Value struct {
	// Text is the number literal as written, or the decoded string in WTF-8.
	Text string
	// Items are an array's elements.
	Items []Value
	// Members are an object's members in the order sent, duplicates included.
	Members []Member
	// Start and End are the byte offsets of the value in the parsed input.
	Start, End int
	Kind       Kind
}

// Member is one name and value of an object. NameStart is the byte offset of the
// name's opening quote.
type Member struct {
	Name      string
	Value     Value
	NameStart int
}

// Get gives the member of that name. Where a name stands more than once the last
// one counts, as in CPython and ECMAScript; where it is missing, or v is not an
// object, the result is the zero Value (KindAbsent).
func (v *Value) Get(name string) *Value {
	if v != nil && v.Kind == KindObject {
		for i := len(v.Members) - 1; i >= 0; i-- {
			if v.Members[i].Name == name {
				return &v.Members[i].Value
			}
		}
	}
	return &Value{}
}

// Absent reports whether v is nothing at all or null. MCP gives both the same
// meaning for every optional member.
func (v *Value) Absent() bool {
	return v == nil || v.Kind == KindAbsent || v.Kind == KindNull
}

// Pointer builds a JSON Pointer (RFC 6901) by adding a member name or an index to
// base.
func Pointer[T string | int](base string, token T) string {
	switch t := any(token).(type) {
	case int:
		return base + "/" + strconv.Itoa(t)
	case string:
		return base + "/" + EscapePointer(t)
	}
	return base
}

// EscapePointer escapes one reference token of a JSON Pointer: ~ becomes ~0 and /
// becomes ~1 (RFC 6901, section 3).
func EscapePointer(token string) string {
	if strings.IndexByte(token, '~') < 0 && strings.IndexByte(token, '/') < 0 {
		return token
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
