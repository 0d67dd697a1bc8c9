package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
)

// quick are options that make a test wait for nothing.
func quick() WatchOptions {
	return WatchOptions{
		Options:     Options{Timeout: 10 * time.Second},
		MinInterval: time.Millisecond, MinBackoff: 10 * time.Millisecond, MaxBackoff: 40 * time.Millisecond,
		Jitter: func() float64 { return 0 },
	}
}

// A watching test sees the events of one Watch.
type watching struct {
	t      *testing.T
	events chan Event
	ended  chan error
	stop   context.CancelFunc
}

func startWatch(t *testing.T, src Source, opts WatchOptions) *watching {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w := &watching{t: t, events: make(chan Event), ended: make(chan error, 1), stop: stop}
	go func() {
		w.ended <- Watch(ctx, src, opts, func(e Event) {
			select {
			case w.events <- e:
			case <-ctx.Done():
			}
		})
		close(w.events)
	}()
	t.Cleanup(func() {
		stop()
		for range w.events { // until Watch has returned, so that nothing of it is left
		}
	})
	return w
}

// next gives the next event, which must be of that kind.
func (w *watching) next(kind EventKind) Event {
	w.t.Helper()
	select {
	case e, open := <-w.events:
		if !open {
			w.t.Fatalf("Watch ended with %v, want a %s event", <-w.ended, kind)
		}
		if e.Kind != kind {
			w.t.Fatalf("event %s (error %v), want %s", e.Kind, e.Err, kind)
		}
		if (e.Snapshot == nil) != (kind == Lost) || (e.Err == nil) != (kind != Lost) || e.At.IsZero() {
			w.t.Fatalf("event %+v", e)
		}
		return e
	case <-time.After(20 * time.Second):
		w.t.Fatalf("no %s event came", kind)
	}
	panic("not reached")
}

// end stops the watch and gives its error.
func (w *watching) end() error {
	w.stop()
	for range w.events {
	}
	return <-w.ended
}

// result waits for the watch to end by itself.
func (w *watching) result() error {
	w.t.Helper()
	select {
	case e, open := <-w.events:
		if open {
			w.t.Fatalf("event %s (error %v), want the end", e.Kind, e.Err)
		}
	case <-time.After(20 * time.Second):
		w.t.Fatal("Watch does not end")
	}
	return <-w.ended
}

func TestWatchStdio(t *testing.T) {
	w := startWatch(t, fakeSource(t, "announces"), quick())
	e := w.next(Connected)
	if toolNames(e.Snapshot) != "t1" || !slices.Equal(e.Declared, []string{"tools"}) || len(e.Announced)+len(e.Undeclared) > 0 {
		t.Errorf("%+v with %s", e, toolNames(e.Snapshot))
	}
	for i := 2; i <= 4; i++ {
		e = w.next(Changed)
		if toolNames(e.Snapshot) != fmt.Sprint("t", i) || !slices.Equal(e.Announced, []string{"tools"}) || len(e.Undeclared) > 0 || len(e.Snapshot.Warnings) > 0 {
			t.Errorf("%+v with %s, warnings %q", e, toolNames(e.Snapshot), e.Snapshot.Warnings)
		}
	}
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// A change is followed whether or not the server said that it would announce it.
func TestCaseC30_ChangesAnnouncedWithoutDeclaring(t *testing.T) {
	opts := quick()
	opts.MinInterval = 300 * time.Millisecond // both are announced within it
	w := startWatch(t, fakeSource(t, "announces-undeclared"), opts)
	if e := w.next(Connected); len(e.Declared) > 0 || toolNames(e.Snapshot) != "t1" {
		t.Errorf("%+v", e)
	}
	e := w.next(Changed)
	if toolNames(e.Snapshot) != "t2" || !slices.Equal(e.Announced, []string{"tools", "prompts"}) || !slices.Equal(e.Undeclared, []string{"tools", "prompts"}) {
		t.Errorf("%+v with %s", e, toolNames(e.Snapshot))
	}
	if len(e.Snapshot.Manifest.Prompts.Items) != 1 {
		t.Errorf("prompts %v: a list that was announced was not read", e.Snapshot.Manifest.Prompts)
	}
	if all := strings.Join(e.Snapshot.Warnings, "\n"); !strings.Contains(all, "does not declare tools.listChanged") || !strings.Contains(all, "prompts.listChanged") {
		t.Errorf("warnings %q", all)
	}
}

// A server that has its tools only after the handshake, and says so, is read again.
func TestProbeFollowsAnnouncedChanges(t *testing.T) {
	s := mustProbe(t, fakeSource(t, "late-tools"), Options{})
	if toolNames(s) != "early late" {
		t.Errorf("tools %s", toolNames(s))
	}
	s = mustProbe(t, fakeSource(t, "floods"), Options{})
	if len(s.Manifest.Tools) != 1 {
		t.Errorf("tools %s", toolNames(s))
	}
}

func TestWatchMakesConnectionsAgain(t *testing.T) {
	w := startWatch(t, fakeSource(t, "exits-after-list"), quick())
	for range 2 {
		w.next(Connected)
		e := w.next(Lost)
		wantError(t, e.Err, toolmark.ErrCannotConnect, "exit status 3", "while it was connected")
	}
}

func TestWatchBacksOff(t *testing.T) {
	w := startWatch(t, fakeSource(t, "exits"), quick())
	var waits []time.Duration
	for range 4 {
		e := w.next(Lost)
		wantError(t, e.Err, toolmark.ErrCannotStart, "exit status 7")
		waits = append(waits, e.Retry)
	}
	ms := time.Millisecond
	if want := []time.Duration{10 * ms, 20 * ms, 40 * ms, 40 * ms}; !slices.Equal(waits, want) {
		t.Errorf("waits %v, want %v", waits, want)
	}
	plain := &watch{opts: WatchOptions{MinBackoff: time.Second, MaxBackoff: time.Hour, Jitter: func() float64 { return 0.5 }}}
	for failures, want := range map[int]time.Duration{0: 875 * ms, 1: 1750 * ms, 20: 3150 * time.Second, 70: 3150 * time.Second} {
		if got := plain.backoff(failures); got != want {
			t.Errorf("after %d failures %v, want %v", failures, got, want)
		}
	}
}

func TestWatchReadsAFloodInPeace(t *testing.T) {
	opts := quick()
	opts.MinInterval = 300 * time.Millisecond
	w := startWatch(t, fakeSource(t, "floods"), opts)
	w.next(Connected)
	w.next(Changed)
	start := time.Now()
	for range 2 {
		w.next(Changed)
	}
	if d := time.Since(start); d < 500*time.Millisecond {
		t.Errorf("two readings in %v", d)
	}
}

// What a server says while nothing is asked is bounded too.
func TestWatchBoundsIdleTalk(t *testing.T) {
	opts := quick()
	opts.MaxBytes = 100_000
	w := startWatch(t, fakeSource(t, "chatters-when-idle"), opts)
	w.next(Connected)
	wantError(t, w.next(Lost).Err, toolmark.ErrTooLarge, "100000 bytes")
}

func TestWatchModernStdio(t *testing.T) {
	w := startWatch(t, fakeSource(t, "modern-announces"), quick())
	e := w.next(Connected)
	if e.Snapshot.Manifest.ProtocolVersion != "2026-07-28" || toolNames(e.Snapshot) != "m1" {
		t.Errorf("%s with %s", e.Snapshot.Manifest.ProtocolVersion, toolNames(e.Snapshot))
	}
	e = w.next(Changed)
	if toolNames(e.Snapshot) != "m2" || !slices.Equal(e.Announced, []string{"tools"}) || e.Snapshot.Manifest.Instructions != "discovered 2 times" {
		t.Errorf("%+v with %s, %q", e, toolNames(e.Snapshot), e.Snapshot.Manifest.Instructions)
	}
	// The server then ends the subscription, and has to be asked for another.
	e = w.next(Changed)
	if toolNames(e.Snapshot) != "m3" || len(e.Announced) > 0 {
		t.Errorf("%+v with %s", e, toolNames(e.Snapshot))
	}
}

func TestWatchServersThatDoNotTell(t *testing.T) {
	for name, says := range map[string]string{
		"modern":             "-32601",
		"modern-tells-none":  "none of its lists",
		"modern-ends-listen": "without acknowledging",
	} {
		t.Run(name, func(t *testing.T) {
			w := startWatch(t, fakeSource(t, name), quick())
			w.next(Connected)
			if err := w.result(); !errors.Is(err, ErrNotListening) || !strings.Contains(err.Error(), says) {
				t.Errorf("error %v does not say %q", err, says)
			}
		})
	}
}

// A change that is not announced is seen when the lists are read once more, in the same
// session, whether the server could have announced it or not.
func TestWatchRereads(t *testing.T) {
	opts := quick()
	opts.Reread = 50 * time.Millisecond
	w := startWatch(t, fakeSource(t, "grows"), opts)
	if e := w.next(Connected); toolNames(e.Snapshot) != "t1" || e.Deaf {
		t.Errorf("%+v with %s", e, toolNames(e.Snapshot))
	}
	if e := w.next(Unasked); toolNames(e.Snapshot) != "t2" || len(e.Announced) > 0 || !slices.Equal(e.Declared, []string{"tools"}) {
		t.Errorf("%+v with %s", e, toolNames(e.Snapshot))
	}
	select {
	case e := <-w.events:
		t.Errorf("read once more than once: %+v", e)
	case <-time.After(200 * time.Millisecond):
	}
	if err := w.end(); err != nil {
		t.Error(err)
	}
	w = startWatch(t, fakeSource(t, "modern-tells-none"), opts)
	for _, kind := range []EventKind{Connected, Unasked} {
		if e := w.next(kind); !e.Deaf {
			t.Errorf("%+v", e)
		}
	}
	if err := w.result(); !errors.Is(err, ErrNotListening) {
		t.Error(err)
	}
	// A server that announces all the time is read once more all the same.
	w = startWatch(t, fakeSource(t, "floods"), opts)
	w.next(Connected)
	for e := range w.events {
		if e.Kind == Unasked {
			break
		}
	}
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

func TestWatchWrongUse(t *testing.T) {
	err := Watch(t.Context(), Source{}, WatchOptions{}, func(Event) { t.Error("an event came") })
	wantError(t, err, toolmark.ErrUsage)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Watch(ctx, fakeSource(t, "good"), WatchOptions{}, func(Event) {}); err != nil {
		t.Error(err)
	}
}
