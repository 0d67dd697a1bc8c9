package atr

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/shared"
)

// tool is the texts of one tool of a corpus.
type tool struct {
	name  string
	texts []string
}

// benign gives the tools of the real servers in ../shared.
func benign(tb testing.TB) []tool {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(shared.Path(tb, "corpus", "benign"), "*.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var list []tool
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		var server struct {
			Tools []map[string]any `json:"tools"`
		}
		if err := json.Unmarshal(data, &server); err != nil {
			tb.Fatal(file, err)
		}
		for _, t := range server.Tools {
			name, _ := t["name"].(string)
			one := tool{name: filepath.Base(file) + " " + name}
			collect(t["description"], &one.texts)
			collect(t["inputSchema"], &one.texts)
			list = append(list, one)
		}
	}
	if len(list) < 1000 {
		tb.Fatalf("%d tools: fewer than there are", len(list))
	}
	return list
}

// collect gathers all strings of a JSON value in a fixed order.
func collect(v any, into *[]string) {
	switch v := v.(type) {
	case string:
		*into = append(*into, v)
	case []any:
		for _, item := range v {
			collect(item, into)
		}
	case map[string]any:
		var names []string
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if s, ok := v[name].(string); ok && (name == "type" || name == "$schema" || name == "format" || name == "pattern" || s == "") {
				continue
			}
			if name != "required" {
				collect(v[name], into)
			}
		}
	}
}

// TestBenign holds the share of real tools that get a match.
func TestBenign(t *testing.T) {
	p := real(t)
	tools := benign(t)
	hit, medium := 0, 0
	for _, tool := range tools {
		r := p.Match(tool.texts, nil)
		worst := toolmark.Severity(0)
		for _, m := range r.Matches {
			worst = max(worst, m.Rule.Grade())
			t.Logf("%s: %s %v %s", tool.name, m.Rule.ID, m.Rule.Grade(), m.Rule.Title)
		}
		if worst > 0 {
			hit++
		}
		if worst == toolmark.Medium {
			medium++
		}
		if !r.Complete || len(r.Unfinished) > 0 {
			t.Errorf("%s: complete %v, unfinished %v", tool.name, r.Complete, r.Unfinished)
		}
	}
	t.Logf("%d tools, %d with a match, %d of them medium", len(tools), hit, medium)
	if hit*100 > len(tools) {
		t.Errorf("%d of %d tools: more than 1%%", hit, len(tools))
	}
}

func size(tools []tool) (n int) {
	for _, t := range tools {
		for _, s := range t.texts {
			n += len(s)
		}
	}
	return n
}

// typical gives 25 tools of many servers.
func typical(tb testing.TB) []tool {
	all := benign(tb)
	var tools []tool
	for i := 0; len(tools) < 25; i += 61 {
		tools = append(tools, all[i%len(all)])
	}
	return tools
}

func BenchmarkTypical(b *testing.B) {
	p := real(b)
	run(b, p, typical(b))
}

func BenchmarkLargest(b *testing.B) {
	p := real(b)
	var tools []tool
	all := benign(b)
	for i, n := 0, 0; n < 131072; i++ {
		t := all[i*7%len(all)]
		tools = append(tools, t)
		n += size([]tool{t})
	}
	run(b, p, tools)
}

func BenchmarkHostile(b *testing.B) {
	p := real(b)
	text := hostile(p, 131072)
	run(b, p, []tool{{"hostile", []string{text}}})
}

func BenchmarkHostileMany(b *testing.B) {
	p := real(b)
	text := hostile(p, 131072)
	var tl tool
	for len(text) > 600 {
		tl.texts = append(tl.texts, text[:600])
		text = text[600:]
	}
	run(b, p, []tool{tl})
}

func hostile(p *Pack, n int) string {
	var b []byte
	for i := 0; len(b) < n; i++ {
		b = append(b, p.index.literals[i*31%len(p.index.literals)].text...)
		for j := range b {
			if b[j] >= 0x80 {
				b[j] = 'x'
			}
		}
		if len(b) > 4096 && n > 4096 {
			break
		}
	}
	out := b
	k := 0
	for len(out) < n {
		l := p.index.literals[k*7919%len(p.index.literals)].text
		k++
		ok := true
		for j := range len(l) {
			ok = ok && l[j] < 0x80
		}
		if ok {
			out = append(out, l...)
			out = append(out, ' ')
		}
	}
	return string(out[:n])
}

func run(b *testing.B, p *Pack, tools []tool) {
	b.Helper()
	b.SetBytes(int64(size(tools)))
	found := 0
	for _, t := range tools {
		found += len(p.Match(t.texts, nil).Matches)
	}
	b.ResetTimer()
	for range b.N {
		for _, t := range tools {
			p.Match(t.texts, nil)
		}
	}
	b.ReportMetric(float64(found), "matches")
}

func BenchmarkOpen(b *testing.B) {
	real(b)
	b.ResetTimer()
	for range b.N {
		if _, err := Open(""); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCold is a pack that is opened and used once, as by a command.
func BenchmarkCold(b *testing.B) {
	real(b)
	tools := typical(b)
	b.ResetTimer()
	for range b.N {
		p, err := Open("")
		if err != nil {
			b.Fatal(err)
		}
		for _, t := range tools {
			p.Match(t.texts, nil)
		}
	}
}
