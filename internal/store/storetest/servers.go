package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

// content gives a document that differs from others by a text, and its hash.
func content(text string) ([]byte, string) {
	raw := []byte(`{"toolmarkSnapshot":1,"tools":[{"name":` + fmt.Sprintf("%q", text) + `}]}`)
	sum := sha256.Sum256(raw)
	return raw, hex.EncodeToString(sum[:])
}

func nameKey(text string) (k registry.NameKey) {
	sum := sha256.Sum256([]byte(text))
	copy(k[:], sum[:])
	return k
}

// snapshot makes a snapshot that serves one tool.
func snapshot(id, tool string, at time.Time) registry.NewSnapshot {
	raw, hash := content(tool)
	return registry.NewSnapshot{
		SnapshotRecord: registry.SnapshotRecord{
			ID: id, SHA256: hash, Pin: strings.Repeat("0a", 32), Fingerprint: "tmfp1:" + toolmark.Fingerprint(hash),
			Server: registry.ServerSays{Name: "says", Version: "1.0", Given: true}, Tools: 1, FirstSeen: at, LastSeen: at,
		},
		Content: raw, Tools: []registry.ToolName{{Name: toolmark.Text(tool), Keys: []registry.NameKey{nameKey(tool)}}},
	}
}

// watched makes a server that differs from others by its name.
func watched(name string) registry.ServerRecord {
	return registry.ServerRecord{
		ID: "srv_" + name, Account: "acct", Name: name, URL: "https://" + name + ".example/mcp", Host: name + ".example",
		Created: epoch, CreatedBy: "key_a", Due: epoch.Add(time.Minute),
		ServerStatus: registry.ServerStatus{
			State: registry.Unchanged, Since: epoch, LastKnown: registry.Unchanged, ProbedAt: epoch, ReadAt: epoch, RunFrom: epoch, RunCount: 1,
		},
	}
}

func deed(server, what string, n int) registry.DeedRecord {
	return registry.DeedRecord{
		ID: fmt.Sprintf("deed_%s_%d", server, n), Server: server, Account: "acct",
		Deed: registry.Deed{Act: registry.Act{By: "key_a", At: epoch.Add(time.Duration(n) * time.Second)}, What: what},
	}
}

func register(t *testing.T, s registry.Store, r registry.ServerRecord, tool string) registry.ServerRecord {
	t.Helper()
	if err := s.CreateServer(t.Context(), r, snapshot("snap_"+r.Name, tool, epoch), deed(r.ID, "registered", 0), 1000); err != nil {
		t.Fatalf("create %s: %v", r.ID, err)
	}
	return found(t, s, r.ID)
}

func found(t *testing.T, s registry.Store, id string) registry.ServerRecord {
	t.Helper()
	all, err := s.FindServers(t.Context(), registry.ServerQuery{ID: id, Limit: 2})
	if err != nil || len(all) != 1 {
		t.Fatalf("find %s: %d, %v", id, len(all), err)
	}
	return all[0]
}

func serverComesBack(t *testing.T, open Opener) {
	s, other := open(t), open(t)
	r := watched("full")
	r.Command, r.HeaderNames, r.QueryNames = []string{"npx", "-y", `odd "arg" {,} \`, ""}, []string{"Authorization", "X-A"}, []string{"key"}
	r.Sealed, r.Interval = []byte{0, 1, 255}, 90*time.Second+time.Microsecond
	r.State, r.Since, r.Suspicious, r.Failures = registry.Unreachable, epoch.Add(time.Second), "odd", 3
	r.Why = &registry.Why{Code: toolmark.ErrTimeout, Message: "late \x00 \xed\xa0\x80"}
	first := snapshot("snap_1", "tool", epoch)
	first.NoFingerprint, first.Fingerprint = "lone \xed\xa0\x80", ""
	first.Server = registry.ServerSays{Name: "na\x00me\xed\xbf\xbf", Version: "", Given: true}
	if err := s.CreateServer(t.Context(), r, first, deed(r.ID, "registered", 0), 1); err != nil {
		t.Fatal(err)
	}
	want := r
	want.BaselineID, want.CurrentID, want.Revision = "snap_1", "snap_1", 1
	want.Baseline, want.Current = first.SnapshotRecord, first.SnapshotRecord
	same(t, "the server", found(t, other, r.ID), want)
	raw, err := other.SnapshotContent(t.Context(), r.ID, "snap_1")
	if err != nil || string(raw) != string(first.Content) {
		t.Errorf("content %q (%v), want %q", raw, err, first.Content)
	}
	deeds, err := other.Deeds(t.Context(), r.ID, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the deeds", deeds, []registry.DeedRecord{deed(r.ID, "registered", 0)})
	_, err = s.SnapshotContent(t.Context(), "srv_other", "snap_1")
	wants(t, "the content asked for under another server", err, registry.ErrNotFound)
}

func serverNames(t *testing.T, open Opener) {
	s := open(t)
	register(t, s, watched("a"), "x")
	again := watched("a")
	again.ID = "srv_again"
	wants(t, "a name twice", s.CreateServer(t.Context(), again, snapshot("snap_2", "y", epoch), deed(again.ID, "registered", 1), 10), registry.ErrExists)
	again.Account = "other"
	if err := s.CreateServer(t.Context(), again, snapshot("snap_2", "y", epoch), deed(again.ID, "registered", 1), 10); err != nil {
		t.Errorf("the name in another account: %v", err)
	}
	wants(t, "more than may be", s.CreateServer(t.Context(), watched("b"), snapshot("snap_3", "y", epoch), deed("srv_b", "registered", 1), 1), registry.ErrFull)
	if _, err := s.SnapshotContent(t.Context(), "srv_b", "snap_3"); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("a refused server left a snapshot: %v", err)
	}
}

func findServers(t *testing.T, open Opener) {
	s := open(t)
	for _, name := range []string{"c", "a", "b"} {
		register(t, s, watched(name), name)
	}
	foreign := watched("d")
	foreign.Account, foreign.URL = "other", watched("a").URL
	register(t, s, foreign, "d")
	for _, c := range []struct {
		q    registry.ServerQuery
		want string
	}{
		{registry.ServerQuery{Limit: 10}, "srv_a srv_b srv_c srv_d"},
		{registry.ServerQuery{Account: "acct", Limit: 2}, "srv_a srv_b"},
		{registry.ServerQuery{Account: "acct", After: "srv_b", Limit: 2}, "srv_c"},
		{registry.ServerQuery{Account: "acct", Name: "b", Limit: 2}, "srv_b"},
		{registry.ServerQuery{URL: watched("a").URL, Limit: 5}, "srv_a srv_d"},
		{registry.ServerQuery{URL: watched("a").URL, Account: "other", Limit: 5}, "srv_d"},
		{registry.ServerQuery{ID: "srv_a", Account: "other", Limit: 5}, ""},
		{registry.ServerQuery{ID: "srv_a' OR '1'='1\x00\xff", Limit: 5}, ""},
	} {
		all, err := s.FindServers(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range all {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
}

func claimServer(t *testing.T, open Opener) {
	stores := []registry.Store{open(t), open(t)}
	register(t, stores[0], watched("a"), "x")
	now := epoch.Add(time.Hour)
	var group sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 12 {
		group.Go(func() {
			err := stores[i%2].ClaimServer(t.Context(), "srv_a", 1, now, now.Add(time.Minute))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, registry.ErrClaimed) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won != 1 {
		t.Errorf("%d claimed a server at once", won)
	}
	if busy := found(t, stores[0], "srv_a").Busy; !busy.Equal(now.Add(time.Minute)) {
		t.Errorf("busy until %s", busy)
	}
	wants(t, "just before its end", stores[0].ClaimServer(t.Context(), "srv_a", 1, now.Add(time.Minute-1000), now.Add(time.Hour)), registry.ErrClaimed)
	if err := stores[1].ClaimServer(t.Context(), "srv_a", 1, now.Add(time.Minute), now.Add(time.Hour)); err != nil {
		t.Errorf("a claim that has run out: %v", err)
	}
	wants(t, "another revision", stores[0].ClaimServer(t.Context(), "srv_a", 2, now.Add(24*time.Hour), now.Add(25*time.Hour)), registry.ErrConflict)
	wants(t, "a server that is not there", stores[0].ClaimServer(t.Context(), "srv_z", 1, now, now), registry.ErrNotFound)
}

func changeServer(t *testing.T, open Opener) {
	s, other := open(t), open(t)
	r := register(t, s, watched("a"), "x")
	now := epoch.Add(time.Hour)
	if err := s.ClaimServer(t.Context(), r.ID, r.Revision, now, now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	next := snapshot("snap_next", "y", now)
	later := r.ServerStatus
	later.ReadAt, later.ProbedAt = epoch.Add(time.Minute), epoch.Add(time.Minute)
	if err := s.ChangeServer(t.Context(), registry.ServerChange{ID: r.ID, Revision: r.Revision, Status: later}); err != nil {
		t.Fatal(err)
	}
	r = found(t, s, r.ID)
	status := r.ServerStatus
	status.State, status.LastKnown, status.Since, status.ProbedAt, status.ReadAt = registry.Changed, registry.Changed, now, now, now
	status.RunFrom, status.RunCount, status.Suspicious = now, 1, "odd"
	event := registry.Event{ID: "evt_1", Account: "acct", Server: r.ID, Kind: registry.DriftDetected, At: now, Payload: []byte(`{"a":1}`)}
	change := registry.ServerChange{
		ID: r.ID, Revision: r.Revision, Status: status, Due: now.Add(time.Hour), Release: true, Snapshot: &next, Events: []registry.Event{event},
		Ended: &registry.ProbeRun{From: epoch, To: epoch, Count: 1, Status: registry.Unchanged, Snapshot: "snap_a"},
	}
	if err := s.ChangeServer(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	got := found(t, other, r.ID)
	want := r
	want.ServerStatus, want.Due, want.Busy, want.Revision = status, change.Due, time.Time{}, 3
	want.Baseline.LastSeen = later.ReadAt // when the snapshot that it serves no longer was read last
	want.CurrentID, want.Current = "snap_next", next.SnapshotRecord
	same(t, "the changed server", got, want)

	wants(t, "the old revision", s.ChangeServer(t.Context(), change), registry.ErrConflict)
	events, err := other.PendingEvents(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the events, one for one change", events, []registry.Event{event})

	approval := registry.Approval{Act: registry.Act{By: "key_b", At: now}, Snapshot: "snap_next", Note: "seen"}
	done := deed(r.ID, "approved", 1)
	status.BaselineID, status.CurrentID, status.Approved, status.State, status.LastKnown = "snap_next", "snap_next", true, registry.Unchanged, registry.Unchanged
	if err := s.ChangeServer(t.Context(), registry.ServerChange{ID: r.ID, Revision: 3, Status: status, Approval: &approval, Deed: &done}); err != nil {
		t.Fatal(err)
	}
	got = found(t, other, r.ID)
	next.Approval = &approval
	same(t, "the baseline", got.Baseline, next.SnapshotRecord)
	if !got.Approved || !got.Due.Equal(change.Due) || got.Revision != 4 {
		t.Errorf("after the approval: %+v", got)
	}
	foreign := approval
	foreign.Snapshot = "snap_none"
	wants(t, "approve what is not there", s.ChangeServer(t.Context(), registry.ServerChange{ID: r.ID, Revision: 4, Status: status, Approval: &foreign}), registry.ErrNotFound)
	if got := found(t, other, r.ID).Revision; got != 4 {
		t.Errorf("a change that failed made revision %d", got)
	}
	wants(t, "a server that is not there", s.ChangeServer(t.Context(), registry.ServerChange{ID: "srv_z", Status: status}), registry.ErrNotFound)
}

// changeOneOfTwo has two stores change one revision at the same time.
func changeOneOfTwo(t *testing.T, open Opener) {
	stores := []registry.Store{open(t), open(t)}
	r := register(t, stores[0], watched("a"), "x")
	var group sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 10 {
		group.Go(func() {
			next := snapshot(fmt.Sprintf("snap_%d", i), fmt.Sprintf("tool %d", i), epoch)
			err := stores[i%2].ChangeServer(t.Context(), registry.ServerChange{
				ID: r.ID, Revision: r.Revision, Status: r.ServerStatus, Snapshot: &next,
				Events: []registry.Event{{ID: fmt.Sprintf("evt_%d", i), Account: "acct", Server: r.ID, Kind: registry.DriftDetected, At: epoch, Payload: []byte("{}")}},
			})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, registry.ErrConflict) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	events, err := stores[0].PendingEvents(t.Context(), 100)
	if won != 1 || len(events) != 1 || err != nil {
		t.Errorf("%d changes were made, %d events (%v)", won, len(events), err)
	}
}
