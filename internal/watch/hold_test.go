package watch_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/storetest"
	"github.com/toolmark/toolmark/internal/watch"
)

// announcer is a listener whose connections tell what the test says.
type announcer struct{ lists chan string }

func (a announcer) Listen(ctx context.Context, _ registry.Target, tell func(*toolmark.Snapshot)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case list := <-a.lists:
			snap, err := read(list)
			if err != nil {
				return err
			}
			tell(snap)
		}
	}
}

// TestAnnouncedChange: a server that announces changes is held, what it announces is
// recorded at once, and one that no longer does, or is removed, is let go.
func TestAnnouncedChange(t *testing.T) {
	store := storetest.SQLite(t)(t)
	c := newCounter()
	a := announcer{make(chan string)}
	h := watch.NewHolder(a, 1, slog.New(slog.DiscardHandler))
	t.Cleanup(h.Close)
	s := service(t, store, c, time.Hour, func(cfg *registry.Config) { cfg.Announces = h.Set })
	h.Use(s)
	c.set("https://host0.example/mcp", "announced")
	c.set("https://host1.example/mcp", "announced")
	urls := register(t, s, 2)
	check := func(url string) {
		t.Helper()
		if _, err := s.CheckServer(t.Context(), caller, url); err != nil {
			t.Fatal(err)
		}
	}
	is := func(want registry.State) func() bool {
		return func() bool {
			v, err := s.Server(t.Context(), caller, urls[0])
			return err == nil && v.Status == want
		}
	}
	check(urls[0])
	check(urls[1]) // there is no room for it
	if n := h.Held(); n != 1 {
		t.Fatalf("%d connections are held", n)
	}
	probes, _ := c.counts(urls[:1])
	a.lists <- "announced: another"
	eventually(t, 10*time.Second, "changed", is(registry.Changed))
	a.lists <- "announced"
	eventually(t, 10*time.Second, "unchanged", is(registry.Unchanged))
	if now, _ := c.counts(urls[:1]); now != probes {
		t.Errorf("%d probes for what was announced", now-probes)
	}

	a.lists <- "no longer"
	eventually(t, 10*time.Second, "let go", func() bool { return h.Held() == 0 })
	check(urls[0]) // which says that it announces changes again
	if n := h.Held(); n != 1 {
		t.Fatalf("%d connections are held", n)
	}
	if err := s.DeleteServer(t.Context(), caller, urls[0]); err != nil {
		t.Fatal(err)
	}
	a.lists <- "announced"
	eventually(t, 10*time.Second, "let go", func() bool { return h.Held() == 0 })
	h.Close()
	h.Close()
	check(urls[1])
	if n := h.Held(); n != 0 {
		t.Errorf("%d connections are held after the end", n)
	}
}
