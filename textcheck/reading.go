package textcheck

import (
	"sort"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
)

// Reading is one view of a text: the text as sent, or what it says once a disguise
// is taken off.
type Reading struct {
	// Name says how the view was made: one of ReadingNames.
	Name string
	// Text is valid UTF-8; what has no place in UTF-8 stands as U+FFFD.
	Text string

	// runs lead from bytes of Text back to code points of the original, in order of
	// both. None: Text is ASCII and is the original.
	runs []run
}

// run is a stretch of a reading's text. With a width, each character of the
// stretch is that many bytes and stands for one code point, the next for the next.
// Without, the whole stretch stands for the code points from–to.
type run struct {
	off      int32
	from, to int32
	width    uint8
}

// Origin gives the code points of the original, to exclusive, that the bytes
// start–end of the reading's text come from. What comes out of a decoded payload
// comes from the payload as a whole. Offsets out of range are taken as the nearest
// in range; an empty stretch gives an empty one, or the payload that it stands in.
func (r *Reading) Origin(start, end int) (from, to int) {
	start = max(0, min(start, len(r.Text)))
	end = max(start, min(end, len(r.Text)))
	if r.runs == nil {
		return start, end
	}
	if len(r.runs) == 0 {
		return 0, 0
	}
	from, to = r.origin(start)
	if end == start {
		if r.at(start).width != 0 {
			to = from
		}
		return from, to
	}
	_, to = r.origin(end - 1)
	return from, max(from, to)
}

func (r *Reading) at(off int) run {
	i := sort.Search(len(r.runs), func(i int) bool { return int(r.runs[i].off) > off }) - 1
	return r.runs[max(i, 0)]
}

// origin gives the code points that the byte at off comes from.
func (r *Reading) origin(off int) (from, to int) {
	at := r.at(off)
	if off >= len(r.Text) {
		return int(at.to), int(at.to)
	}
	if at.width == 0 {
		return int(at.from), int(at.to)
	}
	n := (off - int(at.off)) / int(at.width)
	return int(at.from) + n, int(at.from) + n + 1
}

// view is a text with the way back to the original, read rune by rune.
type view struct {
	text string
	runs []run
}

// cursor walks a view.
type cursor struct {
	v    view
	off  int
	next int // run to look at next
	cur  run
}

func (v view) cursor() cursor { return cursor{v: v} }

// step gives the next rune, its size in bytes (0 at the end) and the code points
// of the original that it comes from.
func (c *cursor) step() (r rune, size int, from, to int32) {
	if c.off >= len(c.v.text) {
		return 0, 0, 0, 0
	}
	if b := c.v.text[c.off]; b < utf8.RuneSelf {
		r, size = rune(b), 1
	} else {
		r, size = utf8.DecodeRuneInString(c.v.text[c.off:])
	}
	if c.v.runs == nil {
		from = int32(c.off)
		c.off += size
		return r, size, from, from + 1
	}
	for c.next < len(c.v.runs) && int(c.v.runs[c.next].off) <= c.off {
		c.cur = c.v.runs[c.next]
		c.next++
	}
	if c.cur.width == 0 {
		from, to = c.cur.from, c.cur.to
	} else {
		from = c.cur.from + (int32(c.off)-c.cur.off)/int32(c.cur.width)
		to = from + 1
	}
	c.off += size
	return r, size, from, to
}

// builder writes a view.
type builder struct {
	buf  []byte
	runs []run
}

// rune adds a character that stands for the code points from–to.
func (b *builder) rune(r rune, from, to int32) {
	off := int32(len(b.buf))
	if r < utf8.RuneSelf && r >= 0 {
		b.buf = append(b.buf, byte(r))
	} else {
		b.buf = utf8.AppendRune(b.buf, r)
	}
	b.origin(off, int32(len(b.buf))-off, from, to)
}

// string adds a piece of text that as a whole stands for the code points from–to.
func (b *builder) string(s string, from, to int32) {
	if s == "" {
		return
	}
	off := int32(len(b.buf))
	b.buf = append(b.buf, s...)
	b.origin(off, 0, from, to)
}

func (b *builder) origin(off, width, from, to int32) {
	if to-from != 1 {
		width = 0
	}
	if n := len(b.runs); n > 0 {
		last := &b.runs[n-1]
		switch {
		case width == 0 && last.width == 0 && last.from == from && last.to == to:
			return
		case width != 0 && int32(last.width) == width && last.from+(off-last.off)/width == from:
			last.to = to
			return
		}
	}
	b.runs = append(b.runs, run{off: off, from: from, to: to, width: uint8(width)})
}

func (b *builder) view() view {
	if b.runs == nil {
		b.runs = []run{}
	}
	return view{string(b.buf), b.runs}
}

// rawView gives the text as sent, in UTF-8.
func rawView(s string) view {
	if isASCII(s) {
		return view{text: s}
	}
	var b builder
	if utf8.ValidString(s) {
		// The text is kept as it is; only the way back is written.
		n := int32(0)
		for i, r := range s {
			b.origin(int32(i), int32(utf8.RuneLen(r)), n, n+1)
			n++
		}
		return view{s, b.runs}
	}
	b.buf = make([]byte, 0, len(s))
	n := int32(0)
	for i := 0; i < len(s); n++ {
		r, size := toolmark.DecodeRune(s[i:])
		if toolmark.IsSurrogate(r) {
			r = utf8.RuneError
		}
		b.rune(r, n, n+1)
		i += size
	}
	return b.view()
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
