package rule

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
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
