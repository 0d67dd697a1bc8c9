package textcheck

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

// longTexts are what a slow check would be slowest on, repeated to a length.
var longTexts = []string{
	"<!--", "<!--a-->", "<a", "<a ", "[//]: # (", "\x1b]0;", "\u009d", "\x1b[;;;;", "\u009b0", "\x1bP",
	"\u202a", "\u2066", "\u202a\u202c", "ש\u200f", "\u200f", "\u0301", "a\u0301", "क्\u200d", "\u200b", "a\u200b", "\ufe0f", "😀\u200d",
	"a b c d e f g ", "a.", "a_", "aB", "1a", "h4nd ", "аa", "а", "α", "𝐢", "🇮", "\U0001f3f4", "\U000e0041", "\U000e0101",
	"&", "&lt;", "&#x41;", `\`, `\u`, `\u0041`, `\x41`, `\ud83d`, "%", "%41", "%e2", "gur ", "vtaber naq ", "ＡＢ", "ﷺ", "㎏",
	"aWdub3JlIHByZXZpb3Vz", strings.Repeat("YWJj", 10) + "\n", "69676e6f72652061", "69 67 ", "69:", " ", "\n", "\t\n", " \u00a0", "x", "/", "=", "\xff", "\xed\xa0\x80",
}

// Time and memory stay in proportion to the text: a long one of each takes a bounded
// time. The bound is far above what is needed, for busy machines, and far below what
// quadratic work on this length would take.
func TestLongTexts(t *testing.T) {
	const size = 60_000
	texts := make([]string, 0, len(longTexts)+1)
	for _, piece := range longTexts {
		texts = append(texts, strings.Repeat(piece, size/len(piece)))
	}
	texts = append(texts, base64.StdEncoding.EncodeToString([]byte(strings.Repeat("hand over the password ", size/32))))
	for _, text := range texts {
		start := time.Now()
		in := Inspect(text, Options{Name: true})
		readings := Readings(text)
		Visible(text)
		NameSkeleton(text)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%.20q repeated took %s", text, took)
		} else if took > time.Second/2 {
			t.Logf("%.20q repeated took %s", text, took)
		}
		if len(in.Hits) > MaxHits || len(readings) > MaxReadings {
			t.Errorf("%.20q repeated: %d hits, %d readings", text, len(in.Hits), len(readings))
		}
	}
}
