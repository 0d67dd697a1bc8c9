package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// ErrStopping is why a service that drains is not ready.
var ErrStopping = errors.New("the service is stopping")

// Listen is how Serve listens. Its zero values are usable.
type Listen struct {
	// TLS makes it HTTPS; HTTP/2 is offered then.
	TLS *tls.Config
	// MaxConnections is how many connections are open at once; 0 means 4,096. One more
	// closes the connection that has been idle longest, or waits until one ends.
	MaxConnections int
	// Grace is how long a connection without a request is not closed for another one; 0
	// means a second.
	Grace time.Duration
	// HeaderTimeout is the time a client has to send a request's header; 0 means 5
	// seconds. Idle is how long a connection may stay without a request; 0 means a minute.
	HeaderTimeout, Idle time.Duration
	// WriteTimeout is the time from a request's header to the end of its answer; 0 means
	// a minute.
	WriteTimeout time.Duration
	// Drain is how long requests may still run once the service is told to stop; 0 means
	// 20 seconds.
	Drain time.Duration
	// Log gets what net/http complains about; nil logs nothing.
	Log *slog.Logger
}

// unreadTime bounds the wait for a body which no handler reads: net/http reads what is
// left of it behind the answer. Handlers that read one set their own time.
const unreadTime = 10 * time.Second

// maxHeader is the most bytes of a request's header.
const maxHeader = 32 << 10

// Serve answers requests on a listener until ctx ends, then lets those under way
// finish. It closes the listener, and returns when nothing runs any more.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, cfg Listen) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	limit := newConnections(ln, positive(cfg.MaxConnections, 4096), positive(cfg.Grace, time.Second))
	if api, ok := h.(*API); ok {
		limit.unread = api.unread
	}
	server := &http.Server{
		Handler:                      h,
		TLSConfig:                    cfg.TLS,
		ReadHeaderTimeout:            positive(cfg.HeaderTimeout, 5*time.Second),
		ReadTimeout:                  positive(cfg.HeaderTimeout, 5*time.Second) + unreadTime,
		IdleTimeout:                  positive(cfg.Idle, time.Minute),
		WriteTimeout:                 positive(cfg.WriteTimeout, time.Minute),
		MaxHeaderBytes:               maxHeader,
		ErrorLog:                     slog.NewLogLogger(quiet{cfg.Log.Handler()}, slog.LevelWarn),
		ConnState:                    limit.state,
		DisableGeneralOptionsHandler: true,
	}
	done := make(chan error, 1)
	go func() {
		if cfg.TLS != nil {
			done <- server.ServeTLS(limit, "", "")
			return
		}
		done <- server.Serve(limit)
	}()
	select {
	case err := <-done:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), positive(cfg.Drain, 20*time.Second))
	defer cancel()
	err := server.Shutdown(draining)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests were still running when the time to drain was over: %w", err), server.Close())
	}
	<-done
	return err
}

func positive[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Stopper is a Ready that fails once Stop was called, and until then asks another.
type Stopper struct {
	ready   func(ctx context.Context) error
	stopped atomic.Bool
}

// NewStopper makes a Stopper in front of ready.
func NewStopper(ready func(ctx context.Context) error) *Stopper { return &Stopper{ready: ready} }

// Stop makes Ready fail from now on.
func (s *Stopper) Stop() { s.stopped.Store(true) }

// Ready gives ErrStopping once stopped.
func (s *Stopper) Ready(ctx context.Context) error {
	if s.stopped.Load() {
		return ErrStopping
	}
	return s.ready(ctx)
}
