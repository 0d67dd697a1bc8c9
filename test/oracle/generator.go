// Package oracle holds Toolmark's pins against CPython: it makes up request bodies,
// asks the published reference for its answers, and compares them with ours.
//
// The bodies are meant to be nasty: every spelling of a number, every way to escape a
// character, lone surrogates, duplicate and non-ASCII keys, wrong types, and a share of
// lines that are not JSON. The same seed gives the same bodies.
package oracle

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Generator makes up request bodies. It is not safe for concurrent use.
type Generator struct {
	rng *rand.Rand
	buf []byte
	// strict leaves out what I-JSON (RFC 7493) does not allow.
	strict bool
}

// New gives the generator of a seed.
func New(seed uint64) *Generator {
	return &Generator{rng: rand.New(rand.NewPCG(seed, 0x746f6f6c6d61726b))}
}

// Body gives the next request body: one line of UTF-8 without a line end, never empty.
// About one in eight is not JSON or not a tool list.
func (g *Generator) Body() []byte {
	g.buf = nil
	g.strict = false
	if g.one(40) {
		g.buf = append(g.buf, "\xef\xbb\xbf"...)
	}
	g.space()
	g.body()
	g.space()
	if g.one(12) {
		g.damage()
	}
	if len(g.buf) == 0 {
		return []byte{' '}
	}
	return g.buf
}

// IJSON gives the next I-JSON value: no duplicate keys, no lone surrogates, only numbers
// that are the shortest spelling of a double or equal to it.
func (g *Generator) IJSON() []byte {
	g.buf = nil
	g.strict = true
	g.value(5)
	return g.buf
}

func (g *Generator) one(in int) bool   { return g.rng.IntN(in) == 0 }
func (g *Generator) put(s string)      { g.buf = append(g.buf, s...) }
func (g *Generator) pick(of ...string) { g.put(of[g.rng.IntN(len(of))]) }

func (g *Generator) space() {
	if g.one(3) {
		g.pick(" ", "\t", "\r", "  ", " \r\t ")
	}
}

func (g *Generator) body() {
	if g.one(60) {
		g.pick("[]", "null", `"tools"`, "17", "true", `[{"name":"a"}]`, `{"tool":[]}`, "{}")
		return
	}
	g.put("{")
	if g.one(6) {
		g.member("other_servers", func() { g.value(2) })
		g.put(",")
	}
	if g.one(20) {
		g.member("tools", func() { g.value(1) })
		g.put(",")
	}
	g.member("tools", g.tools)
	if g.one(6) {
		g.put(",")
		g.member("pin", func() { g.value(1) })
	}
	g.put("}")
}

func (g *Generator) tools() {
	if g.one(50) {
		g.pick(`""`, "{}", "null", "0", "true", `"abc"`, `{"name":"a"}`, "1.5")
		return
	}
	n := g.rng.IntN(5)
	if g.one(100) {
		n = 400 + g.rng.IntN(200)
	}
	g.put("[")
	for i := range n {
		if i > 0 {
			g.put(",")
		}
		g.space()
		if n < 10 && g.one(150) {
			g.value(1) // hardly ever a tool
		} else {
			g.tool(n > 10)
		}
		g.space()
	}
	g.put("]")
}

func (g *Generator) tool(small bool) {
	depth := 4
	if small {
		depth = 1
	}
	var members []func()
	add := func(name string, value func()) {
		members = append(members, func() { g.member(name, value) })
	}
	if !g.one(150) {
		add("name", g.name)
	}
	if !g.one(6) {
		add("description", g.description)
	}
	if !g.one(6) {
		add("inputSchema", func() { g.schema(depth) })
	}
	if g.one(4) {
		add("input_schema", func() { g.schema(depth) })
	}
	for g.one(3) {
		name := []string{"title", "annotations", "outputSchema", "_meta", "name", "description", "inputSchema"}[g.rng.IntN(7)]
		if name == "name" && !g.one(10) {
			continue
		}
		add(name, func() {
			if name == "name" {
				g.name()
			} else {
				g.value(2)
			}
		})
	}
	g.rng.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	g.put("{")
	for i, m := range members {
		if i > 0 {
			g.put(",")
		}
		m()
	}
	g.put("}")
}

// name makes a tool's name: often one of few, so that names are equal but for a tie.
func (g *Generator) name() {
	switch {
	case g.one(200):
		g.value(1)
	case g.one(2):
		g.quote([]string{"read", "Read", "réad", "a", "b", "\uffee", "😀", "a\u0000"}[g.rng.IntN(8)])
	default:
		g.string()
	}
}

func (g *Generator) description() {
	switch {
	case g.one(12):
		g.pick("null", "false", "0", "-0", "0.0", "-0.0", "0e5", "1e-400", "[]", "{}", `""`)
	case g.one(12):
		g.value(2)
	default:
		g.string()
	}
}

func (g *Generator) schema(depth int) {
	if g.one(10) {
		g.pick("null", "{}", "[]", "false", "0", `""`, "true")
		return
	}
	if g.one(40) {
		n := 100 + g.rng.IntN(390)
		if g.one(30) {
			n = 505 + g.rng.IntN(20) // around the limit
		}
		g.put(strings.Repeat("[", n))
		g.put(strings.Repeat("]", n))
		return
	}
	g.object(depth)
}

func (g *Generator) member(name string, value func()) {
	g.space()
	if g.one(20) {
		g.quote(name)
	} else {
		g.put(strconv.Quote(name))
	}
	g.space()
	g.put(":")
	g.space()
	value()
	g.space()
}

// value makes any JSON value of at most depth levels.
func (g *Generator) value(depth int) {
	switch g.rng.IntN(8) {
	case 0, 1:
		if depth > 0 {
			g.object(depth)
			return
		}
	case 2:
		if depth > 0 {
			g.put("[")
			for i, n := 0, g.rng.IntN(5); i < n; i++ {
				if i > 0 {
					g.put(",")
				}
				g.space()
				g.value(depth - 1)
				g.space()
			}
			g.space()
			g.put("]")
			return
		}
	case 3, 4:
		g.number()
		return
	case 5:
		g.pick("true", "false", "null")
		return
	}
	g.string()
}

func (g *Generator) object(depth int) {
	n := g.rng.IntN(6)
	if g.one(50) {
		n = 15 + g.rng.IntN(30)
	}
	used := map[string]bool{}
	g.put("{")
	first := true
	for range n {
		name := g.key()
		if g.strict && used[name] {
			continue
		}
		used[name] = true
		if !first {
			g.put(",")
		}
		first = false
		g.space()
		g.quote(name)
		g.space()
		g.put(":")
		g.space()
		g.value(depth - 1)
	}
	g.space()
	g.put("}")
}

var keyPool = []string{
	"type", "properties", "required", "a", "b", "aa", "A", "", "~/", "é", "e\u0301", "ключ", "鍵", "😀", "😁",
	"\ufb33", "\uffff", "\u007f", "\u0080", "\u2028", "__proto__", "constructor", "toString", "1", "10", "\r", "\x00",
	"\"", "\\", "0.0",
}

func (g *Generator) key() string {
	if g.one(4) {
		return g.text()
	}
	if !g.strict && g.one(30) {
		return []string{"\xed\xa0\xbd", "\xed\xb8\x80", "\xed\xa0\xbdx"}[g.rng.IntN(3)]
	}
	return keyPool[g.rng.IntN(len(keyPool))]
}

func (g *Generator) string() { g.quote(g.text()) }

var words = []string{
	"Lists the open tickets of a board.", "path", "returns\nlines", "a\tb", "<b>&amp;</b>", "größe", "имя файла",
	"檔案名稱", "اسم", "שם", "नाम", "👩‍👩‍👧", "🏴\U000e0067\U000e0062\U000e007f", "\u200b", "\ufeff", "\u2028\u2029",
	"\u0000\u0001\u001f", "\u007f\u0080\u009f", "\ud7ff\ue000", "\ufffd\ufffe\uffff", "\U00010000\U0010ffff", "/", "\\", "\"",
	"\b\f\r", "eight888", "x", "", " ",
}

// text makes text in WTF-8.
func (g *Generator) text() string {
	var s strings.Builder
	for n := g.rng.IntN(4); n > 0; n-- {
		switch g.rng.IntN(6) {
		case 0:
			r := rune(g.rng.IntN(0x110000))
			if g.one(2) {
				r = rune(g.rng.IntN(0x300))
			}
			if r >= 0xd800 && r < 0xe000 {
				r = '?'
			}
			s.WriteRune(r)
		case 1:
			if !g.strict && g.one(3) {
				// One half alone; text never ends a high half with a low one, as that
				// would read as a whole pair.
				s.WriteString([]string{"\xed\xa0\x80.", "\xed\xaf\xbf.", "\xed\xb0\x80", "\xed\xbf\xbf", "\xed\xa0\xbd\xed\xa0\xbd!"}[g.rng.IntN(5)])
			}
		default:
			s.WriteString(words[g.rng.IntN(len(words))])
		}
	}
	return s.String()
}

// quote writes WTF-8 text as a JSON string, spelling each character in one of the ways
// JSON has.
func (g *Generator) quote(s string) {
	g.put(`"`)
	often := g.one(4)
	for i := 0; i < len(s); {
		r, size := decode(s[i:])
		short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '/': `\/`}[r]
		switch {
		case short != "" && (r != '/' && !g.one(5) || r == '/' && g.one(2)):
			g.put(short)
		case r < 0x20, r == '"', r == '\\', r >= 0xd800 && r < 0xe000, often && g.one(2), g.one(30):
			if r > 0xffff {
				r -= 0x10000
				g.unit(0xd800 + r>>10)
				r = 0xdc00 + r&0x3ff
			}
			g.unit(r)
		default:
			g.put(s[i : i+size])
		}
		i += size
	}
	g.put(`"`)
}

func (g *Generator) unit(r rune) {
	if g.one(2) {
		g.buf = fmt.Appendf(g.buf, "\\u%04x", r)
	} else {
		g.buf = fmt.Appendf(g.buf, "\\u%04X", r)
	}
}

// decode reads one character of WTF-8.
func decode(s string) (rune, int) {
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	for _, r := range s {
		return r, len(string(r))
	}
	return 0, 0
}

// number writes a number in one of many spellings.
func (g *Generator) number() {
	if g.strict {
		g.strictNumber()
		return
	}
	if g.one(4) {
		g.put("-")
	}
	switch g.rng.IntN(12) {
	case 0:
		g.put("0")
	case 1:
		g.put(strconv.Itoa(g.rng.IntN(1000)))
	case 2:
		g.digits(1 + g.rng.IntN(40))
	case 3:
		if g.one(40) {
			g.digits(4296 + g.rng.IntN(8)) // around the most digits CPython reads
			return
		}
		g.digits(15 + g.rng.IntN(6))
	case 4:
		g.pick("9007199254740991", "9007199254740992", "9007199254740993", "18446744073709551615", "1e15", "1e16", "1e17",
			"9999999999999998.0", "99999999999999990.0", "1e21", "1e22", "1e23", "123456789012345678.0", "0.0001", "0.00001",
			"0.00009999999999999999", "1e-5", "1.7976931348623157e308", "1.7976931348623159e308", "1e308", "1e309", "2.2250738585072014e-308",
			"2.225073858507201e-308", "4.9e-324", "5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400", "1e400")
	case 5: // the digits of a double
		f := math.Abs(g.double())
		g.buf = strconv.AppendFloat(g.buf, f, "eE"[g.rng.IntN(2)], g.rng.IntN(30)-1, 64)
	case 6:
		f := math.Abs(g.double())
		if f > 1e40 || f < 1e-40 {
			f = g.rng.Float64() * math.Pow10(g.rng.IntN(40)-20)
		}
		g.buf = strconv.AppendFloat(g.buf, f, 'f', g.rng.IntN(30), 64)
	case 7: // just at the middle of two doubles, or a digit beside it
		g.middle()
	case 8:
		g.digits(1 + g.rng.IntN(20))
		g.put(".")
		g.decimals(1 + g.rng.IntN(25))
	case 9: // zeros that the exponent takes back
		n := g.rng.IntN(60)
		if g.one(30) {
			n = 9_990 + g.rng.IntN(20)
		}
		if g.one(60) {
			n = 99_990 + g.rng.IntN(20)
		}
		if g.one(2) {
			g.put("0." + strings.Repeat("0", n))
			g.digits(1 + g.rng.IntN(18))
			g.buf = fmt.Appendf(g.buf, "e+%d", n+g.rng.IntN(30)-10)
		} else {
			g.digits(1 + g.rng.IntN(18))
			g.put(strings.Repeat("0", n))
			g.buf = fmt.Appendf(g.buf, "E-0%d", n+g.rng.IntN(30))
		}
	default:
		g.digits(1 + g.rng.IntN(5))
		if g.one(2) {
			g.put(".")
			g.decimals(1 + g.rng.IntN(5))
		}
		g.pick("e", "E")
		g.pick("", "+", "-", "+0", "-00")
		g.put(strconv.Itoa(g.rng.IntN(40)))
	}
}

func (g *Generator) double() float64 {
	for {
		f := math.Float64frombits(g.rng.Uint64())
		if g.one(2) {
			f = math.Ldexp(g.rng.Float64(), g.rng.IntN(120)-60)
		}
		if f != 0 && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	}
}

func (g *Generator) middle() {
	f := math.Ldexp(1+g.rng.Float64(), g.rng.IntN(200)-100)
	sum := new(big.Float).SetPrec(2000).SetFloat64(f)
	sum.Add(sum, new(big.Float).SetFloat64(math.Nextafter(f, math.Inf(1))))
	sum.Quo(sum, big.NewFloat(2))
	text := sum.Text('f', 400)
	text = strings.TrimRight(text, "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	g.put(text)
	if g.one(2) {
		g.pick("0", "1", "0000001")
	}
}

func (g *Generator) strictNumber() {
	switch g.rng.IntN(4) {
	case 0:
		g.put(strconv.Itoa(g.rng.IntN(2000) - 1000))
	case 1:
		g.put(strconv.FormatInt(int64(g.rng.Uint64()>>11), 10)) // below 2^53
	case 2:
		g.buf = strconv.AppendFloat(g.buf, g.double(), 'e', -1, 64)
	default:
		g.buf = strconv.AppendFloat(g.buf, math.Ldexp(g.rng.Float64()+0.5, g.rng.IntN(180)-90), 'f', -1, 64)
	}
}

// digits writes n digits, the first of them not zero.
func (g *Generator) digits(n int) {
	g.buf = append(g.buf, byte('1'+g.rng.IntN(9)))
	g.decimals(n - 1)
}

func (g *Generator) decimals(n int) {
	zero := g.one(3)
	for ; n > 0; n-- {
		if zero && !g.one(4) {
			g.put("0")
		} else {
			g.buf = append(g.buf, byte('0'+g.rng.IntN(10)))
		}
	}
}

// damage makes the body something else than it was, in most cases not JSON.
func (g *Generator) damage() {
	at := g.rng.IntN(len(g.buf) + 1)
	insert := func(s string) {
		g.buf = append(g.buf[:at:at], append([]byte(s), g.buf[at:]...)...)
	}
	switch g.rng.IntN(5) {
	case 0:
		g.buf = g.buf[:at]
	case 1:
		if at < len(g.buf) {
			g.buf = append(g.buf[:at:at], g.buf[at+1:]...)
		}
	case 2:
		parts := []string{
			"NaN", "-Infinity", "Infinity", "\x00", "\x1f", "\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x80",
			",", "]", "}", "[", "{", "\"", "\\", "0", "-", ".", "e", "\\u12", "\\ud83d", "'", "//", "\u00a0", "\ufeff", "\v", "tru",
		}
		insert(parts[g.rng.IntN(len(parts))])
	case 3: // a value replaced by one that is not JSON
		if k := strings.Index(string(g.buf[at:]), ":"); k >= 0 {
			at += k + 1
			insert([]string{"NaN,\"x\":", "01,\"x\":", "1.,\"x\":", ".5,\"x\":", "+1,\"x\":", "1e,\"x\":", "0x1,\"x\":", "True,\"x\":", "-Infinity,\"x\":"}[g.rng.IntN(9)])
		}
	default:
		if at < len(g.buf) && g.buf[at] != '\n' {
			g.buf[at] ^= 1 << g.rng.IntN(8)
			if g.buf[at] == '\n' {
				g.buf[at] = '\f'
			}
		}
	}
}
