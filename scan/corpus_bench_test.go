//go:build unix

package scan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/bench/service"
	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/rulepack"
	"github.com/toolmark/toolmark/rulepack/atr"
	"github.com/toolmark/toolmark/scan"
)

// BenchmarkScanCorpus scans all real captures together: processor time a byte of JSON,
// which a loaded machine does not change.
func BenchmarkScanCorpus(b *testing.B) {
	files, _ := filepath.Glob(filepath.Join(shared.Path(b, "corpus", "benign"), "*.json"))
	s := builtin(b)
	var manifests []*toolmark.Manifest
	size := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		manifests = append(manifests, mustRead(b, data))
		size += len(data)
	}
	all := func() {
		for _, m := range manifests {
			if _, err := s.Scan(context.Background(), scan.Request{Manifest: m, Scope: toolmark.ScopeAll}); err != nil {
				b.Fatal(err)
			}
		}
	}
	all() // compiles what is compiled lazily
	b.SetBytes(int64(size))
	before := processorTime()
	n := 0
	for b.Loop() {
		all()
		n++
	}
	b.ReportMetric(float64((processorTime()-before).Nanoseconds())/float64(n*size), "cpu-ns/byte")
}

// realTools gives the definitions of real servers, a tool of each server in turn.
func realTools(tb testing.TB) iter.Seq[json.RawMessage] {
	tb.Helper()
	files, _ := filepath.Glob(filepath.Join(shared.Path(tb, "corpus", "benign"), "*.json"))
	var servers [][]json.RawMessage
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		var list struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(data, &list); err != nil {
			tb.Fatal(f, err)
		}
		servers = append(servers, list.Tools)
	}
	return func(yield func(json.RawMessage) bool) {
		for turn, more := 0, true; more; turn++ {
			more = false
			for _, server := range servers {
				if turn < len(server) {
					more = true
					if !yield(server[turn]) {
						return
					}
				}
			}
		}
	}
}

// realList gives a list of real definitions with at most so many characters of canonical
// JSON.
func realList(tb testing.TB, characters int) []byte {
	tb.Helper()
	var tools []json.RawMessage
	size := 2
	for tool := range realTools(tb) {
		m := mustRead(tb, fmt.Appendf(nil, `{"tools":[%s]}`, tool))
		if more := pin.Size(m.Tools) - 1; size+more <= characters {
			size += more
			tools = append(tools, tool)
		}
	}
	if size < characters-2000 {
		tb.Fatalf("all tools together have %d characters", size)
	}
	body, err := json.Marshal(map[string]any{"tools": tools})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// scanners gives a scanner with the built-in rules, and one with the community rules too
// where they are here.
func scanners(b *testing.B) (list []namedScanner) {
	b.Helper()
	list = append(list, namedScanner{"built-in", builtin(b)})
	pack, err := atr.Open("")
	if err != nil {
		b.Logf("without the community rules: %v", err)
		return list
	}
	set, err := rulepack.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	s, err := scan.New(scan.Config{Rules: set, Community: pack, Budget: -1})
	if err != nil {
		b.Fatal(err)
	}
	return append(list, namedScanner{"all", s})
}

type namedScanner struct {
	name string
	*scan.Scanner
}

// scanTime scans a list again and again: processor time, which a loaded
// machine changes less than that on the wall.
func scanTime(b *testing.B, s namedScanner, m *toolmark.Manifest, scope toolmark.Scope, size int) {
	b.Helper()
	once := func() {
		if _, err := s.Scan(context.Background(), scan.Request{Manifest: m, Scope: scope}); err != nil {
			b.Fatal(err)
		}
	}
	once() // compiles what is compiled lazily
	b.SetBytes(int64(size))
	before, n := processorTime(), 0
	for b.Loop() {
		once()
		n++
	}
	took := float64((processorTime() - before).Nanoseconds()) / float64(n)
	b.ReportMetric(took/1e6, "cpu-ms/op")
	b.ReportMetric(took/float64(size), "cpu-ns/byte")
}

// BenchmarkLargestRealList scans real definitions of the most characters that a request
// may have.
func BenchmarkLargestRealList(b *testing.B) {
	body := realList(b, toolmark.MaxCharacters)
	m := mustRead(b, body)
	if err := scan.CheckSize(m); err != nil || len(m.Tools) > toolmark.MaxTools {
		b.Fatalf("%d tools: %v", len(m.Tools), err)
	}
	for _, s := range scanners(b) {
		b.Run(s.name, func(b *testing.B) { scanTime(b, s, m, toolmark.ScopeStandard, len(body)) })
	}
}

// BenchmarkTypical scans lists of about the typical size: one that is made up of 25 tools
// and 20 KB, and two real ones; as the API does where it is not told otherwise.
func BenchmarkTypical(b *testing.B) {
	lists := []struct {
		name string
		body []byte
	}{{"made-up", service.Typical(25, 20_000)}}
	for _, name := range []string{"supabase", "kubernetes-mcp-server"} {
		lists = append(lists, struct {
			name string
			body []byte
		}{name, shared.Read(b, "corpus", "benign", name+".json")})
	}
	for _, list := range lists {
		m := mustRead(b, list.body)
		for _, s := range scanners(b) {
			b.Run(list.name+"/"+s.name, func(b *testing.B) { scanTime(b, s, m, toolmark.ScopeStandard, len(list.body)) })
		}
	}
}

// BenchmarkLinear scans one tool whose description is real descriptions of growing
// length, far beyond what a request may have: the time for a byte must not grow.
func BenchmarkLinear(b *testing.B) {
	var texts []string
	for tool := range realTools(b) {
		if d := mustRead(b, fmt.Appendf(nil, `{"tools":[%s]}`, tool)).Tools[0].Tree.Get("description").Text; len(d) < 8<<10 {
			texts = append(texts, d)
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	all := scanners(b)
	s := all[len(all)-1]
	for size := 16 << 10; size <= 1<<20; size *= 4 {
		var text strings.Builder
		for i := 0; text.Len() < size; i++ {
			text.WriteString(texts[i%len(texts)] + "\n\n")
		}
		body, err := json.Marshal(map[string]any{"tools": []any{map[string]string{"name": "t", "description": text.String()}}})
		if err != nil {
			b.Fatal(err)
		}
		m := mustRead(b, body)
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) { scanTime(b, s, m, toolmark.ScopeStandard, len(body)) })
	}
}

// processorTime gives the time that this process has had of all processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
