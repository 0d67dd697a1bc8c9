package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/textcheck"
)

// diffLine is one line of a diff: of the old text, of the new one, or of both.
type diffLine struct {
	// sign is '-', '+', ' ', or '…' for what was left out.
	sign   rune
	pieces []piece
}

// Sizes of a diff, in code points of the text as sent.
const (
	sameAround  = 60 // of what is the same, shown beside what changed
	sameLine    = 1  // lines that are the same, shown beside those that changed
	hiddenShown = 48 // of one run of hidden characters, half from each end
	quotedLine  = 96 // columns of a value that stands on one line
)

// diffLimits bound a diff for where there is little room. Zero is no limit.
type diffLimits struct {
	lines int // lines that changed
	line  int // code points of what changed in a line, half from each end
}

// diffOf gives the difference of a change's values, line by line, with the words that
// differ marked and what is hidden made visible. Strings are compared as texts; anything
// else as JSON with a member a line.
func diffOf(c *pin.Change, limits diffLimits) []diffLine {
	segments := c.Segments()
	isText := segments != nil
	if !isText {
		segments = pin.TextDiff(layout(c.Old), layout(c.New))
	}
	if c.Old == nil || c.New == nil {
		// All of it came or went: nothing in it needs a mark.
		return limits.apply(lines(segments, false, isText))
	}
	return limits.apply(nearLines(lines(phrases(segments), true, isText)))
}

// crumb is the most code points of a piece that is the same and yet is shown as changed,
// because what lies on both sides of it changed more.
const crumb = 16

// phrases makes short pieces that are the same part of the changes around them: a
// sentence that was rewritten reads better than its crumbs. What is equal or deleted is
// still the old text, what is equal or inserted the new one.
func phrases(segments []pin.Segment) []pin.Segment {
	weight := func(list []pin.Segment) (n int) {
		for _, s := range list {
			if s.Op == pin.SegmentEqual {
				break
			}
			n = max(n, toolmark.CodePoints(string(s.Text)))
		}
		return n
	}
	back := func(list []pin.Segment) []pin.Segment {
		list = slices.Clone(list)
		slices.Reverse(list)
		return list
	}
	var out []pin.Segment
	var deleted, inserted toolmark.Text
	flush := func() {
		if deleted != "" {
			out = append(out, pin.Segment{Op: pin.SegmentDelete, Text: deleted})
		}
		if inserted != "" {
			out = append(out, pin.Segment{Op: pin.SegmentInsert, Text: inserted})
		}
		deleted, inserted = "", ""
	}
	for i, s := range segments {
		n := toolmark.CodePoints(string(s.Text))
		switch {
		case s.Op == pin.SegmentDelete:
			deleted += s.Text
		case s.Op == pin.SegmentInsert:
			inserted += s.Text
		case n <= crumb && !strings.Contains(string(s.Text), "\n") &&
			n <= weight(segments[i+1:min(len(segments), i+3)]) && n <= weight(back(segments[max(0, i-2):i])):
			deleted += s.Text
			inserted += s.Text
		default:
			flush()
			out = append(out, s)
		}
	}
	flush()
	return out
}

// layout writes a value as JSON that a person can read: what is short on one line,
// otherwise a member a line. Hidden characters are spelled out.
func layout(v *toolmark.Value) string {
	if v == nil {
		return ""
	}
	var b strings.Builder
	layOutValue(&b, v, 0, 0)
	return b.String()
}

// deepest is how far a value is laid out; below it stands on one line.
const deepest = 24

func layOutValue(b *strings.Builder, v *toolmark.Value, depth, used int) {
	flat := canonjson.Append(nil, v)
	n := len(v.Items) + len(v.Members)
	if n == 0 || depth >= deepest || len(flat) <= quotedLine-2*depth-used && len(v.Members) <= 2 && !bytes.Contains(flat, []byte(`\u`)) {
		b.WriteString(readable(v, flat))
		return
	}
	open, closing := "{", "}"
	if v.Kind == toolmark.KindArray {
		open, closing = "[", "]"
	}
	pad := "\n" + strings.Repeat("  ", depth+1)
	b.WriteString(open)
	for i := range v.Members {
		m := &v.Members[i]
		name := quoted(m.Name) + ": "
		b.WriteString(pad + name)
		layOutValue(b, &m.Value, depth+1, len(name))
		if i+1 < n {
			b.WriteByte(',')
		}
	}
	for i := range v.Items {
		b.WriteString(pad)
		layOutValue(b, &v.Items[i], depth+1, 0)
		if i+1 < n {
			b.WriteByte(',')
		}
	}
	b.WriteString("\n" + strings.Repeat("  ", depth) + closing)
}

// readable gives a value on one line; a string with letters as they are.
func readable(v *toolmark.Value, flat []byte) string {
	if v.Kind == toolmark.KindString {
		return quoted(v.Text)
	}
	return string(flat)
}

func quoted(text string) string { return `"` + strings.ReplaceAll(oneLine(text), `"`, `\"`) + `"` }

// lines puts the segments of a text diff into lines. Lines that differ stand together,
// the old ones before the new ones.
func lines(segments []pin.Segment, mark, isText bool) []diffLine {
	b := lineBuilder{mark: mark}
	if isText {
		b.end = "\n" // a line end that came or went is shown
	}
	for _, seg := range segments {
		text := string(seg.Text)
		for text != "" {
			part, end := text, false
			if i := strings.IndexByte(text, '\n'); i >= 0 {
				part, end = text[:i], true
			}
			text = text[len(part):]
			if end {
				text = text[1:]
			}
			b.add(seg.Op, part, end)
		}
	}
	b.flush(true)
	return b.out
}

// lineBuilder holds the line that is being read, once as it was and once as it is, and
// the lines of the difference that is not over yet.
type lineBuilder struct {
	mark          bool
	end           string // what is shown of a line end
	old, now      []piece
	dirty         bool
	removed, come []diffLine
	out           []diffLine
}

func (b *lineBuilder) add(op, part string, end bool) {
	p := piece{text: part, matched: b.mark && op != pin.SegmentEqual}
	sign := piece{text: b.end, matched: p.matched && b.end != ""}
	switch op {
	case pin.SegmentEqual:
		b.old, b.now = append(b.old, p), append(b.now, p)
		if end {
			b.flush(false)
		}
	case pin.SegmentDelete:
		b.dirty = true
		b.old, b.now = append(b.old, p), append(b.now, piece{matched: b.mark}) // here something is missing
		if end {
			b.removed = append(b.removed, diffLine{'-', append(b.old, sign)})
			b.old = nil
		}
	case pin.SegmentInsert:
		b.dirty = true
		b.now, b.old = append(b.now, p), append(b.old, piece{matched: b.mark})
		if end {
			b.come = append(b.come, diffLine{'+', append(b.now, sign)})
			b.now = nil
		}
	}
}

// flush ends the line: what both texts have in common goes on behind it.
func (b *lineBuilder) flush(last bool) {
	if !b.dirty {
		if len(b.old) > 0 || !last {
			b.out = append(b.out, diffLine{' ', b.old})
		}
		b.old, b.now = nil, nil
		return
	}
	if someText(b.old) {
		b.removed = append(b.removed, diffLine{'-', b.old})
	}
	if someText(b.now) {
		b.come = append(b.come, diffLine{'+', b.now})
	}
	b.out = append(append(b.out, b.removed...), b.come...)
	*b = lineBuilder{mark: b.mark, end: b.end, out: b.out}
}

func someText(pieces []piece) bool {
	for _, p := range pieces {
		if p.text != "" {
			return true
		}
	}
	return false
}

// nearLines leaves out the lines that are the same but for those next to a difference.
func nearLines(list []diffLine) []diffLine {
	keep := make([]bool, len(list))
	for i, l := range list {
		if l.sign == ' ' {
			continue
		}
		for j := max(0, i-sameLine); j <= min(len(list)-1, i+sameLine); j++ {
			keep[j] = true
		}
	}
	var out []diffLine
	for i := 0; i < len(list); i++ {
		if keep[i] {
			out = append(out, list[i])
			continue
		}
		j := i
		for j < len(list) && !keep[j] {
			j++
		}
		out = append(out, note(Plural(j-i, "line")+" the same"))
		i = j - 1
	}
	return out
}

func note(text string) diffLine { return diffLine{'…', []piece{{text: text}}} }

// apply bounds the lines and makes them printable.
func (l diffLimits) apply(list []diffLine) []diffLine {
	out := make([]diffLine, 0, len(list))
	changed := 0
	for i, line := range list {
		if line.sign == '-' || line.sign == '+' {
			changed++
		}
		if l.lines > 0 && changed > l.lines {
			out = append(out, note(Plural(len(list)-i, "more line")))
			break
		}
		out = append(out, diffLine{line.sign, l.pieces(line)})
	}
	return out
}

// pieces makes one line printable: of what is the same only what is near, of what changed
// everything but the middle of a long run of hidden characters.
func (l diffLimits) pieces(line diffLine) []piece {
	if line.sign == '…' {
		return line.pieces
	}
	pieces := joined(line.pieces)
	whole := true // nothing in the line is the same
	for _, p := range pieces {
		whole = whole && (p.matched || strings.TrimSpace(p.text) == "")
	}
	out := make([]piece, 0, len(pieces))
	for i, p := range pieces {
		switch {
		case line.sign == ' ':
			p.text = near(p.text, true, true)
		case !p.matched && len(pieces) > 1:
			p.text = near(p.text, i > 0, i+1 < len(pieces))
		default:
			p.text = l.shown(p.text)
			p.matched = p.matched && !whole
		}
		out = append(out, p)
	}
	return out
}

// joined puts neighbours of one kind together. An empty piece that is marked stays: there
// something is missing, and what lies beside it is near it.
func joined(pieces []piece) []piece {
	var out []piece
	for _, p := range pieces {
		if n := len(out) - 1; n >= 0 && out[n].matched == p.matched {
			out[n].text += p.text
		} else if p.text != "" || p.matched {
			out = append(out, p)
		}
	}
	return out
}

// near gives of a text that is the same the ends that touch what changed.
func near(text string, atStart, atEnd bool) string {
	total := toolmark.CodePoints(text)
	keep := 0
	for _, side := range []bool{atStart, atEnd} {
		if side {
			keep += sameAround
		}
	}
	if total <= keep+8 {
		return spelled(text)
	}
	head, tail := "", ""
	if atStart {
		head = spelled(sub(text, 0, sameAround))
	}
	if atEnd {
		tail = spelled(sub(text, total-sameAround, total))
	}
	return head + "…" + tail
}

// shown gives a text that changed, printable.
func (l diffLimits) shown(text string) string {
	if total := toolmark.CodePoints(text); l.line > 0 && total > l.line {
		half := l.line / 2
		return spelled(sub(text, 0, half)) + more(total-2*half) + spelled(sub(text, total-half, total))
	}
	return spelled(text)
}

func more(n int) string { return fmt.Sprintf(" …%d more… ", n) }

// spelled makes a text printable. Of a long run of hidden characters only the ends are
// spelled out; what it says is in the findings.
func spelled(text string) string {
	plain := oneLine(text)
	if len(plain) < 4*hiddenShown {
		return plain
	}
	var b strings.Builder
	start, at, run, runs := 0, 0, 0, 0
	flush := func(end int) {
		if runs > hiddenShown {
			hidden := text[run:end]
			b.WriteString(oneLine(text[start:run]))
			b.WriteString(oneLine(sub(hidden, 0, hiddenShown/2)) + more(runs-hiddenShown) + oneLine(sub(hidden, runs-hiddenShown/2, runs)))
			start = end
		}
		runs = 0
	}
	for at < len(text) {
		_, size := toolmark.DecodeRune(text[at:])
		if c := text[at : at+size]; c[0] >= 0x80 && textcheck.Visible(c) != c {
			if runs == 0 {
				run = at
			}
			runs++
		} else {
			flush(at)
		}
		at += size
	}
	flush(at)
	b.WriteString(oneLine(text[start:]))
	return b.String()
}
