package canonjson

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	gowebpki "github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/test/oracle"
)

// TestPython are answers of CPython 3.11 to json.dumps(json.loads(text),
// sort_keys=True, separators=(",", ":")).
func TestPython(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: `[]`, `{ }`: `{}`, ` [ true , false , null ] `: `[true,false,null]`,
		`{"b":1,"a":2,"":3}`:                         `{"":3,"a":2,"b":1}`,
		`{"a":1,"b":0,"a":2}`:                        `{"a":2,"b":0}`,
		`{"a":1,"\u0061":{"x":1},"a":[]}`:            `{"a":[]}`,
		"{\"\ufb33\":1,\"😂\":2,\"é\":3,\"z\":4}":     `{"z":4,"\u00e9":3,"\ufb33":1,"\ud83d\ude02":2}`,
		`{"\ud83d":1,"\ue000":2,"\ud7ff":3}`:         `{"\ud7ff":3,"\ud83d":1,"\ue000":2}`,
		"\"\u007f\u0080\u2028</a>&'\\/\"":            `"\u007f\u0080\u2028</a>&'/"`,
		`"\u0000\u001f\b\f\n\r\t\"\\"`:               `"\u0000\u001f\b\f\n\r\t\"\\"`,
		`"\uD800\uDFFF\uDC00"`:                       `"\ud800\udfff\udc00"`,
		`"12345678\u00e912345678é1234567\n12345678"`: `"12345678\u00e912345678\u00e91234567\n12345678"`,
	} {
		if got := string(AppendPython([]byte("x"), mustParse(t, text))); got != "x"+want {
			t.Errorf("%s\n got %s\nwant x%s", text, got, want)
		}
	}
}

// TestManyMembers goes past the size up to which objects are sorted by insertion, with
// duplicates among them.
func TestManyMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "é", "\uffff", "😀", "aa", "", "\xed\xa0\x80"}), 0, 40).Draw(t, "names")
		v := &toolmark.Value{Kind: toolmark.KindObject}
		last := map[string]string{}
		for i, name := range names {
			literal := strings.Repeat("1", i+1)
			v.Members = append(v.Members, toolmark.Member{Name: name, Value: *numberValue(literal)})
			last[name] = literal
		}
		var sorted []string
		for name := range last {
			sorted = append(sorted, name)
		}
		slices.Sort(sorted)
		want := "{"
		for i, name := range sorted {
			if i > 0 {
				want += ","
			}
			want += string(toolmark.AppendQuoted(nil, name)) + ":" + last[name]
		}
		want += "}"
		if got := string(AppendPython(nil, v)); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		duplicates := 0
		for _, f := range Faults(v) {
			if f.Code == toolmark.CodeDuplicateKey {
				duplicates++
			}
		}
		repeated := 0
		for name := range last {
			if n := len(slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s != name })); n > 1 {
				repeated++
			}
		}
		if duplicates != repeated {
			t.Fatalf("%d faults for %d names that stand twice", duplicates, repeated)
		}
	})
}

// TestRFC8785 is the example of section 3.2.2, and its result in section 3.2.4.
func TestRFC8785(t *testing.T) {
	const text = `{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`
	const want = `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`
	got, err := AppendJCS(nil, mustParse(t, text))
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

// TestCaseD13_UTF16Order is the example of RFC 8785, section 3.2.3.
func TestCaseD13_UTF16Order(t *testing.T) {
	const text = `{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
		`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`
	const want = "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\"," +
		"\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"
	v := mustParse(t, text)
	if got, err := AppendJCS(nil, v); err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	if python := string(AppendPython(nil, v)); strings.Index(python, `\ud83d`) < strings.Index(python, `\ufb33`) {
		t.Errorf("the pin's form is not in code point order: %s", python)
	}
}

func TestCompareUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune{'a', 'b', 'é', '\ud7ff', '\ue000', '\ufb33', '\uffff', '\U00010000', '😀', '\U0010ffff'}))
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := CompareUTF16(a, b); got != want {
			t.Fatalf("CompareUTF16(%+q, %+q) = %d, want %d", a, b, got, want)
		}
	})
}

func TestJCSRefuses(t *testing.T) {
	for _, c := range []struct{ text, pointer, reason string }{
		{`"\ud800"`, "", ReasonLoneSurrogate},
		{`{"a":["x","\ud83d\ud83d\ude00"]}`, "/a/1", ReasonLoneSurrogate},
		{`{"a":{"\udc00":1}}`, "/a/\xed\xb0\x80", ReasonLoneSurrogate},
		{`{"~/":[{"b":1,"c":2,"b":1}]}`, "/~0~1/0/b", ReasonDuplicateKey},
		{`[[1],[2,[3,9007199254740993]]]`, "/1/1/1", ReasonInexactNumber},
	} {
		got, err := AppendJCS([]byte("before"), mustParse(t, c.text))
		var refused *NotCanonicalError
		if !errors.As(err, &refused) || refused.Pointer != c.pointer || refused.Reason != c.reason {
			t.Errorf("%s: got %v, want %s at %q", c.text, err, c.reason, c.pointer)
		}
		if !strings.HasPrefix(string(got), "before") {
			t.Errorf("%s: the first bytes became %s", c.text, got)
		}
	}
	// U+D7FF starts with the same byte as a surrogate.
	if got, err := AppendJCS(nil, mustParse(t, `"\ud7ff\ue000"`)); err != nil || string(got) != "\"\ud7ff\ue000\"" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestAgainstGowebpki holds AppendJCS against another implementation of RFC 8785.
func TestAgainstGowebpki(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 2_000
	}
	const seed = 8785
	g := oracle.New(seed)
	for i := range n {
		text := g.IJSON()
		got, err := AppendJCS(nil, mustParse(t, string(text)))
		if err != nil {
			t.Fatalf("value %d of seed %d, %s: %v", i, seed, text, err)
		}
		// The other implementation takes an object or an array at the top only.
		want, err := gowebpki.Transform([]byte("[" + string(text) + "]"))
		if err != nil {
			t.Fatalf("value %d of seed %d, %s: gowebpki/jcs: %v", i, seed, text, err)
		}
		if "["+string(got)+"]" != string(want) {
			t.Fatalf("value %d of seed %d, %s\n got %s\nwant %s", i, seed, text, got, want)
		}
	}
	t.Logf("%d values of seed %d, all equal", n, seed)
}

// TestHostileTrees writes trees that would take minutes if any form were quadratic.
func TestHostileTrees(t *testing.T) {
	var names strings.Builder
	prefix := strings.Repeat("p", 40)
	for i := range 50_000 {
		fmt.Fprintf(&names, `"%s%06d":0,`, prefix, (i*7919)%1_000_003)
	}
	for name, text := range map[string]string{
		"50,000 names":    "{" + names.String() + `"z":0}`,
		"one name again":  "{" + strings.Repeat(`"a":0,`, 300_000) + `"a":1}`,
		"names down deep": strings.Repeat(`{"`+prefix+`":`, 511) + "{" + names.String() + `"z":0}` + strings.Repeat("}", 511),
		"one long number": "[" + strings.Repeat("9", 1<<20) + ".5e-" + strings.Repeat("9", 1<<20) + "]",
		"short escapes":   `"` + strings.Repeat(`\n\ud800`, 1<<19) + `"`,
	} {
		v := mustParse(t, text)
		start := time.Now()
		written := len(AppendPython(nil, v)) + len(Append(nil, v)) + len(AppendIndent(nil, v))
		jcs, err := AppendJCS(nil, v)
		faults := Faults(v)
		if written > 40*len(text) {
			t.Errorf("%s: %d bytes of input became %d", name, len(text), written)
		}
		if (err == nil) != (len(faults) == 0) || written == 0 {
			t.Errorf("%s: %d bytes and %d written, %d faults, error %v", name, written, len(jcs), len(faults), err)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

func TestAppendIndent(t *testing.T) {
	const text = `{"b":[1.50,{"x":"\ud800é"},[]],"b":{},"a":null}`
	const want = `{
  "b": [
    1.50,
    {
      "x": "\ud800\u00e9"
    },
    []
  ],
  "b": {},
  "a": null
}`
	v := mustParse(t, text)
	if got := string(AppendIndent(nil, v)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := string(Append(nil, v)), strings.Replace(text, "é", `\u00e9`, 1); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestAppendIndentDeep(t *testing.T) {
	text := strings.Repeat(`{"a":[1,`, 250) + "2" + strings.Repeat("]}", 250)
	indented := AppendIndent(nil, mustParse(t, text))
	if got := string(Append(nil, mustParse(t, string(indented)))); got != text {
		t.Errorf("read again as %.100s", got)
	}
	for line := range strings.Lines(string(indented)) {
		if n := len(line) - len(strings.TrimLeft(line, " ")); n > 64 {
			t.Fatalf("%d spaces before a line", n)
		}
	}
}

func TestQuoteASCII(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{"\xed\xa0\x80", "\xed\xbf\xbf", "\x7f", "\x1f", "\"", "\\", "1234567", "12345678", "\xff", "\xed\xa0"}),
		)).Draw(t, "parts")
		s := strings.Join(parts, "")
		if got, want := string(quoteASCII(nil, s)), string(toolmark.AppendQuoted(nil, s)); got != want {
			t.Fatalf("%q: got %s, want %s", s, got, want)
		}
	})
}

// values makes trees of any kind, at most depth levels deep.
func values(depth int) *rapid.Generator[toolmark.Value] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "b", "\xed\xa0\x80", "\u2028", "~/"}))
	return rapid.Custom(func(t *rapid.T) toolmark.Value {
		last := 6
		if depth == 0 {
			last = 4
		}
		switch rapid.IntRange(0, last).Draw(t, "kind") {
		case 0:
			return toolmark.Value{Kind: toolmark.KindNull}
		case 1:
			return toolmark.Value{Kind: toolmark.KindTrue}
		case 2:
			return toolmark.Value{Kind: toolmark.KindFalse}
		case 3:
			return *numberValue(literals().Draw(t, "number"))
		case 4:
			return toolmark.Value{Kind: toolmark.KindString, Text: text.Draw(t, "text")}
		case 5:
			v := toolmark.Value{Kind: toolmark.KindArray}
			for range rapid.IntRange(0, 4).Draw(t, "items") {
				v.Items = append(v.Items, values(depth-1).Draw(t, "item"))
			}
			return v
		}
		v := toolmark.Value{Kind: toolmark.KindObject}
		for range rapid.IntRange(0, 20).Draw(t, "members") {
			v.Members = append(v.Members, toolmark.Member{Name: text.Draw(t, "name"), Value: values(depth-1).Draw(t, "value")})
		}
		return v
	})
}

func TestRoundTripProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		checkRoundTrip(t, &v)
	})
}

// FuzzRoundTrip parses, writes in every form and parses again.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,-0e+1,"\ud800\u00e9"],"a":null}`, `[[],{},"",0]`, `"\ud83d\ude00\/"`, "{\"\ufb33\":1,\"😂\":2}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Parse(data, Options{})
		if err != nil {
			return
		}
		checkRoundTrip(t, v)
	})
}

func checkRoundTrip(t failer, v *toolmark.Value) {
	t.Helper()
	want := bare(v)
	for name, text := range map[string][]byte{"Append": Append(nil, v), "AppendIndent": AppendIndent(nil, v)} {
		again, err := Parse(text, Options{})
		if err != nil {
			t.Fatalf("%s wrote %s: %v", name, text, err)
		}
		if diff := cmp.Diff(want, bare(again)); diff != "" {
			t.Fatalf("%s wrote %s (-want +got):\n%s", name, text, diff)
		}
	}
	python := AppendPython(nil, v)
	if again, err := Parse(python, Options{}); err == nil {
		if got := AppendPython(nil, again); string(got) != string(python) {
			t.Fatalf("written %s and then %s", python, got)
		}
	} else if !strings.Contains(string(python), "Infinity") {
		t.Fatalf("AppendPython wrote %s: %v", python, err)
	}
	canonical, err := AppendJCS(nil, v)
	if faults := Faults(v); (err == nil) != (len(faults) == 0) {
		t.Fatalf("%s: faults %v, but AppendJCS says %v", python, faults, err)
	}
	if err != nil {
		return
	}
	again, err := Parse(canonical, Options{})
	if err != nil {
		t.Fatalf("AppendJCS wrote %q: %v", canonical, err)
	}
	if got, err := AppendJCS(nil, again); err != nil || string(got) != string(canonical) {
		t.Fatalf("written %s and then %s, %v", canonical, got, err)
	}
}
