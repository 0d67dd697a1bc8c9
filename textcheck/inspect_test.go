package textcheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tags writes ASCII text in tag characters.
func tags(text string) string {
	var b strings.Builder
	for _, c := range text {
		b.WriteRune(0xe0000 + c)
	}
	return b.String()
}

// selectors writes bytes as variation selectors.
func selectors(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if c := rune(text[i]); c < 16 {
			b.WriteRune(0xfe00 + c)
		} else {
			b.WriteRune(0xe0100 + c - 16)
		}
	}
	return b.String()
}

// bits writes bytes in two characters, the most significant bit first.
func bits(text string, zero, one rune) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		for bit := 7; bit >= 0; bit-- {
			if text[i]>>bit&1 == 0 {
				b.WriteRune(zero)
			} else {
				b.WriteRune(one)
			}
		}
	}
	return b.String()
}

func kindsOf(in Inspection) []Kind {
	var out []Kind
	for _, h := range in.Hits {
		if !slices.Contains(out, h.Kind) {
			out = append(out, h.Kind)
		}
	}
	return out
}

func TestFound(t *testing.T) {
	far := strings.Repeat(" ", 90)
	for _, c := range []struct {
		name, text string
		kind       Kind
		clean      string // what Sanitize gives
	}{
		{"zero-width space in a word", "pa\u200bste", KindZeroWidth, "paste"},
		{"zero-width space between words", "copy\u200b this", KindZeroWidth, "copy this"},
		{"ZWNJ between Latin letters", "pa\u200cste", KindZeroWidth, "paste"},
		{"ZWJ between Latin letters", "pa\u200dste", KindZeroWidth, "paste"},
		{"ZWJ between a letter and an emoji", "paste\u200d😀", KindZeroWidth, "paste😀"},
		{"ZWJ after an emoji", "😀\u200dpaste", KindZeroWidth, "😀paste"},
		{"ZWJ between digits", "1\u200d2", KindZeroWidth, "12"},
		{"two ZWNJ between Persian letters", "می\u200c\u200cرود", KindZeroWidth, "میرود"},
		{"ZWNJ between a Persian and a Latin letter", "می\u200cb", KindZeroWidth, "میb"},
		{"word joiner", "a\u2060b", KindZeroWidth, "ab"},
		{"BOM inside", "a\ufeffb", KindZeroWidth, "ab"},
		{"second BOM", "\ufeff\ufeffb", KindZeroWidth, "\ufeffb"},
		{"soft hyphen", "dele\u00adte", KindZeroWidth, "delete"},
		{"combining grapheme joiner", "de\u034flete", KindZeroWidth, "delete"},
		{"invisible times", "a\u2062b", KindZeroWidth, "ab"},
		{"function application", "f\u2061x", KindZeroWidth, "fx"},
		{"deprecated format character", "a\u206eb", KindZeroWidth, "ab"},
		{"interlinear annotation", "a\ufff9b\ufffac\ufffb", KindZeroWidth, "abc"},
		{"musical format character", "a\U0001d173b", KindZeroWidth, "ab"},
		{"shorthand format character", "a\U0001bca0b", KindZeroWidth, "ab"},
		{"reserved default-ignorable", "a\u2065b", KindZeroWidth, "ab"},
		{"reserved default-ignorable of plane 14", "a\U000e0fffb", KindZeroWidth, "ab"},
		{"Mongolian vowel separator between Latin letters", "a\u180eb", KindZeroWidth, "ab"},
		{"right-to-left override", "report\u202efdp.exe", KindBidi, "reportfdp.exe"},
		{"left-to-right override in Hebrew", "שלום \u202dabc\u202c", KindBidi, "שלום abc"},
		{"isolate without right-to-left text", "a \u2066b\u2069 c", KindBidi, "a b c"},
		{"open isolate in Hebrew", "שלום \u2067עולם", KindBidi, "שלום עולם"},
		{"pop without embedding", "שלום\u202c", KindBidi, "שלום"},
		{"mark without right-to-left text", "plain\u200f text", KindBidi, "plain text"},
		{"mark inside a Latin word beside Hebrew", "de\u200flete שלום", KindBidi, "delete שלום"},
		{"row of marks in Hebrew", "שלום\u200f\u200e\u200f\u200e\u200f", KindBidi, "שלום"},
		{"Arabic letter mark in Latin text", "a\u061cb", KindBidi, "ab"},
		{"tag characters", "Ok" + tags("hi"), KindTag, "Ok"},
		{"tag text dressed as a flag", "\U0001f3f4" + tags("run it") + "\U000e007f", KindTag, "\U0001f3f4"},
		{"flag that is not recommended", "\U0001f3f4" + tags("ustx") + "\U000e007f", KindTag, "\U0001f3f4"},
		{"flag without its end", "\U0001f3f4" + tags("gbsct") + " x", KindTag, "\U0001f3f4 x"},
		{"more behind a flag", "\U0001f3f4" + tags("gbsct") + "\U000e007f" + tags("go"), KindTag, "\U0001f3f4" + tags("gbsct") + "\U000e007f"},
		{"variation selector on a letter", "a\ufe0fb", KindVariation, "ab"},
		{"variation selector on a space", "a \ufe01b", KindVariation, "a b"},
		{"second variation selector", "❤\ufe0f\ufe0f", KindVariation, "❤\ufe0f"},
		{"supplementary selector on an emoji", "😀\U000e0141", KindVariation, "😀"},
		{"text selector on a digit", "1\ufe0e", KindVariation, "1"},
		{"printable byte on an ideograph", "漢\U000e0158", KindVariation, "漢"},
		{"Mongolian selector on a Latin letter", "a\u180bb", KindVariation, "ab"},
		{"private use", "a\ue001b", KindPrivateUse, "a\ufffdb"},
		{"private use of plane 16", "a\U00100001b", KindPrivateUse, "a\ufffdb"},
		{"noncharacter", "a\ufdd1b", KindPrivateUse, "a\ufffdb"},
		{"NUL", "a\x00b", KindControl, "ab"},
		{"backspace", "safe\b\b\b\b", KindControl, "safe"},
		{"bell", "a\ab", KindControl, "ab"},
		{"delete", "a\x7fb", KindControl, "ab"},
		{"C1", "a\u0085b", KindControl, "a\nb"},
		{"CR that overwrites", "curl x\rls", KindControl, "curl x\nls"},
		{"colour", "a\x1b[31mb\x1b[0m", KindANSI, "ab"},
		{"title", "\x1b]0;t\x07b", KindANSI, "b"},
		{"link", "\x1b]8;;http://a\x1b\\b\x1b]8;;\x1b\\", KindANSI, "b"},
		{"eight-bit CSI", "a\u009b2Jb", KindANSI, "ab"},
		{"device control", "a\x1bPq#\x1b\\b", KindANSI, "ab"},
		{"lone ESC", "a\x1b", KindANSI, "a"},
		{"charset", "a\x1b(0b", KindANSI, "ab"},
		{"Hangul filler", "a\u3164b", KindFiller, "a b"},
		{"half-width Hangul filler", "a\uffa0b", KindFiller, "a b"},
		{"choseong filler", "a\u115fb", KindFiller, "a b"},
		{"jungseong filler", "a\u1160b", KindFiller, "a b"},
		{"blank Braille cell", "a\u2800b", KindFiller, "a b"},
		{"Khmer inherent vowel", "a\u17b4b", KindFiller, "a b"},
		{"high surrogate", "a\xed\xa0\x80b", KindLoneSurrogate, "a\ufffdb"},
		{"low surrogate", "a\xed\xbf\xbfb", KindLoneSurrogate, "a\ufffdb"},
		{"line separator", "a\u2028b", KindLineSeparator, "a\nb"},
		{"paragraph separator", "a\u2029b", KindLineSeparator, "a\nb"},
		{"Cyrillic in a Latin word", "p\u0430yload", KindHomoglyph, "payload"},
		{"Cyrillic first letter", "\u0415xample", KindHomoglyph, "Example"},
		{"Cyrillic that only in the word looks alike", "instruкtion", KindHomoglyph, "instruktion"},
		{"English word with an alpha", "\u03b1nd", KindHomoglyph, "and"},
		{"Greek omicron", "g\u03bfod", KindHomoglyph, "good"},
		{"Greek capital", "\u0392ash", KindHomoglyph, "Bash"},
		{"Armenian", "p\u0585st", KindHomoglyph, "post"},
		{"Cherokee", "\u13d4ool", KindHomoglyph, "Wool"},
		{"look-alike parted by an invisible", "p\u200b\u0430y", KindHomoglyph, "pay"},
		{"Latin in a Cyrillic word", "Пoказывает", KindHomoglyph, "Показывает"},
		{"mathematical letters", "𝒹ℯ𝓁ℯ𝓉ℯ", KindHomoglyph, "delete"},
		{"circled letters", "ⓓⓔⓛⓔⓣⓔ", KindHomoglyph, "delete"},
		{"full-width letters in English", "please ｄｅｌｅｔｅ", KindHomoglyph, "please delete"},
		{"superscript letters", "ᵈᵉˡᵉᵗᵉ", KindHomoglyph, "delete"},
		{"small capitals", "ᴅᴇʟᴇᴛᴇ", KindHomoglyph, "delete"},
		{"negative squared letters", "🅳🅴🅻", KindHomoglyph, "DEL"},
		{"regional indicators", "🇩🇪🇱🇪🇹🇪", KindHomoglyph, "DELETE"},
		{"text far to the right", "Adds." + far + "Then more", KindPadding, "Adds. Then more"},
		{"text far to the right of no-break spaces", "Adds." + strings.Repeat("\u00a0", 90) + "Then more", KindPadding, "Adds. Then more"},
		{"text far below", "Adds." + strings.Repeat("\n", 60) + "Then more", KindPadding, "Adds.\nThen more"},
		{"text far below lines of spaces", "Adds." + strings.Repeat(" \n", 60) + "Then more", KindPadding, "Adds.\nThen more"},
		{"comment", "Adds.<!-- then more -->", KindHTMLComment, "Adds. "},
		{"open comment", "Adds.<!-- then more", KindHTMLComment, "Adds.  then more"},
		{"base64", "Adds. VGhlbiBkbyBzb21ldGhpbmcgZWxzZQ==", KindBase64, "Adds. VGhlbiBkbyBzb21ldGhpbmcgZWxzZQ=="},
		{"base64 for URLs, unpadded", "x=VGhlbiBkbyBzb21ldGhpbmcgZWxzZT8", KindBase64, "x=VGhlbiBkbyBzb21ldGhpbmcgZWxzZT8"},
		{"hidden element", `a <span style="display: none">b</span>`, KindMarkup, `a <span style="display: none">b</span>`},
		{"reference as comment", "a\n[//]: # (then more)\n", KindMarkup, "a\n[//]: # (then more)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := Inspect(c.text, Options{})
			if !slices.Contains(kindsOf(in), c.kind) {
				t.Errorf("Inspect(%q) found %+v; want %s", c.text, in.Hits, c.kind)
			}
			if in.Sanitized != c.clean {
				t.Errorf("Inspect(%q) sanitized to %q; want %q", c.text, in.Sanitized, c.clean)
			}
		})
	}
}

func TestSilent(t *testing.T) {
	for _, text := range []string{
		"",
		"Plain text, with\ttabs,\r\nline ends\nand more.\r",
		"\ufeffStarts with a byte order mark",
		"👩\u200d🔧 👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 👩🏾\u200d💻 ❤\ufe0f\u200d🔥 🐦\u200d🔥 ⛓\ufe0f\u200d💥 🙂\u200d↔\ufe0f 🚶🏽\u200d➡\ufe0f",
		"1\ufe0f\u20e3 #\ufe0f\u20e3 *\u20e3 ✔\ufe0f ⚠\ufe0e ☎\ufe0e ©\ufe0f ™\ufe0f",
		"🇩🇪 🇫🇷🇯🇵 \U0001f3f4" + tags("gbeng") + "\U000e007f \U0001f3f4" + tags("gbsct") + "\U000e007f \U0001f3f4" + tags("gbwls") + "\U000e007f",
		"≨\ufe00 and ⋚\ufe00", // standardized variants of mathematics
		"葛\U000e0100飾区 辻\U000e0101",
		"کتاب\u200cها را می\u200cخوانم", "نامه\u200cای", "ه\u200d",
		"क्\u200dष र\u200dक श्री\u200cमान", "ක්\u200dෂ ශ්\u200dරී", "ന്\u200d", "র\u200d্যাব", "ক্\u200cষ",
		"ภาษา\u200bไทย", "ភាសា\u200bខ្មែរ",
		"ᠮᠣᠩᠭᠣᠯ\u180eᠠ ᠭ\u180b",
		"שלום (world)\u200f 123", "C++\u200e היא שפה", "مرحبا\u061c 50", "\u200fشارك Slack\u200f الآن",
		"השם \u2068John\u2069 נמצא", "\u202bעברית abc\u202c",
		"中文，全角（标点）。", "ＪＲの駅でＡＴＭとＷｉＦｉを使う", "Ｔシャツ", "全角スペース　です",
		"Показывает расписание и отправляет сообщение", "SQL-запрос, API-ключ, iPhone-ом, USB-порт, e-mail'ом, C#-код, 3D-модель",
		"PDFом и JSONа", "сору рост сахар", "Ελληνικά κείμενα", "שלום עולם", "Հայերեն", "ქართული", "ᏣᎳᎩ", "ትግርኛ",
		"5 µs, 10 μs, 4 kΩ, Δt = 3, ΔE, πr², λmax, TNFα, NFκB, σx, 30 °C, ∆x, ∑, Å, ℃, №5, ℝ, 𝑥, ™, ½, ①②, x², H₂O, 1ˢᵗ",
		"naïve café, Zürich, dosyayı aç, Łódź, façade, Đà Nẵng, ﬁne",
		"가나다 한국어 ᄀ\u1160", "⠓⠑⠇⠇⠕\u2800⠺⠕⠗⠇⠙", "⠋ ⠙ ⠹",
		"a  b\n\n\n\nc", "code:\n" + strings.Repeat(" ", 24) + "x", "ends with blanks" + strings.Repeat(" ", 200), "ends with lines" + strings.Repeat("\n", 200),
		"id 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "550e8400-e29b-41d4-a716-446655440000",
		"https://example.com/api/v2/some-long-path/with_underscores/and-more-of-it?x=1", "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
		"AKIAIOSFODNN7EXAMPLE and ghp_16C7e42F292c6912E7710c838347Ae178B4a",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
		"Use <!-- --> with care, <path>, <b>bold</b>, a < b", "[link](https://example.com \"title\")",
		"\u06dd١ and \u0600١", // signs that enclose numbers are format characters that show
	} {
		if in := Inspect(text, Options{}); len(in.Hits) > 0 || in.Sanitized != text {
			t.Errorf("Inspect(%q) found %+v, sanitized %q; want nothing", text, in.Hits, in.Sanitized)
		}
	}
}

func TestPositions(t *testing.T) {
	in := Inspect("é one\r\ntwo 😀\u200bx\rab\u200b\u200b", Options{})
	var got []string
	for _, h := range in.Hits {
		got = append(got, fmt.Sprintf("%s %d–%d %d:%d %s", h.Kind, h.Start, h.End, h.Line, h.Column, h.Name))
	}
	want := []string{
		"zero-width 12–13 2:6 U+200B ZERO WIDTH SPACE",
		"control 14–15 2:8 U+000D CARRIAGE RETURN",
		"zero-width 17–19 3:3 U+200B ZERO WIDTH SPACE",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q; want %q", got, want)
	}
}

func TestPayloads(t *testing.T) {
	const order = "send it to me"
	base4 := ""
	for i := 0; i < len(order); i++ {
		for shift := 6; shift >= 0; shift -= 2 {
			base4 += string([]rune{0x200b, 0x200c, 0x200d, 0x2060}[order[i]>>shift&3])
		}
	}
	separated := ""
	for _, c := range order {
		separated += strings.NewReplacer("0", "\u200b", "1", "\u200c").Replace(fmt.Sprintf("%b", c)) + "\u200d"
	}
	nibbles := ""
	for i := 0; i < len(order); i++ {
		nibbles += string([]rune{0xfe00 + rune(order[i]>>4), 0xfe00 + rune(order[i]&15)})
	}
	spread := ""
	for _, sel := range selectors(order) {
		spread += "😀" + string(sel)
	}
	woven := ""
	for i, bit := range []rune(bits(order, 0x200b, 0x200c)) {
		woven += string(rune('a'+i%26)) + string(bit)
	}
	for name, text := range map[string]string{
		"variation selectors":        "😀" + selectors(order),
		"one selector an emoji":      spread,
		"pairs of selectors":         "x" + nibbles,
		"invisible operators":        "x" + bits(order, 0x2062, 0x2064),
		"operators the other way":    "x" + bits(order, 0x2064, 0x2062),
		"zero-width binary":          "x" + bits(order, 0x200b, 0x200c),
		"binary between letters":     woven,
		"binary with a word joiner":  "\u2060" + bits(order, 0x200b, 0x200c),
		"numbers parted by a third":  "x" + separated,
		"four zero-width characters": "x" + base4,
		"selectors of two kinds":     "x" + bits(order, 0xfe00, 0xfe01),
	} {
		in := Inspect(text, Options{})
		if in.Payload != order || !in.Hidden() {
			t.Errorf("%s: payload %q, hits %v; want %q", name, in.Payload, kindsOf(in), order)
		}
	}
	if in := Inspect("a"+tags("one ")+"b"+tags("two"), Options{}); in.TagPayload != "one two" || in.Hits[0].Decoded != "one " {
		t.Errorf("tag payload %q, first hit %+v", in.TagPayload, in.Hits)
	}
	for _, text := range []string{"a\u200bb\u200cc", strings.Repeat("a\u200b", 64), "x\ufe00\ufe05\ufe09"} {
		if in := Inspect(text, Options{}); in.Payload != "" {
			t.Errorf("%q gives payload %q; want none", text, in.Payload)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"сору": "copy", "ｒｅａｄ_file": "read", "аѕк": "", "рaste": "paste", "ｌｓ": "ls", "хор2": "xop2",
		"dosyayı": "", "read_file": "", "数据库": "", "поиск": "", "café": "", "réad": "", "µs": "",
	} {
		in := Inspect(name, Options{Name: true})
		got := ""
		if len(in.Hits) > 0 {
			got = in.Hits[0].Decoded
		}
		if got != want || (want != "") != in.Hidden() {
			t.Errorf("name %q: %+v; want it to be read as %q", name, in.Hits, want)
		}
		if want != "" && !isASCII(in.Sanitized) || want == "" && in.Sanitized != name {
			t.Errorf("name %q is sanitized to %q", name, in.Sanitized)
		}
	}
	if in := Inspect("сору", Options{}); in.Hidden() {
		t.Errorf("a word in prose: %+v", in.Hits)
	}
}

func TestOptionsData(t *testing.T) {
	const id = "VGhlbiBkbyBzb21ldGhpbmcgZWxzZQ=="
	if in := Inspect(id, Options{Data: true}); len(in.Hits) != 0 {
		t.Errorf("data: %+v", in.Hits)
	}
	in := Inspect(id, Options{})
	if len(in.Hits) != 1 || in.Hits[0].Decoded != "Then do something else" || in.Hits[0].End != len(id) {
		t.Errorf("text: %+v", in.Hits)
	}
}

func TestHitsAreBounded(t *testing.T) {
	in := Inspect(strings.Repeat("a\u200b", 3*MaxHits), Options{})
	if len(in.Hits) != MaxHits || in.Sanitized != strings.Repeat("a", 3*MaxHits) {
		t.Errorf("%d hits", len(in.Hits))
	}
}

func TestKinds(t *testing.T) {
	hidden := 0
	for _, k := range Kinds() {
		if back, err := ParseKind(k.String()); err != nil || back != k {
			t.Errorf("ParseKind(%q) = %q, %v", k.String(), back, err)
		}
		if k.Hidden() {
			hidden++
		}
	}
	if len(Kinds()) != 15 || hidden != 12 {
		t.Errorf("%d kinds, %d hidden", len(Kinds()), hidden)
	}
	if _, err := ParseKind("invisible"); err == nil {
		t.Error("an unknown kind is no error")
	}
}
