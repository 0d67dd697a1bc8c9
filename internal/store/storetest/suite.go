package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

// Run holds a store to the contract of registry.Store. fresh gives a new, empty
// database each time.
func Run(t *testing.T, fresh func(tb testing.TB) Opener) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Opener)
	}{
		{"KeyComesBackAsItWas", keyComesBack},
		{"UnknownKeys", unknownKeys},
		{"KeyTakenTwice", keyTaken},
		{"ListKeys", listKeys},
		{"RevokeKey", revokeKey},
		{"AccessList", accessList},
		{"ListVersionsAreInTheKey", listVersions},
		{"SignupLimit", signupLimit},
		{"MetersAreStored", metersStored},
		{"MetersNothingOnFailure", metersFailure},
		{"MetersExactWithTwoStores", metersConcurrent},
		{"MetersInAnyOrder", metersDeadlock},
		{"ServerComesBackAsItWas", serverComesBack},
		{"ServerNames", serverNames},
		{"FindServers", findServers},
		{"ClaimServer", claimServer},
		{"ChangeServer", changeServer},
		{"ChangeServerOneOfTwo", changeOneOfTwo},
		{"SnapshotsOncePerContent", snapshotsOnce},
		{"SnapshotsArePruned", snapshotsPruned},
		{"SimilarTools", similarTools},
		{"RunsOfProbes", probeRuns},
		{"Outbox", outbox},
		{"DeleteServer", deleteServer},
		{"WebhooksComeBackAsTheyWere", webhooksComeBack},
		{"Deliveries", deliveries},
		{"DeliveriesClaimedOnce", claimedOnce},
		{"OpenAtOnce", openAtOnce},
		{"Closed", closed},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh(t)) })
	}
}

var epoch = time.Date(2026, 3, 31, 23, 59, 58, 123456000, time.UTC)

func n(v int64) *int64 { return &v }

// key makes a key that differs from others by its name.
func key(name string) registry.Key {
	return registry.Key{
		ID: "key_" + name, Account: "acct_" + name, Hash: sha256.Sum256([]byte(name)), Hint: "tm_abcd",
		Name: name, Plan: "custom", Created: epoch,
	}
}

func create(t *testing.T, s registry.Store, keys ...registry.Key) {
	t.Helper()
	for _, k := range keys {
		if err := s.CreateKey(t.Context(), k, nil); err != nil {
			t.Fatalf("create %s: %v", k.ID, err)
		}
	}
}

func get(t *testing.T, s registry.Store, id string) registry.KeyState {
	t.Helper()
	k, err := s.KeyByID(t.Context(), id)
	if err != nil {
		t.Fatalf("read %s: %v", id, err)
	}
	return k
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func wants(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

func keyComesBack(t *testing.T, open Opener) {
	s, other := open(t), open(t)
	full := registry.Key{
		ID: "key_1", Account: "acct_1", Hash: sha256.Sum256([]byte("1")), Hint: "tm_wxyz", Name: "naïve 名前 'quoted' \\ %",
		Plan: "free", Scopes: access.Scopes{access.ScopeProxy, access.ScopeRead},
		Limits:  access.Limits{PerMinute: n(60), PerMonth: n(0), Spend: n(access.MaxLimit)},
		Credits: n(100), Created: epoch, Expires: epoch.Add(time.Hour), Revoked: epoch.Add(time.Minute),
	}
	bare := key("bare")
	create(t, s, full, bare)
	for _, k := range []registry.Key{full, bare} {
		want := registry.KeyState{Key: k, Meter: access.Meter{Limits: k.Limits, Credits: k.Credits}}
		same(t, "by id", get(t, other, k.ID), want)
		byHash, err := other.KeyByHash(t.Context(), k.Hash)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "by hash", byHash, want)
	}
}

func unknownKeys(t *testing.T, open Opener) {
	s := open(t)
	create(t, s, key("a"))
	_, err := s.KeyByHash(t.Context(), access.Hash{})
	wants(t, "unknown hash", err, registry.ErrNotFound)
	for _, id := range []string{"", "key_b", "KEY_A", "key_a\x00", "\xff", "key_a' OR '1'='1"} {
		_, err := s.KeyByID(t.Context(), id)
		wants(t, fmt.Sprintf("unknown id %q", id), err, registry.ErrNotFound)
		wants(t, fmt.Sprintf("revoke %q", id), s.RevokeKey(t.Context(), id, epoch), registry.ErrNotFound)
		wants(t, fmt.Sprintf("remove %q", id), s.RemoveRule(t.Context(), id), registry.ErrNotFound)
	}
}

func keyTaken(t *testing.T, open Opener) {
	s := open(t)
	create(t, s, key("a"))
	sameID, sameHash := key("b"), key("c")
	sameID.ID, sameHash.Hash = key("a").ID, key("a").Hash
	wants(t, "an id twice", s.CreateKey(t.Context(), sameID, nil), registry.ErrExists)
	wants(t, "a hash twice", s.CreateKey(t.Context(), sameHash, nil), registry.ErrExists)
	all, err := s.ListKeys(t.Context(), "", "", 10)
	if err != nil || len(all) != 1 {
		t.Errorf("after refusals there are %d keys (%v), want 1", len(all), err)
	}
	err = s.AddRule(t.Context(), registry.Rule{ID: "rule_1", Account: "acct_c", Rule: access.Rule{Action: access.Block, Kind: access.KindIP, Value: "192.0.2.1"}, Created: epoch})
	wants(t, "a list of the account of a refused key", err, registry.ErrNotFound)
	second := key("second")
	second.Account = key("a").Account
	create(t, s, second)
}

func listKeys(t *testing.T, open Opener) {
	s := open(t)
	var want []string
	// Order is by bytes, whatever a database's locale says of case.
	for _, name := range []string{"B", "a", "C", "b", "_", "0"} {
		k := key(name)
		if name == "a" || name == "b" {
			k.Account = "acct_shared"
		}
		create(t, s, k)
	}
	want = []string{"key_0", "key_B", "key_C", "key__", "key_a", "key_b"}
	var got []string
	after := ""
	for {
		page, err := s.ListKeys(t.Context(), "", after, 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range page {
			got = append(got, k.ID)
		}
		if len(page) < 4 {
			break
		}
		after = page[len(page)-1].ID
	}
	same(t, "all keys, by pages", got, want)
	page, err := s.ListKeys(t.Context(), "acct_shared", "", 10)
	if err != nil || len(page) != 2 || page[0].ID != "key_a" || page[1].ID != "key_b" {
		t.Errorf("keys of one account: %v (%v)", page, err)
	}
	if page, err := s.ListKeys(t.Context(), "acct_none", "", 10); err != nil || len(page) != 0 {
		t.Errorf("keys of no account: %v (%v)", page, err)
	}
}

func revokeKey(t *testing.T, open Opener) {
	s, other := open(t), open(t)
	create(t, s, key("a"), key("b"))
	for _, at := range []time.Time{epoch.Add(time.Second), epoch.Add(time.Hour)} {
		if err := s.RevokeKey(t.Context(), "key_a", at); err != nil {
			t.Fatal(err)
		}
		same(t, "revoked at", get(t, other, "key_a").Revoked, epoch.Add(time.Second))
	}
	if !get(t, other, "key_b").Revoked.IsZero() {
		t.Error("another key was revoked with it")
	}
}

func rule(id, account, value string) registry.Rule {
	return registry.Rule{
		ID: id, Account: account, Note: "note " + id, Created: epoch,
		Rule: access.Rule{Action: access.Block, Kind: access.KindEndUser, Value: value},
	}
}

func accessList(t *testing.T, open Opener) {
	s, other := open(t), open(t)
	ctx := t.Context()
	create(t, s, key("a"))
	list := func(account string) []registry.Rule {
		t.Helper()
		rules, _, err := other.ListRules(ctx, account)
		if err != nil {
			t.Fatal(err)
		}
		return rules
	}
	later := rule("rule_0", "", "later")
	later.Created = epoch.Add(time.Second)
	first, second, own := rule("rule_1", "", "x"), rule("rule_2", "", "y"), rule("rule_3", "acct_a", "x")
	for _, r := range []registry.Rule{later, second, first, own} {
		if err := s.AddRule(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "the service's list", list(""), []registry.Rule{first, second, later})
	same(t, "an account's list", list("acct_a"), []registry.Rule{own})
	if got := list("acct_unknown"); len(got) != 0 {
		t.Errorf("list of an unknown account: %v", got)
	}
	wants(t, "the same entry again", s.AddRule(ctx, rule("rule_9", "", "x")), registry.ErrExists)
	wants(t, "an account that is not there", s.AddRule(ctx, rule("rule_9", "acct_z", "x")), registry.ErrNotFound)
	allow := rule("rule_9", "", "x")
	allow.Action = access.Allow
	if err := s.AddRule(ctx, allow); err != nil {
		t.Errorf("the opposite entry: %v", err)
	}
	for _, id := range []string{"rule_1", "rule_3"} {
		if err := s.RemoveRule(ctx, id); err != nil {
			t.Fatal(err)
		}
		wants(t, "remove twice", s.RemoveRule(ctx, id), registry.ErrNotFound)
	}
	same(t, "after removing", list(""), []registry.Rule{second, allow, later})
	same(t, "after removing all", list("acct_a"), []registry.Rule{})
}

func listVersions(t *testing.T, open Opener) {
	s, other := open(t), open(t)
	ctx := t.Context()
	create(t, s, key("a"), key("b"))
	if k := get(t, s, "key_a"); k.ServiceList != 0 || k.AccountList != 0 {
		t.Errorf("versions of lists that never had an entry: %d, %d", k.ServiceList, k.AccountList)
	}
	before := get(t, other, "key_a")
	for i, change := range []func() error{
		func() error { return s.AddRule(ctx, rule("rule_1", "", "x")) },
		func() error { return s.AddRule(ctx, rule("rule_2", "acct_a", "x")) },
		func() error { return s.RemoveRule(ctx, "rule_1") },
		func() error { return s.RemoveRule(ctx, "rule_2") },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		after := get(t, other, "key_a")
		if service, own := after.ServiceList > before.ServiceList, after.AccountList > before.AccountList; service != (i%2 == 0) || own != (i%2 == 1) {
			t.Errorf("change %d: service list %d → %d, account list %d → %d", i, before.ServiceList, after.ServiceList, before.AccountList, after.AccountList)
		}
		before = after
	}
	if k := get(t, other, "key_b"); k.AccountList != 0 {
		t.Errorf("another account's list has version %d", k.AccountList)
	}
	_, version, err := other.ListRules(ctx, "acct_a")
	if err != nil || version != before.AccountList {
		t.Errorf("ListRules gives version %d (%v), the key %d", version, err, before.AccountList)
	}
}

func openAtOnce(t *testing.T, open Opener) {
	// A fresh database that several processes find at the same time.
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			s := open(t)
			if err := s.CreateKey(t.Context(), key(fmt.Sprint(i)), nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if keys, err := open(t).ListKeys(t.Context(), "", "", 10); err != nil || len(keys) != 6 {
		t.Errorf("%d keys (%v), want 6", len(keys), err)
	}
}

func closed(t *testing.T, open Opener) {
	s := open(t)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("a closed store answers")
	}
	if err := s.ChangeMeters(context.Background(), []string{"key_a"}, func(map[string]*access.Meter) { t.Error("change was called") }); err == nil {
		t.Error("a closed store changes meters")
	}
}
