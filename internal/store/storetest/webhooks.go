package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark/internal/registry"
)

// claim takes deliveries as the sender of webhooks does; fail makes its transaction fail.
func claim(t *testing.T, s registry.Store, now time.Time, fail error) []string {
	t.Helper()
	var got []string
	var err error
	switch s := s.(type) {
	case interface {
		ClaimDeliveries(ctx context.Context, now time.Time, limit int, enqueue func(context.Context, *sql.Tx, []string) error) (int, error)
	}:
		_, err = s.ClaimDeliveries(t.Context(), now, 100, func(_ context.Context, _ *sql.Tx, ids []string) error { got = ids; return fail })
	case interface {
		ClaimDeliveries(ctx context.Context, now time.Time, limit int, enqueue func(context.Context, pgx.Tx, []string) error) (int, error)
	}:
		_, err = s.ClaimDeliveries(t.Context(), now, 100, func(_ context.Context, _ pgx.Tx, ids []string) error { got = ids; return fail })
	default:
		t.Fatalf("%T has no deliveries to claim", s)
	}
	if fail != nil {
		wants(t, "a claim whose jobs cannot be stored", err, fail)
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	return got
}

func hook(id, account string, at time.Time, kinds ...registry.EventKind) registry.WebhookRecord {
	return registry.WebhookRecord{
		ID: "hook_" + id, Account: account, Origin: "https://" + id + ".example", Events: kinds,
		Sealed: []byte{0, 1, 255}, Created: at, CreatedBy: "key_a",
	}
}

// tell makes events of a server.
func tell(t *testing.T, s registry.Store, server string, events ...registry.Event) {
	t.Helper()
	r := found(t, s, server)
	if err := s.ChangeServer(t.Context(), registry.ServerChange{ID: server, Revision: r.Revision, Status: r.ServerStatus, Events: events}); err != nil {
		t.Fatal(err)
	}
}

func event(id string, kind registry.EventKind, at time.Time) registry.Event {
	return registry.Event{ID: "evt_" + id, Account: watched("a").Account, Server: "srv_a", Kind: kind, At: at, Payload: []byte(`{"id":"` + id + `"}`)}
}

func webhooksComeBack(t *testing.T, open Opener) {
	s, other := open(t), open(t)
	for _, w := range []registry.WebhookRecord{
		hook("2", "acct_new", epoch, registry.DriftDetected, registry.ServerRecovered), hook("1", "acct_new", epoch, registry.FindingHigh), hook("3", "acct_more", epoch, registry.FindingHigh),
	} {
		if err := s.CreateWebhook(t.Context(), w, 2); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, "one more than an account may have", s.CreateWebhook(t.Context(), hook("4", "acct_new", epoch, registry.FindingHigh), 2), registry.ErrFull)
	list := func(after string, limit int) []registry.WebhookRecord {
		t.Helper()
		got, err := other.ListWebhooks(t.Context(), "acct_new", after, limit)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	one, two := hook("1", "acct_new", epoch, registry.FindingHigh), hook("2", "acct_new", epoch, registry.DriftDetected, registry.ServerRecovered)
	same(t, "the webhooks", list("", 10), []registry.WebhookRecord{one, two})
	same(t, "the first", list("", 1), []registry.WebhookRecord{one})
	same(t, "the second", list("hook_1", 10), []registry.WebhookRecord{two})
	wants(t, "remove another account's", s.DeleteWebhook(t.Context(), "acct_new", "hook_3"), registry.ErrNotFound)
	if err := s.DeleteWebhook(t.Context(), "acct_new", "hook_1"); err != nil {
		t.Fatal(err)
	}
	same(t, "what is left", list("", 10), []registry.WebhookRecord{two})
	wants(t, "remove it again", s.DeleteWebhook(t.Context(), "acct_new", "hook_1"), registry.ErrNotFound)
}

func deliveries(t *testing.T, open Opener) {
	s, other := open(t), open(t)
	account := watched("a").Account
	register(t, s, watched("a"), "x")
	now := epoch.Add(time.Minute)
	for _, w := range []registry.WebhookRecord{
		hook("all", account, epoch, registry.DriftDetected, registry.FindingHigh), hook("high", account, epoch, registry.FindingHigh),
		hook("late", account, now.Add(time.Hour), registry.DriftDetected), hook("foreign", "acct_z", epoch, registry.DriftDetected),
	} {
		if err := s.CreateWebhook(t.Context(), w, 10); err != nil {
			t.Fatal(err)
		}
	}
	tell(t, s, "srv_a", event("1", registry.DriftDetected, now), event("2", registry.FindingHigh, now), event("3", registry.ServerRecovered, now))

	// A claim that fails leaves everything for the next one.
	claim(t, s, now, fmt.Errorf("no room: %w", registry.ErrConflict))
	all := []string{"dlv_1_all", "dlv_2_all", "dlv_2_high"}
	if got := claim(t, other, now, nil); !slices.Equal(got, all) {
		t.Fatalf("claimed %q, want %q", got, all)
	}
	if got := claim(t, s, now, nil); len(got) != 0 {
		t.Errorf("claimed again: %q", got)
	}
	if events, err := s.PendingEvents(t.Context(), 10); err != nil || len(events) != 0 {
		t.Errorf("%d events wait (%v)", len(events), err)
	}

	sending, err := other.Sending(t.Context(), "dlv_2_high")
	if err != nil {
		t.Fatal(err)
	}
	record := registry.DeliveryRecord{ID: "dlv_2_high", Webhook: "hook_high", Event: "evt_2", Kind: registry.FindingHigh, State: registry.DeliveryPending, Created: now, Changed: now}
	same(t, "what is sent", sending, registry.Sending{DeliveryRecord: record, Payload: []byte(`{"id":"2"}`), Sealed: []byte{0, 1, 255}})
	_, err = s.Sending(t.Context(), "dlv_none")
	wants(t, "a delivery that is not there", err, registry.ErrNotFound)

	record.State, record.Attempts, record.Status, record.Fault, record.Changed = registry.DeliveryDead, 8, 500, "the receiver said no", now.Add(time.Hour)
	if err := s.SetDelivery(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	query := func(q registry.DeliveryQuery) []string {
		t.Helper()
		got, err := other.ListDeliveries(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, d := range got {
			ids = append(ids, d.ID)
		}
		return ids
	}
	for _, c := range []struct {
		q    registry.DeliveryQuery
		want []string
	}{
		{registry.DeliveryQuery{Account: account, Webhook: "hook_all", Limit: 10}, []string{"dlv_2_all", "dlv_1_all"}},
		{registry.DeliveryQuery{Account: account, Webhook: "hook_all", After: "dlv_2_all", Limit: 10}, []string{"dlv_1_all"}},
		{registry.DeliveryQuery{Account: account, Webhook: "hook_all", Limit: 1}, []string{"dlv_2_all"}},
		{registry.DeliveryQuery{Account: account, Webhook: "hook_all", State: registry.DeliveryDead, Limit: 10}, []string{}},
		{registry.DeliveryQuery{Account: account, Webhook: "hook_high", State: registry.DeliveryDead, Limit: 10}, []string{"dlv_2_high"}},
		{registry.DeliveryQuery{Account: "acct_z", Webhook: "hook_high", Limit: 10}, []string{}},
	} {
		if got := query(c.q); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
	}

	// A replay is claimed once more; a pending one cannot be replayed.
	wants(t, "replay a pending delivery", s.Replay(t.Context(), "hook_all", "dlv_1_all", now), registry.ErrNotFound)
	wants(t, "replay under another webhook", s.Replay(t.Context(), "hook_all", "dlv_2_high", now), registry.ErrNotFound)
	if err := s.Replay(t.Context(), "hook_high", "dlv_2_high", now); err != nil {
		t.Fatal(err)
	}
	if got := claim(t, s, now, nil); !slices.Equal(got, []string{"dlv_2_high"}) {
		t.Errorf("after the replay: %q", got)
	}

	// What is old goes, but for what still waits.
	record.State = registry.DeliveryDelivered
	if err := s.SetDelivery(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if err := s.ForgetEvents(t.Context(), now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := query(registry.DeliveryQuery{Account: account, Webhook: "hook_high", Limit: 10}); len(got) != 0 {
		t.Errorf("kept: %q", got)
	}
	if got := query(registry.DeliveryQuery{Account: account, Webhook: "hook_all", Limit: 10}); len(got) != 2 {
		t.Errorf("pending deliveries went: %q", got)
	}
	if err := s.DeleteWebhook(t.Context(), account, "hook_all"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetDelivery(t.Context(), registry.DeliveryRecord{ID: "dlv_1_all", State: registry.DeliveryDelivered}); err != nil {
		t.Errorf("a delivery whose webhook was removed: %v", err)
	}
	if err := s.ForgetEvents(t.Context(), now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
}

// claimedOnce has two stores claim at the same time: every delivery goes to one of them.
func claimedOnce(t *testing.T, open Opener) {
	stores := []registry.Store{open(t), open(t)}
	register(t, stores[0], watched("a"), "x")
	if err := stores[0].CreateWebhook(t.Context(), hook("w", watched("a").Account, epoch, registry.DriftDetected), 10); err != nil {
		t.Fatal(err)
	}
	const events = 40
	for i := range events {
		tell(t, stores[0], "srv_a", event(fmt.Sprintf("%02d", i), registry.DriftDetected, epoch.Add(time.Second)))
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	counts := map[string]int{}
	for i := range 8 {
		group.Go(func() {
			for _, id := range claim(t, stores[i%2], epoch.Add(time.Minute), nil) {
				mu.Lock()
				counts[id]++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for _, id := range claim(t, stores[0], epoch.Add(time.Minute), nil) {
		counts[id]++
	}
	for id, n := range counts {
		if n != 1 {
			t.Errorf("%s was claimed %d times", id, n)
		}
	}
	if len(counts) != events {
		t.Errorf("%d deliveries of %d events", len(counts), events)
	}
}

// oldWebhooks asks for the records of testdata/v0003.sql.
func oldWebhooks(t *testing.T, s registry.Store) {
	t.Helper()
	hooks, err := s.ListWebhooks(t.Context(), "acct_old", "", 10)
	if err != nil {
		t.Fatal(err)
	}
	old := hook("old", "acct_old", epoch, registry.DriftDetected, registry.ServerUnreachable)
	old.CreatedBy = "key_old"
	same(t, "the old webhook", hooks, []registry.WebhookRecord{old})
	sent, err := s.ListDeliveries(t.Context(), registry.DeliveryQuery{Account: "acct_old", Webhook: "hook_old", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the old delivery", sent, []registry.DeliveryRecord{{
		ID: "dlv_old_old", Webhook: "hook_old", Event: "evt_old", Kind: registry.ServerUnreachable, State: registry.DeliveryDead,
		Attempts: 8, Status: 503, Fault: "busy", Created: epoch, Changed: epoch,
	}})
}
