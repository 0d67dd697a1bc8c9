package toolmark_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
)

func TestNamesAreInverse(t *testing.T) {
	for s := toolmark.Info; s <= toolmark.High; s++ {
		got, err := toolmark.ParseSeverity(s.String())
		if err != nil || got != s {
			t.Errorf("ParseSeverity(%q) = %v, %v", s, got, err)
		}
	}
	for _, c := range toolmark.Codes() {
		got, err := toolmark.ParseCode(c.String())
		if err != nil || got != c {
			t.Errorf("ParseCode(%q) = %v, %v", c, got, err)
		}
		if c.Title() == "" {
			t.Errorf("%s has no title", c)
		}
	}
	for _, s := range toolmark.Surfaces() {
		got, err := toolmark.ParseSurface(string(s))
		if err != nil || got != s {
			t.Errorf("ParseSurface(%q) = %v, %v", s, got, err)
		}
	}
	for _, s := range []toolmark.Scope{toolmark.ScopeStandard, toolmark.ScopeAll} {
		got, err := toolmark.ParseScope(s.String())
		if err != nil || got != s {
			t.Errorf("ParseScope(%q) = %v, %v", s, got, err)
		}
	}
	for _, unknown := range []string{"", "HIGH", "high ", "severity(9)", "E001x", "Description", "every"} {
		if _, err := toolmark.ParseSeverity(unknown); err == nil {
			t.Errorf("ParseSeverity(%q) is no error", unknown)
		}
		if _, err := toolmark.ParseCode(unknown); err == nil {
			t.Errorf("ParseCode(%q) is no error", unknown)
		}
		if _, err := toolmark.ParseSurface(unknown); err == nil {
			t.Errorf("ParseSurface(%q) is no error", unknown)
		}
		if _, err := toolmark.ParseScope(unknown); err == nil {
			t.Errorf("ParseScope(%q) is no error", unknown)
		}
	}
	if _, err := json.Marshal(toolmark.Severity(0)); err == nil {
		t.Error("an invalid severity can be written")
	}
}

func TestTextIsWrittenAsASCII(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain / <b> & \"q\" \\", `"plain / <b> & \"q\" \\"`},
		{"\b\f\n\r\t\x00\x1f\x7f", `"\b\f\n\r\t\u0000\u001f\u007f"`},
		{"é — 😀", `"\u00e9 \u2014 \ud83d\ude00"`},
		{"half \xed\xa0\xbd of", `"half \ud83d of"`},
		{"\xed\xb8\x80\xed\xa0\xbd", `"\ude00\ud83d"`},
		{"bad \xff byte", `"bad \ufffd byte"`},
		{"\u2028\ufeff\U000e0041", `"\u2028\ufeff\udb40\udc41"`},
	} {
		got, err := toolmark.Text(c.in).MarshalJSON()
		if err != nil || string(got) != c.want {
			t.Errorf("%q is written %s, want %s (%v)", c.in, got, c.want, err)
		}
	}
}

func TestCodePointsAndOffsets(t *testing.T) {
	s := "aé\xed\xa0\xbd😀z" // a lone surrogate is one code point
	if n := toolmark.CodePoints(s); n != 5 {
		t.Errorf("CodePoints = %d, want 5", n)
	}
	for n, want := range []int{0, 1, 3, 6, 10, 11, 11} {
		if got := toolmark.ByteOffset(s, n); got != want {
			t.Errorf("ByteOffset(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestFindingsAreSortedByToolCodeAndPlace(t *testing.T) {
	at := func(index int, code toolmark.Code, pointer string, start int) toolmark.Finding {
		return toolmark.Finding{Index: index, Code: code, Details: toolmark.PoisonDetails{
			Locations: []toolmark.Location{{Pointer: toolmark.Text(pointer), Start: start}},
		}}
	}
	findings := []toolmark.Finding{
		at(-1, "E301", "", 0), at(1, "W021", "/a", 0), at(1, "E001", "/b", 0),
		at(1, "E001", "/a", 9), at(1, "E001", "/a", 2), at(0, "W022", "", 0), at(-1, "E001", "", 0),
	}
	toolmark.SortFindings(findings)
	var got []string
	for _, f := range findings {
		place := f.Places()[0]
		got = append(got, string(f.Code)+string(place.Pointer)+strings.Repeat("+", place.Start))
	}
	want := "W022 E001/a++ E001/a+++++++++ E001/b W021/a E001 E301"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("sorted %s, want %s", s, want)
	}
}

func TestUnfinished(t *testing.T) {
	for _, c := range []struct {
		report toolmark.Report
		want   bool
	}{
		{toolmark.Report{}, false},
		{toolmark.Report{Incomplete: true}, true},
		{toolmark.Report{Findings: []toolmark.Finding{{Code: toolmark.CodePoisoning}}}, false},
		{toolmark.Report{Findings: []toolmark.Finding{{Code: toolmark.CodePoisoning}, {Code: toolmark.CodeUnscannable}}}, true},
	} {
		if got := c.report.Unfinished(); got != c.want {
			t.Errorf("%+v: unfinished %v", c.report, got)
		}
	}
}
