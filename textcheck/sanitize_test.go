package textcheck

import (
	"strings"
	"testing"
)

// Texts built so that cleaning uncovers something new.
func TestSanitizeUncovers(t *testing.T) {
	for text, want := range map[string]string{
		"<!\u200b-- a -->b":                       " b",
		"<!-<!-- a -->- b -->":                    "<!- - b -->",
		"<!--<!-- a -->b-->":                      " b-->",
		"\x1b\u200b[31mb":                         "[31mb",
		"\x1b[\x1b[0m31mb":                        "31mb",
		"\xed\xa0\xbd\u200b\xed\xb8\x80":          "\ufffd\ufffd",
		"p\u200b\u0430\u200by":                    "pay",
		"p<!-- x -->\u0430y":                      "p ay",
		"ש<!-- -\u200f-->\u200f ab":               "ש \u200f ab",
		"<!-- ש -->\u200fab":                      " ab",
		"<!-- open <b>":                           "  open <b>",
		"a" + strings.Repeat(" ", 41):             "a" + strings.Repeat(" ", 41),
		"a" + strings.Repeat(" \u200b", 60) + "b": "a b",
		"\ufeff\ufeff\ufeffa":                     "\ufeffa",
		"tail \xff\xfe":                           "tail \ufffd\ufffd",
	} {
		got := Sanitize(text)
		if got != want {
			t.Errorf("Sanitize(%q) = %q; want %q", text, got, want)
		}
		if again := Sanitize(got); again != got {
			t.Errorf("Sanitize(%q) = %q, and of that %q", text, got, again)
		}
	}
}

// Layers that each uncover the next end all the same.
func TestSanitizeEnds(t *testing.T) {
	text := strings.Repeat("<!-- \u05d0 \u200f", 50) + strings.Repeat("-->\u200f \u0430b\u0437\u200d", 50)
	for range 6 {
		text = strings.ReplaceAll(text, "-->", "-\u200b-<!-- א -->\u200f>")
	}
	clean := Sanitize(text)
	if hasHidden(clean) || Sanitize(clean) != clean {
		t.Errorf("still hidden in %q", clean)
	}
	if got := strip("aП\u043eo<!--\u200f\t\tб \u00a0 \u2028\ue000𝐢ω"); hasHidden(got) || Sanitize(got) != got {
		t.Errorf("strip leaves %q", got)
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain é 漢 😀 ":             "plain é 漢 😀 ",
		"a\tb\nc":                  "a\tb\nc",
		"a\rb":                     `a\rb`,
		"\x00\x1b\x7f\u009b":       `\x00\x1b\x7f\x9b`,
		"\u200b\u202e\ufeff\u00ad": `\u{200b}\u{202e}\u{feff}\u{ad}`,
		tags("A") + "\U000e0fff":   `\u{e0041}\u{e0fff}`,
		"\u2028\u2029":             `\u{2028}\u{2029}`,
		"\xed\xa0\x80\xed\xbf\xbf": `\ud800\udfff`,
		"a\xffb\xc3":               `a\xffb\xc3`,
		"\ue000\uffff\u3164\u2800": `\u{e000}\u{ffff}\u{3164}\u{2800}`,
		"\ufffd":                   "\ufffd",
		"\u00a0\u3000":             "\u00a0\u3000",
	} {
		if got := Visible(text); got != want {
			t.Errorf("Visible(%q) = %q; want %q", text, got, want)
		}
	}
	if got := VisibleLine("a\tb\r\nc"); got != `a\tb\r\nc` {
		t.Errorf("VisibleLine gives %q", got)
	}
}

func TestNameForms(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"copy", "сору", true},
		{"Bash", "Вash", true},
		{"bash", "Вash", true},
		{"list", "1ist", true},
		{"read_file", "ｒead-File", true},
		{"modern", "modem", true},
		{"rnodem", "modem", true},
		{"paypal", "pаypаl", true},
		{"get", "𝗀𝖾𝗍", true},
		{"ls", "ʟs", true},
		{"a\u200bb", "ab", true},
		{"copy", "move", false},
		{"read_file", "read_files", false},
		{"数据", "数据", true},
		{"поиск", "поиски", false},
	} {
		if Confusable(c.a, c.b) != c.same || Confusable(c.b, c.a) != c.same {
			t.Errorf("Confusable(%q, %q) is not %t: %q, %q", c.a, c.b, c.same, NameSkeleton(c.a), NameSkeleton(c.b))
		}
	}
	// The examples of UTS #39, section 4.
	if got := Skeleton("ρ⍺у𝓅𝒂ן"); got != "paypal" {
		t.Errorf("skeleton %q", got)
	}
	if Skeleton("рaypal") != Skeleton("paypal") || Skeleton("m") != "rn" {
		t.Error("skeletons")
	}
}
