package watch_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/postgres"
	"github.com/toolmark/toolmark/internal/store/sqlite"
	"github.com/toolmark/toolmark/internal/store/storetest"
	"github.com/toolmark/toolmark/internal/watch"
	"github.com/toolmark/toolmark/rulepack"
	"github.com/toolmark/toolmark/scan"
)

// counter is a prober whose servers serve what the test says, and that counts what is
// read of each, and how many of one at once.
type counter struct {
	mu      sync.Mutex
	lists   map[string]string
	probes  map[string]int
	now     map[string]int
	most    int
	running int // of one host
	atHost  int
	takes   time.Duration
}

func newCounter() *counter {
	return &counter{lists: map[string]string{}, probes: map[string]int{}, now: map[string]int{}}
}

func (c *counter) Probe(ctx context.Context, t registry.Target) (*toolmark.Snapshot, error) {
	c.mu.Lock()
	c.probes[t.URL]++
	c.now[t.URL]++
	c.most = max(c.most, c.now[t.URL])
	c.running++
	c.atHost = max(c.atHost, c.running)
	list, takes := c.lists[t.URL], c.takes
	c.mu.Unlock()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	c.now[t.URL]--
	c.running--
	c.mu.Unlock()
	if list == "" {
		list = "same"
	}
	if list == "down" {
		return nil, &toolmark.Error{Code: toolmark.ErrCannotConnect, Message: "connection refused"}
	}
	return read(list)
}

// read gives a snapshot of a server with one tool; a description with "announced" in it
// is that of a server which declares listChanged.
func read(list string) (*toolmark.Snapshot, error) {
	doc := []byte(fmt.Sprintf(`{"toolmarkSnapshot":1,"capabilities":{"tools":{"listChanged":%v}},"tools":[{"name":"t","description":%q}]}`,
		strings.Contains(list, "announced"), list))
	tree, err := canonjson.Parse(doc, canonjson.Options{})
	if err != nil {
		return nil, err
	}
	m, err := toolmark.ReadManifest(tree)
	if err != nil {
		return nil, err
	}
	return &toolmark.Snapshot{Manifest: m, ReadAt: time.Now(), Bytes: doc}, nil
}

func (c *counter) set(url, list string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists[url] = list
}

// slow makes probes take a time, and forgets the peaks.
func (c *counter) slow(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.takes, c.most, c.atHost = d, 0, 0
}

// counts gives the least and the most probes of a server.
func (c *counter) counts(urls []string) (least, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	least = 1 << 30
	for _, url := range urls {
		least, most = min(least, c.probes[url]), max(most, c.probes[url])
	}
	return least, most
}

// peaks gives how many probes there were at once, of one server and of all.
func (c *counter) peaks() (one, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most, c.atHost
}

func service(tb testing.TB, store registry.Store, prober registry.Prober, interval time.Duration, change ...func(*registry.Config)) *registry.Service {
	tb.Helper()
	rules, err := rulepack.Builtin()
	if err != nil {
		tb.Fatal(err)
	}
	scanner, err := scan.New(scan.Config{Rules: rules, Budget: -1})
	if err != nil {
		tb.Fatal(err)
	}
	cfg := registry.Config{Store: store, Probe: prober, Scanner: scanner, Interval: interval, Watched: true, MaxProbes: 1000, Fresh: time.Nanosecond}
	for _, f := range change {
		f(&cfg)
	}
	s, err := registry.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

type testLog struct{ tb testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.tb.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// start watches with a store of either kind, and stops at the test's end.
func start(tb testing.TB, store registry.Store, s *registry.Service, cfg watch.Config) *watch.Watch {
	tb.Helper()
	cfg.Log = slog.New(slog.NewTextHandler(testLog{tb}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if cfg.Sweep == 0 {
		cfg.Sweep = 20 * time.Millisecond
	}
	var w *watch.Watch
	var err error
	switch store := store.(type) {
	case *sqlite.Store:
		w, err = watch.Start[*sql.Tx](tb.Context(), store, s, cfg)
	case *postgres.Store:
		w, err = watch.Start[pgx.Tx](tb.Context(), store, s, cfg)
	default:
		tb.Fatalf("a store of type %T", store)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := w.Stop(ctx); err != nil {
			tb.Errorf("stop: %v", err)
		}
	})
	return w
}

var caller = registry.Caller{Account: "acct", Actor: "key_a"}

func register(tb testing.TB, s *registry.Service, n int) (urls []string) {
	tb.Helper()
	for i := range n {
		url := fmt.Sprintf("https://host%d.example/mcp", i)
		if _, err := s.RegisterServer(tb.Context(), caller, registry.NewServer{URL: url}); err != nil {
			tb.Fatal(err)
		}
		urls = append(urls, url)
	}
	return urls
}

func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); ; {
		if ok() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s did not happen within %s", what, within)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestEveryServerOnceAnInterval watches with two replicas on one database: each server is
// probed once an interval, and never twice at once.
func TestEveryServerOnceAnInterval(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		const servers, interval, rounds = 20, 2 * time.Second, 2
		c := newCounter()
		stores := []registry.Store{open(t), open(t)}
		one, two := service(t, stores[0], c, interval), service(t, stores[1], c, interval)
		urls := register(t, one, servers)
		began := time.Now()
		for i, s := range []*registry.Service{one, two} {
			start(t, stores[i], s, watch.Config{})
		}
		eventually(t, 20*time.Second, "enough probes of every server", func() bool {
			least, _ := c.counts(urls)
			return least >= 1+rounds
		})
		// The first is that of the registration. An interval is 0.85 to 0.95 of its time, so in
		// what has passed no server can have been due more often than this.
		elapsed := time.Since(began)
		if _, most := c.counts(urls); most > 2+int(elapsed/(interval*85/100)) {
			t.Errorf("a server was probed %d times in %s", most, elapsed)
		}
		if most, _ := c.peaks(); most != 1 {
			t.Errorf("%d probes of one server at once", most)
		}
	})
}

// TestChangeIsNoticedAndTold: a change, a server that goes, one that comes back: each is
// one event, with two replicas.
func TestChangeIsNoticedAndTold(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		c := newCounter()
		stores := []registry.Store{open(t), open(t)}
		one, two := service(t, stores[0], c, time.Second), service(t, stores[1], c, time.Second)
		urls := register(t, one, 2)
		start(t, stores[0], one, watch.Config{})
		start(t, stores[1], two, watch.Config{})
		is := func(want registry.State) func() bool {
			return func() bool {
				s, err := one.Server(t.Context(), caller, urls[0])
				return err == nil && s.Status == want && s.Why == nil == (want != registry.Unreachable)
			}
		}
		c.set(urls[0], "another")
		eventually(t, 10*time.Second, "changed", is(registry.Changed))
		c.set(urls[0], "down")
		eventually(t, 10*time.Second, "unreachable", is(registry.Unreachable))
		c.set(urls[0], "another")
		eventually(t, 20*time.Second, "changed again", is(registry.Changed))
		events, err := stores[0].PendingEvents(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, e := range events {
			kinds = append(kinds, string(e.Kind))
		}
		if got := strings.Join(kinds, " "); got != "drift.detected server.unreachable server.recovered" {
			t.Errorf("events %q", got)
		}
		if s, err := one.Server(t.Context(), caller, urls[1]); err != nil || s.Status != registry.Unchanged {
			t.Errorf("the other server: %+v (%v)", s, err)
		}
	})
}

// TestHostLimit: servers of one host are not read all at once, and all are read.
func TestHostLimit(t *testing.T) {
	t.Parallel()
	store := storetest.SQLite(t)(t)
	c := newCounter()
	s := service(t, store, c, time.Second)
	var urls []string
	for i := range 5 {
		url := fmt.Sprintf("https://one.example/%d", i)
		if _, err := s.RegisterServer(t.Context(), caller, registry.NewServer{URL: url}); err != nil {
			t.Fatal(err)
		}
		urls = append(urls, url)
	}
	c.slow(100 * time.Millisecond)
	start(t, store, s, watch.Config{PerHost: 2})
	eventually(t, 30*time.Second, "a probe of every server", func() bool {
		least, _ := c.counts(urls)
		return least >= 2
	})
	if _, most := c.peaks(); most > 2 {
		t.Errorf("%d at one host at once", most)
	}
}

// TestStopWaits: Stop waits for the probe that runs, and what it found is stored.
func TestStopWaits(t *testing.T) {
	t.Parallel()
	store := storetest.SQLite(t)(t)
	c := newCounter()
	s := service(t, store, c, time.Second)
	urls := register(t, s, 1)
	c.slow(300 * time.Millisecond)
	c.set(urls[0], "another")
	w := start(t, store, s, watch.Config{})
	eventually(t, 10*time.Second, "a probe", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.running > 0
	})
	if err := w.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Server(t.Context(), caller, urls[0]); err != nil || got.Status != registry.Changed {
		t.Errorf("after the stop: %+v (%v)", got, err)
	}
	if err := w.Stop(t.Context()); err != nil {
		t.Errorf("stopped twice: %v", err)
	}
}

// TestShorterInterval: servers that were registered for a longer interval keep to the
// one that holds now.
func TestShorterInterval(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		store := open(t)
		c := newCounter()
		urls := register(t, service(t, store, c, time.Hour), 3)
		start(t, store, service(t, store, c, time.Second), watch.Config{Interval: time.Second})
		eventually(t, 20*time.Second, "a probe of every server", func() bool {
			least, _ := c.counts(urls)
			return least >= 2
		})
	})
}

// TestDeadReplica: a server that was reserved by a process which died is probed by
// another one once the reservation has run out, and not before.
func TestDeadReplica(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		store := open(t)
		c := newCounter()
		s := service(t, store, c, time.Second)
		urls := register(t, s, 1)
		r, err := store.FindServers(t.Context(), registry.ServerQuery{URL: urls[0], Limit: 1})
		if err != nil || len(r) != 1 {
			t.Fatal(err)
		}
		until := time.Now().Add(2 * time.Second)
		if err := store.ClaimServer(t.Context(), r[0].ID, r[0].Revision, time.Now(), until); err != nil {
			t.Fatal(err)
		}
		start(t, store, s, watch.Config{})
		eventually(t, 30*time.Second, "a probe", func() bool {
			least, _ := c.counts(urls)
			return least >= 2
		})
		if time.Now().Before(until) {
			t.Error("it was probed while it was reserved")
		}
	})
}
