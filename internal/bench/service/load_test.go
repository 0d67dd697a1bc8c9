package service

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestTypical holds the list to what the figures say of it.
func TestTypical(t *testing.T) {
	body := Typical(25, 20_000)
	var list struct{ Tools []map[string]any }
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 25 || len(body) < 20_000 || len(body) > 20_500 {
		t.Errorf("%d tools, %d bytes", len(list.Tools), len(body))
	}
	if string(body) != string(Typical(25, 20_000)) {
		t.Error("the list differs from run to run")
	}
}

// TestLoad measures a service that refuses every tenth request: the figures must say so.
func TestLoad(t *testing.T) {
	var asked, wrong atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != "list" || r.Header.Get("X-API-Key") != "key" || r.URL.Path != "/api/v1/mcp/manifest-scan" {
			wrong.Add(1)
		}
		if asked.Add(1)%10 == 0 {
			http.Error(w, "no", http.StatusTooManyRequests)
		}
	}))
	defer server.Close()
	l := &load{bases: []string{server.URL}, key: "key", body: []byte("list"), connections: 4}
	r, err := l.run(context.Background(), 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if n := int64(len(r.answers) + r.others); n != asked.Load() || wrong.Load() != 0 {
		t.Errorf("%d answers of %d, %d wrong requests", n, asked.Load(), wrong.Load())
	}
	if r.others == 0 || !strings.HasSuffix(r.example, "429") || r.rate() <= 0 || r.quantile(0.5) > r.quantile(0.99) || r.quantile(0.99) > r.quantile(1) {
		t.Errorf("%d others, %q, %.0f a second", r.others, r.example, r.rate())
	}
	sum := r.add(r)
	if sum.others != 2*r.others || len(sum.answers) != 2*len(r.answers) {
		t.Error("two runs do not add up")
	}
}
