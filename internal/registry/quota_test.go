package registry_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/storetest"
)

// replicas gives services that share a database and a clock, each with a store of its
// own.
func replicas(tb testing.TB, open storetest.Opener, count int, cfg registry.Config) []*registry.Service {
	tb.Helper()
	all := make([]*registry.Service, count)
	for i := range all {
		cfg.Store = open(tb)
		all[i] = service(tb, cfg)
	}
	return all
}

// TestQuotaExactAcrossReplicas: 4,000 scans at once on two replicas against a limit of
// 1,000.
func TestQuotaExactAcrossReplicas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		c := newClock()
		services := replicas(t, open, 2, registry.Config{Now: c.Now})
		k := makeKey(t, services[0], registry.NewKey{Plan: "pro", Limits: access.Limits{PerMonth: n(1000)}})
		var let, refused atomic.Int64
		var group sync.WaitGroup
		for i := range 4000 {
			group.Go(func() {
				s := services[i%2]
				grant, err := s.Admit(t.Context(), registry.Call{Key: k.Plain, Scope: access.ScopeProxy})
				if err != nil {
					t.Error(err)
					return
				}
				_, err = s.Reserve(t.Context(), grant)
				var d *access.Denial
				switch {
				case err == nil:
					let.Add(1)
				case errors.As(err, &d) && d.Code == access.QuotaExceeded && d.Used == 1000 && d.Limit == 1000 && d.Plan == "pro":
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		usage, err := services[1].Usage(t.Context(), admit(t, services[1], k.Plain))
		if err != nil || let.Load() != 1000 || refused.Load() != 3000 || usage.RequestsUsed != 1000 {
			t.Errorf("%d let through, %d refused, usage %+v (%v)", let.Load(), refused.Load(), usage, err)
		}
		if want := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC); !usage.ResetAt.Equal(want) || *usage.RequestsLimit != 1000 || usage.Overage != 0 {
			t.Errorf("usage %+v", usage)
		}
	})
}

// TestRateExactAcrossReplicas: 200 requests at once on two replicas against 30 a minute.
func TestRateExactAcrossReplicas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		c := newClock()
		services := replicas(t, open, 2, registry.Config{Now: c.Now})
		k := makeKey(t, services[0], registry.NewKey{Limits: access.Limits{PerMinute: n(30)}})
		for minute := range 3 {
			var let, refused atomic.Int64
			var group sync.WaitGroup
			var left sync.Map
			for i := range 200 {
				group.Go(func() {
					grant, err := services[i%2].Admit(t.Context(), registry.Call{Key: k.Plain})
					var d *access.Denial
					switch {
					case err == nil:
						if _, twice := left.LoadOrStore(grant.Rate.Remaining, true); twice || grant.Rate.Limit != 30 {
							t.Errorf("rate %+v", grant.Rate)
						}
						let.Add(1)
					case errors.As(err, &d) && d.Code == access.RateExceeded && d.Rate.Remaining == 0 && d.RetryAfter == d.Rate.Reset.Sub(c.Now()):
						refused.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			group.Wait()
			if let.Load() != 30 || refused.Load() != 170 {
				t.Errorf("minute %d: %d let through, %d refused", minute, let.Load(), refused.Load())
			}
			c.set(c.Now().Add(time.Minute))
		}
	})
}

// TestCeilingIsPerProcess: a key without a rate of its own has the service's.
func TestCeilingIsPerProcess(t *testing.T) {
	c := newClock()
	services := replicas(t, storetest.SQLite(t), 2, registry.Config{Now: c.Now, PerMinute: 5})
	k := makeKey(t, services[0], registry.NewKey{})
	for _, s := range services {
		for i := range 5 {
			if g := admit(t, s, k.Plain); g.Rate != (access.Rate{Limit: 5, Remaining: int64(4 - i), Reset: time.Date(2026, 4, 30, 23, 59, 0, 0, time.UTC)}) {
				t.Errorf("rate %+v", g.Rate)
			}
		}
		_, err := s.Admit(t.Context(), registry.Call{Key: k.Plain})
		denied(t, err, access.RateExceeded)
	}
	c.set(c.Now().Add(time.Minute))
	admit(t, services[0], k.Plain)
}

func TestRelease(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		c := newClock()
		s := service(t, registry.Config{Store: open(t), Now: c.Now})
		k := makeKey(t, s, registry.NewKey{Limits: access.Limits{PerMonth: n(2)}, Credits: n(5)})
		g := admit(t, s, k.Plain)
		used := func(month, credits int64) {
			t.Helper()
			u, err := s.Usage(t.Context(), g)
			if err != nil || u.RequestsUsed != month || *u.Credits != credits {
				t.Errorf("used %d, credits %d (%v); want %d, %d", u.RequestsUsed, *u.Credits, err, month, credits)
			}
		}
		var kept []*registry.Reservation
		for range 2 {
			r, err := s.Reserve(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, r)
		}
		_, err := s.Reserve(t.Context(), g)
		denied(t, err, access.QuotaExceeded)
		used(2, 3)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for range 3 { // once is what counts, and a caller who has left may still give back
			if err := kept[0].Release(gone); err != nil {
				t.Fatal(err)
			}
		}
		used(1, 4)
		// Given back after the month ended: the new month owes nothing for it.
		c.set(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
		used(0, 4)
		if _, err := s.Reserve(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		if err := kept[1].Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		used(1, 4)
	})
}

func TestSpendingAndCredits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		s := service(t, registry.Config{Store: open(t), Now: newClock().Now})
		for name, c := range map[string]struct {
			key     registry.NewKey
			let     int
			code    access.Code
			limit   int64
			overage int64
		}{
			"month":             {registry.NewKey{Limits: access.Limits{PerMonth: n(3)}}, 3, access.QuotaExceeded, 3, 0},
			"month and spend":   {registry.NewKey{Limits: access.Limits{PerMonth: n(3), Spend: n(2)}}, 5, access.SpendingExceeded, 5, 2},
			"spend":             {registry.NewKey{Limits: access.Limits{Spend: n(2)}}, 2, access.SpendingExceeded, 2, 2},
			"credits":           {registry.NewKey{Credits: n(4)}, 4, access.SpendingExceeded, 4, 0},
			"credits and month": {registry.NewKey{Limits: access.Limits{PerMonth: n(9)}, Credits: n(4)}, 4, access.SpendingExceeded, 9, 0},
			"nothing left":      {registry.NewKey{Credits: n(0)}, 0, access.SpendingExceeded, 0, 0},
		} {
			g := admit(t, s, makeKey(t, s, c.key).Plain)
			for i := range c.let {
				if _, err := s.Reserve(t.Context(), g); err != nil {
					t.Fatalf("%s: scan %d: %v", name, i, err)
				}
			}
			_, err := s.Reserve(t.Context(), g)
			if d := denied(t, err, c.code); d.Used != int64(c.let) || d.Limit != c.limit || d.Plan != "custom" || d.Rate != g.Rate {
				t.Errorf("%s: %+v", name, d)
			}
			u, err := s.Usage(t.Context(), g)
			if err != nil || u.RequestsUsed != int64(c.let) || u.Overage != c.overage {
				t.Errorf("%s: usage %+v (%v)", name, u, err)
			}
		}
	})
}

// slow is a store whose commits wait for the test.
type slow struct {
	registry.Store
	entered chan struct{}
	let     chan struct{}
}

func (s *slow) ChangeMeters(ctx context.Context, keys []string, change func(map[string]*access.Meter)) error {
	s.entered <- struct{}{}
	err := s.Store.ChangeMeters(ctx, keys, change)
	<-s.let
	return err
}

// TestCallerLeaves: who no longer waits for a reservation has none, whether it was
// waiting or being committed.
func TestCallerLeaves(t *testing.T) {
	store := &slow{Store: storetest.SQLite(t)(t), entered: make(chan struct{}, 16), let: make(chan struct{}, 16)}
	s := service(t, registry.Config{Store: store})
	k := makeKey(t, s, registry.NewKey{Credits: n(10)})
	g := admit(t, s, k.Plain)
	var group sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	reserve := func() {
		group.Go(func() {
			if _, err := s.Reserve(ctx, g); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
	reserve()
	<-store.entered // the first is in a transaction
	for range 3 {
		reserve() // these wait for the next
	}
	cancel()
	group.Wait()
	for range 16 {
		store.let <- struct{}{}
	}
	s.Close() // waits until all is done
	state, err := store.KeyByID(t.Context(), k.ID)
	if err != nil || *state.Meter.Credits != 10 || state.Meter.MonthUsed != 0 {
		t.Errorf("credits %d, used %d (%v)", *state.Meter.Credits, state.Meter.MonthUsed, err)
	}
	if _, err := s.Reserve(t.Context(), g); !errors.Is(err, registry.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestTooManyWaiting: what waits for a stuck database is bounded.
func TestTooManyWaiting(t *testing.T) {
	store := &slow{Store: storetest.SQLite(t)(t), entered: make(chan struct{}, 16), let: make(chan struct{}, 16)}
	s := service(t, registry.Config{Store: store, MaxWaiting: 3})
	g := admit(t, s, makeKey(t, s, registry.NewKey{}).Plain)
	results := make(chan error, 10)
	reserve := func() {
		_, err := s.Reserve(t.Context(), g)
		results <- err
	}
	go reserve()
	<-store.entered
	for range 9 {
		go reserve()
	}
	busy := 0
	for range 7 {
		if err := <-results; errors.Is(err, registry.ErrBusy) {
			busy++
		}
	}
	for range 16 {
		store.let <- struct{}{}
	}
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if busy != 7 {
		t.Errorf("%d were refused, want 7 of 10", busy)
	}
}

// failing is a store that cannot change meters.
type failing struct{ registry.Store }

var errDisk = errors.New("the disk is full")

func (failing) ChangeMeters(context.Context, []string, func(map[string]*access.Meter)) error {
	return errDisk
}

func TestStoreFails(t *testing.T) {
	s := service(t, registry.Config{Store: failing{storetest.SQLite(t)(t)}})
	k := makeKey(t, s, registry.NewKey{Limits: access.Limits{PerMinute: n(5)}})
	if _, err := s.Admit(t.Context(), registry.Call{Key: k.Plain}); !errors.Is(err, errDisk) {
		t.Errorf("admit: %v", err)
	}
	g := admit(t, s, makeKey(t, s, registry.NewKey{}).Plain)
	if _, err := s.Reserve(t.Context(), g); !errors.Is(err, errDisk) {
		t.Errorf("reserve: %v", err)
	}
}

// BenchmarkReserve is how many scans a second can be counted, each durable before it is
// let through, with 64 requests at a time on one key.
func BenchmarkReserve(b *testing.B) {
	for _, c := range []struct {
		name     string
		open     func(testing.TB) storetest.Opener
		replicas int
	}{{"sqlite", storetest.SQLite, 1}, {"postgres", storetest.Postgres, 1}, {"postgres-replicas", storetest.Postgres, 2}} {
		b.Run(c.name, func(b *testing.B) {
			services := replicas(b, c.open(b), c.replicas, registry.Config{})
			k := makeKey(b, services[0], registry.NewKey{})
			var next atomic.Int64
			b.SetParallelism(32)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				s := services[int(next.Add(1))%len(services)]
				for pb.Next() {
					g, err := s.Admit(context.Background(), registry.Call{Key: k.Plain})
					if err == nil {
						_, err = s.Reserve(context.Background(), g)
					}
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scans/s")
		})
	}
}

// BenchmarkAdmit is the part of a request that is only read: key, lists, scope, rate.
func BenchmarkAdmit(b *testing.B) {
	for name, open := range map[string]func(testing.TB) storetest.Opener{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			s := service(b, registry.Config{Store: open(b)(b)})
			k := makeKey(b, s, registry.NewKey{})
			for b.Loop() {
				if _, err := s.Admit(context.Background(), registry.Call{Key: k.Plain}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
