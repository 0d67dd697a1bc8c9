package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/toolmark/toolmark"
)

// The defaults of WatchOptions.
const (
	DefaultMinInterval = time.Second
	DefaultMinBackoff  = time.Second
	DefaultMaxBackoff  = 5 * time.Minute
)

// WatchOptions are the limits and the surroundings of a held connection. The zero value
// works.
type WatchOptions struct {
	// Options are those of each reading: Timeout and MaxBytes are for one reading and
	// for what the server says until the next. A Client should have no limit of its own
	// on the bytes of an answer.
	Options
	// MinInterval is the least time between two readings, so that a server which
	// announces changes all the time is read in peace; 0 means DefaultMinInterval.
	// The first announcement after a quiet time is followed at once.
	MinInterval time.Duration
	// Reread is how long after Connected the lists are read once more though nothing was
	// announced, to see a change that is not announced; 0 is never. It is done on a
	// connection that announces nothing as well, before ErrNotListening is returned.
	Reread time.Duration
	// MinBackoff and MaxBackoff bound the wait before a lost connection is made again;
	// it doubles with each failure, and varies by up to a quarter. 0 means the defaults.
	MinBackoff, MaxBackoff time.Duration
	// Jitter gives numbers from 0 to below 1; nil means a random one.
	Jitter func() float64
}

// EventKind says what an Event tells.
type EventKind int

// The kinds of events.
const (
	// Connected: a connection was made and the manifest read.
	Connected EventKind = iota + 1
	// Changed: the server announced a change, or opened a new stream on which it may
	// have missed one, and the manifest was read again. Whether anything is different
	// is for the receiver to find out.
	Changed
	// Lost: there is no connection, or the manifest could not be read. It is tried
	// again after Retry.
	Lost
	// Unasked: the manifest was read again after WatchOptions.Reread, in the session that
	// was there before. What the server announced but was not read yet is in Announced.
	Unasked
)

// String gives "connected", "changed", "lost" or "unasked".
func (k EventKind) String() string {
	switch k {
	case Connected:
		return "connected"
	case Changed:
		return "changed"
	case Lost:
		return "lost"
	case Unasked:
		return "unasked"
	}
	return fmt.Sprintf("event %d", int(k))
}

// An Event is something that happened on a held connection.
type Event struct {
	Kind EventKind
	At   time.Time
	// Snapshot is what was read; nil where Kind is Lost.
	Snapshot *toolmark.Snapshot
	// Declared are the lists of which the server declares listChanged: "tools",
	// "prompts", "resources".
	Declared []string
	// Announced are the lists that the server said have changed; none where Kind is
	// Changed says that a stream was opened anew.
	Announced []string
	// Undeclared are those of Announced that are not Declared.
	Undeclared []string
	// Deaf: the server offers no way to be told, so Watch returns ErrNotListening.
	Deaf bool
	// Err is a *toolmark.Error as Probe gives it where Kind is Lost, and Retry the time
	// until the next attempt.
	Err   error
	Retry time.Duration
}

// Watch holds a connection to src until ctx ends, and calls tell, from its own
// goroutine, with what happens on it: first Connected or Lost, then Changed as often as
// the server announces a change of its lists, declared or not. It reads the server again
// before it tells, and makes a lost connection again. While tell runs nothing else does.
//
// It returns nil when ctx has ended. An error is an ErrNotListening, after Connected was
// told, or a *toolmark.Error with the code usage. When Watch returns, nothing it started
// is left, as with Probe.
//
// How a server tells depends on transport and revision: on stdio and HTTP+SSE unasked;
// over Streamable HTTP on the stream of a GET up to 2025-11-25; since 2026-07-28 on that
// of subscriptions/listen, whichever the transport.
func Watch(ctx context.Context, src Source, opts WatchOptions, tell func(Event)) error {
	opts.Options = opts.Options.withDefaults()
	for value, def := range map[*time.Duration]time.Duration{
		&opts.MinInterval: DefaultMinInterval, &opts.MinBackoff: DefaultMinBackoff, &opts.MaxBackoff: DefaultMaxBackoff,
	} {
		if *value <= 0 {
			*value = def
		}
	}
	if opts.Jitter == nil {
		opts.Jitter = rand.Float64
	}
	w := &watch{src: src, opts: opts, tell: tell}
	failures := 0
	for {
		start := time.Now()
		err := w.hold(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if e, ok := asFailure(err); errors.Is(err, ErrNotListening) || ok && e.Code == toolmark.ErrUsage {
			return err
		}
		if w.connected && time.Since(start) > opts.MaxBackoff {
			failures = 0
		}
		retry := w.backoff(failures)
		failures++
		w.send(Event{Kind: Lost, Err: err, Retry: retry})
		if !sleep(ctx, retry) {
			return nil
		}
	}
}

type watch struct {
	src  Source
	opts WatchOptions
	tell func(Event)

	connected bool // of the last connection: it was made and read
	deaf      bool // of the last connection: it announces nothing
}

// send tells an event, unless nobody listens any more.
func (w *watch) send(e Event) {
	e.At = w.opts.Now().UTC()
	w.tell(e)
}

// backoff gives the wait after that many failures in a row.
func (w *watch) backoff(failures int) time.Duration {
	d := w.opts.MaxBackoff
	if failures < 32 {
		if doubled := w.opts.MinBackoff << failures; doubled > 0 && doubled < d {
			d = doubled
		}
	}
	return d - time.Duration(float64(d)*w.opts.Jitter()/4)
}

// hold makes one connection and serves it until it is lost.
func (w *watch) hold(ctx context.Context) error {
	w.connected = false
	p := &prober{opts: w.opts.Options, source: w.src.Name(), notes: &notes{}, news: &news{}}
	tr, err := p.transport(w.src)
	if err != nil {
		return err
	}
	defer tr.close()
	p.tr = tr
	// The wait for changes begins before the lists are read: none is missed.
	var deaf error
	p.hello = func(ctx context.Context, got *parts) error {
		deaf = nil
		err := p.listen(ctx, got.version)
		if errors.Is(err, ErrNotListening) {
			deaf, err = err, nil
		}
		return err
	}
	got, err := w.reading(ctx, p, func(ctx context.Context) (*parts, error) { return p.read(ctx) })
	if err != nil {
		return err
	}
	w.deaf = deaf != nil
	if err := w.told(p, Connected, got); err != nil {
		return err
	}
	w.connected = true
	if deaf != nil {
		if w.opts.Reread > 0 {
			if !sleep(ctx, w.opts.Reread) {
				return ctx.Err()
			}
			if _, err := w.unasked(ctx, p, got); err != nil {
				return err
			}
		}
		return deaf
	}
	return w.serve(ctx, p, got)
}

// unasked reads again though nothing was announced, and tells what was read.
func (w *watch) unasked(ctx context.Context, p *prober, got *parts) (*parts, error) {
	got, err := w.readAgain(ctx, p, got)
	if err != nil {
		return nil, err
	}
	return got, w.told(p, Unasked, got)
}

// listen asks the server to tell of changes in the way of its revision.
func (p *prober) listen(ctx context.Context, version string) error {
	r := request{version: version}
	if version == discoverVersion {
		p.step("subscriptions/listen")
		r = p.request("subscriptions/listen", listenParams(), version)
	}
	return p.tr.listen(ctx, r)
}

// reading does one reading in the time and the bytes it may take.
func (w *watch) reading(ctx context.Context, p *prober, read func(context.Context) (*parts, error)) (*parts, error) {
	ctx, cancel := context.WithTimeout(ctx, w.opts.Timeout)
	defer cancel()
	p.notes.reset()
	p.tr.rearm()
	got, err := read(ctx)
	if err != nil {
		return nil, p.explain(ctx, err)
	}
	return got, nil
}

// told makes a snapshot of what was read and tells it.
func (w *watch) told(p *prober, kind EventKind, got *parts) error {
	s, err := p.snapshot(got)
	if err != nil {
		return err
	}
	w.send(Event{Kind: kind, Snapshot: s, Declared: got.declared(), Announced: got.announced, Undeclared: got.undeclared(), Deaf: w.deaf})
	return nil
}

// serve waits for news and reads again, until the connection is lost.
func (w *watch) serve(ctx context.Context, p *prober, got *parts) error {
	last, short := time.Now(), 0
	reread := last.Add(w.opts.Reread)
	due := w.opts.Reread > 0
	for {
		if due && !time.Now().Before(reread) {
			var err error
			if got, err = w.unasked(ctx, p, got); err != nil {
				return err
			}
			due, last = false, time.Now()
		}
		p.stage = "changes of its lists"
		opened := time.Now()
		waiting, stop := ctx, context.CancelFunc(func() {})
		if due {
			waiting, stop = context.WithDeadline(ctx, reread)
		}
		err := p.tr.next(waiting)
		over := err != nil && waiting.Err() != nil && ctx.Err() == nil
		stop()
		var ended *streamEnded
		switch {
		case over:
			continue
		case errors.As(err, &ended):
			// Streams that end soon are opened again later and later.
			if time.Since(opened) > w.opts.MaxBackoff {
				short = 0
			}
			wait := min(max(ended.retry, w.backoff(short)), w.opts.MaxBackoff)
			short++
			if !sleep(ctx, wait) {
				return ctx.Err()
			}
			if err := w.listenAgain(ctx, p, got.version); err != nil {
				return err
			}
			if ended.resumes {
				continue
			}
		case err != nil:
			return p.explain(ctx, err)
		}
		// What else is announced until the next reading is part of it.
		quiet, cancel := context.WithDeadline(ctx, last.Add(w.opts.MinInterval))
		for err == nil && quiet.Err() == nil {
			announced := p.news.changed
			p.news.changed = [len(changeable)]bool{}
			err = p.tr.next(quiet)
			for i, is := range announced {
				p.news.changed[i] = p.news.changed[i] || is
			}
		}
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		last = time.Now()
		if got, err = w.readAgain(ctx, p, got); err != nil {
			return err
		}
		if err := w.told(p, Changed, got); err != nil {
			return err
		}
	}
}

func (w *watch) listenAgain(ctx context.Context, p *prober, version string) error {
	ctx, cancel := context.WithTimeout(ctx, w.opts.Timeout)
	defer cancel()
	if err := p.listen(ctx, version); err != nil {
		if errors.Is(err, ErrNotListening) {
			// It did before: the session or the server is another one now. The sentinel
			// must not be in the chain, since a new connection may do better.
			return failure(toolmark.ErrCannotConnect, nil, "%s: the event stream ended and could not be opened again: %v", printable(p.source), err)
		}
		return p.explain(ctx, err)
	}
	return nil
}

// readAgain reads what may have changed. Where there is no session, what the server is
// may have changed as well.
func (w *watch) readAgain(ctx context.Context, p *prober, old *parts) (*parts, error) {
	return w.reading(ctx, p, func(ctx context.Context) (*parts, error) {
		got := old.again(p.news.take())
		if old.version == discoverVersion {
			hello, _, _, err := p.discover(ctx, p.discoverWait())
			if err != nil {
				return nil, err
			}
			if hello == nil {
				return nil, failure(toolmark.ErrProtocol, nil, "the server answered server/discover before and does not any more")
			}
			got.hello = hello.hello
		}
		return got, p.readLists(ctx, got)
	})
}

// sleep waits; false says that ctx ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
