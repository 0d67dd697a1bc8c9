//go:build unix

package scan

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/rulepack"
)

// BenchmarkMatch is the rules' part of a scan alone: all texts and readings of real
// lists. The best round is what a loaded machine changes least.
func BenchmarkMatch(b *testing.B) {
	set, err := rulepack.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	lists := map[string][]string{"all": nil}
	files, _ := filepath.Glob(filepath.Join(shared.Path(b, "corpus", "benign"), "*.json"))
	lists["all"] = files
	for _, f := range files {
		switch name := filepath.Base(f); name {
		case "supabase.json", "kubernetes-mcp-server.json", "shopify-dev.json", "circleci.json":
			lists[name] = []string{f}
		}
	}
	for name, files := range lists {
		var texts [][]rule.Field
		size := 0
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				b.Fatal(err)
			}
			size += len(data)
			v, err := canonjson.Parse(data, canonjson.Options{})
			if err != nil {
				b.Fatal(err)
			}
			m, err := toolmark.ReadManifest(v)
			if err != nil {
				b.Fatal(err)
			}
			s := &Scanner{}
			for _, sub := range s.subjects(Request{Manifest: m}, nil) {
				sub.prepare(func() bool { return false })
				texts = append(texts, sub.fields)
			}
		}
		b.Run(name, func(b *testing.B) {
			all := func() {
				for _, fields := range texts {
					set.MatchScored(fields, MediumScore, nil)
				}
			}
			all() // compiles what is compiled lazily
			b.SetBytes(int64(size))
			b.ReportAllocs()
			before, n := userTime(), 0
			best := time.Hour
			for b.Loop() {
				start := time.Now()
				all()
				best = min(best, time.Since(start))
				n++
			}
			cpu := float64(userTime() - before)
			b.ReportMetric(float64(best.Nanoseconds())/1e6, "best-ms")
			b.ReportMetric(cpu/float64(n*size), "cpu-ns/byte")
			b.ReportMetric(cpu/float64(n)/1e6, "cpu-ms/op")
		})
	}
}

// userTime gives the processor time of this process in nanoseconds.
func userTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
