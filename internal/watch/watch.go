// Package watch probes registered servers by themselves, each at its interval, as jobs of
// River in the service's own database.
//
// Guarantees. When a server is due, that it is due next and the job to probe it are
// stored in one transaction, so a probe is neither lost nor doubled when a process dies
// in between. A server's record is reserved while it is read, so that no two replicas
// probe it at once, and a job whose server was probed since it was made does nothing. The
// jobs of a replica that died go to the others: those that waited at once, those that ran
// when their server is due again or, if that is later, once River finds them (Config.JobTime,
// 15 seconds and half a minute after they began). Stop waits for what runs.
//
// It does not know what a probe finds: that, with its events, is stored by the registry.
// It limits how many servers of one host this process reads at once, not how many all
// replicas do.
package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/toolmark/toolmark/internal/registry"
)

// Source is a database with its queue, for transactions of type TTx.
type Source[TTx any] interface {
	// Queue gives the database as River works with it.
	Queue(ctx context.Context, log *slog.Logger) (riverdriver.Driver[TTx], error)
	// ClaimDue takes servers that are due, sets when they are due next, and hands them to
	// enqueue in the same transaction.
	ClaimDue(ctx context.Context, now time.Time, limit int, next func(registry.DueServer) time.Time,
		enqueue func(context.Context, TTx, []registry.DueServer) error) (int, error)
	// Hasten makes servers without an interval of their own due one interval after their
	// last probe, if they are due later.
	Hasten(ctx context.Context, interval time.Duration) error
}

// Checker probes servers and records what they serve; *registry.Service is one.
type Checker interface {
	Check(ctx context.Context, id string, asked time.Time) error
	NextProbe(now time.Time, d registry.DueServer) time.Time
}

// Config is what a watch needs. The zero value works.
type Config struct {
	// Workers is how many servers are read at once; default 100.
	Workers int
	// PerHost is how many of them may be at one host; default 4, less than 0 no limit.
	PerHost int
	// JobTime is the longest one probe takes with all that belongs to it; default 45
	// seconds. It must be longer than the registry's own time for a probe.
	JobTime time.Duration
	// Interval is that of servers that have none of their own, the registry's; servers that
	// are due later than it says become due earlier. 0 leaves them.
	Interval time.Duration
	// Sweep is how often servers that are due are looked for; default a second.
	Sweep time.Duration
	// Now is the clock by which servers are due; default time.Now.
	Now func() time.Time
	// Log gets what goes wrong; nil logs nothing.
	Log *slog.Logger
}

func (cfg Config) withDefaults() Config {
	if cfg.Workers <= 0 {
		cfg.Workers = 100
	}
	if cfg.PerHost == 0 {
		cfg.PerHost = 4
	}
	if cfg.JobTime <= 0 {
		cfg.JobTime = 45 * time.Second
	}
	if cfg.Sweep <= 0 {
		cfg.Sweep = time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg
}

// sweepLimit is how many servers one transaction takes.
const sweepLimit = 500

// queueName is River's queue for probes; kinds of other jobs have their own.
const queueName = "probe"

// Watch is a running watch. End it with Stop.
type Watch struct {
	stop     func(context.Context) error
	sweeping sync.WaitGroup
	cancel   context.CancelFunc
	once     sync.Once
	err      error
}

// Start brings the queue up to date and begins to watch. ctx is for the start only.
func Start[TTx any](ctx context.Context, src Source[TTx], c Checker, cfg Config) (*Watch, error) {
	cfg = cfg.withDefaults()
	// River's own messages are for those who look after River.
	log := slog.New(&warnings{cfg.Log.Handler()})
	driver, err := src.Queue(ctx, log)
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	if cfg.Interval > 0 {
		if err := src.Hasten(ctx, cfg.Interval); err != nil {
			return nil, err
		}
	}
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &worker{check: c, hosts: newHosts(cfg.PerHost), timeout: cfg.JobTime, log: cfg.Log}); err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	client, err := river.NewClient(driver, &river.Config{
		Logger: log, Workers: workers, Queues: map[string]river.QueueConfig{queueName: {MaxWorkers: cfg.Workers}},
		JobTimeout: cfg.JobTime, RescueStuckJobsAfter: cfg.JobTime + 15*time.Second, MaxAttempts: attempts, RetryPolicy: soon{},
		CompletedJobRetentionPeriod: time.Minute, CancelledJobRetentionPeriod: time.Hour, DiscardedJobRetentionPeriod: time.Hour,
		SoftStopTimeout: cfg.JobTime,
	})
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &Watch{cancel: cancel, stop: func(ctx context.Context) error {
		if err := client.Stop(ctx); err == nil || ctx.Err() == nil {
			return err
		}
		cut, cancel := context.WithTimeout(context.WithoutCancel(ctx), cutTime)
		defer cancel()
		return client.StopAndCancel(cut)
	}}
	if err := client.Start(running); err != nil {
		cancel()
		return nil, fmt.Errorf("start the queue: %w", err)
	}
	w.sweeping.Go(func() { sweep(running, src, c, cfg, client) })
	return w, nil
}

// cutTime is how long probes that are cut short have to end.
const cutTime = 10 * time.Second

// Stop takes no further jobs and waits for those that run, until ctx ends; then they are
// cut short, and done again by whoever runs next. It is safe to call twice.
func (w *Watch) Stop(ctx context.Context) error {
	w.once.Do(func() {
		w.err = w.stop(ctx)
		w.cancel()
		w.sweeping.Wait()
		if w.err != nil {
			w.err = fmt.Errorf("stop the watch: %w", w.err)
		}
	})
	return w.err
}

// sweep makes jobs of the servers that are due, until ctx ends.
func sweep[TTx any](ctx context.Context, src Source[TTx], c Checker, cfg Config, client *river.Client[TTx]) {
	tick := time.NewTicker(cfg.Sweep)
	defer tick.Stop()
	for {
		for ctx.Err() == nil {
			now := cfg.Now()
			n, err := src.ClaimDue(ctx, now, sweepLimit, func(d registry.DueServer) time.Time { return c.NextProbe(now, d) },
				func(ctx context.Context, tx TTx, due []registry.DueServer) error {
					params := make([]river.InsertManyParams, len(due))
					for i, d := range due {
						params[i] = river.InsertManyParams{Args: job{Server: d.ID, Host: d.Host, Asked: now}, InsertOpts: insert}
					}
					if _, err := client.InsertManyTx(ctx, tx, params); err != nil {
						return fmt.Errorf("store the probes: %w", err)
					}
					return nil
				})
			if err != nil && ctx.Err() == nil {
				cfg.Log.Error("servers that are due could not be taken", "error", err)
			}
			if err != nil || n < sweepLimit {
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// job is a server to probe.
type job struct {
	Server string    `json:"server"`
	Host   string    `json:"host"`
	Asked  time.Time `json:"asked"` // a probe since then has done it
}

// Kind names the job in the database.
func (job) Kind() string { return "toolmark_probe" }

var insert = &river.InsertOpts{Queue: queueName, MaxAttempts: attempts}

// attempts is how often a probe is tried that failed by a fault of ours, or whose process
// died. A server that cannot be read is no failure.
const attempts = 5

// claimedWait is how long a probe waits for another one of the same server.
const claimedWait = 5 * time.Second

// soon is the time between attempts.
type soon struct{}

// NextRetry gives the time of the next attempt.
func (soon) NextRetry(row *rivertype.JobRow) time.Time {
	return time.Now().Add(time.Duration(row.Attempt) * time.Second)
}

type worker struct {
	river.WorkerDefaults[job]
	check   Checker
	hosts   *hosts
	timeout time.Duration
	log     *slog.Logger
}

// Timeout bounds a probe.
func (w *worker) Timeout(*river.Job[job]) time.Duration { return w.timeout }

// Work probes one server.
func (w *worker) Work(ctx context.Context, j *river.Job[job]) error {
	if !w.hosts.enter(j.Args.Host) {
		// Spread, so that they do not all come back at once.
		return river.JobSnooze(hostWait + rand.N(3*hostWait))
	}
	defer w.hosts.leave(j.Args.Host)
	err := w.check.Check(ctx, j.Args.Server, j.Args.Asked)
	switch {
	case err == nil, errors.Is(err, registry.ErrNotFound): // removed meanwhile
		return nil
	case errors.Is(err, registry.ErrClaimed):
		// Somebody reads it just now, which is as good; if that process has died, it is not.
		return river.JobSnooze(claimedWait)
	case errors.Is(err, registry.ErrInvalid):
		// Not for this process: its keys or flags are not those the server needs.
		w.log.Warn("a server is not probed", "server", j.Args.Server, "why", err)
		return nil
	case ctx.Err() != nil:
		return river.JobSnooze(0) // we are stopping: another one does it
	}
	w.log.Error("a probe failed", "server", j.Args.Server, "error", err)
	return err
}

// warnings passes on what is a warning or worse.
type warnings struct{ slog.Handler }

// Enabled reports whether a message is passed on.
func (h *warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// WithAttrs keeps the bound.
func (h *warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &warnings{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the bound.
func (h *warnings) WithGroup(name string) slog.Handler { return &warnings{h.Handler.WithGroup(name)} }
