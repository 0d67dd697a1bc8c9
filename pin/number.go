package pin

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/toolmark/toolmark"
)

// Numbers longer than this, or with a greater exponent, are not computed with: they are
// equal only if they are spelled alike. A hostile exponent would cost gigabytes.
const (
	maxDigits   = 100
	maxExponent = 400
)

// number gives the exact value of a number.
func number(v *toolmark.Value) (*big.Rat, bool) {
	if v.Kind != toolmark.KindNumber || len(v.Text) > maxDigits {
		return nil, false
	}
	if len(v.Text) < 19 {
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return new(big.Rat).SetInt64(n), true
		}
	}
	if at := strings.IndexAny(v.Text, "eE"); at >= 0 {
		if e, err := strconv.Atoi(v.Text[at+1:]); err != nil || e > maxExponent || e < -maxExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(v.Text)
}

// bound is one end of a range.
type bound struct {
	at     *big.Rat
	strict bool // at itself is outside
	known  bool
}

// tighter gives the bound that lets less through. sign is 1 for lower bounds and -1 for
// upper ones.
func tighter(a, b bound, sign int) bound {
	switch {
	case !a.known:
		return b
	case !b.known:
		return a
	}
	switch c := a.at.Cmp(b.at) * sign; {
	case c > 0, c == 0 && a.strict:
		return a
	}
	return b
}

// within reports whether all that bound a lets through, b does too.
func within(a, b bound, sign int) bool {
	if !b.known {
		return true
	}
	if !a.known {
		return false
	}
	c := a.at.Cmp(b.at) * sign
	return c > 0 || c == 0 && (a.strict || !b.strict)
}

// whole gives the bound for integers: the outermost integer that is inside.
func (b bound) whole(sign int) bound {
	if !b.known || b.at.IsInt() && !b.strict {
		return b
	}
	up := new(big.Int).Quo(b.at.Num(), b.at.Denom()) // toward zero
	n := new(big.Rat).SetInt(up)
	// Move to the nearest integer that is not outside.
	if n.Cmp(b.at)*sign < 0 || n.Cmp(b.at) == 0 && b.strict {
		n.Add(n, big.NewRat(int64(sign), 1))
	}
	return bound{at: n, known: true}
}

// limits reads both spellings of one end of a range: minimum and exclusiveMinimum, or
// maximum and exclusiveMaximum.
func (s node) limits(plain, exclusive string, sign int) bound {
	var b bound
	if n, ok := number(s.get(plain).v); ok {
		b = bound{at: n, known: true}
	}
	if n, ok := number(s.get(exclusive).v); ok {
		b = tighter(b, bound{at: n, strict: true, known: true}, sign)
	}
	return b
}
