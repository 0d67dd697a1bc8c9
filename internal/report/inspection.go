package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/textcheck"
)

// Inspection is what a check of one text found.
type Inspection struct {
	// Name is the text's source: a path or "-".
	Name string
	// Text is what was inspected.
	Text  string
	Found textcheck.Inspection
}

// Worst gives the greatest severity among the hits, 0 where there are none.
func (n *Inspection) Worst() toolmark.Severity {
	var worst toolmark.Severity
	for i := range n.Found.Hits {
		worst = max(worst, n.Found.Hits[i].Kind.Severity())
	}
	return worst
}

// WriteText writes every hit for people: where it stands, what it is, what it says.
func (n *Inspection) WriteText(w io.Writer, opt TextOptions) error {
	t := newTextWriter(opt)
	name := oneLine(n.Name)
	if n.Name == "-" {
		name = "standard input"
	}
	if len(n.Found.Hits) == 0 {
		t.line(0, t.s.good("✓ ")+t.s.bold(name)+": "+Plural(toolmark.CodePoints(n.Text), "character")+", nothing hidden")
		_, err := io.WriteString(w, t.out.String())
		return err
	}
	t.line(0, t.s.bold(name)+": "+Plural(len(n.Found.Hits), "place"))
	offset, at := 0, 0
	for i := range n.Found.Hits {
		h := &n.Found.Hits[i]
		if h.Start < at {
			offset, at = 0, 0
		}
		offset += toolmark.ByteOffset(n.Text[offset:], h.Start-at)
		at = h.Start
		t.hit(n.Text, offset, h)
	}
	t.line(0, "")
	for _, p := range []struct{ what, text string }{
		{"hidden in tag characters: ", n.Found.TagPayload}, {"decoded: ", n.Found.Payload},
	} {
		if p.text != "" {
			for _, row := range layOut([]piece{{text: p.what}, {text: oneLine(p.text), matched: bool(t.s)}}, t.width, t.s) {
				t.line(0, row)
			}
		}
	}
	t.line(0, t.s.dim("next: toolmark text --sanitize prints a clean copy"))
	_, err := io.WriteString(w, t.out.String())
	return err
}

func (t *textWriter) hit(text string, offset int, h *textcheck.Hit) {
	severity := h.Kind.Severity()
	head := t.s.bold(fmt.Sprintf("%d:%d", h.Line, h.Column)) + "  " + t.s.severity(severity, h.Kind.String())
	if h.Kind.Hidden() {
		head += "  " + oneLine(h.Name)
	}
	t.line(2, head)
	rest := text[offset:]
	length := toolmark.ByteOffset(rest, h.End-h.Start)
	if h.Kind.Hidden() && h.End-h.Start > 1 {
		t.paragraph(6, "", strings.Join(textcheck.CodePoints(rest[:length]), " "), t.s.dim)
	}
	if h.Decoded != "" {
		for i, row := range layOut([]piece{{text: "says: "}, {text: oneLine(h.Decoded), matched: bool(t.s)}}, t.width-6, t.s) {
			if i < 8 {
				t.line(6, row)
			}
		}
	}
	// Only the hit's own line, and of that only what lies near: the text may be long.
	from := max(0, offset-4*excerptAround)
	before := text[from:offset]
	if i := strings.LastIndexAny(before, "\r\n"); i >= 0 {
		before = before[i+1:]
	}
	for before != "" && before[0]&0xc0 == 0x80 {
		before = before[1:]
	}
	after := rest[length:min(len(rest), length+4*excerptAround)]
	if i := strings.IndexAny(after, "\r\n"); i >= 0 {
		after = after[:i]
	}
	for after != "" && length+len(after) < len(rest) && rest[length+len(after)]&0xc0 == 0x80 {
		after = after[:len(after)-1]
	}
	near := before + rest[:length] + after
	start := toolmark.CodePoints(before)
	for _, row := range layOut(cutOut(near, [2]int{start, start + h.End - h.Start}), t.width-8, t.s) {
		t.line(6, t.s.dim("│ ")+row)
	}
}

// WriteJSON writes the inspection as JSON in pure ASCII.
func (n *Inspection) WriteJSON(w io.Writer) error {
	out, err := MarshalASCII(struct {
		Source toolmark.Text `json:"source"`
		textcheck.Report
	}{toolmark.Text(n.Name), textcheck.NewReport(n.Text, &n.Found)})
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}
