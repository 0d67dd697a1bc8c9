package report

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
)

// Two lists of 400 tools; every tool has eight changed words and a changed bound.
func BenchmarkDriftReports(b *testing.B) {
	list := func(word string) string {
		var t []string
		for i := range 400 {
			t = append(t, fmt.Sprintf(`{"name":"tool%d","description":"%s %d","inputSchema":{"properties":{"n":{"type":"integer","maximum":%d},"q":{"type":"string","description":"What to look for, in plain words."}}}}`, i, strings.Repeat("Finds what was asked for, "+word+". ", 8), i, len(word)))
		}
		return `{"tools":[` + strings.Join(t, ",") + `]}`
	}
	doc := &DriftDocument{FailOn: toolmark.High, Servers: []DriftServer{driftOf(b, "s", list("one"), list("three"))}}
	for name, write := range map[string]func(io.Writer) error{
		"text": func(w io.Writer) error { return doc.WriteText(w, TextOptions{}) }, "JSON": doc.WriteJSON,
		"Markdown": doc.WriteMarkdown, "SARIF": doc.WriteSARIF, "JUnit": doc.WriteJUnit,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := write(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
