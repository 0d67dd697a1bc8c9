package oracle

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

func TestGenerator(t *testing.T) {
	a, b := New(7), New(7)
	valid := 0
	seen := map[string]bool{}
	for range 2000 {
		body := a.Body()
		if !bytes.Equal(body, b.Body()) {
			t.Fatal("the same seed gives different bodies")
		}
		if len(body) == 0 || bytes.ContainsRune(body, '\n') {
			t.Fatalf("%q is not one line", body)
		}
		if json.Valid(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))) {
			valid++
		}
		for _, part := range []string{
			"inputSchema", "input_schema", `\ud`, `\uD`, `\/`, "e+", "E", "-0", "1e400", "__proto__", "鍵", "\x7f", "\u2028", "\r", "\t", "NaN", "\xff",
		} {
			if bytes.Contains(body, []byte(part)) {
				seen[part] = true
			}
		}
	}
	if valid < 1600 || valid > 1960 {
		t.Errorf("%d of 2000 bodies are JSON", valid)
	}
	if len(seen) != 17 {
		t.Errorf("the bodies hold only %v", seen)
	}
	for range 2000 {
		if value := a.IJSON(); !json.Valid(value) {
			t.Fatalf("%s is not JSON", value)
		}
	}
}

func TestCompare(t *testing.T) {
	deep := `{"tools":[],"x":` + strings.Repeat("[", 512) + strings.Repeat("]", 512) + "}"
	for _, c := range []struct {
		body, ours, theirs string
		want               string // the count that goes up
	}{
		{"{}", "a b", "a b", "equal"},
		{"{}", "a b", "a c", "different"},
		{"{}", "invalid x", "invalid y", "invalid"},
		{`{"tools":[]}`, "invalid x", "a ", "different"},
		{`{"tools":[]}`, "a ", "invalid x", "different"},
		{`{"tools":[{"name":"NaN"}]}`, "invalid x", "a ", "different"},
		{`{"tools":[{"name":"a","x":NaN}]}`, "invalid x", "a b", "not JSON"},
		{`{"tools":[],"x":[1,-Infinity ]}`, "invalid x", "a b", "not JSON"},
		{"{\"tools\":[],\"x\":\"\xed\xa0\x80\"}", "invalid x", "a b", "not UTF-8"},
		{deep, "invalid x", "a ", "too deep"},
		{strings.Replace(deep, "[[", "[", 1), "invalid x", "a ", "different"},
		{`{"tools":[{"name":1}]}`, "invalid x", "a b", "name not a string"},
		{`{"tools":[{"name":1}],"Tools":[{"name":"b"}]}`, "invalid x", "a b", "name not a string"},
		{`{"tools":[],"x":` + strings.Repeat("1", 4301) + "}", "a ", "invalid x", "digits"},
		{`{"tools":[],"x":` + strings.Repeat("1", 4300) + "}", "a ", "invalid x", "different"},
	} {
		var tally Tally
		tally.Compare([][]byte{[]byte(c.body)}, []string{c.ours}, []string{c.theirs})
		counts := map[string]int{"equal": tally.Equal, "invalid": tally.Invalid, "digits": tally.Digits, "different": len(tally.Different)}
		for reason, n := range tally.Stricter {
			counts[reason] = n
		}
		total := 0
		for _, n := range counts {
			total += n
		}
		if counts[c.want] != 1 || total != 1 || tally.Bodies != 1 {
			t.Errorf("%.80s, %s, %s: counted as %v, want %s", c.body, c.ours, c.theirs, counts, c.want)
		}
	}
}

func TestAsk(t *testing.T) {
	for _, program := range []string{"cat", "true"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s: %v", program, err)
		}
	}
	bodies := [][]byte{[]byte("a "), []byte("b")}
	answers, err := Ask(t.Context(), bodies, "cat")
	if err != nil || len(answers) != 2 || answers[0] != "a " || answers[1] != "b" {
		t.Errorf("answers %q, %v", answers, err)
	}
	if answers, err := Ask(t.Context(), bodies, "true"); err == nil {
		t.Errorf("no answer to two bodies passed as %q", answers)
	}
}
