package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

// serve makes a server serve something else.
func serve(t *testing.T, s registry.Store, id string, next registry.NewSnapshot) registry.ServerRecord {
	t.Helper()
	r := found(t, s, id)
	if err := s.ChangeServer(t.Context(), registry.ServerChange{ID: id, Revision: r.Revision, Status: r.ServerStatus, Snapshot: &next}); err != nil {
		t.Fatal(err)
	}
	return found(t, s, id)
}

func snapshotsOnce(t *testing.T, open Opener) {
	s := open(t)
	register(t, s, watched("a"), "x")
	register(t, s, watched("b"), "x") // the same content, of another server
	serve(t, s, "srv_a", snapshot("snap_2", "y", epoch.Add(time.Second)))
	r := serve(t, s, "srv_a", snapshot("snap_3", "x", epoch.Add(2*time.Second)))
	if r.CurrentID != "snap_a" || !r.Current.FirstSeen.Equal(epoch) || !r.Current.LastSeen.Equal(epoch.Add(2*time.Second)) {
		t.Errorf("the first content again: %+v", r.Current)
	}
	ids := func(q registry.SnapshotQuery) string {
		t.Helper()
		all, err := s.ListSnapshots(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range all {
			out = append(out, r.ID)
		}
		return strings.Join(out, " ")
	}
	_, y := content("y")
	for want, q := range map[string]registry.SnapshotQuery{
		"snap_2 snap_a": {Server: "srv_a", Limit: 10},
		"snap_2":        {Server: "srv_a", Limit: 1},
		"snap_a":        {Server: "srv_a", After: "snap_2", Limit: 10},
		"snap_b":        {Server: "srv_b", Limit: 10},
		"":              {Server: "srv_b", ID: "snap_2", Limit: 10},
	} {
		if got := ids(q); got != want {
			t.Errorf("%+v: %s, want %s", q, got, want)
		}
	}
	if got := ids(registry.SnapshotQuery{Server: "srv_a", Fingerprint: "tmfp1:" + y, Limit: 10}); got != "snap_2" {
		t.Errorf("by fingerprint: %s", got)
	}
}

// snapshotsPruned: a server that serves something else each time does not fill the disk,
// and what is in use or was approved stays.
func snapshotsPruned(t *testing.T, open Opener) {
	s := open(t)
	register(t, s, watched("a"), "x")
	r := serve(t, s, "srv_a", snapshot("snap_seen", "seen", epoch))
	approval := registry.Approval{Act: registry.Act{By: "key_a", At: epoch}, Snapshot: "snap_seen"}
	if err := s.ChangeServer(t.Context(), registry.ServerChange{ID: r.ID, Revision: r.Revision, Status: r.ServerStatus, Approval: &approval}); err != nil {
		t.Fatal(err)
	}
	for i := range registry.MaxSnapshots + 3 {
		serve(t, s, "srv_a", snapshot(fmt.Sprintf("snap_%03d", i), fmt.Sprint(i), epoch.Add(time.Duration(i+1)*time.Second)))
	}
	all, err := s.ListSnapshots(t.Context(), registry.SnapshotQuery{Server: "srv_a", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, r := range all {
		has[r.ID] = true
	}
	last := fmt.Sprintf("snap_%03d", registry.MaxSnapshots+2)
	if len(all) != registry.MaxSnapshots+3 || !has["snap_a"] || !has["snap_seen"] || !has[last] || has["snap_000"] || !has["snap_002"] {
		t.Errorf("%d snapshots are kept: baseline %v, approved %v, current %v, oldest %v", len(all), has["snap_a"], has["snap_seen"], has[last], has["snap_000"])
	}
	_, err = s.SnapshotContent(t.Context(), "srv_a", "snap_000")
	wants(t, "the content of one that went", err, registry.ErrNotFound)
	for _, id := range []string{"snap_a", "snap_seen", last} {
		if _, err := s.SnapshotContent(t.Context(), "srv_a", id); err != nil {
			t.Errorf("the content of %s: %v", id, err)
		}
	}
}

func similarTools(t *testing.T, open Opener) {
	s := open(t)
	register(t, s, watched("a"), "read")
	register(t, s, watched("b"), "read")
	odd := watched("c")
	odd.Account = "other"
	register(t, s, odd, "odd \xed\xa0\x80")
	query := func(accounts []string, except string, limit int, tools ...string) string {
		t.Helper()
		var keys []registry.NameKey
		for _, name := range tools {
			keys = append(keys, nameKey(name))
		}
		all, err := s.SimilarTools(t.Context(), accounts, except, keys, limit)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, f := range all {
			out = append(out, f.Server.ID+"="+string(f.Tool))
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ got, want string }{
		{query([]string{"acct", "other"}, "", 10, "read", "odd \xed\xa0\x80"), "srv_a=read srv_b=read srv_c=odd \xed\xa0\x80"},
		{query([]string{"acct"}, "srv_a", 10, "read"), "srv_b=read"},
		{query([]string{"acct"}, "", 1, "read"), "srv_a=read"},
		{query([]string{"other"}, "", 10, "read"), ""},
		{query(nil, "", 10, "read"), ""},
		{query([]string{"acct"}, "", 10), ""},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	serve(t, s, "srv_b", snapshot("snap_2", "write", epoch))
	if got := query([]string{"acct"}, "", 10, "read", "write"); got != "srv_a=read srv_b=write" {
		t.Errorf("after another list: %q", got)
	}
}

func probeRuns(t *testing.T, open Opener) {
	s := open(t)
	r := register(t, s, watched("a"), "x")
	at := func(i int) time.Time { return epoch.Add(time.Duration(i) * time.Minute) }
	const more = 5
	for i := range registry.MaxRuns + more {
		run := registry.ProbeRun{From: at(i), To: at(i), Count: int64(i), Status: registry.Unchanged, Snapshot: "snap_a"}
		if i%2 == 1 {
			run.Status, run.Snapshot, run.Why = registry.Unreachable, "", &registry.Why{Code: toolmark.ErrTimeout, Message: "late"}
		}
		if err := s.ChangeServer(t.Context(), registry.ServerChange{ID: r.ID, Revision: r.Revision + int64(i), Status: r.ServerStatus, Ended: &run}); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := s.ProbeRuns(t.Context(), r.ID, at(more+2), 10)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the runs before a time, of those that are kept", runs, []registry.ProbeRun{
		{From: at(more + 1), To: at(more + 1), Count: more + 1, Status: registry.Unchanged, Snapshot: "snap_a"},
		{From: at(more), To: at(more), Count: more, Status: registry.Unreachable, Why: &registry.Why{Code: toolmark.ErrTimeout, Message: "late"}},
	})
}

func outbox(t *testing.T, open Opener) {
	s, other := open(t), open(t)
	r := register(t, s, watched("a"), "x")
	var all []registry.Event
	for i, kind := range registry.EventKinds() {
		all = append(all, registry.Event{
			ID: fmt.Sprintf("evt_%d", i), Account: "acct", Server: r.ID, Kind: kind, At: epoch.Add(time.Duration(i) * time.Second), Payload: []byte{0, byte(i)},
		})
	}
	if err := s.ChangeServer(t.Context(), registry.ServerChange{ID: r.ID, Revision: r.Revision, Status: r.ServerStatus, Events: all}); err != nil {
		t.Fatal(err)
	}
	check := func(want []registry.Event, limit int) {
		t.Helper()
		got, err := other.PendingEvents(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "the pending events", got, want)
	}
	check(all, 10)
	check(all[:2], 2)
	// Without a webhook that wants them they are done as well.
	if got := claim(t, s, epoch.Add(time.Minute), nil); len(got) != 0 {
		t.Errorf("deliveries without webhooks: %q", got)
	}
	check(nil, 10)
}

func deleteServer(t *testing.T, open Opener) {
	s := open(t)
	register(t, s, watched("a"), "x")
	register(t, s, watched("b"), "x")
	serve(t, s, "srv_a", snapshot("snap_2", "y", epoch))
	wants(t, "a server that is not there", s.DeleteServer(t.Context(), "srv_z", deed("srv_z", "removed", 1)), registry.ErrNotFound)
	if err := s.DeleteServer(t.Context(), "srv_a", deed("srv_a", "removed", 1)); err != nil {
		t.Fatal(err)
	}
	all, err := s.FindServers(t.Context(), registry.ServerQuery{Limit: 10})
	if err != nil || len(all) != 1 || all[0].ID != "srv_b" {
		t.Errorf("left are %v (%v)", all, err)
	}
	_, err = s.SnapshotContent(t.Context(), "srv_a", "snap_2")
	wants(t, "its content", err, registry.ErrNotFound)
	if _, err := s.SnapshotContent(t.Context(), "srv_b", "snap_b"); err != nil {
		t.Errorf("the content that another server has too: %v", err)
	}
	deeds, err := s.Deeds(t.Context(), "srv_a", "", 10)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the deeds, which stay", deeds, []registry.DeedRecord{deed("srv_a", "removed", 1), deed("srv_a", "registered", 0)})
	next, err := s.Deeds(t.Context(), "srv_a", deeds[0].ID, 10)
	if err != nil || len(next) != 1 || next[0].What != "registered" {
		t.Errorf("the next page: %v (%v)", next, err)
	}
	again := watched("a") // the name is free again
	again.ID = "srv_again"
	register(t, s, again, "x")
}

// oldServers asks for what testdata/v0002.sql and later ones hold.
func oldServers(t *testing.T, s registry.Store) {
	t.Helper()
	r := found(t, s, "srv_old")
	const hash = "0000000000000000000000000000000000000000000000000000000000000000"
	snap := registry.SnapshotRecord{
		ID: "snap_old", SHA256: r.Current.SHA256, Pin: hash, Fingerprint: "tmfp1:" + hash,
		Server: registry.ServerSays{Name: "\xed\xa0\x80", Version: "1", Given: true}, Tools: 1, FirstSeen: epoch, LastSeen: epoch,
		Approval: &registry.Approval{Act: registry.Act{By: "key_old", At: epoch}, Snapshot: "snap_old", Note: "old"},
	}
	same(t, "the old server", r, registry.ServerRecord{
		ID: "srv_old", Account: "acct_old", Name: "old", URL: "https://old.example/mcp", Host: "old.example", HeaderNames: []string{"Authorization"},
		Sealed: []byte{1, 255}, Interval: time.Minute, Created: epoch, CreatedBy: "key_old", Due: epoch, Revision: 5, Baseline: snap, Current: snap,
		ServerStatus: registry.ServerStatus{
			State: registry.Unreachable, Since: epoch, LastKnown: registry.Changed, Why: &registry.Why{Code: toolmark.ErrTimeout, Message: "late"},
			Suspicious: "odd", Approved: true, BaselineID: "snap_old", CurrentID: "snap_old", ProbedAt: epoch, ReadAt: epoch, Failures: 2,
			RunFrom: epoch, RunCount: 2,
		},
	})
	raw, err := s.SnapshotContent(t.Context(), "srv_old", "snap_old")
	if err != nil || string(raw) != `{"toolmarkSnapshot":1,"protocolVersion":"2025-11-25","tools":[{"name":"old"}]}` {
		t.Errorf("the old content: %q (%v)", raw, err)
	}
	tools, err := s.SimilarTools(t.Context(), []string{"acct_old"}, "", []registry.NameKey{nameKey("old")}, 5)
	if err != nil || len(tools) != 1 {
		t.Errorf("the old tools: %v (%v)", tools, err)
	}
	runs, err := s.ProbeRuns(t.Context(), "srv_old", epoch.Add(time.Hour), 5)
	if err != nil || len(runs) != 1 || runs[0].Count != 3 {
		t.Errorf("the old probes: %v (%v)", runs, err)
	}
	deeds, err := s.Deeds(t.Context(), "srv_old", "", 5)
	if err != nil || len(deeds) != 1 || deeds[0].What != "approved" {
		t.Errorf("the old deeds: %v (%v)", deeds, err)
	}
	events, err := s.PendingEvents(t.Context(), 5)
	if err != nil || len(events) != 1 || string(events[0].Payload) != "{}" {
		t.Errorf("the old events: %v (%v)", events, err)
	}
}
