package lockfile

import (
	"bytes"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

// Bytes gives the file as it is written: JSON in ASCII, two spaces a level, one member a
// line; the hashes of an entry, the hashes of a tool and who accepted it are one line
// each. It ends with a newline.
func (f *File) Bytes() []byte {
	w := &writer{}
	w.raw("{\n")
	w.raw(`  "` + mark + `": 1`)
	for _, m := range f.tree.Members {
		if m.Name != mark && m.Name != "servers" {
			w.raw(",\n")
			w.member(m.Name, &m.Value, 1)
		}
	}
	w.raw(",\n  \"servers\": {")
	for i, e := range f.entries {
		if i > 0 {
			w.raw(",")
		}
		w.raw("\n    ")
		w.name(e.Name)
		w.entry(&e.tree)
	}
	if len(f.entries) > 0 {
		w.raw("\n  ")
	}
	w.raw("}\n}\n")
	return w.out
}

// writer lays a file out.
type writer struct{ out []byte }

func (w *writer) raw(s string) { w.out = append(w.out, s...) }

func (w *writer) name(s string) {
	w.out = toolmark.AppendQuoted(w.out, s)
	w.raw(": ")
}

// member writes a member at a level, its value spread over lines with sorted members.
func (w *writer) member(name string, v *toolmark.Value, level int) {
	w.raw(strings.Repeat("  ", level))
	w.name(name)
	w.spread(v, level)
}

// spread writes a value over lines. No string has a newline in it, so each that is there
// is the end of a line.
func (w *writer) spread(v *toolmark.Value, level int) {
	s := sorted(*v)
	text := canonjson.AppendIndent(nil, &s)
	w.out = append(w.out, bytes.ReplaceAll(text, []byte("\n"), []byte("\n"+strings.Repeat("  ", level)))...)
}

// line writes an object on one line.
func (w *writer) line(v *toolmark.Value) {
	w.raw("{")
	for i := range v.Members {
		if i > 0 {
			w.raw(", ")
		}
		w.name(v.Members[i].Name)
		w.out = canonjson.Append(w.out, &v.Members[i].Value)
	}
	w.raw("}")
}

func (w *writer) entry(v *toolmark.Value) {
	w.raw("{")
	for i := range v.Members {
		if i > 0 {
			w.raw(",")
		}
		w.raw("\n")
		m := &v.Members[i]
		switch m.Name {
		case "accepted", "hashes":
			w.raw("      ")
			w.name(m.Name)
			w.line(&m.Value)
		case "tools":
			w.raw("      ")
			w.name(m.Name)
			w.tools(&m.Value)
		default:
			w.member(m.Name, &m.Value, 3)
		}
	}
	w.raw("\n    }")
}

func (w *writer) tools(v *toolmark.Value) {
	w.raw("[")
	for i := range v.Items {
		if i > 0 {
			w.raw(",")
		}
		w.raw("\n        {")
		for j := range v.Items[i].Members {
			if j > 0 {
				w.raw(",")
			}
			w.raw("\n")
			m := &v.Items[i].Members[j]
			if m.Name == "hashes" {
				w.raw("          ")
				w.name(m.Name)
				w.line(&m.Value)
				continue
			}
			w.member(m.Name, &m.Value, 5)
		}
		w.raw("\n        }")
	}
	if len(v.Items) > 0 {
		w.raw("\n      ")
	}
	w.raw("]")
}
