package report

import (
	"io"
	"strings"

	"github.com/toolmark/toolmark"
)

// Explanation is all there is to say of a rule.
type Explanation struct {
	Rule
	Act string
	// Surfaces are the texts the rule reads; none means every text.
	Surfaces []toolmark.Surface
	// Match and Clean are examples of texts that the rule must and must not match.
	Match, Clean []string
}

// WriteRule writes what a rule looks for, why it matters and what to do.
func WriteRule(w io.Writer, e Explanation, opt TextOptions) error {
	t := newTextWriter(opt)
	t.paragraph(0, "", oneLine(e.Title), t.s.bold)
	t.line(0, t.s.dim("rule "+oneLine(e.ID)+" · reference "+e.Reference+" · ")+t.s.severity(e.Severity, e.Severity.String())+t.s.dim(" · act "+oneLine(e.Act)))
	t.section("Why it matters", e.Explain)
	t.section("What to do", e.Fix)
	where := make([]string, 0, len(e.Surfaces))
	for _, s := range e.Surfaces {
		where = append(where, string(s))
	}
	if len(where) > 0 {
		t.section("Reads", strings.Join(where, ", "))
	}
	t.examples("Matches, for example", e.Match, t.s.bad("✗ "))
	t.examples("Does not match", e.Clean, t.s.good("✓ "))
	if len(e.References) > 0 {
		t.section("References", strings.Join(e.References, ", "))
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

// WriteCode writes what a code means and what to do about it.
func WriteCode(w io.Writer, code toolmark.Code, opt TextOptions) error {
	t := newTextWriter(opt)
	t.line(0, t.s.bold(string(code)+" "+code.Title()))
	t.section("What it means", Explain(code))
	t.section("What to do", Advice(code))
	_, err := io.WriteString(w, t.out.String())
	return err
}

func newTextWriter(opt TextOptions) *textWriter {
	if opt.Width == 0 {
		opt.Width = defaultWidth
	}
	return &textWriter{doc: &Document{}, opt: opt, s: style(opt.Colour), width: max(opt.Width, leastWidth)}
}

func (t *textWriter) section(heading, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	t.line(0, "")
	t.line(0, t.s.hint(heading))
	t.paragraph(2, "", oneLine(strings.Join(strings.Fields(text), " ")), func(s string) string { return s })
}

// fewExamples is how many examples of a side are shown.
const fewExamples = 4

func (t *textWriter) examples(heading string, list []string, sign string) {
	if len(list) == 0 {
		return
	}
	t.line(0, "")
	t.line(0, t.s.hint(heading))
	for _, text := range list[:min(len(list), fewExamples)] {
		rows := layOut([]piece{{text: oneLine(strings.TrimSpace(text))}}, t.width-4, t.s)
		for i, row := range rows {
			if i == 0 {
				t.line(2, sign+row)
			} else {
				t.line(4, row)
			}
		}
	}
}
