package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolmark/toolmark/internal/registry"
)

// BenchmarkScan is what the service itself costs for a request of 20 KB: everything but
// the built-in rules and the connection. Quotas are counted on a real disk.
func BenchmarkScan(b *testing.B) {
	f := newFixture(b, fixtureConfig{})
	key := f.key(b, registry.NewKey{})
	body := benchBody()
	b.SetParallelism(16)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := httptest.NewRequest(http.MethodPost, pathScan, bytes.NewReader(body))
			r.Header.Set("X-API-Key", key)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			f.api.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				b.Errorf("%d %s", w.Code, w.Body)
				return
			}
			f.log.Reset()
		}
	})
}

func benchBody() []byte {
	var tools []string
	for i := range 25 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":%q,"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":%q}}}}`,
			i, strings.Repeat("Lists the open tickets of a board. ", 11), strings.Repeat("Up to a hundred words. ", 13)))
	}
	return []byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)
}
