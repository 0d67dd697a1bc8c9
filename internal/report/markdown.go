package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolmark/toolmark"
)

// The most findings and clean servers listed: a pull request is no place for more.
const (
	mostInMarkdown = 20
	mostClean      = 3
)

// WriteMarkdown writes a summary for a pull request. Text of a manifest stands in
// code spans only, where nothing in it can become a link, an image, HTML or a
// mention (CommonMark 0.31, section 6.1).
func (d *Document) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	sum := d.Summary()
	sign := "✅"
	if d.Failed() {
		sign = "❌"
	} else if d.Unfinished() || sum.High+sum.Medium > 0 {
		sign = "⚠"
	}
	plain := textWriter{doc: d}
	parts := plain.counts(sum)
	heading := fmt.Sprintf("%s in %s", strings.Join(parts, ", "), Plural(sum.Tools, "tool"))
	if len(parts) == 0 {
		heading = "nothing could be scanned"
	}
	if sum.Failed > 0 {
		heading += ", " + Plural(sum.Failed, "source") + " failed"
	}
	fmt.Fprintf(&b, "### %s Toolmark: %s\n\n", sign, heading)
	left, clean := mostInMarkdown, 0
	for i := range d.Sources {
		src := &d.Sources[i]
		if src.Report != nil && len(src.Report.Findings) == 0 && !src.Report.Incomplete {
			if clean++; clean > mostClean {
				continue
			}
		}
		left = d.markdownSource(&b, src, left)
	}
	if clean > mostClean {
		fmt.Fprintf(&b, "- … and %s with nothing found\n", Plural(clean-mostClean, "more server"))
	}
	if left < 0 {
		fmt.Fprintf(&b, "- … and %s; run `toolmark scan` to see them\n", Plural(-left, "more finding"))
	}
	for _, warning := range d.Warnings {
		fmt.Fprintf(&b, "- ⚠ %s\n", code(warning))
	}
	if d.Community.Off != "" {
		fmt.Fprintf(&b, "- %s\n", code(d.Community.Off))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d *Document) markdownSource(b *strings.Builder, src *Source, left int) int {
	if src.Report == nil {
		message := "unknown reason"
		if src.Err != nil {
			message = src.Err.Error()
		}
		fmt.Fprintf(b, "- **could not be scanned**: %s\n", code(message))
		return left
	}
	name := code(title(src))
	if len(src.Report.Findings) == 0 && !src.Report.Incomplete {
		fmt.Fprintf(b, "- %s: %s, nothing found\n", name, Plural(len(src.Report.Tools), "tool"))
		return left
	}
	fmt.Fprintf(b, "- %s: %s, pin `%s`\n", name, Plural(len(src.Report.Tools), "tool"), src.Report.SHA256)
	if src.Report.Incomplete {
		fmt.Fprintf(b, "  - **incomplete**: the time ran out before %s\n", Plural(len(src.Report.UnscannedTools), "tool"))
	}
	for i := range src.Report.Findings {
		if left--; left < 0 {
			continue
		}
		d.markdownFinding(b, src, &src.Report.Findings[i])
	}
	return left
}

func (d *Document) markdownFinding(b *strings.Builder, src *Source, f *toolmark.Finding) {
	tool := "the whole list"
	if f.Index >= 0 {
		tool = code(string(f.Tool))
	}
	fmt.Fprintf(b, "  - **%s** %s %s: %s", f.Severity, f.Code, f.Code.Title(), tool)
	if shadow, ok := f.Details.(toolmark.ShadowDetails); ok {
		fmt.Fprintf(b, " for %s of %s", code(string(shadow.ShadowedToolName)), code(string(shadow.ShadowedServerName)))
	}
	places := f.Places()
	if len(places) == 0 {
		b.WriteByte('\n')
		return
	}
	loc := &places[0]
	fmt.Fprintf(b, " at %s", code(string(loc.Pointer)))
	if loc.Rule != "" {
		r, known := d.rule(loc.Rule)
		if known {
			fmt.Fprintf(b, ", rule %s", code(r.ID))
		} else {
			fmt.Fprintf(b, ", rule %s", code(loc.Rule))
		}
	}
	if n := len(distinct(places)) - 1; n > 0 {
		fmt.Fprintf(b, " and %s", Plural(n, "more place"))
	}
	b.WriteByte('\n')
	if text, _, ok := src.place(f, loc); ok {
		fmt.Fprintf(b, "    %s\n", code(flat(cutOut(text, around(loc)...))))
	}
	if words := inWords(loc.Reading); words != "" && loc.Excerpt != "" {
		fmt.Fprintf(b, "    %s: %s\n", words, code(string(loc.Excerpt)))
	}
}

// code gives hostile text as one code span: hidden characters spelled out, on one
// line, fenced by more backticks than it holds in a row.
func code(text string) string {
	text = oneLine(text)
	if strings.TrimSpace(text) == "" {
		return "(empty)"
	}
	longest := backticks(text)
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || strings.HasPrefix(text, " ") && strings.HasSuffix(text, " ") {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// backticks is the most backticks that stand in a row in a text.
func backticks(text string) int {
	longest, run := 0, 0
	for _, c := range text {
		if c == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}
