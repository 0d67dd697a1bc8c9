package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
)

// MarshalASCII gives v as indented JSON in pure ASCII, with a newline at the end:
// whatever stands outside 0x20–0x7E in a string is written as an escape, so the
// document can be shown on any terminal.
func MarshalASCII(v any) ([]byte, error) { return marshal(v, "  ") }

// MarshalASCIILine is MarshalASCII on one line.
func MarshalASCIILine(v any) ([]byte, error) { return marshal(v, "") }

func marshal(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return toASCII(buf.Bytes()), nil
}

// toASCII escapes what is not ASCII in a JSON document. Outside strings a document
// is ASCII anyway, so it need not know where strings begin.
func toASCII(doc []byte) []byte {
	plain := true
	for _, c := range doc {
		if c >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return doc
	}
	out := make([]byte, 0, len(doc)+len(doc)/4)
	for i := 0; i < len(doc); {
		if doc[i] < 0x7f {
			out = append(out, doc[i])
			i++
			continue
		}
		_, size := utf8.DecodeRune(doc[i:])
		quoted := toolmark.AppendQuoted(nil, string(doc[i:i+size]))
		out = append(out, quoted[1:len(quoted)-1]...)
		i += size
	}
	return out
}
