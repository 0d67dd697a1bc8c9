package atr

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
)

// The index file: what a pack is, ready to use. A line that names the format, the
// SHA-256 of all that follows, then numbers as unsigned varints (-1 is 0, 0 is 1, …
// where a number may be negative) and strings with their length before them. It is
// made from a package that was verified, for the build that reads it.
const indexHead = "toolmark atr index 9\n"

// errDamaged is an index that does not hash to what it says, or is of another format.
var errDamaged = errors.New("damaged, or made by another version of toolmark")

type writer struct{ b []byte }

func (w *writer) number(n int)  { w.b = binary.AppendUvarint(w.b, uint64(n+1)) }
func (w *writer) text(s string) { w.number(len(s)); w.b = append(w.b, s...) }
func (w *writer) span(a span) {
	for _, n := range []int32{a.fixed, a.spaces, a.words} {
		w.number(int(n))
	}
}

func (w *writer) flag(list ...bool) {
	n := 0
	for i, set := range list {
		if set {
			n |= 1 << i
		}
	}
	w.number(n)
}

func (w *writer) masks(list []mask) {
	w.number(len(list))
	for _, m := range list {
		w.b = binary.LittleEndian.AppendUint64(w.b, m.ascii[0])
		w.b = binary.LittleEndian.AppendUint64(w.b, m.ascii[1])
		w.flag(m.other)
	}
}

func (p *Pack) encode() []byte {
	var w writer
	w.text(p.version)
	w.number(p.total)
	w.number(p.idle)
	w.number(len(p.rules))
	for i := range p.rules {
		r := &p.rules[i]
		for _, s := range []string{r.ID, r.Title, r.Severity, r.Maturity} {
			w.text(s)
		}
		w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(r.Confidence))
		w.flag(r.all)
		w.number(len(r.conditions))
		for _, n := range r.conditions {
			w.number(int(n))
		}
	}
	w.number(len(p.patterns))
	for _, pat := range p.patterns {
		w.text(pat.source)
		w.number(int(pat.branch))
		w.flag(pat.unicode, pat.suppress, pat.backrefs, pat.other)
		w.span(pat.width)
		w.number(int(pat.sight))
		w.masks(pat.must)
		w.masks(pat.head)
		w.number(len(pat.needs))
		for _, n := range pat.needs {
			w.number(int(n.set))
			w.span(n.before)
		}
	}
	w.number(p.sets)
	w.number(len(p.index.users))
	for _, set := range p.index.users {
		w.number(int(set))
	}
	w.number(len(p.index.literals))
	for i := range p.index.literals {
		l := &p.index.literals[i]
		w.text(l.text)
		w.number(int(l.at))
		w.number(int(l.to - l.from))
	}
	sum := sha256.Sum256(w.b)
	return append(append([]byte(indexHead), sum[:]...), w.b...)
}

// reader reads what writer wrote. Past the end it gives zeros and remembers.
type reader struct {
	s   string
	bad bool
}

func (r *reader) number() int {
	v := uint64(0)
	for shift := 0; shift < 35; shift += 7 {
		if len(r.s) == 0 {
			break
		}
		c := r.s[0]
		r.s = r.s[1:]
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int(v) - 1
		}
	}
	r.bad = true
	return 0
}

// count reads how many things follow, each of at least one byte.
func (r *reader) count() int {
	n := r.number()
	if n < 0 || n > len(r.s) {
		r.bad = true
		return 0
	}
	return n
}

func (r *reader) text() string {
	n := r.count()
	s := r.s[:n]
	r.s = r.s[n:]
	return s
}

func (r *reader) flag(list ...*bool) {
	n := r.number()
	for i, f := range list {
		*f = n>>i&1 != 0
	}
}

func (r *reader) word() uint64 {
	if len(r.s) < 8 {
		r.bad = true
		return 0
	}
	v := binary.LittleEndian.Uint64([]byte(r.s[:8]))
	r.s = r.s[8:]
	return v
}

func (r *reader) masks() []mask {
	n := r.count()
	if n == 0 {
		return nil
	}
	list := make([]mask, n)
	for i := range list {
		list[i].ascii = [2]uint64{r.word(), r.word()}
		r.flag(&list[i].other)
	}
	return list
}

func (r *reader) span() span { return span{int32(r.number()), int32(r.number()), int32(r.number())} }

func decodePack(data []byte) (*Pack, error) {
	body, ok := bytes.CutPrefix(data, []byte(indexHead))
	if !ok || len(body) < sha256.Size {
		return nil, errDamaged
	}
	if sum := sha256.Sum256(body[sha256.Size:]); !bytes.Equal(sum[:], body[:sha256.Size]) {
		return nil, errDamaged
	}
	r := reader{s: string(body[sha256.Size:])}
	p := &Pack{version: r.text(), total: r.number(), idle: r.number()}
	p.rules = make([]Rule, r.count())
	for i := range p.rules {
		rule := &p.rules[i]
		for _, s := range []*string{&rule.ID, &rule.Title, &rule.Severity, &rule.Maturity} {
			*s = r.text()
		}
		rule.Confidence = math.Float64frombits(r.word())
		r.flag(&rule.all)
		rule.conditions = make([]int32, r.count())
		for j := range rule.conditions {
			rule.conditions[j] = int32(r.number())
		}
	}
	patterns := make([]pattern, r.count())
	p.patterns = make([]*pattern, len(patterns))
	for i := range patterns {
		pat := &patterns[i]
		p.patterns[i] = pat
		pat.source = r.text()
		pat.branch = int32(r.number())
		r.flag(&pat.unicode, &pat.suppress, &pat.backrefs, &pat.other)
		pat.width, pat.sight = r.span(), int32(r.number())
		pat.must, pat.head = r.masks(), r.masks()
		pat.needs = make([]patternNeed, r.count())
		for j := range pat.needs {
			pat.needs[j] = patternNeed{int32(r.number()), r.span()}
		}
	}
	p.sets = r.count()
	p.index.users = make([]int32, r.count())
	for i := range p.index.users {
		p.index.users[i] = int32(r.number())
	}
	p.index.literals = make([]literal, r.count())
	at := int32(0)
	for i := range p.index.literals {
		l := &p.index.literals[i]
		l.text, l.at, l.from = r.text(), int32(r.number()), at
		at += int32(r.number())
		l.to = at
	}
	if r.bad || !p.sound() {
		return nil, errDamaged
	}
	p.link()
	return p, nil
}

// sound reports whether all numbers of the pack name something.
func (p *Pack) sound() bool {
	for i := range p.rules {
		for _, n := range p.rules[i].conditions {
			if n < -1 || int(n) >= len(p.patterns) {
				return false
			}
		}
	}
	for _, pat := range p.patterns {
		for _, n := range pat.needs {
			if n.set < 0 || int(n.set) >= p.sets {
				return false
			}
		}
	}
	for _, set := range p.index.users {
		if set < 0 || int(set) >= p.sets {
			return false
		}
	}
	for i := range p.index.literals {
		if l := &p.index.literals[i]; l.text == "" || l.at < 0 || l.at > 0 && int(l.at)+4 > len(l.text) || l.from > l.to || int(l.to) > len(p.index.users) {
			return false
		}
	}
	return true
}
