package canonjson

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolmark/toolmark"
)

func numberValue(literal string) *toolmark.Value {
	return &toolmark.Value{Kind: toolmark.KindNumber, Text: literal}
}

// TestPythonNumbers are answers of CPython 3.11.
func TestPythonNumbers(t *testing.T) {
	zeros := strings.Repeat("0", 100_000)
	for literal, want := range map[string]string{
		"0": "0", "-0": "0", "-1": "-1", "9007199254740993": "9007199254740993",
		strings.Repeat("7", 5000): strings.Repeat("7", 5000),
		"1.0":                     "1.0", "1e0": "1.0", "1E5": "100000.0", "-0.0": "-0.0", "-0e9": "-0.0", "0e999999999999": "0.0",
		"1e15": "1000000000000000.0", "1e16": "1e+16", "9999999999999998.0": "9999999999999998.0", "123456789012345678.0": "1.2345678901234568e+17",
		"0.0001": "0.0001", "0.00001": "1e-05", "0.00012345": "0.00012345", "0.000012345": "1.2345e-05",
		"1e22": "1e+22", "1e23": "1e+23", "1.5e300": "1.5e+300", "2.5e-300": "2.5e-300", "100.5": "100.5",
		"1e400": "Infinity", "-1e400": "-Infinity", "1.7976931348623157e308": "1.7976931348623157e+308", "1.7976931348623159e308": "Infinity",
		"1e-400": "0.0", "-1e-400": "-0.0", "5e-324": "5e-324", "2.4703282292062327e-324": "0.0", "2.4703282292062328e-324": "5e-324",
		// strconv alone reads these two wrongly.
		"0." + zeros + "1e100001":         "1.0",
		"1" + zeros + ".0e-100000":        "1.0",
		"-25" + zeros + "e-100001":        "-2.5",
		"1" + zeros + "e-99999999999999":  "0.0",
		"-0." + zeros + "1e9999999999999": "-Infinity",
	} {
		if got := string(AppendPython(nil, numberValue(literal))); got != want {
			t.Errorf("%.40s: got %.60s, want %.60s", literal, got, want)
		}
	}
}

// TestECMAScriptNumbers are the samples of RFC 8785, appendix B.
func TestECMAScriptNumbers(t *testing.T) {
	samples := []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	}
	for _, s := range samples {
		if got := string(appendECMAScript(nil, math.Float64frombits(s.bits))); got != s.want {
			t.Errorf("%016x: got %s, want %s", s.bits, got, s.want)
		}
		// What is printed is itself accepted, and printed the same.
		if got, err := AppendJCS(nil, numberValue(s.want)); err != nil || string(got) != s.want {
			t.Errorf("%s again: got %s, %v", s.want, got, err)
		}
	}
}

// TestCaseD04_IntegerBeyondDouble: one documented behaviour for integers that a double
// does not hold: the pin keeps them, RFC 8785 refuses.
func TestCaseD04_IntegerBeyondDouble(t *testing.T) {
	for literal, want := range map[string]string{ // "" for refused
		"18446744073709551614":   "",
		"18446744073709551616":   "", // 2^64, a double, but printed as the next line
		"18446744073709552000":   "18446744073709552000",
		"9007199254740991":       "9007199254740991",
		"9007199254740992":       "9007199254740992",
		"9007199254740993":       "",
		"-9007199254740993":      "",
		"9007199254740993.0":     "",
		"0.1":                    "0.1",
		"0.10e0":                 "0.1",
		"1e-1":                   "0.1",
		"0.1000000000000000055":  "0.1", // the same double for every reader
		"1.0000000000000000001":  "",
		"2251799813685249.5":     "2251799813685249.5",
		"4503599627370497.5":     "",
		"0.30000000000000004":    "0.30000000000000004",
		"333333333.33333329":     "333333333.3333333",
		"4.50":                   "4.5",
		"1E30":                   "1e+30",
		"1000000000000000000000": "1e+21",
		"-0":                     "0",
		"-0.0":                   "0",
		"0e99999999999999999999": "0",
		"1e400":                  "",
		"-1e400":                 "",
		"1e-400":                 "",
		"1e99999999999999999999": "",
	} {
		v := &toolmark.Value{Kind: toolmark.KindObject, Members: []toolmark.Member{{Name: "maximum", Value: *numberValue(literal)}}}
		got, err := AppendJCS(nil, v)
		var refused *NotCanonicalError
		switch {
		case want == "" && (!errors.As(err, &refused) || refused.Pointer != "/maximum" || refused.Reason != ReasonInexactNumber):
			t.Errorf("%s: got %s, %v; want a refusal at /maximum", literal, got, err)
		case want != "" && (err != nil || string(got) != `{"maximum":`+want+"}"):
			t.Errorf("%s: got %s, %v; want %s", literal, got, err, want)
		}
		if f := Faults(v); (len(f) == 1 && f[0].Code == toolmark.CodeInexactNumber && f[0].Pointer == "/maximum") != (want == "") {
			t.Errorf("%s: faults %v", literal, f)
		}
		if pinned := string(AppendPython(nil, numberValue(literal))); isInteger(literal) && literal != "-0" && pinned != literal {
			t.Errorf("%s: the pin's form is %s", literal, pinned)
		}
	}
}

// literals makes number literals of every shape.
func literals() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?`),
		rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'e', -1, 64) }),
		rapid.Map(rapid.Float64Range(-1e25, 1e25), func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }),
	)
}

func TestNumberProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkNumber(t, literals().Draw(t, "literal")) })
}

// FuzzNumber holds the printing and comparing of numbers against math/big and strconv.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0.0", "1e16", "9007199254740993", "0.1", "1e-7", "5e-324", "2.4703282292062328e-324", "1e400", "123456789012345678901234567890.5e-9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 300 || len(s) == 0 || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
			return
		}
		if end, bad := number([]byte(s), 0); bad != nil || end != len(s) {
			return
		}
		checkNumber(t, s)
	})
}

type failer interface {
	Fatalf(format string, args ...any)
	Helper()
}

func checkNumber(t failer, literal string) {
	t.Helper()
	d := parseDecimal(literal)
	if d.exp > 2000 || d.exp < -2000 {
		return // math/big would need minutes
	}
	exact, ok := new(big.Rat).SetString(literal)
	if !ok && d.digits == "" {
		exact = new(big.Rat) // math/big refuses an exponent that even zero cannot use
	} else if !ok {
		t.Fatalf("math/big does not read %s", literal)
	}
	nearest, _ := exact.Float64()
	if exact.Sign() == 0 && literal[0] == '-' {
		nearest = math.Copysign(0, -1)
	}
	f := parseDouble(literal)
	if f != nearest && !(math.IsInf(f, 0) && math.IsInf(nearest, 0)) {
		t.Fatalf("parseDouble(%s) = %v, math/big says %v", literal, f, nearest)
	}

	python := string(AppendPython(nil, numberValue(literal)))
	switch {
	case isInteger(literal):
		if want := exact.Num().String(); python != want {
			t.Fatalf("%s is written %s, not %s", literal, python, want)
		}
	case !math.IsInf(f, 0):
		if want := pythonRepr(f); python != want {
			t.Fatalf("%s is written %s, not %s", literal, python, want)
		}
	}

	jcs, err := AppendJCS(nil, numberValue(literal))
	if math.IsInf(f, 0) {
		if err == nil {
			t.Fatalf("%s is beyond a double and was written %s", literal, jcs)
		}
		return
	}
	printed, _ := new(big.Rat).SetString(string(appendECMAScript(nil, f)))
	// A double with a fraction is one for every reader; what reads as an integer must
	// be the very one that is printed.
	fraction := f != math.Trunc(f)
	if same := printed.Cmp(exact) == 0; (same || fraction) != (err == nil) {
		t.Fatalf("%s prints as %s: equal %v, fraction %v, but accepted: %v", literal, printed, same, fraction, err)
	}
	if back, _ := printed.Float64(); back != f {
		t.Fatalf("%s prints as %s, which is another double", literal, printed)
	}
}

// pythonRepr is repr(float) built another way: strconv's own layouts, chosen by the
// exponent.
func pythonRepr(f float64) string {
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	exp, _ := strconv.Atoi(scientific[strings.IndexByte(scientific, 'e')+1:])
	if f != 0 && (exp < -4 || exp >= 16) {
		return scientific
	}
	fixed := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(fixed, ".") {
		fixed += ".0"
	}
	return fixed
}
