package canonjson

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
)

// SyntaxError says where and why an input is not JSON that we read. It comes inside a
// *toolmark.Error, whose message names the place.
type SyntaxError struct {
	// Offset is the byte of the input at which reading stopped, a byte order mark
	// included.
	Offset int
	// Line and Column are the same place, both from 1; the column counts characters
	// (a byte that is no UTF-8 counts as one).
	Line, Column int
	// Pointer is the JSON Pointer (RFC 6901) of the value being read, "" at the top.
	// It holds text of the input: hostile, WTF-8, as long as the input at most.
	Pointer string
	// Reason is in our own words and holds no text of the input.
	Reason string
}

// Error gives the reason alone.
func (e *SyntaxError) Error() string { return e.Reason }

// maxPlace is the most bytes of a pointer that a message shows.
const maxPlace = 256

// place writes a pointer for a message: quoted ASCII, shortened where it is long.
func place(pointer string) string {
	if pointer == "" {
		return "at the top"
	}
	end := len(pointer)
	if end > maxPlace {
		// Not inside a character: continuation bytes are 0x80–0xBF.
		for end = maxPlace; pointer[end]&0xc0 == 0x80; end-- {
		}
	}
	text := "in " + string(toolmark.AppendQuoted(nil, pointer[:end]))
	if end < len(pointer) {
		text += "…"
	}
	return text
}

// report makes the error that Parse returns.
func (r *reader) report(f *fault) error {
	before := r.data[:f.offset]
	newline := bytes.LastIndexByte(before, '\n')
	line := before[newline+1:]
	if newline < 0 {
		line = bytes.TrimPrefix(line, []byte(bom))
	}
	e := &SyntaxError{
		Offset:  f.offset,
		Line:    bytes.Count(before, []byte{'\n'}) + 1,
		Column:  utf8.RuneCount(line) + 1,
		Pointer: r.pointer(),
		Reason:  f.reason,
	}
	code, what := toolmark.ErrInvalidJSON, "not valid JSON"
	if f.tooLarge {
		code, what = toolmark.ErrTooLarge, "the JSON text is too large"
		e.Reason = fmt.Sprintf("more than %d values and names", r.maxNodes)
	} else if len(r.frames) == r.maxDepth && f.reason == tooDeep {
		e.Reason = fmt.Sprintf("nested deeper than %d levels", r.maxDepth)
	}
	return &toolmark.Error{
		Code:    code,
		Message: fmt.Sprintf("%s at byte %d (line %d, column %d), %s", what, e.Offset, e.Line, e.Column, place(e.Pointer)),
		Err:     e,
	}
}

// pointer gives the JSON Pointer of the value being read.
func (r *reader) pointer() string {
	var p strings.Builder
	for _, f := range r.frames {
		switch {
		case r.tape[f.open].kind == toolmark.KindArray:
			fmt.Fprintf(&p, "/%d", max(f.count-1, 0))
		case f.name >= 0:
			t := r.tape[f.name]
			var name strings.Builder
			unescape(&name, string(r.data[t.start+1:t.end-1]))
			p.WriteByte('/')
			p.WriteString(toolmark.EscapePointer(name.String()))
		}
	}
	return p.String()
}

const tooDeep = "nested too deep"

func ended(i int) *fault {
	return &fault{offset: i, reason: "the input ends inside a value"}
}

// expected reports what should stand at i.
func expected(data []byte, i int, what string) *fault {
	if f := badByte(data, i); f != nil {
		return f
	}
	return &fault{offset: i, reason: "expected " + what}
}

// notValue says what stands where a value should.
func notValue(data []byte, i int) *fault {
	for _, w := range []string{"NaN", "Infinity"} {
		if word(data, i, w) {
			return &fault{offset: i, reason: w + " is not JSON"}
		}
	}
	return expected(data, i, "a JSON value")
}

// badByte reports the byte at i where it can stand nowhere in JSON text.
func badByte(data []byte, i int) *fault {
	switch c, size := utf8.DecodeRune(data[i:]); {
	case c == utf8.RuneError && size == 1:
		return &fault{offset: i, reason: notUTF8(data, i)}
	case c < 0x20:
		return &fault{offset: i, reason: "a control character outside a string"}
	case c == 0xfeff:
		return &fault{offset: i, reason: "a byte order mark that is not the first"}
	}
	return nil
}

func notUTF8(data []byte, i int) string {
	switch rest := data[i:]; {
	case i == 0 && len(rest) >= 2 && (rest[0] == 0xff && rest[1] == 0xfe || rest[0] == 0xfe && rest[1] == 0xff):
		return "not UTF-8: the input looks like UTF-16"
	case len(rest) >= 2 && rest[0] == 0xed && rest[1] >= 0xa0 && rest[1] <= 0xbf:
		return "not UTF-8: an encoded surrogate"
	}
	return "not UTF-8"
}
