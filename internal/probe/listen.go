package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"time"

	"github.com/toolmark/toolmark"
)

// listenWait bounds the wait for the start of a stream and for the acknowledgement of a
// subscription. Some servers send the header of a stream only with its first event; the
// connection is used all the same.
const listenWait = 5 * time.Second

// listen asks for what the server says unasked. Before 2026-07-28 it needs no asking
// where messages come as the server likes.
func (d *duplex) listen(ctx context.Context, r request) error {
	if r.id == 0 {
		d.news.subscribe(0)
		return nil
	}
	d.news.subscribe(r.id)
	d.idle = false
	if err := d.send(ctx, r.encode()); err != nil {
		return d.died(ctx, err)
	}
	return d.acknowledged(ctx)
}

// acknowledged waits for the server to say what becomes of a subscription.
func (d *duplex) acknowledged(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, listenWait)
	defer cancel()
	if _, err := d.receive(short, 0, d.news.settled); err != nil {
		if ctx.Err() == nil && short.Err() != nil {
			return nil // late, or never said: what it tells of counts
		}
		var ended *streamEnded
		if errors.As(err, &ended) && !d.news.settled() {
			return fmt.Errorf("%w: subscriptions/listen was answered without a word", ErrNotListening)
		}
		if !errors.As(err, &ended) {
			return err
		}
	}
	switch {
	case d.news.refusal != nil:
		return fmt.Errorf("%w: subscriptions/listen was answered with %v", ErrNotListening, d.news.refusal)
	case d.news.acked && d.news.honoured == 0:
		return fmt.Errorf("%w: it acknowledged a subscription to none of its lists", ErrNotListening)
	case !d.news.acked:
		return fmt.Errorf("%w: it ended the subscription without acknowledging it", ErrNotListening)
	}
	return nil
}

// next waits for news.
func (d *duplex) next(ctx context.Context) error {
	d.idle = true
	if _, err := d.receive(ctx, 0, d.news.waiting); err != nil {
		return err
	}
	if !d.news.any() {
		return &streamEnded{}
	}
	return nil
}

func (s *stdio) rearm() { s.left.n.Store(s.opts.MaxBytes) }

// A stream carries what a server of Streamable HTTP says unasked: the answer to a GET
// (MCP 2025-03-26 to 2025-11-25, transports, listening for messages), or to the POST of
// subscriptions/listen (2026-07-28).
type stream struct {
	*duplex
	cancel context.CancelFunc
	opened chan error // gets one value: why the stream is not open, or nil

	// Set before the reader ends, read afterwards.
	events *eventReader
	failed error
}

// streaming is the client for answers that go on for ever.
func (t *httpTransport) streaming() *http.Client {
	c := *t.client
	c.Timeout = 0
	return &c
}

func (t *httpTransport) rearm() { t.left.n.Store(t.opts.MaxBytes) }

// listen opens the stream.
func (t *httpTransport) listen(ctx context.Context, r request) error {
	if t.legacy != nil {
		return t.legacy.listen(ctx, r)
	}
	lastID := t.endStream()
	t.news.subscribe(r.id)
	streamCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var req *http.Request
	var err error
	if r.id != 0 {
		t.version = r.version
		req, err = t.postRequest(streamCtx, r.encode(), r)
	} else {
		req, err = t.newRequest(streamCtx, http.MethodGet, t.url, nil)
	}
	if err != nil {
		cancel()
		return err
	}
	if r.id == 0 {
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set("MCP-Protocol-Version", r.version)
		if lastID != "" {
			req.Header.Set("Last-Event-ID", lastID)
		}
	}
	s := &stream{cancel: cancel, opened: make(chan error, 1)}
	s.duplex = newDuplex(t.postReply, s.gone, t.news)
	t.stream = s
	go s.run(t, req)

	timer := time.NewTimer(min(listenWait, t.opts.Timeout/4))
	defer timer.Stop()
	select {
	case err = <-s.opened:
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil && r.id != 0 {
		err = s.acknowledged(ctx)
	}
	if err != nil {
		t.endStream()
	}
	return err
}

// run opens the stream and delivers what it carries until it ends.
func (s *stream) run(t *httpTransport, req *http.Request) {
	fail := func(err error) {
		s.failed = err
		s.ended()
		s.opened <- err
	}
	resp, err := t.streaming().Do(req)
	if err != nil {
		err = t.cannotConnect(req.Context(), err)
		if e, ok := asFailure(err); ok && e.Code != toolmark.ErrCannotConnect && e.Code != toolmark.ErrTimeout {
			// A redirect that is not followed, for example: the lists can be read.
			err = fmt.Errorf("%w: %w", ErrNotListening, e)
		}
		fail(err)
		return
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		resp.Body.Close()
		fail(fmt.Errorf("%w: it answered %s with %s to a %s for them", ErrNotListening, statusText(resp), contentType(resp.Header), req.Method))
		return
	}
	body, err := t.body(resp, math.MaxInt64)
	if err != nil {
		resp.Body.Close()
		fail(err)
		return
	}
	s.events = newEventReader(body)
	s.opened <- nil
	t.readEvents(s.events, resp.Body, s.duplex)
}

// gone explains why the stream has ended.
func (s *stream) gone(ctx context.Context, cause error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.failed != nil:
		return s.failed
	}
	ended := &streamEnded{}
	if s.events != nil {
		ended.retry, ended.resumes = s.events.retry, s.events.id != ""
	}
	return ended
}

// endStream ends the stream, if there is one, and gives the id of its last event.
func (t *httpTransport) endStream() string {
	s := t.stream
	if s == nil {
		return ""
	}
	t.stream = nil
	close(s.done)
	s.cancel()
	<-s.read
	if s.events == nil {
		return ""
	}
	return s.events.id
}

// postReply sends an answer of ours to a request that came on the stream.
func (t *httpTransport) postReply(ctx context.Context, b []byte) error {
	resp, err := t.post(ctx, b, request{version: t.version})
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (t *httpTransport) next(ctx context.Context) error {
	switch {
	case t.legacy != nil:
		return t.legacy.next(ctx)
	case t.stream == nil:
		return ErrNotListening
	}
	return t.stream.next(ctx)
}
