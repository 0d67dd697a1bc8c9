package rule

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// samePlain holds the plain reader against the YAML reader where it reads at all.
func samePlain(tb testing.TB, data []byte) bool {
	tb.Helper()
	plain, ok := plainLists(data)
	if !ok {
		return false
	}
	r := &reader{file: "x"}
	want := r.lists(data)
	if len(r.faults) > 0 || !reflect.DeepEqual(plain, want) {
		tb.Fatalf("%q:\nplain %+v\nYAML  %+v %v", data, plain, want, r.faults)
	}
	return true
}

func TestPlainLists(t *testing.T) {
	for text, want := range map[string]bool{
		"a: [b]": true,
		"# c\n\nfam-1: [no, on, \"a b\", 'c*']\n":      true,
		"a: [don't, id_rsa, stem*, a.b, 不要, न]\n":      true,
		"a: [\"it's\", 'say \"x\"', \"@b\", 12, null]": true,
		"a: [x] # more":     false,
		"a: [x,y]":          false,
		"a: [\"\\n\"]":      false,
		"a: ['it''s']":      false,
		"a: [*x]":           false,
		"a: [&x]":           false,
		"a: [x: y]":         false,
		"a: [x #y]":         false,
		"a: [[x]]":          false,
		"a: []":             false,
		"a: [x":             false,
		"a: [x]]":           false,
		"a:\n- x":           false,
		"a: [x,\n  y]":      false,
		"---\na: [x]":       false,
		"a: [x]\r\n":        false,
		"a: [\"x\ty\"]":     false,
		"1: [x]":            false,
		"a: [\"x\u0085y\"]": false,
	} {
		if got := samePlain(t, []byte(text)); got != want {
			t.Errorf("%q: plain %v, want %v", text, got, want)
		}
	}
	// What is shipped is read the fast way.
	files, err := filepath.Glob("../rulepack/words/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no word files: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !samePlain(t, data) {
			t.Logf("%s is not plain: it loads more slowly", file)
		}
	}
}

func FuzzPlainLists(f *testing.F) {
	f.Add("a: [b, \"c d\", 'e']\n# x\nb: [null, ~, 1e3]")
	f.Add("a: [b*, c'd, e.f/g]")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 2000 {
			samePlain(t, []byte(text))
		}
	})
}

func TestFamiliesOfFamilies(t *testing.T) {
	files := rules(t, ruleText("r", "any:\n- {id: x, near: [loud]}"))
	files["words/en.yaml"] = file("loud: [shout, \"@noisy\"]\nnoisy: [bang, \"@rowdy\"]\nrowdy: [brawl, \"@loud\"]")
	files["words/de.yaml"] = file("rowdy: [rauf*]")
	s, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"a shout": true, "a bang": true, "a brawl": true, "sie raufen": true, "quiet": false} {
		if got := len(matchText(t, s, text)) > 0; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	// A family is not changed by those that name it.
	if n := len(s.families["noisy"].entries); n != 4 {
		t.Errorf("noisy has %d words, want 4", n)
	}
}

// TestEntries: what a word of a family matches, near and in a pattern.
func TestEntries(t *testing.T) {
	for _, c := range []struct {
		entry       string
		text        string
		near, regex bool
	}{
		{"tell", "Tell!", true, true},
		{"tell", "tells", false, false},
		{"tell", "re-tell", true, true},
		{"tell*", "telling", true, true},
		{"tell*", "atelling", false, false},
		{"*phrase*", "the passphrases", true, true},
		{"*phrase", "passphrases", false, false},
		{"let * know", "let  nobody\nknow", true, true},
		{"let * know", "let know", false, false},
		{"let * know", "let us all know", false, false},
		{"api key", "API_KEY", true, true},
		{"api key", "api-key", true, true},
		{"api key", "apikey", false, false},
		{"api key*", "an api   keys", true, true},
		{"id_rsa", "~/.ssh/id_rsa.pub", true, true},
		{".env", "load .env now", true, true},
		{".env", "process.env", false, false},
		{".env", ".environment", false, false},
		{"~/", "in ~/x", true, true},
		{"http://", "http://x", true, true},
		{"don't", "DON’T", true, true},
		{"don’t", "don't", true, true},
		{"straße", "STRASSE", true, true},
		{"strasse", "Straße", true, false},
		{"λόγος", "ΛΌΓΟΣ", true, true},
		{"não", "na\u0303o", true, true},
		{"gizli", "GİZLİ", true, false},
		{"gizlı", "GİZLI", true, false},
		{"gizlı", "gizli", true, true},
		{"用户", "请告诉用户们", true, true},
		{"ผู้ใช้", "บอกผู้ใช้ว่า", true, true},
		{"비밀", "비밀번호를", true, true},
		{"*مفتاح", "والمفتاح", true, true},
		{"مفتاح", "والمفتاح", false, true}, // RE2 knows no word boundary there
		{"مفتاح", "مِفْتَاح", true, false},
		{"कुंजी", "एपीआई कुंजी है", true, true},
		{"कुंजी", "कुंजीपटल", false, true},
		{"ключ*", "КЛЮЧАМИ", true, true},
	} {
		files := rules(t,
			ruleText("near", "any:\n- {id: x, near: [it]}"),
			ruleText("regex", "any:\n- {id: x, regex: '{{it}}'}"))
		files["words/en.yaml"] = file("it: [\"" + c.entry + "\"]")
		delete(files, "words/xx.yaml")
		s, err := Load(files)
		if err != nil {
			t.Fatal(err)
		}
		got := matched(matchText(t, s, c.text))
		var want []string
		if c.near {
			want = append(want, "near/x")
		}
		if c.regex {
			want = append(want, "regex/x")
		}
		// Order of matches is that of their places; the ids tell.
		if len(want) != strings.Count(got, "/") || c.near != strings.Contains(got, "near") || c.regex != strings.Contains(got, "regex") {
			t.Errorf("%s on %q: %q, want %q", c.entry, c.text, got, want)
		}
	}
}

// TestFoldGoesRuneByRune: what the fast path rests on. Runes that simple folding
// makes equal have one folded form.
func TestFoldGoesRuneByRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		if f := unicode.SimpleFold(r); string(appendFold(nil, r)) != string(appendFold(nil, f)) {
			t.Errorf("%q folds to %q, %q to %q", r, appendFold(nil, r), f, appendFold(nil, f))
		}
	}
}

// TestClasses holds the table of character classes against its definition.
func TestClasses(t *testing.T) {
	for r := rune(0); r <= 0x2ffff; r++ {
		if got, want := classOf(r), classify(r); got != want {
			t.Errorf("%U: class %d, want %d", r, got, want)
		}
	}
}

func TestInertRunesNeverCompose(t *testing.T) {
	for r := rune(0); r <= 0xffff; r++ {
		if !inert(r) || r >= 0xd800 && r < 0xe000 {
			continue
		}
		text := string(r)
		if p := norm.NFC.PropertiesString(text); !norm.NFC.IsNormalString(text) || p.CCC() != 0 || !p.BoundaryBefore() {
			t.Errorf("%U composes", r)
		}
	}
}
