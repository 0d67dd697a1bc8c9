package watch_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/storetest"
	"github.com/toolmark/toolmark/internal/watch"
)

// BenchmarkProbes measures what the watch itself takes: every server is due, and reading
// one costs nothing. The unit is one probe, with its job and its record.
func BenchmarkProbes(b *testing.B) {
	for _, kind := range []struct {
		name string
		open func(testing.TB) storetest.Opener
	}{{"sqlite", storetest.SQLite}, {"postgres", storetest.Postgres}} {
		b.Run(kind.name, func(b *testing.B) {
			store := kind.open(b)(b)
			c := newCounter()
			s := service(b, store, c, time.Hour)
			var urls []string
			for i := range b.N {
				url := fmt.Sprintf("https://host%d.example/mcp", i)
				if _, err := s.RegisterServer(b.Context(), caller, registry.NewServer{URL: url}); err != nil {
					b.Fatal(err)
				}
				urls = append(urls, url)
			}
			later := time.Now().Add(2 * time.Hour)
			b.ResetTimer()
			start(b, store, s, watch.Config{Now: func() time.Time { return later }})
			for {
				if least, _ := c.counts(urls); least >= 2 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "probes/s")
		})
	}
}
