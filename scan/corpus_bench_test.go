//go:build unix

package scan_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/shared"
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

// processorTime gives the time that this process has had of all processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
