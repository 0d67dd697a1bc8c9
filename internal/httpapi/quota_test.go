package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/sqlite"
)

// TestQuotaIsExactAcrossReplicas sends four times what a key may use to two services on
// one database, all at once, between requests that must not count.
func TestQuotaIsExactAcrossReplicas(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "toolmark.db")
	const limit, asked = 60, 240
	var apis []*API
	var services []*registry.Service
	for range 2 {
		store, err := sqlite.Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		service, err := registry.New(registry.Config{Store: store, Now: func() time.Time { return testTime }})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			service.Close()
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		api, err := New(Config{Accounts: service, Admin: service, Servers: service, Webhooks: service, Questions: service, Scanner: testScanner(t, 0, nil), Queue: 2 * asked, QueueWait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		apis, services = append(apis, api), append(services, service)
	}
	n := int64(limit)
	made, err := services[0].CreateKey(ctx, registry.NewKey{Limits: access.Limits{PerMonth: &n}})
	if err != nil {
		t.Fatal(err)
	}
	var answers [600]atomic.Int64
	var group sync.WaitGroup
	for i := range asked {
		for _, body := range []string{clean, `{"tools":5}`} {
			group.Go(func() {
				r := httptest.NewRequest(http.MethodPost, pathScan, strings.NewReader(body))
				r.Header.Set("X-API-Key", made.Plain)
				w := httptest.NewRecorder()
				apis[i%2].ServeHTTP(w, r)
				answers[w.Code].Add(1)
			})
		}
	}
	group.Wait()
	ok, refused, faulty := answers[200].Load(), answers[429].Load(), answers[422].Load()
	if ok != limit || refused != asked-limit || faulty != asked {
		t.Errorf("%d answered 200, %d 429, %d 422; want %d, %d, %d", ok, refused, faulty, limit, asked-limit, asked)
	}
	state, err := services[1].ShowKey(ctx, made.ID)
	if err != nil || state.Meter.MonthUsed != limit {
		t.Errorf("%d counted, %v", state.Meter.MonthUsed, err)
	}
}
