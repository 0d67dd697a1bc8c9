package canonjson

import "github.com/toolmark/toolmark"

// Append appends v to dst as compact JSON from which Parse makes the same value again:
// members in their order, duplicates included, number literals as they were written,
// lone surrogates as escapes. Strings are ASCII, escaped as in AppendPython, so that
// nothing hidden in them reaches a terminal or slips through a review.
func Append(dst []byte, v *toolmark.Value) []byte {
	return appendLossless(dst, v, -1)
}

// AppendIndent is Append spread over lines: two spaces a level, one element or member
// a line, empty arrays and objects as [] and {}, no newline at the end. From the 32nd
// level on lines are not indented further, so that a deep value of many lines does not
// become a thousand times as long.
func AppendIndent(dst []byte, v *toolmark.Value) []byte {
	return appendLossless(dst, v, 0)
}

// appendLossless writes v at a level of indentation, or on one line where level is
// negative.
func appendLossless(dst []byte, v *toolmark.Value, level int) []byte {
	inner := level
	if level >= 0 {
		inner++
	}
	switch v.Kind {
	case toolmark.KindString:
		return quoteASCII(dst, v.Text)
	case toolmark.KindNumber:
		return append(dst, v.Text...)
	case toolmark.KindArray:
		dst = append(dst, '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = newline(dst, inner)
			dst = appendLossless(dst, &v.Items[i], inner)
		}
		if len(v.Items) > 0 {
			dst = newline(dst, level)
		}
		return append(dst, ']')
	case toolmark.KindObject:
		dst = append(dst, '{')
		for i := range v.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			m := &v.Members[i]
			dst = newline(dst, inner)
			dst = quoteASCII(dst, m.Name)
			dst = append(dst, ':')
			if level >= 0 {
				dst = append(dst, ' ')
			}
			dst = appendLossless(dst, &m.Value, inner)
		}
		if len(v.Members) > 0 {
			dst = newline(dst, level)
		}
		return append(dst, '}')
	}
	return appendWord(dst, v.Kind)
}

func newline(dst []byte, level int) []byte {
	if level < 0 {
		return dst
	}
	dst = append(dst, '\n')
	return append(dst, indentation[:2*min(level, maxIndent)]...)
}

// maxIndent is the most levels that show as indentation.
const maxIndent = 32

const indentation = "                                                                " // 64 spaces
