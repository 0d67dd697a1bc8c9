package canonjson

import (
	"math"
	"strconv"
	"strings"
)

// isInteger reports whether a number literal has neither fraction nor exponent. CPython
// reads exactly those as int.
func isInteger(literal string) bool {
	for i := 0; i < len(literal); i++ {
		if c := literal[i]; c == '.' || c|0x20 == 'e' {
			return false
		}
	}
	return true
}

// decimal is the value of a number literal: 0.DIGITS × 10^exp. Digits has no zero at
// either end; zero has no digits. Equal values have equal decimals, but for the sign
// of zero.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

// farExponent is where written exponents are cut off. An input has at most
// HighestMaxBytes digits, fewer than this, so a number whose exponent was cut off is
// far beyond a double's range either way.
const farExponent = 1 << 40

// parseDecimal reads a number literal of JSON's grammar.
func parseDecimal(literal string) decimal {
	var d decimal
	if literal[0] == '-' {
		d.negative = true
		literal = literal[1:]
	}
	mantissa, exp := literal, 0
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa, exp = literal[:i], parseExponent(literal[i+1:])
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exp += len(whole)
	digits := whole
	if fraction != "" {
		digits += fraction
	}
	trimmed := strings.TrimLeft(digits, "0")
	exp -= len(digits) - len(trimmed)
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits != "" {
		d.exp = exp
	}
	return d
}

func parseExponent(s string) int {
	negative := false
	switch s[0] {
	case '-':
		negative = true
		s = s[1:]
	case '+':
		s = s[1:]
	}
	n := 0
	for i := 0; i < len(s); i++ {
		n = min(n*10+int(s[i]-'0'), farExponent)
	}
	if negative {
		return -n
	}
	return n
}

// parseDouble gives the IEEE 754 double nearest to a number literal, ties to even;
// ±Inf beyond the range.
//
// strconv.ParseFloat stops counting an exponent's digits at 10,000, so that a literal
// with 100,000 zeros and an exponent that takes them back would be read wrongly. Such
// a literal, which only someone hostile writes, is brought to a short exponent first.
func parseDouble(literal string) float64 {
	if len(literal) > 800 {
		d := parseDecimal(literal)
		switch {
		case d.digits == "":
			literal = "0"
		case d.exp > 400:
			literal = "1e999"
		case d.exp < -400:
			literal = "0"
		default:
			literal = "0." + d.digits + "e" + strconv.Itoa(d.exp)
		}
		if d.negative {
			literal = "-" + literal
		}
	}
	// The only error left is ErrRange, with the infinity we want.
	f, _ := strconv.ParseFloat(literal, 64)
	return f
}

// shortest gives the shortest decimal digits that read back as f, which is finite and
// not zero, and the decimal point's place before the first digit times 10^point:
// 0.DIGITS × 10^point. Sign is left out.
func shortest(buf []byte, f float64) (digits []byte, point int) {
	buf = strconv.AppendFloat(buf[:0], math.Abs(f), 'e', -1, 64)
	// d[.ddd]e±xx
	e := len(buf) - 1
	for buf[e] != 'e' {
		e--
	}
	exp := 0
	for _, c := range buf[e+2:] {
		exp = exp*10 + int(c-'0')
	}
	if buf[e+1] == '-' {
		exp = -exp
	}
	digits = buf[:1]
	if e > 1 {
		// The first digit takes the decimal point's place, so that all are together.
		buf[1] = buf[0]
		digits = buf[1:e]
	}
	return digits, exp + 1
}

// appendPythonNumber appends what CPython prints for the literal after reading it: an
// int exactly, anything else as repr of the nearest double (float_repr_style "short").
func appendPythonNumber(dst []byte, literal string) []byte {
	if isInteger(literal) {
		if literal == "-0" {
			return append(dst, '0')
		}
		return append(dst, literal...)
	}
	f := parseDouble(literal)
	if math.Signbit(f) {
		dst = append(dst, '-')
	}
	switch {
	case math.IsInf(f, 0):
		return append(dst, "Infinity"...)
	case f == 0:
		return append(dst, "0.0"...)
	}
	var buf [32]byte
	digits, point := shortest(buf[:], f)
	if point > 16 || point <= -4 {
		return appendScientific(dst, digits, point-1, 2)
	}
	dst = appendFixed(dst, digits, point)
	if point >= len(digits) {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendECMAScript appends f, which is finite, as ECMAScript's Number::toString does
// (RFC 8785, section 3.2.2.3).
func appendECMAScript(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0')
	}
	if f < 0 {
		dst = append(dst, '-')
	}
	var buf [32]byte
	digits, point := shortest(buf[:], f)
	if point > 21 || point <= -6 {
		return appendScientific(dst, digits, point-1, 1)
	}
	return appendFixed(dst, digits, point)
}

// appendFixed appends 0.DIGITS × 10^point without an exponent.
func appendFixed(dst, digits []byte, point int) []byte {
	switch {
	case point <= 0:
		dst = append(dst, "0."...)
		for ; point < 0; point++ {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	case point >= len(digits):
		dst = append(dst, digits...)
		for n := point - len(digits); n > 0; n-- {
			dst = append(dst, '0')
		}
		return dst
	}
	dst = append(dst, digits[:point]...)
	dst = append(dst, '.')
	return append(dst, digits[point:]...)
}

// appendScientific appends d.ddde±x, with at least width digits of exponent.
func appendScientific(dst, digits []byte, exp, width int) []byte {
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
	}
	sign := byte('+')
	if exp < 0 {
		sign, exp = '-', -exp
	}
	dst = append(dst, 'e', sign)
	if width == 2 && exp < 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(exp), 10)
}

// survives reports whether a literal keeps its value in RFC 8785's form, and gives the
// double. See AppendJCS for the rule and its reason.
func survives(literal string) (float64, bool) {
	f := parseDouble(literal)
	if math.IsInf(f, 0) {
		return 0, false
	}
	if f != math.Trunc(f) {
		return f, true
	}
	d := parseDecimal(literal)
	if f == 0 {
		return 0, d.digits == ""
	}
	var buf [32]byte
	digits, point := shortest(buf[:], f)
	return f, d.exp == point && d.digits == string(digits)
}
