package probe

import (
	"context"
	"io"
	"time"
)

// A duplex is a connection on which the server's messages come as it likes, not as
// the answer to one exchange: stdio, and the older HTTP+SSE. A reader of its own
// delivers them; call takes them.
type duplex struct {
	send func(ctx context.Context, message []byte) error
	// died explains why there is no more to read.
	died func(ctx context.Context, cause error) error
	// exited is closed when the server's process has ended; nil where it has none.
	exited <-chan struct{}

	lines chan line        // closed at the end of what the server says
	done  chan struct{}    // closed by close: nobody takes lines any more
	read  chan struct{}    // closed when the reader has ended
	early map[int]*answer  // answers whose call had given up
	asked map[int]struct{} // calls that had given up

	news *news
	idle bool // nothing is being asked
}

// A line is what the server said at one time, or why reading stopped.
type line struct {
	messages []message
	err      error
}

func newDuplex(send func(context.Context, []byte) error, died func(context.Context, error) error, heard *news) *duplex {
	return &duplex{
		send: send, died: died,
		lines: make(chan line), done: make(chan struct{}), read: make(chan struct{}),
		early: map[int]*answer{}, asked: map[int]struct{}{}, news: heard,
	}
}

// deliver hands a line over; false means that nobody wants more.
func (d *duplex) deliver(l line) bool {
	select {
	case d.lines <- l:
		return true
	case <-d.done:
		return false
	}
}

// ended is what the reader calls last.
func (d *duplex) ended() {
	close(d.lines)
	close(d.read)
}

// exitGrace is how long we go on reading after the server's process has ended. What
// it wrote before is still in the pipe; but a process that it left behind may hold
// the pipe open for ever.
const exitGrace = 500 * time.Millisecond

func (d *duplex) call(ctx context.Context, r request) (*answer, error) {
	d.idle = false
	if err := d.send(ctx, r.encode()); err != nil {
		return nil, d.died(ctx, err)
	}
	a, err := d.receive(ctx, r.id, nil)
	if err != nil && ctx.Err() != nil {
		d.asked[r.id] = struct{}{}
	}
	return a, err
}

// receive serves what the server says until the answer to id came or done, where it is
// given, says that it is enough; then the answer is nil.
func (d *duplex) receive(ctx context.Context, id int, done func() bool) (*answer, error) {
	exited := d.exited
	var grace <-chan time.Time
	for done == nil || !done() {
		select {
		case l, open := <-d.lines:
			if !open {
				return nil, d.died(ctx, io.EOF)
			}
			if l.err != nil {
				return nil, l.err
			}
			if a, err := d.take(ctx, l.messages, id); a != nil || err != nil {
				return a, err
			}
		case <-exited:
			exited = nil
			timer := time.NewTimer(exitGrace)
			defer timer.Stop()
			grace = timer.C
		case <-grace:
			return nil, d.died(ctx, io.EOF)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, nil
}

// take looks for the answer to id and serves everything else.
func (d *duplex) take(ctx context.Context, messages []message, id int) (*answer, error) {
	var found *answer
	for _, m := range messages {
		switch m.kind() {
		case response:
			if d.news.answered(m) {
				continue
			}
			if found == nil && id != 0 && m.answers(id) {
				a, err := m.answer()
				if err != nil {
					return nil, err
				}
				found = a
				continue
			}
			for old := range d.asked {
				if a, err := m.answer(); m.answers(old) && err == nil {
					d.early[old] = a
				}
			}
		case serverCall:
			// A reply that cannot be sent is no failure: what we asked for may be on
			// its way all the same, and if it is not, reading will tell.
			if b := reply(m); b != nil {
				_ = d.send(ctx, b)
			}
		case notification:
			d.news.hear(m)
		}
	}
	return found, nil
}

func (d *duplex) notify(ctx context.Context, r request) error {
	return d.send(ctx, r.encode())
}

func (d *duplex) late(id int) *answer { return d.early[id] }
