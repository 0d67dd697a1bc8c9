package main

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/store/storetest"
)

// TestReplicasAreExact runs the service twice, as two processes on one PostgreSQL, and
// sends 4,000 scans at once with a key that has 1,000 a month: as many are answered 200,
// all others 429, and none is turned away because so many wait.
func TestReplicasAreExact(t *testing.T) {
	const monthly, requests = 1000, 4000
	database := storetest.PostgresURL(t)
	binary := asToolmark(t)
	first, one, root := startProcess(t, binary, database, "--fetch-rules=false")
	second, two, none := startProcess(t, binary, database, "--fetch-rules=false")
	if root == "" || none != "" {
		t.Fatalf("the first process made the key %q, the second %q", root, none)
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxConnsPerHost: requests / 4, MaxIdleConnsPerHost: requests / 4}}
	defer client.CloseIdleConnections()
	status, answer := post(client, one+"/v1/admin/keys", root, `{"name":"metered","monthly":1000}`)
	key := keyPattern.FindString(string(answer))
	if key == "" {
		t.Fatalf("%d %s", status, answer)
	}
	var ok, over atomic.Int64
	var others sync.Map
	var group sync.WaitGroup
	for i := range requests {
		group.Go(func() {
			base := one
			if i%2 == 1 {
				base = two
			}
			switch status, answer := post(client, base+"/api/v1/mcp/manifest-scan", key, `{"tools":[{"name":"a"}]}`); {
			case status == http.StatusOK:
				ok.Add(1)
			case status == http.StatusTooManyRequests && strings.Contains(string(answer), `"monthly_quota_exceeded"`) &&
				strings.Contains(string(answer), `"requests_used":1000,"requests_limit":1000`):
				over.Add(1)
			default:
				others.Store(string(answer), status)
			}
		})
	}
	group.Wait()
	if ok.Load() != monthly || over.Load() != requests-monthly {
		t.Errorf("%d were answered 200 and %d 429", ok.Load(), over.Load())
	}
	others.Range(func(answer, status any) bool {
		t.Errorf("and some %v %q", status, answer)
		return true
	})
	for _, url := range []string{one, two} {
		if n := countOf(t, url, key); n != monthly {
			t.Errorf("%d were counted", n)
		}
	}
	for _, cmd := range []*exec.Cmd{first, second} {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("a replica does not end clean: %v", err)
		}
	}
}
