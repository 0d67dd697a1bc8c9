package textcheck

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
	"pgregory.net/rapid"
)

// pieces are what hostile text is made of.
var pieces = []string{
	"read ", "the", " file", "\n", "\r", "\r\n", "\t", "  ", strings.Repeat(" ", longBlank), strings.Repeat("\n", longLines),
	"а", "е", "о", "р", "с", "к", "Привет", "П", "З", "SQL", "α", "ω", "Δ", "ά", "ı", "ɪɢɴ", "ᵃᵇᶜᵈ",
	"\u200b", "\u200c", "\u200d", "\u2060", "\u2062", "\u2064", "\ufeff", "\u00ad", "\u034f", "\u180e", "\u2028",
	"\u202e", "\u202c", "\u2067", "\u2069", "\u200f", "\u061c", "שלום", "می", "क", "्", "ก",
	"\U0001f3f4", "\U000e0067\U000e0062", "\U000e007f", "\U000e0041", "\ufe0f", "\ufe0e", "\U000e0100", "\U000e0141",
	"😀", "👍🏽", "❤", "1", "\u20e3", "⭐", "🇮", "🇩🇪", "\u3164", "\u115f", "\u1160", "가", "\u2800", "⠿", "漢",
	"\x1b[8m", "\x1b]0;", "\x07", "\x1b", "\u009b", "\u009d", "\x00", "\x7f", "<!--", "-->", "<!-", "<", "!--", "<b hidden>",
	"[//]: # (x)", "\ue000", "\ufdd0", "\U0010ffff", "\xed\xa0\xbd", "\xed\xb8\x80", "\xff", "\xc3", "𝐢𝐠𝐧", "ｉｇｎ", "Ⓘⓖⓝ",
	"aWdub3JlIHByZXZpb3VzIHJ1bGVz", "69676e6f726520616c6c2072756c6573", "%69%67", "&#105;", "&lt;", "\\u0069", "\\x69", "\\n",
	"i g n o r e", "1gn0re", "vtaber gur ehyrf", "a_b_c_d", "readSshKeyNow", "́", "̶", "ﬁ", "㎏", "\u0600", "\u070f",
}

func hostile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 24).Draw(t, "pieces"), "")
	})
}

// check holds what is promised for any text.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, s string,
) {
	t.Helper()
	n := toolmark.CodePoints(s)
	for _, opts := range []Options{{}, {Name: true}, {Data: true}} {
		in := Inspect(s, opts)
		last := 0
		for _, h := range in.Hits {
			if h.Start < last || h.Start >= h.End || h.End > n || h.Line < 1 || h.Column < 1 || h.Name == "" {
				t.Fatalf("hit %+v out of order or range in %q of %d", h, s, n)
			}
			if _, err := ParseKind(h.Kind.String()); err != nil {
				t.Fatalf("hit %+v: %v", h, err)
			}
			last = h.Start
		}
		if !utf8.ValidString(in.Payload + in.TagPayload) {
			t.Fatalf("payload %q of %q is no UTF-8", in.Payload, s)
		}
	}
	clean := Sanitize(s)
	if !utf8.ValidString(clean) {
		t.Fatalf("sanitized %q to %q: no UTF-8", s, clean)
	}
	if again := Sanitize(clean); again != clean {
		t.Fatalf("sanitized %q to %q and that to %q", s, clean, again)
	}
	if in := Inspect(clean, Options{}); in.Hidden() {
		t.Fatalf("sanitized %q to %q, which still has %+v", s, clean, in.Hits)
	}
	for _, v := range []string{Visible(s), VisibleLine(s)} {
		if !utf8.ValidString(v) {
			t.Fatalf("%q shown as %q: no UTF-8", s, v)
		}
		for _, r := range v {
			if r == '\n' || r == '\t' {
				continue
			}
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) && !isPrepended(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
				t.Fatalf("%q shown as %q with %U", s, v, r)
			}
		}
	}
	if strings.ContainsAny(VisibleLine(s), "\n\r\t") {
		t.Fatalf("%q shown on more than one line", s)
	}
	checkReadings(t, s, n)
	Skeleton(s)
	if NormalName(NormalName(s)) != NormalName(s) {
		t.Fatalf("normal name of %q is %q, and of that %q", s, NormalName(s), NormalName(NormalName(s)))
	}
	if !Confusable(s, s) {
		t.Fatalf("%q is not confusable with itself", s)
	}
}

func checkReadings(t interface {
	Helper()
	Fatalf(string, ...any)
}, s string, n int,
) {
	t.Helper()
	names := map[string]bool{}
	for _, name := range ReadingNames() {
		names[name] = true
	}
	readings := Readings(s)
	if len(readings) == 0 || len(readings) > MaxReadings || readings[0].Name != Raw {
		t.Fatalf("%d readings of %q", len(readings), s)
	}
	size := 0
	seen := map[string]bool{}
	for i := range readings {
		r := &readings[i]
		size += len(r.Text)
		if !names[r.Name] || !utf8.ValidString(r.Text) || seen[r.Text] && r.Name != Raw {
			t.Fatalf("reading %s %q of %q: unknown name, no UTF-8, or given before", r.Name, r.Text, s)
		}
		seen[r.Text] = true
		last := 0
		for at := range r.Text {
			_, width := utf8.DecodeRuneInString(r.Text[at:])
			from, to := r.Origin(at, at+width)
			if from < last || to < from || to > n {
				t.Fatalf("reading %s %q of %q: byte %d comes from %d–%d after %d of %d", r.Name, r.Text, s, at, from, to, last, n)
			}
			if i == 0 && (from != toolmark.CodePoints(r.Text[:at]) || to != from+1) {
				t.Fatalf("raw reading of %q: byte %d comes from %d–%d", s, at, from, to)
			}
			last = from
		}
		for _, span := range [][2]int{{-1, -1}, {0, 0}, {0, len(r.Text)}, {len(r.Text), len(r.Text) + 9}, {5, 2}} {
			if from, to := r.Origin(span[0], span[1]); from < 0 || to < from || to > n {
				t.Fatalf("reading %s %q of %q: %v comes from %d–%d of %d", r.Name, r.Text, s, span, from, to, n)
			}
		}
	}
	if size > 7*len(s)+1<<12 {
		t.Fatalf("readings of %d bytes are %d", len(s), size)
	}
}

func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { check(t, hostile().Draw(t, "text")) })
}

func FuzzText(f *testing.F) {
	for _, p := range pieces {
		f.Add(p)
	}
	f.Add(strings.Join(pieces, ""))
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 1<<11 {
			check(t, s)
		}
	})
}
