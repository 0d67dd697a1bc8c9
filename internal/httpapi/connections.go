package httpapi

import (
	"container/list"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections is a listener with a bound on open connections. At the bound it closes
// the connection that waited longest for a request, so that clients which only hold
// connections cannot keep out those that use them. Where every connection is in use, or
// has not yet had the time to send its request, Accept waits: a burst of clients waits
// in the system's queue then, and none of them is cut off.
type connections struct {
	net.Listener
	most  int
	grace time.Duration
	// unread gives the answer to what could not be read as a request; nil leaves it to
	// net/http.
	unread func(status int, remote string) []byte

	mu     sync.Mutex
	room   sync.Cond
	closed bool
	open   map[*connection]struct{}
	idle   *list.List // *connection, longest idle first
}

// connection is an accepted connection that knows where it stands.
type connection struct {
	net.Conn
	owner *connections
	place *list.Element // in idle, nil while a request is served
	since time.Time     // when it began to be idle
}

func newConnections(ln net.Listener, most int, grace time.Duration) *connections {
	c := &connections{Listener: ln, most: most, grace: grace, open: map[*connection]struct{}{}, idle: list.New()}
	c.room.L = &c.mu
	return c
}

// Accept waits for a connection and for room.
func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.open) >= c.most && !c.closed {
		oldest := c.idle.Front()
		if oldest == nil {
			c.room.Wait()
			continue
		}
		victim := oldest.Value.(*connection)
		if fresh := c.grace - time.Since(victim.since); fresh > 0 {
			alarm := time.AfterFunc(fresh, c.wake)
			c.room.Wait()
			alarm.Stop()
			continue
		}
		c.forget(victim)
		_ = victim.Conn.Close() // its reader ends, and says so to nobody
	}
	if c.closed {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	own := &connection{Conn: conn, owner: c}
	own.rest()
	c.open[own] = struct{}{}
	return own, nil
}

// wake lets Accept look again.
func (c *connections) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.room.Broadcast()
}

// rest puts the connection behind those that are idle already.
func (conn *connection) rest() {
	conn.since = time.Now()
	conn.place = conn.owner.idle.PushBack(conn)
}

// Close ends listening, and an Accept that waits for room.
func (c *connections) Close() error {
	c.mu.Lock()
	c.closed = true
	c.room.Broadcast()
	c.mu.Unlock()
	return c.Listener.Close()
}

// state follows net/http's connections. StateActive begins with the first byte of a
// request, so who sends only part of a header is held to HeaderTimeout instead.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = t.NetConn()
	}
	own, ok := conn.(*connection)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.open[own]; !open {
		return
	}
	switch state {
	case http.StateActive:
		if own.place != nil {
			c.idle.Remove(own.place)
			own.place = nil
		}
	case http.StateIdle:
		if own.place == nil {
			own.rest()
			c.room.Signal()
		}
	}
}

// Close closes the connection and makes room.
func (conn *connection) Close() error {
	c := conn.owner
	c.mu.Lock()
	c.forget(conn)
	c.mu.Unlock()
	return conn.Conn.Close()
}

// CloseWrite lets net/http end its side first, so that an answer which comes before the
// whole body was read is not lost to a reset (RFC 9112, section 9.6).
func (conn *connection) CloseWrite() error {
	if half, ok := conn.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (c *connections) forget(conn *connection) {
	if _, open := c.open[conn]; !open {
		return
	}
	delete(c.open, conn)
	if conn.place != nil {
		c.idle.Remove(conn.place)
		conn.place = nil
	}
	c.room.Signal()
}

// quiet passes on that net/http complained, and not what about: its messages may hold
// bytes of a request.
type quiet struct{ slog.Handler }

// Handle drops the text.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Message = "a connection ended in an error"
	return q.Handler.Handle(ctx, r)
}

// WithAttrs keeps the text out of derived handlers too.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup does as well.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
