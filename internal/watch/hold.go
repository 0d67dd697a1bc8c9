package watch

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

// Listener holds a connection to a server until ctx ends or the server offers none, and
// calls read with what the server declares, at first and after each change that it
// announces.
type Listener interface {
	Listen(ctx context.Context, t registry.Target, read func(*toolmark.Snapshot)) error
}

// Observer records what comes on held connections; *registry.Service is one.
type Observer interface {
	Target(ctx context.Context, id string) (registry.Target, error)
	Observe(ctx context.Context, id string, snap *toolmark.Snapshot) error
}

// Holder holds connections to servers that announce changes of their lists, so that they
// are read again at once and not at the next interval. It is beside the watch and not
// instead of it: a server that announces nothing, or more than there is room for, is
// probed as any other. Each replica holds connections of its own.
type Holder struct {
	listen  Listener
	observe Observer
	most    int
	log     *slog.Logger

	mu     sync.Mutex
	held   map[string]context.CancelFunc
	ctx    context.Context //nolint:containedctx // of all connections, which Close ends
	cancel context.CancelFunc
	group  sync.WaitGroup
}

// NewHolder makes a holder of at most so many connections. It holds none until Use.
func NewHolder(l Listener, most int, log *slog.Logger) *Holder {
	ctx, cancel := context.WithCancel(context.Background())
	return &Holder{listen: l, most: most, log: log, held: map[string]context.CancelFunc{}, ctx: ctx, cancel: cancel}
}

// Use says where what comes is recorded.
func (h *Holder) Use(o Observer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.observe = o
}

// Set says whether a server announces changes; it is for registry.Config.Announces.
func (h *Holder) Set(id string, does bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	end, is := h.held[id]
	switch {
	case is && !does:
		end()
	case !is && does && h.observe != nil && len(h.held) < h.most && h.ctx.Err() == nil:
		ctx, end := context.WithCancel(h.ctx)
		h.held[id] = end
		h.group.Go(func() {
			h.hold(ctx, end, id)
			end()
			h.mu.Lock()
			delete(h.held, id) // the next probe may ask for it again
			h.mu.Unlock()
		})
	}
}

// hold holds one connection until it ends.
func (h *Holder) hold(ctx context.Context, end func(), id string) {
	target, err := h.observe.Target(ctx, id)
	if err == nil {
		err = h.listen.Listen(ctx, target, func(snap *toolmark.Snapshot) {
			err := h.observe.Observe(ctx, id, snap)
			if errors.Is(err, registry.ErrNotFound) { // removed meanwhile
				end()
			} else if err != nil && ctx.Err() == nil {
				h.log.Error("what a server announced could not be recorded", "server", id, "error", err)
			}
		})
	}
	if err != nil && ctx.Err() == nil {
		h.log.Warn("a server announces changes, and no connection is held to it", "server", id, "why", err)
	}
}

// Held gives the number of connections.
func (h *Holder) Held() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.held)
}

// Close ends all connections and waits for them. It is safe to call twice.
func (h *Holder) Close() {
	h.mu.Lock() // no connection begins behind this
	h.cancel()
	h.mu.Unlock()
	h.group.Wait()
}
