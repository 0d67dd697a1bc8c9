package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/textcheck"
)

// Excerpt sizes, in code points of the text as sent.
const (
	excerptAround  = 48  // shown before and after a place
	excerptMatched = 200 // shown of the place itself, half from each end
	spelledOut     = 4   // shown from each end of a run that has to be spelled out
	wholeText      = 160 // shown of a text that is meant as a whole
	shortText      = 240 // a text of no more is shown whole
)

// piece is a part of an excerpt, ready to print.
type piece struct {
	text    string
	matched bool
}

// cutOut gives the places of a text with some text around them, hidden characters
// spelled out. Places are code points, in order and apart; none means the text as a
// whole, of which the beginning is shown.
func cutOut(text string, places ...[2]int) []piece {
	total := toolmark.CodePoints(text)
	if len(places) == 0 {
		return []piece{{text: oneLine(sub(text, 0, wholeText)) + ellipsis(wholeText < total)}}
	}
	at := min(max(0, places[0][0]-excerptAround), total)
	short := total <= shortText
	if short {
		at = 0
	}
	pieces := []piece{{text: ellipsis(at > 0)}}
	for _, p := range places {
		start, end := min(max(p[0], at), total), min(max(p[1], at), total)
		if start >= end {
			continue
		}
		matched := abridged(text, start, end)
		pieces = append(pieces, piece{text: oneLine(sub(text, at, start))}, piece{text: matched, matched: true})
		at = end
	}
	to := min(total, at+excerptAround)
	if short {
		to = total
	}
	return append(pieces, piece{text: oneLine(sub(text, at, to)) + ellipsis(to < total)})
}

// abridged gives the code points start–end of a text on one line, without the middle
// where that is long: because there is much of it, or because it is a run of
// characters that each have to be spelled out.
func abridged(text string, start, end int) string {
	keep := 0
	switch whole := sub(text, start, end); {
	case end-start > excerptMatched:
		keep = excerptMatched / 2
	case end-start > 3*spelledOut && displaywidth.String(oneLine(whole)) > 4*(end-start):
		keep = spelledOut
	default:
		return oneLine(whole)
	}
	return fmt.Sprintf("%s …%d more… %s", oneLine(sub(text, start, start+keep)), end-start-2*keep, oneLine(sub(text, end-keep, end)))
}

// around gives the range of a location, if it has one.
func around(loc *toolmark.Location) [][2]int {
	if loc.End <= loc.Start {
		return nil
	}
	return [][2]int{{loc.Start, loc.End}}
}

func ellipsis(cut bool) string {
	if cut {
		return "…"
	}
	return ""
}

// sub gives the code points from–to of a text.
func sub(text string, from, to int) string {
	i := toolmark.ByteOffset(text, from)
	return text[i : i+toolmark.ByteOffset(text[i:], to-from)]
}

// oneLine makes hostile text printable on one line: hidden characters are spelled
// out, line breaks and tabs are shown as signs.
func oneLine(text string) string {
	text = textcheck.Visible(text)
	if strings.ContainsAny(text, "\r\n\t") {
		text = lineSigns.Replace(text)
	}
	return text
}

var lineSigns = strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\r", "⏎", "\t", "⇥")

// Printable makes hostile text safe to print on one line anywhere: in an error, a
// warning, a heading.
func Printable(text string) string { return oneLine(text) }

// flat gives the pieces as one text.
func flat(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// layOut breaks pieces into rows of at most width columns, at a space where one is
// near. With colour the matched part is shown in reverse; without, a row of ^ stands
// below it.
func layOut(pieces []piece, width int, s style) []string {
	var out []string
	for _, r := range rows(pieces, width, s) {
		out = append(out, r.text)
		if r.marks != "" && !bool(s) {
			out = append(out, r.marks)
		}
	}
	return out
}

// row is one row of an excerpt, with the ^ that stand below what is marked in it; "" where
// nothing is.
type row struct{ text, marks string }

// rows breaks pieces into rows of at most width columns, at a space where one is near.
func rows(pieces []piece, width int, s style) []row {
	type cell struct {
		text    string
		width   int
		matched bool
	}
	length := 0
	for _, p := range pieces {
		length += len(p.text)
	}
	cells := make([]cell, 0, length)
	for _, p := range pieces {
		if plainASCII(p.text) {
			for i := range len(p.text) {
				cells = append(cells, cell{p.text[i : i+1], 1, p.matched})
			}
			continue
		}
		g := displaywidth.StringGraphemes(p.text)
		for g.Next() {
			cells = append(cells, cell{g.Value(), g.Width(), p.matched})
		}
	}
	var out []row
	for len(cells) > 0 {
		n, used, space := 0, 0, 0
		for n < len(cells) && used+cells[n].width <= max(width, 2) {
			used += cells[n].width
			n++
			if cells[n-1].text == " " {
				space = n
			}
		}
		if n < len(cells) && space > n/2 {
			n = space
		}
		n = max(n, 1)
		var text, marks strings.Builder
		var run []byte
		text.Grow(n + 8)
		any := slices.ContainsFunc(cells[:n], func(c cell) bool { return c.matched })
		if any {
			marks.Grow(used)
		}
		for i, c := range cells[:n] {
			sign := " "
			if c.matched {
				sign, run = "^", append(run, c.text...)
			} else {
				text.WriteString(c.text)
			}
			if any {
				marks.WriteString(strings.Repeat(sign, c.width))
			}
			if c.matched && (i+1 == n || !cells[i+1].matched) {
				text.WriteString(s.matched(string(run)))
				run = run[:0]
			}
		}
		r := row{text: strings.TrimRight(text.String(), " ")}
		if any {
			r.marks = strings.TrimRight(marks.String(), " ")
		}
		out = append(out, r)
		cells = cells[n:]
	}
	if len(out) == 0 && len(pieces) > 0 {
		out = append(out, row{}) // an empty line is a line
	}
	return out
}

// plainASCII reports whether every byte is a character of one column.
func plainASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// wrap breaks a text of ours into lines of at most width columns, at spaces.
func wrap(text string, width int) []string {
	var lines []string
	line, used := "", 0
	for word := range strings.FieldsSeq(text) {
		w := displaywidth.String(word)
		if used > 0 && used+1+w > width {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line += " "
			used++
		}
		line += word
		used += w
	}
	if used > 0 {
		lines = append(lines, line)
	}
	return lines
}
