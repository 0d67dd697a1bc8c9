// Package canonjson reads JSON without losing anything and writes it in exact forms.
//
// [Parse] turns bytes into a [toolmark.Value] in which number literals, the order of
// members, duplicate keys and lone surrogates are kept. Four writers go back to bytes:
//
//   - [AppendPython]: byte for byte what CPython's
//     json.dumps(v, sort_keys=True, separators=(",", ":")) gives; the pin's form.
//   - [AppendJCS]: RFC 8785, or a refusal where that form would lose something; the
//     fingerprint's form.
//   - [Append] and [AppendIndent]: the same value again, nothing lost.
//
// [Faults] lists what the forms cannot agree on: duplicate keys, lone surrogates and
// numbers that do not survive as a double.
//
// The input is taken to be hostile. Parse is strict (RFC 8259, UTF-8 only), works in
// time linear in the input, and refuses what is too long, too deep or too many values
// before it allocates for it. The package does not decode into Go types, does not
// stream, and has no lenient mode.
package canonjson

import (
	"fmt"
	"strings"
	"sync"

	"github.com/toolmark/toolmark"
)

// Default limits of Options, and the most that Options may ask for.
const (
	// DefaultMaxBytes is the longest input in bytes: 16 MiB.
	DefaultMaxBytes = 16 << 20
	// DefaultMaxDepth is the deepest nesting of arrays and objects; a scalar alone
	// has depth 0, [] has depth 1.
	DefaultMaxDepth = 512
	// DefaultMaxNodes is the most values and member names together. A value takes
	// about 100 bytes of memory and may take two bytes of input, so this, and not
	// the length, is what bounds memory: 2,097,152 nodes are about 200 MiB.
	DefaultMaxNodes = 2 << 20

	// HighestMaxBytes is where Options.MaxBytes is cut off: 1 GiB.
	HighestMaxBytes = 1 << 30
	// HighestMaxDepth is where Options.MaxDepth is cut off. The writers recurse once
	// a level.
	HighestMaxDepth = 100_000
)

// Options are the limits of Parse. The zero Options are the defaults above.
type Options struct {
	MaxBytes int // bytes of input; 0 or less means DefaultMaxBytes
	MaxDepth int // levels of arrays and objects; 0 or less means DefaultMaxDepth
	MaxNodes int // values and member names; 0 or less means DefaultMaxNodes
}

func (o Options) withDefaults() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	if o.MaxNodes <= 0 {
		o.MaxNodes = DefaultMaxNodes
	}
	o.MaxBytes = min(o.MaxBytes, HighestMaxBytes)
	o.MaxDepth = min(o.MaxDepth, HighestMaxDepth)
	return o
}

// Parse reads one JSON text (RFC 8259) that stands alone in data, but for a leading
// UTF-8 byte order mark, which is skipped.
//
// A pair of \u escapes that forms a surrogate pair becomes the one character it
// encodes; any other surrogate escape is kept as a lone surrogate in WTF-8. Start, End
// and NameStart of the result count bytes of data, the byte order mark included.
// Strings of the result share one copy of data, so holding any of them holds it all.
//
// Every error is a *toolmark.Error. Its code is ErrTooLarge where data has more bytes
// or nodes than opts allows, and ErrInvalidJSON otherwise: not UTF-8 (encoded
// surrogates and overlong forms included), raw control characters in strings, NaN and
// Infinity, leading zeros, trailing data, nothing at all, nesting too deep. Except for
// too many bytes it wraps a *SyntaxError that says where.
func Parse(data []byte, opts Options) (*toolmark.Value, error) {
	opts = opts.withDefaults()
	if len(data) > opts.MaxBytes {
		return nil, &toolmark.Error{
			Code:    toolmark.ErrTooLarge,
			Message: fmt.Sprintf("the JSON text has %d bytes; at most %d are allowed", len(data), opts.MaxBytes),
		}
	}
	r := reader{data: data, maxDepth: opts.MaxDepth, maxNodes: opts.MaxNodes}
	kept := tapes.Get().(*[]token)
	r.tape = (*kept)[:0]
	if r.tape == nil {
		// Tool lists have a token for every sixteen bytes or so; other inputs let
		// the tape grow.
		r.tape = make([]token, 0, min(len(data)/12+16, 1<<16, opts.MaxNodes))
	}
	f := r.read()
	var v *toolmark.Value
	var err error
	if f != nil {
		err = r.report(f)
	} else {
		v = r.build()
	}
	if cap(r.tape) <= keptTokens {
		*kept = r.tape
		tapes.Put(kept)
	}
	return v, err
}

// tapes keeps the tapes of earlier calls. It changes nothing but speed: a tape is used
// by one call at a time and every token is written before it is read. Without it a
// third of the time goes to collecting tapes.
var tapes = sync.Pool{New: func() any { return new([]token) }}

// keptTokens is the longest tape that is kept, 4 MiB: enough for the largest body the
// service takes.
const keptTokens = 4 << 20 / 16

// bom is U+FEFF in UTF-8.
const bom = "\xef\xbb\xbf"

// build makes the tree from a complete tape. The tape has counted everything, so the
// whole tree takes one allocation for all items, one for all members, one for all
// text and one for all strings that had escapes.
func (r *reader) build() *toolmark.Value {
	b := builder{
		text:    string(r.data),
		tape:    r.tape,
		items:   make([]toolmark.Value, r.items+1),
		members: make([]toolmark.Member, r.members),
	}
	b.unescaped.Grow(r.escapedBytes)
	root := &b.items[0]
	b.nextItem = 1
	b.value(root)
	return root
}

type builder struct {
	text    string
	tape    []token
	items   []toolmark.Value
	members []toolmark.Member
	// What has been used of each. Slices that shrink instead would write a pointer
	// for every value, which costs more while the collector runs.
	nextToken, nextItem, nextMember int
	// unescaped holds every string that had escapes, one after the other. It is
	// grown once, to more than it will need, so that parts of it can be handed out
	// while it fills.
	unescaped strings.Builder
}

// value fills v, which is zero, from the next token. It recurses as deep as the reader
// allowed.
func (b *builder) value(v *toolmark.Value) {
	t := &b.tape[b.nextToken]
	b.nextToken++
	v.Kind, v.Start, v.End = t.kind, int(t.start), int(t.end)
	switch t.kind {
	case toolmark.KindString:
		v.Text = b.string(t)
	case toolmark.KindNumber:
		v.Text = b.text[t.start:t.end]
	case toolmark.KindArray:
		if n := int(t.count); n > 0 {
			from := b.nextItem
			b.nextItem += n
			v.Items = b.items[from:b.nextItem:b.nextItem]
			for i := range v.Items {
				b.value(&v.Items[i])
			}
		}
	case toolmark.KindObject:
		if n := int(t.count); n > 0 {
			from := b.nextMember
			b.nextMember += n
			v.Members = b.members[from:b.nextMember:b.nextMember]
			for i := range v.Members {
				name := &b.tape[b.nextToken]
				b.nextToken++
				m := &v.Members[i]
				m.Name, m.NameStart = b.string(name), int(name.start)
				b.value(&m.Value)
			}
		}
	}
}

func (b *builder) string(t *token) string {
	if !t.escaped {
		return b.text[t.start+1 : t.end-1]
	}
	from := b.unescaped.Len()
	unescape(&b.unescaped, b.text[t.start+1:t.end-1])
	return b.unescaped.String()[from:]
}
