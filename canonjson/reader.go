package canonjson

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
)

// token is one value or member name of the input, in the order in which they start.
// Tokens have no pointers, so reading hostile input allocates nothing else.
type token struct {
	start, end int32 // bytes of the input
	count      int32 // children of an array or object
	kind       toolmark.Kind
	escaped    bool // a string with at least one backslash
}

// frame is an array or object that is still open.
type frame struct {
	open  int32 // its token
	name  int32 // the token of the name of the member being read, or -1
	count int32 // children begun
}

// reader checks the input and lays its tokens on a tape. It never recurses.
type reader struct {
	data               []byte
	tape               []token
	frames             []frame
	items, members     int
	escapedBytes       int // bytes of all strings with escapes, as written
	maxDepth, maxNodes int
}

// fault is where and why reading stopped.
type fault struct {
	offset   int
	reason   string
	tooLarge bool
}

// read reads the whole input. The labels are the states of the grammar: value before
// a value, name before a member name, after behind a complete value.
func (r *reader) read() *fault {
	data := r.data
	i := 0
	if len(data) >= len(bom) && string(data[:len(bom)]) == bom {
		i = len(bom)
	}
	if i = space(data, i); i == len(data) {
		return &fault{offset: i, reason: "no JSON value: the input is empty"}
	}

value:
	if len(r.tape) >= r.maxNodes {
		return r.tooMany(i)
	}
	if i == len(data) {
		return ended(i)
	}
	switch c := data[i]; c {
	case '"':
		end, escaped, f := r.string(i)
		if f != nil {
			return f
		}
		r.push(i, end, toolmark.KindString, escaped)
		i = end
	case '{', '[':
		if len(r.frames) == r.maxDepth {
			return &fault{offset: i, reason: tooDeep}
		}
		kind, closing := toolmark.KindObject, byte('}')
		if c == '[' {
			kind, closing = toolmark.KindArray, ']'
		}
		r.frames = append(r.frames, frame{open: int32(len(r.tape)), name: -1})
		r.push(i, i, kind, false)
		i = space(data, i+1)
		if i < len(data) && data[i] == closing {
			i++
			r.close(i)
			break
		}
		r.frames[len(r.frames)-1].count = 1
		if c == '{' {
			goto name
		}
		goto value
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end, f := number(data, i)
		if f != nil {
			return f
		}
		r.push(i, end, toolmark.KindNumber, false)
		i = end
	case 't':
		if !word(data, i, "true") {
			return notValue(data, i)
		}
		r.push(i, i+4, toolmark.KindTrue, false)
		i += 4
	case 'f':
		if !word(data, i, "false") {
			return notValue(data, i)
		}
		r.push(i, i+5, toolmark.KindFalse, false)
		i += 5
	case 'n':
		if !word(data, i, "null") {
			return notValue(data, i)
		}
		r.push(i, i+4, toolmark.KindNull, false)
		i += 4
	default:
		return notValue(data, i)
	}

after:
	if i < len(data) && data[i] <= ' ' {
		i = space(data, i)
	}
	if len(r.frames) == 0 {
		if i < len(data) {
			return &fault{offset: i, reason: "data after the JSON value"}
		}
		return nil
	}
	if i == len(data) {
		return ended(i)
	}
	{
		top := &r.frames[len(r.frames)-1]
		object := r.tape[top.open].kind == toolmark.KindObject
		switch c := data[i]; {
		case c == ',':
			i = space(data, i+1)
			top.count++
			top.name = -1
			if object {
				goto name
			}
			if i < len(data) && data[i] == ']' {
				return &fault{offset: i, reason: "a comma with no value after it"}
			}
			goto value
		case c == '}' && object, c == ']' && !object:
			i++
			r.close(i)
			goto after
		case object:
			return expected(data, i, "a comma or } after a member")
		default:
			return expected(data, i, "a comma or ] after an element")
		}
	}

name:
	{
		if len(r.tape) >= r.maxNodes {
			return r.tooMany(i)
		}
		if i == len(data) {
			return ended(i)
		}
		if data[i] != '"' {
			return expected(data, i, "a member name in double quotes")
		}
		end, escaped, f := r.string(i)
		if f != nil {
			return f
		}
		r.frames[len(r.frames)-1].name = int32(len(r.tape))
		r.push(i, end, toolmark.KindString, escaped)
		if i = end; i < len(data) && data[i] != ':' {
			i = space(data, i)
		}
		if i == len(data) {
			return ended(i)
		}
		if data[i] != ':' {
			return expected(data, i, "a colon after the member name")
		}
		if i++; i < len(data) && data[i] <= ' ' {
			i = space(data, i)
		}
		goto value
	}
}

func (r *reader) push(start, end int, kind toolmark.Kind, escaped bool) {
	n := len(r.tape)
	if n == cap(r.tape) {
		r.tape = slices.Grow(r.tape, 1)
	}
	r.tape = r.tape[:n+1]
	t := &r.tape[n]
	t.start, t.end, t.count, t.kind, t.escaped = int32(start), int32(end), 0, kind, escaped
}

// close ends the innermost array or object just before offset end.
func (r *reader) close(end int) {
	top := r.frames[len(r.frames)-1]
	r.frames = r.frames[:len(r.frames)-1]
	t := &r.tape[top.open]
	t.end, t.count = int32(end), top.count
	if t.kind == toolmark.KindArray {
		r.items += int(top.count)
	} else {
		r.members += int(top.count)
	}
}

func (r *reader) tooMany(i int) *fault {
	return &fault{offset: i, reason: "too many values", tooLarge: true}
}

// space gives the offset of the first byte from i on that is not white space.
func space(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\n', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

func word(data []byte, i int, w string) bool {
	return len(data)-i >= len(w) && string(data[i:i+len(w)]) == w
}

// Bytes repeated eight times, to look at eight bytes at once.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special has the high bit of a byte of its result set where the byte of x is below
// 0x20, a quote, a backslash, or 0x80 and above. Bits above the lowest one set may be
// wrong, so only the lowest counts.
func special(x uint64) uint64 {
	return ((x - 0x20*ones) | ((x ^ '"'*ones) - ones) | ((x ^ '\\'*ones) - ones) | x) & highs
}

// string checks the string whose opening quote is at i and gives the offset behind
// its closing quote.
func (r *reader) string(i int) (end int, escaped bool, f *fault) {
	data := r.data
	start := i
	i++
	for {
		for len(data)-i >= 8 {
			m := special(binary.LittleEndian.Uint64(data[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i == len(data) {
			return 0, false, &fault{offset: i, reason: "the input ends inside a string"}
		}
		switch c := data[i]; {
		case c == '"':
			if escaped {
				r.escapedBytes += i - start
			}
			return i + 1, escaped, nil
		case c == '\\':
			escaped = true
			if i, f = escape(data, i); f != nil {
				return 0, false, f
			}
		case c < 0x20:
			return 0, false, &fault{offset: i, reason: "a raw control character in a string"}
		case c < utf8.RuneSelf:
			i++
		default:
			for i < len(data) && data[i] >= utf8.RuneSelf {
				c, size := utf8.DecodeRune(data[i:])
				if c == utf8.RuneError && size <= 1 {
					return 0, false, &fault{offset: i, reason: notUTF8(data, i)}
				}
				i += size
			}
		}
	}
}

// escape checks the escape whose backslash is at i and gives the offset behind it.
func escape(data []byte, i int) (int, *fault) {
	if i+1 == len(data) {
		return 0, &fault{offset: i + 1, reason: "the input ends inside a string"}
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if k == len(data) {
				return 0, &fault{offset: k, reason: "the input ends inside a string"}
			}
			if hexValue(data[k]) < 0 {
				return 0, &fault{offset: k, reason: "\\u needs four hexadecimal digits"}
			}
		}
		return i + 6, nil
	}
	return 0, &fault{offset: i, reason: "an escape that JSON does not have"}
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// number checks the number at i (RFC 8259, section 6) and gives the offset behind it.
func number(data []byte, i int) (int, *fault) {
	start := i
	if data[i] == '-' {
		i++
	}
	first := i
	i = digits(data, i)
	switch {
	case i == first && i == len(data):
		return 0, ended(i)
	case i == first:
		if word(data, i, "Infinity") {
			return 0, &fault{offset: start, reason: "-Infinity is not JSON"}
		}
		return 0, &fault{offset: i, reason: "a minus sign with no digit after it"}
	case i-first > 1 && data[first] == '0':
		return 0, &fault{offset: first, reason: "a number with a leading zero"}
	}
	if i < len(data) && data[i] == '.' {
		from := i + 1
		if i = digits(data, from); i == from {
			return 0, &fault{offset: i, reason: "a decimal point with no digit after it"}
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		if i++; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		from := i
		if i = digits(data, from); i == from {
			return 0, &fault{offset: i, reason: "an exponent with no digit"}
		}
	}
	return i, nil
}

func digits(data []byte, i int) int {
	for i < len(data) && data[i] >= '0' && data[i] <= '9' {
		i++
	}
	return i
}
