package scan_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/rulepack"
	"github.com/toolmark/toolmark/scan"
)

func builtin(tb testing.TB) *scan.Scanner {
	tb.Helper()
	set, err := rulepack.Builtin()
	if err != nil {
		tb.Fatal(err)
	}
	s, err := scan.New(scan.Config{Rules: set, Budget: -1})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func mustRead(tb testing.TB, data []byte) *toolmark.Manifest {
	tb.Helper()
	v, err := canonjson.Parse(data, canonjson.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	m, err := toolmark.ReadManifest(v)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// BenchmarkScanReal scans real captures one by one: time a byte of JSON.
func BenchmarkScanReal(b *testing.B) {
	dir := shared.Path(b, "corpus", "benign")
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	s := builtin(b)
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		m := mustRead(b, data)
		b.Run(strings.TrimSuffix(filepath.Base(f), ".json"), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := s.Scan(context.Background(), scan.Request{Manifest: m, Scope: toolmark.ScopeAll}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(data)), "ns/byte")
		})
	}
}
