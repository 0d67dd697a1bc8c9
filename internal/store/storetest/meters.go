package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

func metersStored(t *testing.T, open Opener) {
	s, other := open(t), open(t)
	create(t, s, key("a"), key("b"))
	want := access.Meter{
		Limits: access.Limits{PerMinute: n(1), PerMonth: n(2), Spend: n(0)}, Credits: n(-4),
		Minute: 5, MinuteUsed: 6, Month: 7, MonthUsed: 8, LastUsed: epoch,
	}
	called := 0
	err := s.ChangeMeters(t.Context(), []string{"key_b", "key_none", "key_a"}, func(m map[string]*access.Meter) {
		called++
		if len(m) != 2 || m["key_a"] == nil || m["key_b"] == nil {
			t.Errorf("meters given: %v", m)
			return
		}
		*m["key_a"] = want.Clone()
	})
	if err != nil || called != 1 {
		t.Fatalf("change was called %d times: %v", called, err)
	}
	same(t, "the changed meter", get(t, other, "key_a").Meter, want)
	same(t, "the other meter", get(t, other, "key_b").Meter, access.Meter{})
	err = other.ChangeMeters(t.Context(), []string{"key_a"}, func(m map[string]*access.Meter) {
		same(t, "the meter given next", *m["key_a"], want)
		*m["key_a"] = access.Meter{}
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the meter set back", get(t, s, "key_a").Meter, access.Meter{})
	if err := s.ChangeMeters(t.Context(), nil, func(m map[string]*access.Meter) {}); err != nil {
		t.Errorf("no keys: %v", err)
	}
}

func metersFailure(t *testing.T, open Opener) {
	s := open(t)
	create(t, s, key("a"))
	ctx, cancel := context.WithCancel(t.Context())
	err := s.ChangeMeters(ctx, []string{"key_a"}, func(m map[string]*access.Meter) {
		m["key_a"].MonthUsed = 1
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that the context was cancelled", err)
	}
	if used := get(t, s, "key_a").Meter.MonthUsed; used != 0 {
		t.Errorf("%d was stored by a change that failed", used)
	}
	// Nothing may be left locked.
	short, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	if err := s.ChangeMeters(short, []string{"key_a"}, func(m map[string]*access.Meter) { m["key_a"].MonthUsed++ }); err != nil {
		t.Errorf("the next change: %v", err)
	}
}

// metersConcurrent has 2 stores × 4 goroutines take scans from a limit that only half
// of them fit in.
func metersConcurrent(t *testing.T, open Opener) {
	const workers, each, limit = 4, 25, 100
	stores := []registry.Store{open(t), open(t)}
	k := key("a")
	k.Limits.PerMonth, k.Credits = n(limit), n(1000)
	create(t, stores[0], k)
	var group sync.WaitGroup
	taken := make([]int, len(stores)*workers)
	for i := range taken {
		group.Go(func() {
			for range each {
				err := stores[i%len(stores)].ChangeMeters(t.Context(), []string{k.ID}, func(m map[string]*access.Meter) {
					if _, denial := m[k.ID].Take(epoch); denial == nil {
						taken[i]++
					}
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	sum := 0
	for _, n := range taken {
		sum += n
	}
	m := get(t, stores[0], k.ID).Meter
	if sum != limit || m.MonthUsed != limit || *m.Credits != 1000-limit {
		t.Errorf("%d were let through, the meter says %d and %d credits; want %d, %d, %d", sum, m.MonthUsed, *m.Credits, limit, limit, 1000-limit)
	}
}

// metersDeadlock changes many meters at once, in orders that differ.
func metersDeadlock(t *testing.T, open Opener) {
	const meters, rounds = 12, 10
	stores := []registry.Store{open(t), open(t)}
	var ids []string
	for i := range meters {
		k := key(fmt.Sprint(i))
		create(t, stores[0], k)
		ids = append(ids, k.ID)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var group sync.WaitGroup
	for i := range 4 {
		order := slices.Clone(ids)
		if i%2 == 1 {
			slices.Reverse(order)
		}
		group.Go(func() {
			for range rounds {
				if err := stores[i/2].ChangeMeters(ctx, order, func(m map[string]*access.Meter) {
					for _, meter := range m {
						meter.MonthUsed++
					}
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	for _, id := range ids {
		if used := get(t, stores[0], id).Meter.MonthUsed; used != 4*rounds {
			t.Errorf("%s was counted %d times, want %d", id, used, 4*rounds)
		}
	}
}

// signupLimit has two stores make accounts for one address at the same time.
func signupLimit(t *testing.T, open Opener) {
	const tries, limit = 30, 7
	stores := []registry.Store{open(t), open(t)}
	signup := registry.SignupLimit{Bucket: "192.0.2.1", Hour: 500_000, Limit: limit}
	var mu sync.Mutex
	made, refused := 0, 0
	var group sync.WaitGroup
	for i := range tries {
		group.Go(func() {
			err := stores[i%2].CreateKey(t.Context(), key(fmt.Sprint(i)), &signup)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made++
			case errors.Is(err, registry.ErrSignupLimit):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	keys, err := stores[0].ListKeys(t.Context(), "", "", 100)
	if err != nil || made != limit || refused != tries-limit || len(keys) != limit {
		t.Errorf("%d made, %d refused, %d keys there (%v); want %d, %d, %d", made, refused, len(keys), err, limit, tries-limit, limit)
	}
	for name, next := range map[string]registry.SignupLimit{
		"next hour":     {Bucket: signup.Bucket, Hour: signup.Hour + 1, Limit: limit},
		"other address": {Bucket: "192.0.2.2", Hour: signup.Hour, Limit: limit},
	} {
		if err := stores[0].CreateKey(t.Context(), key(name), &next); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	closed := registry.SignupLimit{Bucket: "192.0.2.3", Hour: signup.Hour, Limit: 0}
	wants(t, "a limit of 0", stores[0].CreateKey(t.Context(), key("zero"), &closed), registry.ErrSignupLimit)
	// A signup that fails for another reason is not counted.
	for range 3 {
		one := registry.SignupLimit{Bucket: "192.0.2.4", Hour: signup.Hour, Limit: 2}
		wants(t, "a key that is taken", stores[0].CreateKey(t.Context(), key("next hour"), &one), registry.ErrExists)
	}
}
