package pin_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/test/oracle"
)

// speller writes a tree again in another spelling with the same meaning: members in
// another order, other white space, other escapes. Numbers stay, as their spelling is
// part of the pin.
type speller struct {
	rng *rand.Rand
	out strings.Builder
}

func (s *speller) space() {
	for s.rng.IntN(3) == 0 {
		s.out.WriteByte(" \t\r\n"[s.rng.IntN(4)])
	}
}

func (s *speller) text(text string) {
	s.out.WriteByte('"')
	for i := 0; i < len(text); {
		r, size := toolmark.DecodeRune(text[i:])
		if r >= 0x20 && r != '"' && r != '\\' && !toolmark.IsSurrogate(r) && s.rng.IntN(2) == 0 {
			s.out.WriteString(text[i : i+size])
		} else {
			units := []rune{r}
			if r > 0xffff {
				units = []rune{0xd800 + (r-0x10000)>>10, 0xdc00 + (r-0x10000)&0x3ff}
			}
			for _, u := range units {
				digits := "0123456789abcdef"
				if s.rng.IntN(2) == 0 {
					digits = "0123456789ABCDEF"
				}
				s.out.WriteString(`\u`)
				for shift := 12; shift >= 0; shift -= 4 {
					s.out.WriteByte(digits[u>>shift&15])
				}
			}
		}
		i += size
	}
	s.out.WriteByte('"')
}

// list writes an array with its elements in another order where shuffle says so.
func (s *speller) list(v *toolmark.Value, shuffle bool) {
	order := make([]int, len(v.Items))
	for i := range order {
		order[i] = i
	}
	if shuffle {
		s.rng.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	}
	s.out.WriteByte('[')
	for n, i := range order {
		if n > 0 {
			s.out.WriteByte(',')
		}
		s.value(&v.Items[i])
	}
	s.space()
	s.out.WriteByte(']')
}

func (s *speller) value(v *toolmark.Value) {
	s.space()
	switch v.Kind {
	case toolmark.KindString:
		s.text(v.Text)
	case toolmark.KindArray:
		s.list(v, false)
	case toolmark.KindObject:
		s.object(v, func(m *toolmark.Member) { s.value(&m.Value) })
	default:
		s.out.Write(canonjson.Append(nil, v))
	}
	s.space()
}

func (s *speller) object(v *toolmark.Value, value func(*toolmark.Member)) {
	order := make([]int, len(v.Members))
	for i := range order {
		order[i] = i
	}
	// Of a name that stands twice the last one counts, so such objects keep their order.
	if _, twice := canonjson.FirstDuplicate(v); !twice {
		s.rng.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	}
	s.out.WriteByte('{')
	s.space()
	for n, i := range order {
		if n > 0 {
			s.out.WriteByte(',')
			s.space()
		}
		s.text(v.Members[i].Name)
		s.space()
		s.out.WriteByte(':')
		value(&v.Members[i])
	}
	s.out.WriteByte('}')
}

// respell writes a body in another spelling and with its tools in another order.
func respell(root *toolmark.Value, seed uint64) string {
	s := &speller{rng: rand.New(rand.NewPCG(seed, 0))}
	s.space()
	s.object(root, func(m *toolmark.Member) {
		if m.Name == "tools" && m.Value.Kind == toolmark.KindArray {
			s.list(&m.Value, true)
		} else {
			s.value(&m.Value)
		}
	})
	s.space()
	return s.out.String()
}

type failer interface {
	Fatalf(format string, args ...any)
	Helper()
}

// checkRespelled holds the pin of a body against that of another spelling of it, and the
// three ways to a pin against each other. It reports whether the body had a pin.
func checkRespelled(t failer, body []byte, seed uint64) bool {
	t.Helper()
	line := pin.Line(body)
	if strings.HasPrefix(line, "invalid ") {
		return false
	}
	root, err := canonjson.Parse(body, canonjson.Options{})
	if err != nil {
		t.Fatalf("%q has a pin but does not parse: %v", body, err)
	}
	other := respell(root, seed)
	again := pin.Line([]byte(other))
	if a, b := line[:64], again[:min(64, len(again))]; a != b {
		t.Fatalf("%q has pin %s, but %q has %s", body, a, other, again)
	}
	m, err := toolmark.ReadManifest(root)
	if err != nil {
		return true
	}
	p := pin.Compute(m.Tools)
	canonical := pin.Canonical(m.Tools)
	if p.SHA256 != line[:64] || p.SHA256 != sum(string(canonical)) || pin.Size(m.Tools) != len(canonical) || p.Size != len(canonical) {
		t.Fatalf("%q: Line says %s, Compute %s, Canonical %s", body, line, p.SHA256, canonical)
	}
	otherRoot, err := canonjson.Parse([]byte(other), canonjson.Options{})
	if err != nil {
		t.Fatalf("%q: %v", other, err)
	}
	otherManifest, err := toolmark.ReadManifest(otherRoot)
	if err != nil {
		t.Fatalf("%q: %v", other, err)
	}
	f, err1 := pin.Fingerprint(m.Server, m.Tools)
	g, err2 := pin.Fingerprint(otherManifest.Server, otherManifest.Tools)
	if f != g || (err1 == nil) != (err2 == nil) {
		t.Fatalf("%q has fingerprint %s (%v), but %q has %s (%v)", body, f, err1, other, g, err2)
	}
	return true
}

func TestPinKeepsUnderRespelling(t *testing.T) {
	pinned := 0
	rapid.Check(t, func(t *rapid.T) {
		body := oracle.New(rapid.Uint64().Draw(t, "body")).Body()
		if checkRespelled(t, body, rapid.Uint64().Draw(t, "spelling")) {
			pinned++
		}
	})
	if pinned == 0 {
		t.Error("no body had a pin")
	}
}

// FuzzPin holds that a pin does not depend on member order, white space, the order of
// tools and the spelling of escapes.
func FuzzPin(f *testing.F) {
	for _, g := range readGolden(f) {
		f.Add([]byte(g.Body), uint64(1))
	}
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) { checkRespelled(t, body, seed) })
}
