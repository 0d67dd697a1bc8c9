package httpapi

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/registry"
)

// world is the servers that the tests' service can reach, and the time it is there.
type world struct {
	mu    sync.Mutex
	now   time.Time
	lists map[string]string // by URL or command: members of a snapshot, or "down CODE MESSAGE"
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) serve(where, list string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lists[where] = strings.TrimSpace(list)
}

// Probe gives what a server serves.
func (w *world) Probe(_ context.Context, t registry.Target) (*toolmark.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	where := t.URL
	if where == "" {
		where = strings.Join(t.Command, " ")
	}
	list, ok := w.lists[where]
	if !ok {
		return nil, &toolmark.Error{Code: toolmark.ErrCannotConnect, Message: where + ": connection refused"}
	}
	if down, ok := strings.CutPrefix(list, "down "); ok {
		code, message, _ := strings.Cut(down, " ")
		return nil, &toolmark.Error{Code: toolmark.ErrorCode(code), Message: message}
	}
	doc := []byte(fmt.Sprintf(`{"toolmarkSnapshot":1,"source":%q,"readAt":%q,"protocolVersion":"2025-11-25",%s}`, where, w.now.Format(time.RFC3339), list))
	tree, err := canonjson.Parse(doc, canonjson.Options{})
	if err != nil {
		return nil, err
	}
	m, err := toolmark.ReadManifest(tree)
	if err != nil {
		return nil, err
	}
	return &toolmark.Snapshot{Source: where, Manifest: m, ReadAt: w.now, Bytes: doc}, nil
}

// deliver sends what waits for webhooks: each receiver answers with the status, and what
// is not 2xx is given up.
func (f *fixture) deliver(t *testing.T, status int) {
	t.Helper()
	_, err := f.store.ClaimDeliveries(t.Context(), f.world.clock(), 100, func(_ context.Context, _ *sql.Tx, _ []string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := f.store.ListWebhooks(t.Context(), registry.DefaultAccount, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hooks {
		list, err := f.store.ListDeliveries(t.Context(), registry.DeliveryQuery{Account: h.Account, Webhook: h.ID, State: registry.DeliveryPending, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			d.Attempts, d.Status, d.State, d.Changed = d.Attempts+1, status, registry.DeliveryDelivered, f.world.clock()
			if status > 299 {
				d.State, d.Fault = registry.DeliveryDead, fmt.Sprintf("the receiver answered %d", status)
			}
			if err := f.store.SetDelivery(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
	}
}
