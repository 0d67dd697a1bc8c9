package canonjson

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolmark/toolmark"
)

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Fault
	}{
		{`{"a":[1,0.1,"é😀",{"b":1,"c":1}]}`, nil},
		{`{"a":1,"b":{"x":1,"\u0078":2,"x":3},"a":2}`, []Fault{
			{Code: toolmark.CodeDuplicateKey, Pointer: "/b/x", Name: true},
			{Code: toolmark.CodeDuplicateKey, Pointer: "/a", Name: true},
		}},
		{`["é\ud83d😀\udc00"]`, []Fault{
			{Code: toolmark.CodeLoneSurrogate, Pointer: "/0", Start: 1, End: 2},
			{Code: toolmark.CodeLoneSurrogate, Pointer: "/0", Start: 3, End: 4},
		}},
		{`{"/":{"k\ud83d":"\udc00"}}`, []Fault{
			{Code: toolmark.CodeLoneSurrogate, Pointer: "/~1/k\xed\xa0\xbd", Start: 1, End: 2, Name: true},
			{Code: toolmark.CodeLoneSurrogate, Pointer: "/~1/k\xed\xa0\xbd", Start: 0, End: 1},
		}},
		{`[9007199254740993,[1e999]]`, []Fault{
			{Code: toolmark.CodeInexactNumber, Pointer: "/0"},
			{Code: toolmark.CodeInexactNumber, Pointer: "/1/0"},
		}},
	} {
		if diff := cmp.Diff(c.want, Faults(mustParse(t, c.text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestFaultsAreBounded(t *testing.T) {
	many := mustParse(t, "["+strings.Repeat(`"\ud800",`, 2*MaxFaults)+"1]")
	if n := len(Faults(many)); n != MaxFaults {
		t.Errorf("%d faults, want %d", n, MaxFaults)
	}
	long := mustParse(t, `{"`+strings.Repeat("k", MaxFaultBytes/4)+`":[`+strings.Repeat("1e999,", 100)+"1]}")
	total := 0
	faults := Faults(long)
	for _, f := range faults {
		total += len(f.Pointer)
	}
	if len(faults) == 0 || total > MaxFaultBytes*3/2 {
		t.Errorf("%d faults with %d bytes of pointers, at most %d are allowed", len(faults), total, MaxFaultBytes)
	}
}

func TestFirstDuplicate(t *testing.T) {
	many := `"n0":0`
	for i := range 40 {
		many += `,"m` + strings.Repeat("x", i) + `":0`
	}
	for text, want := range map[string]string{
		`{}`: "", `{"a":1,"b":2}`: "", `{"a":1,"b":2,"c":3,"b":4,"a":5}`: "b", `{"a":{"b":1,"b":1}}`: "",
		"{" + many + "}": "", "{" + many + `,"mxx":1,"n0":1}`: "mxx",
	} {
		if name, found := FirstDuplicate(mustParse(t, text)); name != want || found != (want != "") {
			t.Errorf("%.60s: %q, %v; want %q", text, name, found, want)
		}
	}
}
