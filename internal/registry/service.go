// Package registry is the service's use cases: accounts, their keys, what they may use
// and what they have used. It owns the Store interface and holds what no store may
// forget: the order of checks, and that a scan is counted exactly once if it ran.
//
// Guarantees. Quotas, credits, spending limits and a key's own rate are exact across
// any number of processes on one database. A refused request is not counted. A count is
// durable before the scan is let through, so that after a crash the counters are at
// least what was answered, and at most what was sent. Nothing is cached that can be
// revoked: a key or an access list that was changed holds for the next request.
//
// What it does not do: it does not know HTTP, and it takes the address, the end user
// and the country of a client as they are given.
package registry

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/secret"
)

// Config is what a Service needs. Every zero value but Store's is a default.
type Config struct {
	Store  Store
	Now    func() time.Time // default time.Now
	Random io.Reader        // default crypto/rand; never anything else but in tests
	Logger *slog.Logger     // default: discards. No key, list or address is logged.

	// AllowSignup opens Signup; closed is the default.
	AllowSignup bool
	// SignupCredits is what a new account gets; default 100.
	SignupCredits int64
	// SignupsPerHour is how many accounts one address (IPv6: one /64) may make in an
	// hour of UTC; default 10.
	SignupsPerHour int64
	// PerMinute is the rate of keys that have none of their own, counted in this process
	// only: a ceiling that protects it, not one that was sold. Default 600,000.
	PerMinute int64
	// PublicPerMinute is the rate of one address without a key, counted in this process
	// only; default 60. See AdmitPublic.
	PublicPerMinute int64
	// Scanner scans what servers serve; without it there is no registry.
	Scanner Scanner
	// Probe reads servers; nil reads none.
	Probe Prober
	// Secrets seal headers; nil refuses them.
	Secrets *secret.Ring
	// PlainWebhooks lets webhooks have addresses that begin with http://.
	PlainWebhooks bool
	// AllowCommands lets servers be registered that are commands on this machine.
	AllowCommands bool
	// Watched says that servers are probed by themselves, here or elsewhere.
	Watched bool
	// Announces is told, after each reading that was recorded of a server with a URL,
	// whether the server says that it tells of changes. It must not block.
	Announces func(id string, does bool)
	// Interval is the time between two probes of a server that has none of its own;
	// default 15 minutes. MinInterval is the least one that may be asked for; default a
	// minute.
	Interval, MinInterval time.Duration
	// ProbeTime is the longest one probe takes; default 30 seconds.
	ProbeTime time.Duration
	// Fresh is how old a probe may be to answer a question; default 10 seconds.
	Fresh time.Duration
	// MaxProbes is how many servers are read at once because somebody asks; one more is
	// ErrBusy. Default 32. The watch counts for itself.
	MaxProbes int64
	// MaxServers is how many servers an account may have; default 10,000.
	MaxServers int
	// MaxWaiting is how many requests may wait for the store at once; one more is
	// refused with ErrBusy. Default 10,000.
	MaxWaiting int
}

// ErrBusy says that too many requests wait for the store.
var ErrBusy = errors.New("too many requests wait for the database")

// ErrClosed says that the service was closed.
var ErrClosed = errors.New("the service is closed")

// Service is the use cases over a store. Close it before the store.
type Service struct {
	cfg     Config
	meters  *counter
	ceiling ceiling
	public  ceiling
	lists   listCache
	probing *semaphore.Weighted
}

// New makes a service and starts its counting goroutine, which Close ends.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("registry: no store")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.SignupCredits == 0 {
		cfg.SignupCredits = 100
	}
	if cfg.SignupsPerHour == 0 {
		cfg.SignupsPerHour = 10
	}
	if cfg.PerMinute == 0 {
		cfg.PerMinute = 600_000
	}
	if cfg.PublicPerMinute == 0 {
		cfg.PublicPerMinute = 60
	}
	if cfg.MaxWaiting == 0 {
		cfg.MaxWaiting = 10_000
	}
	cfg.watchDefaults()
	s := &Service{cfg: cfg, probing: semaphore.NewWeighted(cfg.MaxProbes)}
	s.meters = newCounter(cfg.Store, cfg.Logger, cfg.MaxWaiting)
	return s, nil
}

// Close ends counting once what waits is counted. It is safe to call twice; calls
// after it give ErrClosed.
func (s *Service) Close() { s.meters.close() }

// Ready reports whether the database answers.
func (s *Service) Ready(ctx context.Context) error { return s.cfg.Store.Ping(ctx) }

// Call is a request that asks to be let in.
type Call struct {
	Key    string       // as sent; "" is none
	Scope  access.Scope // what it needs; "" is any key
	Client access.Client
}

// Grant is a request that was let in.
type Grant struct {
	Account, KeyID string
	Plan           string
	Scopes         access.Scopes
	Rate           access.Rate
}

// Admit checks a request in this order: key, access lists, scope, rate. The error is an
// *access.Denial, or a fault. A refused request counts against nothing.
//
// Every key that is sent takes the same way: it is hashed, looked up, and the hashes
// are compared in constant time, whatever its length and form.
func (s *Service) Admit(ctx context.Context, call Call) (*Grant, error) {
	now := s.cfg.Now()
	state, err := s.authenticate(ctx, call.Key, now)
	if err != nil {
		return nil, err
	}
	allowed, err := s.allowed(ctx, state, call.Client)
	if err != nil {
		return nil, err
	}
	if !allowed {
		return nil, &access.Denial{Code: access.AccessListBlock, Message: "An access list refuses this request.", KeyID: state.ID, Rate: s.standing(state, now)}
	}
	grant := &Grant{Account: state.Account, KeyID: state.ID, Plan: state.Plan, Scopes: state.Scopes}
	if !state.Scopes.Allow(call.Scope) {
		return nil, &access.Denial{
			Code: access.ScopeDenied, Message: "The key's scopes do not include " + needed(call.Scope) + ".",
			KeyID: state.ID, Rate: s.standing(state, now),
		}
	}
	var ok bool
	if state.Limits.PerMinute == nil {
		grant.Rate, ok = s.ceiling.request(state.ID, s.cfg.PerMinute, now)
	} else {
		grant.Rate, ok, err = s.meters.request(ctx, state.ID, now)
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &access.Denial{
			Code: access.RateExceeded, Message: "Too many requests in this minute.",
			KeyID: state.ID, Rate: grant.Rate, RetryAfter: grant.Rate.Reset.Sub(now),
		}
	}
	return grant, nil
}

func needed(scope access.Scope) string {
	if scope == access.ScopeProxy {
		return "proxy or write"
	}
	return string(scope)
}

// authenticate finds a key that may be used.
func (s *Service) authenticate(ctx context.Context, key string, now time.Time) (KeyState, error) {
	sent := access.HashKey(key)
	state, err := s.cfg.Store.KeyByHash(ctx, sent)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return KeyState{}, fmt.Errorf("look up the key: %w", err)
	}
	// An unknown key is compared too, with the zero hash, which no text is known to have.
	same := state.Hash.Equal(sent)
	switch {
	case key == "":
		return KeyState{}, &access.Denial{Code: access.MissingKey, Message: "No API key was sent."}
	case !same || err != nil || !state.Revoked.IsZero() || !state.Expires.IsZero() && !now.Before(state.Expires):
		return KeyState{}, &access.Denial{Code: access.InvalidKey, Message: "The API key is not valid."}
	}
	return state, nil
}

// standing gives the rate of a key without counting.
func (s *Service) standing(state KeyState, now time.Time) access.Rate {
	if state.Limits.PerMinute == nil {
		return s.ceiling.standing(state.ID, s.cfg.PerMinute, now)
	}
	return state.Meter.Rate(now)
}

// Reservation is a scan that was counted.
type Reservation struct {
	service *Service
	key     string
	month   access.Month
	once    sync.Once
	err     error
}

// Reserve counts one scan against the key's month, spending limit and credits, before
// it runs. The error is an *access.Denial when one of them is used up, and then nothing
// was counted. When ctx ends first, what was counted is given back.
func (s *Service) Reserve(ctx context.Context, grant *Grant) (*Reservation, error) {
	month, err := s.meters.take(ctx, grant.KeyID, s.cfg.Now())
	var denial *access.Denial
	if errors.As(err, &denial) {
		denial.Plan, denial.Rate = grant.Plan, grant.Rate
	}
	if err != nil {
		return nil, err
	}
	return &Reservation{service: s, key: grant.KeyID, month: month}, nil
}

// Release gives the scan back, because it did not run. Calls after the first do
// nothing but give its error. It is done even when ctx has ended.
func (r *Reservation) Release(ctx context.Context) error {
	r.once.Do(func() {
		r.err = r.service.meters.giveBack(context.WithoutCancel(ctx), r.key, r.month)
	})
	return r.err
}

// Usage says what the key has used of its month.
func (s *Service) Usage(ctx context.Context, grant *Grant) (access.Usage, error) {
	state, err := s.cfg.Store.KeyByID(ctx, grant.KeyID)
	if err != nil {
		return access.Usage{}, fmt.Errorf("read the usage: %w", err)
	}
	return state.Meter.Usage(s.cfg.Now()), nil
}

// Signup makes an account with one key, which is given only here. The key has the
// scopes read, proxy and write: never admin.
func (s *Service) Signup(ctx context.Context, client access.Client) (key, account string, credits int64, err error) {
	if !s.cfg.AllowSignup {
		return "", "", 0, &access.Denial{Code: access.SignupClosed, Message: "This service does not open accounts by itself."}
	}
	allowed, err := s.serviceAllows(ctx, client)
	if err != nil {
		return "", "", 0, err
	}
	if !allowed {
		return "", "", 0, &access.Denial{Code: access.AccessListBlock, Message: "An access list refuses this request."}
	}
	now := s.cfg.Now()
	if account, err = access.NewID(s.cfg.Random, "acct"); err != nil {
		return "", "", 0, err
	}
	credits = s.cfg.SignupCredits
	hour := now.Unix() / 3600
	made, err := s.create(ctx, NewKey{
		Account: account, Name: "signup", Plan: "free", Credits: &credits,
		Scopes: access.Scopes{access.ScopeProxy, access.ScopeRead, access.ScopeWrite},
	}, &SignupLimit{Bucket: access.Bucket(client.Addr), Hour: hour, Limit: s.cfg.SignupsPerHour})
	if errors.Is(err, ErrSignupLimit) {
		return "", "", 0, &access.Denial{
			Code: access.RateExceeded, Message: "Too many accounts were made from this address.",
			RetryAfter: time.Unix((hour+1)*3600, 0).Sub(now),
		}
	}
	if err != nil {
		return "", "", 0, err
	}
	return made.Plain, account, credits, nil
}

// validText refuses what would not print on a line.
func validText(what, text string, longest int) error {
	if len(text) > longest || strings.ContainsFunc(text, func(c rune) bool { return c < 0x20 || c == 0x7f || c == 0xfffd }) {
		return fmt.Errorf("%w: a %s has at most %d bytes of text without control characters", ErrInvalid, what, longest)
	}
	return nil
}
