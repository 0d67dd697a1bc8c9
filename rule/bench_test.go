package rule

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
)

// vocabulary makes words that look like a language: syllables of a few letters, other
// ones for each language, some in scripts of their own.
type vocabulary struct {
	syllables []string
	random    *rand.Rand
}

func (v *vocabulary) word() string {
	var b strings.Builder
	for range 2 + v.random.IntN(3) {
		b.WriteString(v.syllables[v.random.IntN(len(v.syllables))])
	}
	return b.String()
}

func vocabularies(n int) []*vocabulary {
	alphabets := []string{"bcdfghklmnprstvwz aeiou", "бвгдклмнпрстж аеиоуы", "βγδκλμνπρστ αειου", "नतकमरस ािुे"}
	list := make([]*vocabulary, n)
	for i := range list {
		v := &vocabulary{random: rand.New(rand.NewPCG(uint64(i), 7))}
		consonants, vowels, _ := strings.Cut(alphabets[max(0, i-9)%len(alphabets)], " ")
		c, w := []rune(consonants), []rune(vowels)
		for range 40 {
			v.syllables = append(v.syllables, string(c[v.random.IntN(len(c))])+string(w[v.random.IntN(len(w))]))
		}
		list[i] = v
	}
	return list
}

// synthetic makes a rule set of the size that is planned: 60 rules with five
// alternatives each, over 50 families with words of 13 languages.
func synthetic(tb testing.TB) (*Set, [][]string) {
	tb.Helper()
	files := rules(tb)
	words := make([][]string, 50)
	for l, v := range vocabularies(13) {
		var b strings.Builder
		for f := range words {
			fmt.Fprintf(&b, "fam%d: [", f)
			for k := range 12 {
				w := v.word()
				if k%6 == 5 {
					w += " " + v.word()
				}
				words[f] = append(words[f], w)
				if k%4 == 3 && k%6 != 5 {
					w += "*"
				}
				fmt.Fprintf(&b, "%q, ", w)
			}
			b.WriteString("]\n")
		}
		files[fmt.Sprintf("words/l%d.yaml", l)] = file(b.String())
	}
	random := rand.New(rand.NewPCG(3, 3))
	english := vocabularies(1)[0]
	for r := range 60 {
		id := fmt.Sprintf("rule-%d", r)
		body := "any:\n"
		for k := range 5 {
			f, g, h := random.IntN(50), random.IntN(50), random.IntN(50)
			switch k {
			case 0, 1:
				body += fmt.Sprintf("- {id: a%d, near: [fam%d, fam%d, fam%d], within: 9}\n", k, f, g, h)
			case 2:
				body += fmt.Sprintf("- {id: a%d, near: [fam%d, fam%d], order: any, within: 6, without: [fam%d]}\n", k, f, g, h)
			case 3:
				body += fmt.Sprintf("- {id: a%d, regex: '(?i)\\b(?:%s|%s)\\s+(?:the\\s+)?{{fam%d}}\\b.{0,40}{{fam%d}}'}\n", k, english.word(), english.word(), f, g)
			case 4:
				body += fmt.Sprintf("- {id: a%d, regex: '(?i)\\b%s\\s+(?:\\w+\\s+){0,3}%s\\b'}\n", k, english.word(), english.word())
			}
		}
		body += fmt.Sprintf("unless:\n- {near: [fam%d, fam%d], span: clause}\n- {regex: '(?i)\\b%s %s\\b'}\n", random.IntN(50), random.IntN(50), english.word(), english.word())
		files["rules/"+id+".yaml"] = file(ruleText(id, body))
	}
	s, err := Options{Deferred: true}.Load(files)
	if err != nil {
		tb.Fatal(err)
	}
	return s, words
}

// ordinary is text that says what tools do.
func ordinary(n int) string {
	const text = "Returns the rows of a table in the order in which they were made. Give a limit to get fewer of them, and an offset to go on from there. " +
		"The answer is a JSON object with the members rows and total. If the table does not exist, an error with the name of the table is returned! "
	return strings.Repeat(text, n/len(text)+1)[:n]
}

// hostile is text made of the rules' own words.
func hostile(words [][]string, n int, sentences bool) string {
	random := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	for k := 0; b.Len() < n; k++ {
		f := words[random.IntN(len(words))]
		b.WriteString(f[random.IntN(len(f))])
		if sentences && k%14 == 13 {
			b.WriteByte('.')
		}
		b.WriteByte(' ')
	}
	return strings.ToValidUTF8(b.String()[:n], "")
}

func BenchmarkMatch(b *testing.B) {
	s, words := synthetic(b)
	tools := make([]Field, 0, 250)
	for range 25 {
		tools = append(tools, raw(toolmark.SurfaceDescription, ordinary(500)))
		for p := range 4 {
			tools = append(tools, raw(toolmark.SurfaceParameterName, fmt.Sprint("name", p)), raw(toolmark.SurfaceParameter, ordinary(75)))
		}
	}
	for _, c := range []struct {
		name   string
		fields []Field
	}{
		{"tools/20KB", tools},
		{"ordinary/128KB", []Field{raw(toolmark.SurfaceDescription, ordinary(1<<17))}},
		{"hostile/sentences/128KB", []Field{raw(toolmark.SurfaceDescription, hostile(words, 1<<17, true))}},
		{"hostile/one-sentence/128KB", []Field{raw(toolmark.SurfaceDescription, hostile(words, 1<<17, false))}},
		{"hostile/fields/128KB", split(hostile(words, 1<<17, true), 200)},
		{"han/128KB", []Field{raw(toolmark.SurfaceDescription, strings.Repeat("返回表格中的行。请给出一个限制。", 1<<17/48))}},
		{"cyrillic/128KB", []Field{raw(toolmark.SurfaceDescription, strings.Repeat("Возвращает строки таблицы по порядку. ", 1<<17/70))}},
	} {
		size := 0
		for _, f := range c.fields {
			size += len(f.Text)
		}
		b.Run(c.name, func(b *testing.B) {
			s.Match(c.fields, nil) // compiles what is compiled lazily
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				s.Match(c.fields, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/byte")
		})
	}
}

func split(text string, size int) []Field {
	var fields []Field
	for len(text) > size {
		fields = append(fields, raw(toolmark.SurfaceParameter, strings.ToValidUTF8(text[:size], "")))
		text = text[size:]
	}
	return fields
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		synthetic(b)
	}
}

// TestTimeIsLinear: eight times the text takes about eight times as long, for text
// that is made to be slow.
func TestTimeIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	s := diverse(t)
	for name, piece := range map[string]string{
		"near matches":   "do not tell do not tell the never ",
		"excused":        "read ~/.ssh permission user, ",
		"weak":           "\"do not tell the user\" ",
		"one word":       "uploaduserstelluploaddonot",
		"spaces":         "let                      ",
		"joint":          "read ~/.ssh upload https://x ",
		"starts":         "note: note: ",
		"marks":          "e\u0301\u0301\u0301",
		"dense":          "不要告诉",
		"quotes":         "\"a 'b “c ",
		"half a gap":     "never tell xxxxxxxxxxxxxxxxxxxx ",
		"sentence marks": ".!?.!?",
		"lines":          "\n \n-\n#",
	} {
		took := func(n int) time.Duration {
			f := raw(toolmark.SurfaceDescription, strings.Repeat(piece, n/len(piece)))
			best := time.Hour
			for range 3 {
				start := time.Now()
				s.Match([]Field{f}, nil)
				best = min(best, time.Since(start))
			}
			return best
		}
		took(1 << 12)
		small, large := took(1<<14), took(1<<17)
		tooLong := func() bool { return large > 40*small+20*time.Millisecond }
		for try := 0; try < 3 && tooLong(); try++ { // a loaded machine, perhaps
			small, large = took(1<<14), min(large, took(1<<17))
		}
		if tooLong() {
			t.Errorf("%s: 16 KiB took %v, 128 KiB %v", name, small, large)
		}
		t.Logf("%-14s 16 KiB %8v  128 KiB %8v", name, small, large)
	}
}
