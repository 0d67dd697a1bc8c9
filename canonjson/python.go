package canonjson

import "github.com/toolmark/toolmark"

// AppendPython appends v to dst as CPython's json.dumps(json.loads(text),
// sort_keys=True, separators=(",", ":")) writes it, byte for byte:
//
//   - members sorted by name in code point order; of a duplicate name the last value
//     counts;
//   - everything outside 0x20–0x7E escaped, 0x7F too, in lower-case hex, characters
//     beyond U+FFFF as a surrogate pair, lone surrogates as they are, with the short
//     forms \b \f \n \r \t \" \\, and / < > & bare;
//   - integers exact at any length, -0 as 0; other numbers as repr of the nearest
//     double (1.0, 1e+16, 1e-05, -0.0), beyond its range Infinity or -Infinity.
//
// The result is ASCII. It is JSON, except for Infinity. The differences to CPython are
// in what is read and not in what is written: see Parse, and CPython refuses integers
// of more than 4,300 digits by default.
func AppendPython(dst []byte, v *toolmark.Value) []byte {
	var scratch [128]int32
	p := python{order: order{indexes: scratch[:0]}}
	return p.append(dst, v)
}

type python struct{ order order }

func (p *python) append(dst []byte, v *toolmark.Value) []byte {
	switch v.Kind {
	case toolmark.KindString:
		return quoteASCII(dst, v.Text)
	case toolmark.KindNumber:
		return appendPythonNumber(dst, v.Text)
	case toolmark.KindArray:
		dst = append(dst, '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = p.append(dst, &v.Items[i])
		}
		return append(dst, ']')
	case toolmark.KindObject:
		dst = append(dst, '{')
		base := len(p.order.indexes)
		for i, x := range p.order.members(v.Members, compareCodePoints) {
			if i > 0 {
				dst = append(dst, ',')
			}
			m := &v.Members[x]
			dst = quoteASCII(dst, m.Name)
			dst = append(dst, ':')
			dst = p.append(dst, &m.Value)
		}
		p.order.release(base)
		return append(dst, '}')
	}
	return appendWord(dst, v.Kind)
}

// appendWord appends true, false or null. No value at all reads as null.
func appendWord(dst []byte, k toolmark.Kind) []byte {
	switch k {
	case toolmark.KindTrue:
		return append(dst, "true"...)
	case toolmark.KindFalse:
		return append(dst, "false"...)
	}
	return append(dst, "null"...)
}
