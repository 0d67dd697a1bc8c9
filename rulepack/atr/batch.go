package atr

import (
	"strings"
	"unicode/utf8"
)

// Batch is the tools of one list, sifted together: most have nothing that any pattern
// could match, and are done with in one pass over all of them. It may be asked from one
// goroutine at a time.
//
// Slow, and right by definition: [Pack.Match] for each tool. Fast: sift (sift.go) the forms
// of all tools' joined texts, one behind the other, and note for each pattern in which tools
// a match of it may end; Match then tries in a tool what is noted for it. That is safe
// for the reasons given there, of which the first now is that a form of a tool stands
// in the sifted text whole, between line feeds or the ends of it: a match in a text of the
// tool, or in all of them joined, ends inside that form. What is found besides, from one tool to
// the next, is tried there and comes to nothing. Forms are made of each tool by itself, as
// Match makes them. Tools that Match does not sift, or in which code points and UTF-16
// units differ, and all that stop left over, go the slow way.
type Batch struct {
	pack   *Pack
	list   [][]string
	joined []string        // per tool
	left   map[int][]int32 // per tool that was sifted with patterns left: these
	wait   []int           // per tool: forms that are not sifted; -1: it goes the slow way
}

// maxBatch is the most bytes that are sifted at once. More would be no faster, and the
// state of a machine is sixteen times as large.
const maxBatch = 32 << 10

// Batch sifts the texts of the tools of a list; stop is that of [Pack.Match].
func (p *Pack) Batch(list [][]string, stop func() bool) *Batch {
	b := &Batch{pack: p, list: list, joined: make([]string, len(list)), wait: make([]int, len(list)), left: map[int][]int32{}}
	m := p.matcher()
	defer p.pool.Put(m)
	m.begin(nil, stop)
	var ascii, others batchText
	for i, texts := range list {
		joined := strings.Join(texts, separator)
		b.joined[i] = joined
		if isASCII(joined) {
			m.siftForms(b, &ascii, i, joined)
			continue
		}
		normal, changed := normalized(joined)
		switch {
		case len(joined) > maxBatch || isWide(joined) || isWide(normal) || changed && strings.ContainsAny(composed(joined), foldsAlone):
			b.wait[i] = -1
		case changed:
			m.siftForms(b, &others, i, normal, joined)
		default:
			m.siftForms(b, &others, i, joined)
		}
	}
	m.siftAll(b, &ascii)
	m.siftAll(b, &others)
	m.result()
	return b
}

// isWide reports whether a text has characters above U+FFFF, or none in UTF-8 at all.
func isWide(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0xf0 {
			return true
		}
	}
	return !utf8.ValidString(s)
}

// batchText is forms of tools, joined by line feeds.
type batchText struct {
	text  strings.Builder
	tools []int
	ends  []int // where the form of each ends, in characters
}

// siftForms adds forms of a tool to a text, and sifts that first where it would be too long.
func (m *matcher) siftForms(b *Batch, t *batchText, tool int, forms ...string) {
	b.wait[tool] = len(forms)
	for _, form := range forms {
		if t.text.Len()+len(form) > maxBatch {
			m.siftAll(b, t)
		}
		at := -1
		if n := len(t.ends); n > 0 {
			t.text.WriteString(separator)
			at = t.ends[n-1]
		}
		t.text.WriteString(form)
		t.tools, t.ends = append(t.tools, tool), append(t.ends, at+1+utf8.RuneCountInString(form))
	}
}

// siftAll sifts what was added to a text, and empties that.
func (m *matcher) siftAll(b *Batch, t *batchText) {
	note := func(tool int, n int32) {
		if list := b.left[tool]; len(list) == 0 || list[len(list)-1] != n { // twice does no harm
			b.left[tool] = append(list, n)
		}
	}
	if len(t.tools) > 0 && !m.halted() {
		m.form.set(t.text.String(), false)
		m.siftForm(func(*pattern) bool { return true }, func(n int32, found *marks) bool {
			if found == nil {
				for _, tool := range t.tools {
					note(tool, n)
				}
				return false
			}
			from := 0
			for i, end := range t.ends {
				if found.hasIn(from, end) {
					note(t.tools[i], n)
				}
				from = end + 1
			}
			return true
		})
	}
	if !m.stopped { // else not all patterns were asked
		for _, tool := range t.tools {
			b.wait[tool]--
		}
	}
	t.tools, t.ends = t.tools[:0], t.ends[:0]
	t.text.Reset()
}

// Match is [Pack.Match] for the texts of a tool, by its number in the list.
func (b *Batch) Match(tool int, stop func() bool) Result {
	texts, left := b.list[tool], b.left[tool]
	switch {
	case b.wait[tool] != 0:
		return b.pack.Match(texts, stop)
	case len(left) == 0:
		return Result{Complete: stop == nil || !stop()}
	}
	m := b.pack.matcher()
	defer b.pack.pool.Put(m)
	m.begin(texts, stop)
	m.sifted = true
	for _, n := range left {
		m.left[n] = m.calls
	}
	m.events(b.joined[tool])
	return m.result()
}
