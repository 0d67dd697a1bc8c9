package license

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustCheck(t testing.TB, expression string, uses ...Use) *Answer {
	t.Helper()
	a, err := Check(expression, uses)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return a
}

// TestTable holds the embedded facts to being whole: a table that was cut short would
// make everything unknown and no other test here fail loudly.
func TestTable(t *testing.T) {
	table, err := facts()
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, e := range table.licenses {
		if !e.listed {
			continue
		}
		listed++
		for _, f := range slices.Concat(e.permissions, e.limitations) {
			if !slices.Contains([]string{"commercial-use", "modifications", "distribution", "private-use", "patent-use", "liability", "warranty", "trademark-use"}, f) {
				t.Errorf("%s: flag %q is not known to Check", e.id, f)
			}
		}
	}
	if len(table.licenses) < 700 || len(table.exceptions) < 60 || listed < 47 {
		t.Errorf("%d licences, %d exceptions, %d with flags", len(table.licenses), len(table.exceptions), listed)
	}
	for old, now := range replacements {
		if e := table.licenses[strings.ToLower(old)]; e == nil || !e.deprecated {
			t.Errorf("%s is replaced and not deprecated", old)
		}
		a := mustCheck(t, now)
		if a.License != now || a.Licenses[0].Deprecated || a.Licenses[0].Status == StatusUnknown || a.Licenses[0].Exception != "" && !a.Licenses[0].ExceptionKnown {
			t.Errorf("%s is replaced by %s, which reads as %+v", old, now, a.Licenses)
		}
	}
	for name, text := range map[string]string{
		"no identifier": "license\n", "unknown kind": "licence MIT\n", "unknown word": "license MIT x=y\n", "twice": "license MIT\nlicense mit\n",
	} {
		if _, err := readTable(text); err == nil {
			t.Errorf("a table with %s is read", name)
		}
	}
}

func TestCheck(t *testing.T) {
	type want struct {
		license    string
		verdict    Verdict
		conditions string
		choice     string
	}
	for expression, w := range map[string]want{
		"MIT":                                {"MIT", Permitted, "include-copyright", ""},
		" mit ":                              {"MIT", Permitted, "include-copyright", ""},
		"0bsd":                               {"0BSD", Permitted, "", ""},
		"APACHE-2.0+":                        {"Apache-2.0+", Permitted, "document-changes include-copyright", ""},
		"GPL-2.0-or-later":                   {"GPL-2.0-or-later", Permitted, "disclose-source document-changes include-copyright same-license", ""},
		"AGPL-3.0-only":                      {"AGPL-3.0-only", Permitted, "disclose-source document-changes include-copyright network-use-disclose same-license", ""},
		"MIT AND Apache-2.0":                 {"MIT AND Apache-2.0", Permitted, "document-changes include-copyright", ""},
		"MIT and apache-2.0":                 {"MIT AND Apache-2.0", Permitted, "document-changes include-copyright", ""},
		"GPL-3.0-only OR MIT":                {"GPL-3.0-only OR MIT", Permitted, "include-copyright", "MIT"},
		"CC-BY-NC-4.0":                       {"CC-BY-NC-4.0", Unknown, "", ""},
		"CC-BY-NC-4.0 OR MIT":                {"CC-BY-NC-4.0 OR MIT", Permitted, "include-copyright", "MIT"},
		"CC-BY-NC-4.0 AND MIT":               {"CC-BY-NC-4.0 AND MIT", Unknown, "include-copyright", ""},
		"LicenseRef-Own":                     {"LicenseRef-Own", Unknown, "", ""},
		"DocumentRef-a:LicenseRef-b AND MIT": {"DocumentRef-a:LicenseRef-b AND MIT", Unknown, "include-copyright", ""},
		"Hand-Made-1.0":                      {"Hand-Made-1.0", Unknown, "", ""},
		"NONE":                               {"NONE", Unknown, "", ""},
		"GFDL-1.3-invariants-only":           {"GFDL-1.3-invariants-only", Unknown, "", ""},
		"GPL-2.0-only WITH classpath-exception-2.0": {"GPL-2.0-only WITH Classpath-exception-2.0", Permitted, "disclose-source document-changes include-copyright same-license", ""},
		"GPL-2.0-only WITH Made-up-exception":       {"GPL-2.0-only WITH Made-up-exception", Unknown, "", ""},
		"MIT WITH AdditionRef-x":                    {"MIT WITH AdditionRef-x", Unknown, "", ""},
		"GPL-2.0-with-classpath-exception":          {"GPL-2.0-with-classpath-exception", Permitted, "disclose-source document-changes include-copyright same-license", ""},
		// AND binds tighter than OR.
		"MIT OR GPL-2.0-only AND LicenseRef-x":             {"MIT OR GPL-2.0-only AND LicenseRef-x", Permitted, "include-copyright", "MIT"},
		"(MIT OR GPL-2.0-only) AND LicenseRef-x":           {"(MIT OR GPL-2.0-only) AND LicenseRef-x", Unknown, "include-copyright", "MIT AND LicenseRef-x"},
		"(LicenseRef-x OR ISC) AND (Zlib OR LicenseRef-y)": {"(LicenseRef-x OR ISC) AND (Zlib OR LicenseRef-y)", Permitted, "document-changes include-copyright include-copyright--source", "ISC AND Zlib"},
	} {
		a := mustCheck(t, expression, CommercialUse, Modifications, Distribution, PrivateUse)
		if got := (want{a.License, a.Verdict, strings.Join(a.Conditions, " "), a.Choice}); got != w {
			t.Errorf("%s\n got %+v\nwant %+v", expression, got, w)
		}
		if a.Disclaimer != Disclaimer {
			t.Errorf("%s: no disclaimer", expression)
		}
	}
}

// TestPatents: the one use that licences differ in.
func TestPatents(t *testing.T) {
	for expression, want := range map[string]Verdict{
		"Apache-2.0":         Permitted,
		"MIT":                Unknown, // says nothing of patents
		"CC0-1.0":            NotPermitted,
		"MIT OR Apache-2.0":  Permitted,
		"MIT AND Apache-2.0": Unknown,
		"CC0-1.0 AND MIT":    NotPermitted,
		"CC0-1.0 OR MIT":     Unknown,
	} {
		if a := mustCheck(t, expression, PatentUse); a.Verdict != want {
			t.Errorf("%s: %s, want %s", expression, a.Verdict, want)
		}
	}
	if a := mustCheck(t, "MIT OR Apache-2.0", PatentUse); a.Choice != "Apache-2.0" || len(a.Alternatives) != 2 {
		t.Errorf("choice %q of %d", a.Choice, len(a.Alternatives))
	}
}

func TestLicences(t *testing.T) {
	a := mustCheck(t, "gpl-2.0+ OR EPL-1.0 WITH Nokia-Qt-exception-1.1")
	want := []Licence{
		{ID: "GPL-2.0", Status: StatusKnown, OrLater: true, Deprecated: true, ReplacedBy: "GPL-2.0-or-later"},
		{ID: "EPL-1.0", Status: StatusKnown, Exception: "Nokia-Qt-exception-1.1", ExceptionKnown: true},
	}
	if !slices.Equal(a.Licenses, want) {
		t.Errorf("got %+v", a.Licenses)
	}
	if len(a.Uses) != len(Uses) {
		t.Errorf("no use is named, so all are answered; got %v", a.Uses)
	}
}

func TestSyntax(t *testing.T) {
	for text, offset := range map[string]int{
		"": 0, "  ": 2, "MIT OR": 6, "OR MIT": 0, "MIT MIT": 4, "(MIT": 4, "MIT)": 3, "()": 1, "MIT/Apache-2.0": 3,
		"MIT,ISC": 3, "+": 0, "MIT++": 0, "GPL-2.0-only WITH": 17, "MIT WITH (ISC)": 9, "MIT WITH x+": 9, "(MIT) WITH x": 6,
		"a:b": 0, "DocumentRef-a": -1, "DocumentRef-a:b": 0, "MIT And ISC": 4, "MIT OR \u200bISC": 7,
		strings.Repeat("(", MaxDepth+1) + "MIT": MaxDepth, strings.Repeat("a", MaxExpression+1): MaxExpression,
	} {
		_, err := Check(text, nil)
		var syntax *SyntaxError
		switch {
		case offset < 0 && err == nil:
		case !errors.As(err, &syntax):
			t.Errorf("%.30q: %v", text, err)
		case syntax.Offset != offset:
			t.Errorf("%.30q: offset %d, want %d (%v)", text, syntax.Offset, offset, err)
		}
	}
}

var leaves = []string{"MIT", "Apache-2.0", "CC0-1.0", "GPL-3.0-or-later", "LicenseRef-x", "CC-BY-NC-4.0", "ISC WITH Bison-exception-2.2"}

// expressions draws expressions whose meaning is known by construction.
func expressions(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if depth == 0 || rapid.Bool().Draw(t, "leaf") {
			return rapid.SampledFrom(leaves).Draw(t, "id")
		}
		word := rapid.SampledFrom([]string{" AND ", " OR "}).Draw(t, "word")
		return "(" + expressions(depth-1).Draw(t, "a") + word + expressions(depth-1).Draw(t, "b") + ")"
	})
}

// TestProperties: what holds whatever the expression.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := expressions(3).Draw(t, "x"), expressions(3).Draw(t, "y")
		check := func(e string) *Answer {
			a, err := Check(e, nil)
			if err != nil {
				t.Fatalf("%s: %v", e, err)
			}
			return a
		}
		a, b := check(x), check(y)
		again := check(a.License)
		if again.License != a.License || again.Verdict != a.Verdict {
			t.Errorf("%s is written %s, which is written %s", x, a.License, again.License)
		}
		both, either := check(x+" AND "+y), check(x+" OR "+y)
		if want := worse(a.Verdict, b.Verdict); both.Verdict != want {
			t.Errorf("%s AND %s: %s, want %s", x, y, both.Verdict, want)
		}
		if want := max(a.Verdict.rank(), b.Verdict.rank()); either.Verdict.rank() != want {
			t.Errorf("%s OR %s: %s", x, y, either.Verdict)
		}
		if chosen := check(either.Choice); chosen.Verdict != either.Verdict || !slices.Equal(chosen.Conditions, either.Conditions) {
			t.Errorf("%s OR %s: the choice %s reads otherwise by itself", x, y, either.Choice)
		}
	})
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{"MIT", "(MIT OR GPL-2.0+) AND ISC WITH x", "DocumentRef-a:LicenseRef-b", "((((", "MIT WITH WITH", "a+b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Check(s, nil)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset > len(s) {
				t.Fatalf("%v", err)
			}
			return
		}
		if _, err := Check(a.License, nil); err != nil {
			t.Fatalf("%q is written %q: %v", s, a.License, err)
		}
	})
}
