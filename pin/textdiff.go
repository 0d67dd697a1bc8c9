package pin

import (
	"strings"
	"unicode"

	"github.com/toolmark/toolmark"
)

// Segment is a piece of a text diff.
type Segment struct {
	// Op is SegmentEqual, SegmentDelete or SegmentInsert.
	Op string `json:"op"`
	// Text is as it was sent: hostile, and what is invisible in it is not made visible.
	Text toolmark.Text `json:"text"`
}

// What a segment is.
const (
	SegmentEqual  = "equal"  // stands in both texts
	SegmentDelete = "delete" // stands only in the old text
	SegmentInsert = "insert" // stands only in the new text
)

// Bounds of a text diff. Beyond maxEdits words that differ, what lies between the equal
// ends is one change; that is what a person would call rewritten.
const maxEdits = 600

// TextDiff gives the words in which two texts differ. The segments that are equal or
// deleted, put together, are the old text; those that are equal or inserted the new one.
// Neighbouring segments differ in Op, and a deletion stands before the insertion that
// replaces it.
//
// A word is a run of letters, digits, marks and underscores; of scripts that write
// without spaces each letter is one; so is any other character, a run of spaces, and
// every invisible character. Where a word differs by nothing that can be seen, what is
// hidden in it is marked alone.
func TextDiff(old, new string) []Segment {
	if old == new {
		if old == "" {
			return nil
		}
		return []Segment{{SegmentEqual, toolmark.Text(old)}}
	}
	a, b := tokens(old, -1), tokens(new, -1)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	start, end := lengthOf(a[:head]), lengthOf(a[len(a)-tail:])
	var s script
	s.put(SegmentEqual, old[:start])
	s.between(a[head:len(a)-tail], b[head:len(b)-tail], old[start:len(old)-end], new[start:len(new)-end])
	s.put(SegmentEqual, old[len(old)-end:])
	return s.segments()
}

// script is an edit script in the making: runs of kept words, each with what was deleted
// and inserted before it.
type script struct{ steps []step }

type step struct{ deleted, inserted, kept string }

func (s *script) put(op, text string) {
	if text == "" {
		return
	}
	if len(s.steps) == 0 || op != SegmentEqual && s.steps[len(s.steps)-1].kept != "" {
		s.steps = append(s.steps, step{})
	}
	at := &s.steps[len(s.steps)-1]
	switch op {
	case SegmentDelete:
		at.deleted += text
	case SegmentInsert:
		at.inserted += text
	default:
		at.kept += text
	}
}

func lengthOf(words []string) (n int) {
	for _, w := range words {
		n += len(w)
	}
	return n
}

// between finds a shortest edit script of two lists of words, which put together are old
// and new (E. W. Myers, An O(ND) Difference Algorithm and Its Variations, 1986).
func (s *script) between(a, b []string, old, new string) {
	trace, ok := myers(a, b)
	if !ok {
		s.put(SegmentDelete, old)
		s.put(SegmentInsert, new)
		return
	}
	// Walk back from the end; what is found is put in reverse. A run is n words of one kind.
	type run struct {
		op string
		n  int
	}
	var runs []run
	found := func(op string, n int) {
		if last := len(runs) - 1; last >= 0 && runs[last].op == op {
			runs[last].n += n
		} else if n > 0 {
			runs = append(runs, run{op, n})
		}
	}
	i, k := len(a), len(b)
	for d := len(trace) - 1; d > 0; d-- {
		v := trace[d]
		diagonal := i - k
		var before int
		if diagonal == -d || diagonal != d && v[diagonal-1+d] < v[diagonal+1+d] {
			before = diagonal + 1
		} else {
			before = diagonal - 1
		}
		fromI := v[before+d]
		fromK := fromI - before
		same := max(0, min(i-fromI, k-fromK))
		found(SegmentEqual, same)
		i, k = i-same, k-same
		if i > fromI {
			found(SegmentDelete, 1)
			i--
		} else {
			found(SegmentInsert, 1)
			k--
		}
	}
	found(SegmentEqual, min(i, k))
	for at := len(runs) - 1; at >= 0; at-- {
		r := runs[at]
		text := &old
		if r.op == SegmentInsert {
			text = &new
			r.n, b = lengthOf(b[:r.n]), b[r.n:]
		} else {
			n := r.n
			r.n, a = lengthOf(a[:n]), a[n:]
			if r.op == SegmentEqual {
				new, b = new[r.n:], b[n:]
			}
		}
		s.put(r.op, (*text)[:r.n])
		*text = (*text)[r.n:]
	}
}

// myers gives for each number of edits d the furthest reach on each diagonal before that
// edit: trace[d][k+d] for diagonal k. ok is false where more than maxEdits are needed.
func myers(a, b []string) (trace [][]int, ok bool) {
	most := min(maxEdits, len(a)+len(b))
	reach := make([]int, 2*most+3)
	offset := most + 1
	for d := 0; d <= most; d++ {
		// Before edit d only diagonals -d … d matter, one beyond included.
		row := make([]int, 2*d+1)
		copy(row, reach[offset-d:offset+d+1])
		trace = append(trace, row)
		for k := -d; k <= d; k += 2 {
			var i int
			if k == -d || k != d && reach[offset+k-1] < reach[offset+k+1] {
				i = reach[offset+k+1]
			} else {
				i = reach[offset+k-1] + 1
			}
			for i < len(a) && i-k < len(b) && a[i] == b[i-k] {
				i++
			}
			reach[offset+k] = i
			if i >= len(a) && i-k >= len(b) {
				return trace, true
			}
		}
	}
	return nil, false
}

// segments gives the script. A space or a mark between two words that were both replaced
// is made part of them: a phrase reads better than its crumbs.
func (s *script) segments() []Segment {
	var joined []step
	for _, next := range s.steps {
		if n := len(joined) - 1; n >= 0 {
			at := &joined[n]
			replaced := at.deleted != "" && at.inserted != "" && next.deleted != "" && next.inserted != ""
			if replaced && crumb(at.kept) {
				at.deleted += at.kept + next.deleted
				at.inserted += at.kept + next.inserted
				at.kept = next.kept
				continue
			}
		}
		joined = append(joined, next)
	}
	var list []Segment
	for _, st := range joined {
		if st.deleted != "" && st.inserted != "" && visible(st.deleted) == visible(st.inserted) {
			for _, part := range letters(st.deleted, st.inserted) {
				list = appendSegment(list, part)
			}
			st.deleted, st.inserted = "", ""
		}
		list = st.append(list)
	}
	return list
}

func (s *step) append(list []Segment) []Segment {
	for _, part := range [...]Segment{
		{SegmentDelete, toolmark.Text(s.deleted)}, {SegmentInsert, toolmark.Text(s.inserted)}, {SegmentEqual, toolmark.Text(s.kept)},
	} {
		list = appendSegment(list, part)
	}
	return list
}

// appendSegment adds a segment to a list, as part of the last one where both are of one
// kind: the letters of a word that is looked at alone may begin or end with what is equal.
func appendSegment(list []Segment, part Segment) []Segment {
	switch n := len(list) - 1; {
	case part.Text == "":
	case n >= 0 && list[n].Op == part.Op:
		list[n].Text += part.Text
	default:
		list = append(list, part)
	}
	return list
}

// letters gives the diff of two texts character by character.
func letters(old, new string) []Segment {
	split := func(text string) (list []string) {
		for len(text) > 0 {
			_, size := toolmark.DecodeRune(text)
			list, text = append(list, text[:size]), text[size:]
		}
		return list
	}
	var s script
	s.between(split(old), split(new), old, new)
	var list []Segment
	for _, st := range s.steps {
		list = st.append(list)
	}
	return list
}

// visible gives a text without what has no look of its own.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, text)
}

// crumb reports whether text is one character that is no part of a word.
func crumb(text string) bool {
	r, size := toolmark.DecodeRune(text)
	return size == len(text) && !wordly(r)
}

// tokens splits a text into words, see TextDiff: at most limit of them, all where limit
// is negative.
func tokens(text string, limit int) []string {
	var list []string
	if limit < 0 {
		list = make([]string, 0, min(8+len(text)/3, 4096))
	}
	for len(text) > 0 && len(list) != limit {
		r, size := toolmark.DecodeRune(text)
		end := size
		switch {
		case wordly(r) && !spaceless(r):
			for end < len(text) {
				r, size = toolmark.DecodeRune(text[end:])
				if !wordly(r) || spaceless(r) {
					break
				}
				end += size
			}
		case r == ' ':
			for end < len(text) && text[end] == ' ' {
				end++
			}
		}
		list = append(list, text[:end])
		text = text[end:]
	}
	return list
}

func wordly(r rune) bool {
	if r < 0x80 {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
	}
	// A variation selector is a mark that can hide in a word.
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !unicode.Is(unicode.Variation_Selector, r)
}

// spaceless reports whether a letter is of a script that puts no spaces between words.
func spaceless(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
