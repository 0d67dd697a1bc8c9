package probe

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
)

// A legacy speaks the HTTP+SSE transport of MCP 2024-11-05: one event stream, which
// first names the address that takes our messages and then carries every answer.
type legacy struct {
	http *httpTransport
	to   *url.URL // where messages are posted

	*duplex
	cancel context.CancelFunc
}

// endpointWait bounds the wait for the event that names the address. A server of
// another kind may hold a GET open for ever.
const endpointWait = 5 * time.Second

func (l *legacy) connect(ctx context.Context) error {
	l.close()
	// The stream lives until close, whatever becomes of ctx once it is open.
	streamCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, cancel)()
	timer := time.AfterFunc(min(endpointWait, l.http.opts.Timeout/4), cancel)
	events, body, err := l.open(streamCtx)
	if err == nil && !timer.Stop() {
		body.Close()
		err = context.DeadlineExceeded
	}
	if err != nil {
		timer.Stop()
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	l.cancel = cancel
	l.duplex = newDuplex(l.post, l.gone, l.http.news)
	go l.http.readEvents(events, body, l.duplex)
	return nil
}

// open asks for the stream and reads the address from its first event.
func (l *legacy) open(ctx context.Context) (*eventReader, io.Closer, error) {
	t := l.http
	req, err := t.newRequest(ctx, http.MethodGet, t.url, nil)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := t.streaming().Do(req)
	if err != nil {
		return nil, nil, t.cannotConnect(ctx, err)
	}
	fail := func(err error) (*eventReader, io.Closer, error) {
		resp.Body.Close()
		return nil, nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return fail(t.authRequired(resp, "a GET of the event stream"))
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		return fail(failure(toolmark.ErrNotMCP, nil, "a GET gives no event stream"))
	}
	body, err := t.body(resp, t.opts.MaxBytes)
	if err != nil {
		return fail(err)
	}
	events := newEventReader(body)
	for {
		e, err := events.next()
		if err != nil {
			return fail(t.readFault(ctx, err))
		}
		if e.name != "endpoint" {
			continue
		}
		// The address must be of the origin we were sent to: it gets our headers.
		base := resp.Request.URL
		to, err := base.Parse(strings.TrimSpace(string(e.data)))
		if err != nil || to.Scheme != base.Scheme || to.Host != base.Host || base.Host != t.url.Host || base.Scheme != t.url.Scheme {
			return fail(failure(toolmark.ErrProtocol, nil, "the event stream names %s for our messages, which is not of the same origin", quoteShort(string(e.data))))
		}
		l.to = to
		return events, resp.Body, nil
	}
}

// readEvents delivers a stream's messages until it ends or is closed.
func (t *httpTransport) readEvents(events *eventReader, body io.Closer, d *duplex) {
	defer d.ended()
	defer body.Close()
	for {
		e, err := events.next()
		if err != nil {
			if errors.Is(err, errByteLimit) {
				d.deliver(line{err: t.readFault(context.Background(), err)})
			}
			return
		}
		if len(e.data) == 0 || e.name != "" && e.name != "message" {
			continue
		}
		messages, err := t.notes.decode(e.data)
		if (len(messages) > 0 || err != nil) && !d.deliver(line{messages: messages, err: err}) {
			return
		}
	}
}

// post sends one message. Its answer comes on the stream.
func (l *legacy) post(ctx context.Context, message []byte) error {
	t := l.http
	req, err := t.newRequest(ctx, http.MethodPost, l.to, message)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := t.client.Do(req)
	if err != nil {
		return t.cannotConnect(ctx, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return t.authRequired(resp, "a message")
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return failure(toolmark.ErrProtocol, nil, "%s answered %s to a message at the address its event stream names", quoteShort(t.url.Host), statusText(resp))
	}
	return nil
}

func (l *legacy) gone(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := asFailure(cause); ok {
		return e
	}
	if l.idle {
		return failure(toolmark.ErrCannotConnect, nil, "the event stream of %s ended", quoteShort(l.http.url.Host))
	}
	return failure(toolmark.ErrCannotConnect, nil, "the event stream of %s ended before the answer", quoteShort(l.http.url.Host))
}

// close ends the stream and waits for its reader.
func (l *legacy) close() {
	if l.cancel == nil {
		return
	}
	close(l.done)
	l.cancel()
	<-l.read
	l.cancel = nil
}
