package canonjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolmark/toolmark"
)

// mustParse reads JSON that is known to be good.
func mustParse(tb testing.TB, text string) *toolmark.Value {
	tb.Helper()
	v, err := Parse([]byte(text), Options{})
	if err != nil {
		tb.Fatalf("Parse(%.200q): %v", text, err)
	}
	return v
}

// bare gives the tree without its offsets, which depend on spelling.
func bare(v *toolmark.Value) toolmark.Value {
	out := toolmark.Value{Kind: v.Kind, Text: v.Text}
	for i := range v.Items {
		out.Items = append(out.Items, bare(&v.Items[i]))
	}
	for i := range v.Members {
		m := &v.Members[i]
		out.Members = append(out.Members, toolmark.Member{Name: m.Name, Value: bare(&m.Value)})
	}
	return out
}

func TestParseTree(t *testing.T) {
	const text = "\xef\xbb\xbf { \"a\\u0062\":[1.50,-0,\"\\ud800x\"],\n\"a\":null,\"a\":{ },\"\":[ ]}\r\n"
	type v = toolmark.Value
	want := &v{Kind: toolmark.KindObject, Start: 4, End: 65, Members: []toolmark.Member{
		{Name: "ab", NameStart: 6, Value: v{Kind: toolmark.KindArray, Start: 16, End: 35, Items: []v{
			{Kind: toolmark.KindNumber, Text: "1.50", Start: 17, End: 21},
			{Kind: toolmark.KindNumber, Text: "-0", Start: 22, End: 24},
			{Kind: toolmark.KindString, Text: "\xed\xa0\x80x", Start: 25, End: 34},
		}}},
		{Name: "a", NameStart: 37, Value: v{Kind: toolmark.KindNull, Start: 41, End: 45}},
		{Name: "a", NameStart: 46, Value: v{Kind: toolmark.KindObject, Start: 50, End: 53}},
		{Name: "", NameStart: 54, Value: v{Kind: toolmark.KindArray, Start: 57, End: 60}},
	}}
	want.End = strings.LastIndex(text, "}") + 1
	if diff := cmp.Diff(want, mustParse(t, text)); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestParseScalars(t *testing.T) {
	for text, want := range map[string]toolmark.Value{
		`true`: {Kind: toolmark.KindTrue}, `false`: {Kind: toolmark.KindFalse}, `null`: {Kind: toolmark.KindNull},
		`0`:   {Kind: toolmark.KindNumber, Text: "0"},
		`-0`:  {Kind: toolmark.KindNumber, Text: "-0"},
		`1E5`: {Kind: toolmark.KindNumber, Text: "1E5"}, `-10.25e-07`: {Kind: toolmark.KindNumber, Text: "-10.25e-07"},
		`""`:                               {Kind: toolmark.KindString},
		`"\"\\\/\b\f\n\r\t\u00e9"`:         {Kind: toolmark.KindString, Text: "\"\\/\b\f\n\r\té"},
		`"\ud83d\ude00"`:                   {Kind: toolmark.KindString, Text: "😀"},
		`"\uD83D\uDE00"`:                   {Kind: toolmark.KindString, Text: "😀"},
		`"\ude00\ud83d"`:                   {Kind: toolmark.KindString, Text: "\xed\xb8\x80\xed\xa0\xbd"},
		`"\ud83d\ud83d\ude00"`:             {Kind: toolmark.KindString, Text: "\xed\xa0\xbd😀"},
		`"\ud83d\u0041\ud83dA"`:            {Kind: toolmark.KindString, Text: "\xed\xa0\xbdA\xed\xa0\xbdA"},
		`"\ud83d\\ude00"`:                  {Kind: toolmark.KindString, Text: "\xed\xa0\xbd\\ude00"},
		"\"\u007f\u0080\u2028\U0010ffff\"": {Kind: toolmark.KindString, Text: "\u007f\u0080\u2028\U0010ffff"},
		`"\u0000"`:                         {Kind: toolmark.KindString, Text: "\x00"},
		"\"12345678\u00e912345678\"":       {Kind: toolmark.KindString, Text: "12345678é12345678"},
	} {
		if diff := cmp.Diff(want, bare(mustParse(t, " \t\r\n"+text+" \t\r\n"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text    string
		offset  int
		pointer string
		reason  string
	}{
		{"", 0, "", "empty"},
		{"\xef\xbb\xbf", 3, "", "empty"},
		{" \r\n", 3, "", "empty"},
		{"\xef\xbb\xbf\xef\xbb\xbf1", 3, "", "byte order mark"},
		{"\xff\xfe1\x00", 0, "", "UTF-16"},
		{"1 2", 2, "", "data after"},
		{"{}]", 2, "", "data after"},
		{"1\x00", 1, "", "data after"},
		{"tru", 0, "", "expected a JSON value"},
		{"[truE]", 1, "/0", "expected a JSON value"},
		{"NaN", 0, "", "NaN is not JSON"},
		{`{"a":[0,Infinity]}`, 8, "/a/1", "Infinity is not JSON"},
		{`{"a":[0,-Infinity]}`, 8, "/a/1", "-Infinity is not JSON"},
		{"-", 1, "", "ends inside"},
		{"[-]", 2, "/0", "minus sign"},
		{"[+1]", 1, "/0", "expected a JSON value"},
		{"[.5]", 1, "/0", "expected a JSON value"},
		{"[01]", 1, "/0", "leading zero"},
		{"[-00]", 2, "/0", "leading zero"},
		{"[1.]", 3, "/0", "decimal point"},
		{"[1.e5]", 3, "/0", "decimal point"},
		{"[1e]", 3, "/0", "exponent"},
		{"[1e+]", 4, "/0", "exponent"},
		{"[0x10]", 2, "/0", "comma or ]"},
		{"[1,]", 3, "/1", "no value after"},
		{"[1", 2, "/0", "ends inside"},
		{"[1 2]", 3, "/0", "comma or ]"},
		{"[1}", 2, "/0", "comma or ]"},
		{"[", 1, "/0", "ends inside"},
		{"{", 1, "", "ends inside"},
		{`{"a"`, 4, "/a", "ends inside"},
		{`{"a" 1}`, 5, "/a", "colon"},
		{`{"a":1,}`, 7, "", "member name"},
		{`{"a":1 "b":2}`, 7, "/a", "comma or }"},
		{`{"a":1]`, 6, "/a", "comma or }"},
		{`{a:1}`, 1, "", "member name"},
		{`{'a':1}`, 1, "", "member name"},
		{`["a`, 3, "/0", "inside a string"},
		{`["a\`, 4, "/0", "inside a string"},
		{`["\u12`, 6, "/0", "inside a string"},
		{`["\u12g4"]`, 6, "/0", "four hexadecimal"},
		{`["\x41"]`, 2, "/0", "escape"},
		{"[\"a\x1fb\"]", 3, "/0", "control character"},
		{"[\"12345678\n\"]", 10, "/0", "control character"},
		{"[\x01]", 1, "/0", "control character outside"},
		{"[\"\xc0\x80\"]", 2, "/0", "not UTF-8"},
		{"[\"\xe2\x82\"]", 2, "/0", "not UTF-8"},
		{"[\"é\xed\xa0\x80\"]", 4, "/0", "encoded surrogate"},
		{"[\"\xf4\x90\x80\x80\"]", 2, "/0", "not UTF-8"},
		{"[\"\xf0\x80\x80\x80\"]", 2, "/0", "not UTF-8"},
		{"[\xff]", 1, "/0", "not UTF-8"},
		{"[1] // note", 4, "", "data after"},
		{"{\"a\":\n {\"~/\": [1,\n é]}}", 19, "/a/~0~1/1", "expected a JSON value"},
		{`{"\u0061\ud800":[[],[{},!]]}`, 24, "/a\xed\xa0\x80/1/1", "expected a JSON value"},
	} {
		_, err := Parse([]byte(c.text), Options{})
		var e *toolmark.Error
		var s *SyntaxError
		if !errors.As(err, &e) || !errors.As(err, &s) || e.Code != toolmark.ErrInvalidJSON {
			t.Errorf("Parse(%q): error %v, want a SyntaxError in an Error", c.text, err)
			continue
		}
		if s.Offset != c.offset || s.Pointer != c.pointer || !strings.Contains(s.Reason, c.reason) {
			t.Errorf("Parse(%q): byte %d, pointer %q, %q; want %d, %q, %q", c.text, s.Offset, s.Pointer, s.Reason, c.offset, c.pointer, c.reason)
		}
		if !strings.Contains(err.Error(), fmt.Sprintf("byte %d", c.offset)) {
			t.Errorf("Parse(%q): the message does not name the byte: %v", c.text, err)
		}
		for _, r := range err.Error() {
			if r < 0x20 || r > 0x7e && r != '…' {
				t.Errorf("Parse(%q): raw text in the message %q", c.text, err)
				break
			}
		}
	}
}

func TestParsePlace(t *testing.T) {
	_, err := Parse([]byte("\xef\xbb\xbf{\"größe\":\n  [\"é\", NaN]}"), Options{})
	const want = `not valid JSON at byte 24 (line 2, column 9), in "/gr\u00f6\u00dfe/1": NaN is not JSON`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	_, err = Parse([]byte("\xef\xbb\xbf  x"), Options{})
	if want := "not valid JSON at byte 5 (line 1, column 3), at the top: expected a JSON value"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestParseLimits(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		name, text string
		opts       Options
		code       toolmark.ErrorCode // "" for none
	}{
		{"512 levels", nest(512), Options{}, ""},
		{"513 levels", nest(513), Options{}, toolmark.ErrInvalidJSON},
		{"512 objects", strings.Repeat(`{"a":`, 512) + "1" + strings.Repeat("}", 512), Options{}, ""},
		{"513 objects", strings.Repeat(`{"a":`, 513) + "1" + strings.Repeat("}", 513), Options{}, toolmark.ErrInvalidJSON},
		{"3 levels of 3", nest(3), Options{MaxDepth: 3}, ""},
		{"4 levels of 3", nest(4), Options{MaxDepth: 3}, toolmark.ErrInvalidJSON},
		{"levels side by side", "[" + strings.Repeat("[[]],", 1000) + "1]", Options{MaxDepth: 3}, ""},
		{"bytes", `"abcdef"`, Options{MaxBytes: 8}, ""},
		{"a byte too many", `"abcdefg"`, Options{MaxBytes: 8}, toolmark.ErrTooLarge},
		{"nodes", `[1,{"a":2}]`, Options{MaxNodes: 5}, ""},
		{"a node too many", `[1,{"a":2}]`, Options{MaxNodes: 4}, toolmark.ErrTooLarge},
		{"a name too many", `[1,{"a":2}]`, Options{MaxNodes: 3}, toolmark.ErrTooLarge},
		{"the deepest there is", nest(HighestMaxDepth), Options{MaxDepth: 1 << 30}, ""},
	} {
		v, err := Parse([]byte(c.text), c.opts)
		if c.code == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if got := string(Append(nil, v)); got != c.text {
				t.Errorf("%s: read as %.100s", c.name, got)
			}
			continue
		}
		var e *toolmark.Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: error %v, want code %s", c.name, err, c.code)
		}
	}
}

// TestHostileInput gives Parse what should not cost more than it is worth: every one is
// refused, or read, in memory bounded by its length or by the limit on nodes.
func TestHostileInput(t *testing.T) {
	const big = 10 << 20
	for _, c := range []struct {
		name string
		text string
		ok   bool
		most uint64 // bytes allocated at most
	}{
		{"100,000 levels", strings.Repeat("[", 100_000), false, 1 << 20},
		{"100,000 levels of objects", strings.Repeat(`{"a":`, 100_000), false, 1 << 20},
		{"ten million brackets", strings.Repeat("[", big), false, 16 << 20},
		{"millions of empty arrays", "[" + strings.Repeat("[],", big/3) + "1]", false, 200 << 20},
		{"millions of numbers", "[" + strings.Repeat("0,", big/2) + "0]", false, 200 << 20},
		{"a million names", "{" + strings.Repeat(`"":0,`, big/5) + `"":0}`, false, 200 << 20},
		{"one long string", `"` + strings.Repeat("a", big) + `"`, true, 32 << 20},
		{"one long string of escapes", `"` + strings.Repeat(`\u0001`, big/6) + `"`, true, 32 << 20},
		{"one long number", strings.Repeat("9", big), true, 32 << 20},
		{"a string that never ends", `"` + strings.Repeat("a", big), false, 16 << 20},
		{"white space", strings.Repeat(" ", big), false, 16 << 20},
		{"a name as long as the input", `{"` + strings.Repeat("\\ud800", big/6) + `":!`, false, 128 << 20},
		{"more bytes than allowed", strings.Repeat(" ", DefaultMaxBytes+1), false, 1 << 20},
	} {
		data := []byte(c.text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err := Parse(data, Options{})
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if (err == nil) != c.ok {
			t.Errorf("%s: error %v", c.name, err)
		}
		if err != nil && len(err.Error()) > 4*maxPlace*3 {
			t.Errorf("%s: a message of %d bytes", c.name, len(err.Error()))
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > c.most {
			t.Errorf("%s: allocated %d bytes, at most %d are allowed", c.name, n, c.most)
		}
		if took > 5*time.Second {
			t.Errorf("%s: took %v", c.name, took)
		}
	}
}

// levels gives the deepest nesting of a JSON text.
func levels(data []byte) int {
	deepest, level, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			level++
			deepest = max(deepest, level)
		case c == ']' || c == '}':
			level--
		}
	}
	return deepest
}

// FuzzParse holds what Parse accepts against encoding/json, which knows the same
// grammar but neither UTF-8 nor our limits, and bounds the memory it takes.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,-0e+1,"\ud800\u00e9"],"a":null}`, "\xef\xbb\xbf[true,false]", "[1,]", "\"\xed\xa0\x80\"", "[[[[", "01", `{"a":1`, "NaN"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, err := Parse(data, Options{})
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(len(data))*200+1<<20 {
			t.Fatalf("%d bytes allocated for %d bytes", n, len(data))
		}
		text := data
		if strings.HasPrefix(string(text), bom) {
			text = text[len(bom):]
		}
		valid := json.Valid(text) && utf8.Valid(text) && levels(text) <= DefaultMaxDepth
		if valid != (err == nil) {
			t.Fatalf("Parse(%q): %v, but encoding/json says %v", data, err, valid)
		}
		if err != nil {
			var s *SyntaxError
			if !errors.As(err, &s) || s.Offset < 0 || s.Offset > len(data) || s.Line < 1 || s.Column < 1 {
				t.Fatalf("Parse(%q): error without a place: %#v", data, err)
			}
			return
		}
		checkOffsets(t, data, v)
	})
}

// checkOffsets reads every value again from its own bytes.
func checkOffsets(t *testing.T, data []byte, v *toolmark.Value) {
	t.Helper()
	again, err := Parse(data[v.Start:v.End], Options{})
	if err != nil || again.Kind != v.Kind || again.Text != v.Text {
		t.Fatalf("bytes %d to %d of %q read as %v, %v", v.Start, v.End, data, again, err)
	}
	for i := range v.Items {
		checkOffsets(t, data, &v.Items[i])
	}
	for i := range v.Members {
		if data[v.Members[i].NameStart] != '"' {
			t.Fatalf("byte %d of %q is not where a name starts", v.Members[i].NameStart, data)
		}
		checkOffsets(t, data, &v.Members[i].Value)
	}
}
