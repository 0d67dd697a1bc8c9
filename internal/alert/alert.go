// Package alert tells others what the watch found: it posts events to webhooks, signed as
// Standard Webhooks 1.0.0 says, as jobs of River in the service's own database.
//
// Guarantees. A delivery and its job are made in one transaction with the mark on the
// event, so every event goes to every webhook that wants it, and two replicas never both
// make it. A receiver sees an event once for each delivery, and again only where an attempt
// ended before its outcome was stored; webhook-id is the same each time, so a receiver that
// keeps ids acts once. What fails is tried again with growing waits, eight times in about a
// day, and then kept as dead until the operator replays it. Connections go through the
// client that is given, which in the service is the guard; redirects are not followed.
//
// It does not decide what an event is, which the registry does, and does not keep the order
// of events: a receiver goes by their timestamps.
package alert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

// Source is a database with its queue, for transactions of type TTx.
type Source[TTx any] interface {
	// Queue gives the database as River works with it.
	Queue(ctx context.Context, log *slog.Logger) (riverdriver.Driver[TTx], error)
	// ClaimDeliveries makes deliveries of new events, and hands those that have no job to
	// enqueue in the same transaction.
	ClaimDeliveries(ctx context.Context, now time.Time, limit int, enqueue func(context.Context, TTx, []string) error) (int, error)
}

// Deliveries gives what is to be sent and stores what came of it; *registry.Service is one.
type Deliveries interface {
	Outgoing(ctx context.Context, delivery string) (registry.Sending, registry.WebhookTarget, error)
	Delivered(ctx context.Context, d registry.DeliveryRecord) error
	ForgetEvents(ctx context.Context) error
}

// Config is what the sender needs. Every zero value but Client's is a default.
type Config struct {
	// Client sends; in the service it is that of the guard. Its time and redirects are
	// bounded by the sender.
	Client *http.Client
	// Workers is how many deliveries are sent at once; default 20.
	Workers int
	// Timeout is the time of one attempt; default 15 seconds.
	Timeout time.Duration
	// Waits are the times between attempts; default Waits(). A delivery is tried once more
	// often than there are waits.
	Waits []time.Duration
	// Sweep is how often new events are looked for; default a second.
	Sweep time.Duration
	// Now is the clock of timestamps and claims; default time.Now.
	Now func() time.Time
	// Version is what the sender calls itself in User-Agent.
	Version string
	// Log gets what goes wrong; nil logs nothing. It never gets an address or a secret.
	Log *slog.Logger
}

// Waits are the times between attempts: eight attempts in about a day.
func Waits() []time.Duration {
	return []time.Duration{
		5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 14 * time.Hour,
	}
}

func (cfg Config) withDefaults() Config {
	if cfg.Workers <= 0 {
		cfg.Workers = 20
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 15 * time.Second
	}
	if cfg.Waits == nil {
		cfg.Waits = Waits()
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

const (
	// claimLimit is how many events and deliveries one transaction takes.
	claimLimit = 200
	// queueName is River's queue for deliveries.
	queueName = "webhook"
	// forgetEvery is how often old events are removed.
	forgetEvery = time.Hour
	// maxAnswer is how much of an answer is read, so that its connection can be used again.
	maxAnswer = 16 << 10
)

// Sender is a running sender. End it with Stop.
type Sender struct {
	stop     func(context.Context) error
	sweeping sync.WaitGroup
	cancel   context.CancelFunc
	once     sync.Once
	err      error
}

// Start brings the queue up to date and begins to send. ctx is for the start only.
func Start[TTx any](ctx context.Context, src Source[TTx], d Deliveries, cfg Config) (*Sender, error) {
	cfg = cfg.withDefaults()
	if cfg.Client == nil {
		return nil, errors.New("alert: no client")
	}
	client := *cfg.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	// River's own messages are for those who look after River.
	log := slog.New(slog.DiscardHandler)
	driver, err := src.Queue(ctx, log)
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &worker{deliveries: d, client: &client, cfg: cfg}); err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	// Storing what came of an attempt has its time beside the attempt's.
	jobTime := cfg.Timeout + 15*time.Second
	queue, err := river.NewClient(driver, &river.Config{
		Logger: log, Workers: workers, Queues: map[string]river.QueueConfig{queueName: {MaxWorkers: cfg.Workers}},
		JobTimeout: jobTime, RescueStuckJobsAfter: jobTime + 15*time.Second, MaxAttempts: len(cfg.Waits) + 1, RetryPolicy: retry{cfg.Waits},
		CompletedJobRetentionPeriod: time.Minute, CancelledJobRetentionPeriod: time.Hour, DiscardedJobRetentionPeriod: time.Hour,
		SoftStopTimeout: jobTime,
	})
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Sender{cancel: cancel, stop: func(ctx context.Context) error {
		if err := queue.Stop(ctx); err == nil || ctx.Err() == nil {
			return err
		}
		cut, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return queue.StopAndCancel(cut)
	}}
	if err := queue.Start(running); err != nil {
		cancel()
		return nil, fmt.Errorf("start the queue: %w", err)
	}
	s.sweeping.Go(func() { sweep(running, src, d, cfg, queue) })
	return s, nil
}

// Stop takes no further deliveries and waits for those under way, until ctx ends; then they
// are cut short and done again by whoever runs next. It is safe to call twice.
func (s *Sender) Stop(ctx context.Context) error {
	s.once.Do(func() {
		s.err = s.stop(ctx)
		s.cancel()
		s.sweeping.Wait()
		if s.err != nil {
			s.err = fmt.Errorf("stop sending: %w", s.err)
		}
	})
	return s.err
}

// sweep makes jobs of what is to be sent, until ctx ends.
func sweep[TTx any](ctx context.Context, src Source[TTx], d Deliveries, cfg Config, queue *river.Client[TTx]) {
	tick := time.NewTicker(cfg.Sweep)
	defer tick.Stop()
	var forgot time.Time
	for {
		for ctx.Err() == nil {
			n, err := src.ClaimDeliveries(ctx, cfg.Now(), claimLimit, func(ctx context.Context, tx TTx, ids []string) error {
				params := make([]river.InsertManyParams, len(ids))
				for i, id := range ids {
					params[i] = river.InsertManyParams{Args: job{Delivery: id}, InsertOpts: &river.InsertOpts{Queue: queueName, MaxAttempts: len(cfg.Waits) + 1}}
				}
				if _, err := queue.InsertManyTx(ctx, tx, params); err != nil {
					return fmt.Errorf("store the deliveries: %w", err)
				}
				return nil
			})
			if err != nil && ctx.Err() == nil {
				cfg.Log.Error("events could not be passed on", "error", err)
			}
			if err != nil || n < claimLimit {
				break
			}
		}
		if now := cfg.Now(); now.Sub(forgot) >= forgetEvery && ctx.Err() == nil {
			forgot = now
			if err := d.ForgetEvents(ctx); err != nil && ctx.Err() == nil {
				cfg.Log.Error("old events could not be removed", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// job is a delivery to send.
type job struct {
	Delivery string `json:"delivery"`
}

// Kind names the job in the database.
func (job) Kind() string { return "toolmark_webhook" }

// retry waits between attempts, spread by a fifth so that receivers that were down do not
// get everything at one moment.
type retry struct{ waits []time.Duration }

// NextRetry gives the time of the next attempt.
func (r retry) NextRetry(row *rivertype.JobRow) time.Time {
	wait := r.waits[min(max(row.Attempt, 1), len(r.waits))-1]
	return time.Now().Add(wait + time.Duration(rand.Float64()*float64(wait)/5))
}

type worker struct {
	river.WorkerDefaults[job]
	deliveries Deliveries
	client     *http.Client
	cfg        Config
}

// Work sends one delivery.
func (w *worker) Work(ctx context.Context, j *river.Job[job]) error {
	sending, target, err := w.deliveries.Outgoing(ctx, j.Args.Delivery)
	switch {
	case errors.Is(err, registry.ErrNotFound): // the webhook was removed meanwhile
		return nil
	case ctx.Err() != nil:
		return river.JobSnooze(0) // we are stopping: another one does it
	case err != nil:
		w.cfg.Log.Error("a delivery cannot be sent", "delivery", j.Args.Delivery, "error", err)
		if d := sending.DeliveryRecord; d.ID != "" && j.Attempt >= j.MaxAttempts {
			// Nobody would find it otherwise.
			d.State, d.Fault = registry.DeliveryDead, "this service could not read where it goes; its log says why"
			return errors.Join(err, w.deliveries.Delivered(ctx, d))
		}
		return err
	}
	if sending.State != registry.DeliveryPending {
		return nil // it was delivered, and the process died before River knew
	}
	status, err := w.send(ctx, &sending, target)
	if err != nil && ctx.Err() != nil {
		return river.JobSnooze(0)
	}
	d := sending.DeliveryRecord
	d.Attempts++
	d.Status, d.Fault = status, ""
	last := false
	switch {
	case err == nil:
		d.State = registry.DeliveryDelivered
	case status == http.StatusGone || j.Attempt >= j.MaxAttempts:
		d.State, d.Fault, last = registry.DeliveryDead, err.Error(), true
	default:
		d.Fault = err.Error()
	}
	if stored := w.deliveries.Delivered(ctx, d); stored != nil {
		return stored // it is sent again, under the same id
	}
	if last {
		w.cfg.Log.Warn("a delivery was given up; it can be replayed", "delivery", d.ID, "webhook", d.Webhook, "why", d.Fault)
		return river.JobCancel(err)
	}
	return err
}

// send posts a delivery once. The error says why it does not count, without the address.
func (w *worker) send(ctx context.Context, sending *registry.Sending, target registry.WebhookTarget) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	now := w.cfg.Now()
	signature, err := Sign(target.Secret, sending.Event, now, sending.Payload)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.URL, bytes.NewReader(sending.Payload))
	if err != nil {
		return 0, errors.New("the address is not one that can be posted to")
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	request.Header.Set("User-Agent", "toolmark/"+w.cfg.Version)
	request.Header.Set(HeaderID, sending.Event)
	request.Header.Set(HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(HeaderSignature, signature)
	response, err := w.client.Do(request)
	if err != nil {
		return 0, why(err)
	}
	defer response.Body.Close()
	// What the receiver says is not kept; an answer that breaks off is an answer.
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer))
	if response.StatusCode < 200 || response.StatusCode > 299 {
		if response.StatusCode >= 300 && response.StatusCode < 400 {
			return response.StatusCode, fmt.Errorf("the receiver answered %d, and redirects are not followed: register the address it leads to", response.StatusCode)
		}
		return response.StatusCode, fmt.Errorf("the receiver answered %d", response.StatusCode)
	}
	return response.StatusCode, nil
}

// why says what kept a request from an answer, without the address, which may be a secret.
func why(err error) error {
	var failure *toolmark.Error
	switch {
	case errors.As(err, &failure):
		return errors.New(string(failure.Code) + ": " + failure.Message)
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("the receiver did not answer in time")
	}
	return errors.New("no connection to the receiver")
}
