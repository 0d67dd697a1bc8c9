package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainTime is how long calls that run may still take once standard input has ended.
const drainTime = 10 * time.Second

// ServeStdio answers one client on r and w, a message a line, until r ends or ctx does.
// Calls under way when r ends are still answered. No key is asked for: who started the
// program may do what it does.
func (s *Server) ServeStdio(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error {
	ctx = context.WithValue(ctx, callerKey{}, &caller{server: s, local: true})
	open := &openCalls{none: make(chan struct{}, 1)}
	err := s.mcp.Run(ctx, &mcp.IOTransport{
		Reader: &stdioReader{ReadCloser: r, ctx: ctx, open: open}, Writer: &stdioWriter{WriteCloser: w, open: open}, MaxLineLength: MaxBody,
	})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// openCalls counts calls that were read and not answered.
type openCalls struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // has a value when n falls to 0
}

func (o *openCalls) add(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n += n; n < 0 && o.n <= 0 {
		select {
		case o.none <- struct{}{}:
		default:
		}
	}
}

// wait waits until every call is answered. One that never is (it was cancelled, or its
// line was no message) is given up when the time is over.
func (o *openCalls) wait(ctx context.Context) {
	over := time.NewTimer(drainTime)
	defer over.Stop()
	for {
		o.mu.Lock()
		n := o.n
		o.mu.Unlock()
		if n <= 0 {
			return
		}
		select {
		case <-o.none:
		case <-ctx.Done():
			return
		case <-over.C:
			return
		}
	}
}

// stdioReader counts the calls in what it reads, and holds back the end until they are
// answered.
type stdioReader struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // io.Reader has no other way to be stopped
	open *openCalls
	line []byte
}

func (r *stdioReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.count(p[:n])
	if errors.Is(err, io.EOF) {
		if n > 0 {
			return n, nil // the end comes with the next Read
		}
		r.count([]byte("\n"))
		r.open.wait(r.ctx)
	}
	return n, err
}

func (r *stdioReader) count(p []byte) {
	for part := range bytes.Lines(p) {
		if len(r.line) > MaxBody { // the transport refuses it
			r.line = r.line[:0]
			continue
		}
		r.line = append(r.line, part...)
		if part[len(part)-1] == '\n' {
			r.open.add(messages(r.line, true))
			r.line = r.line[:0]
		}
	}
}

// stdioWriter counts answers. The transport writes each message at once.
type stdioWriter struct {
	io.WriteCloser
	open *openCalls
}

func (w *stdioWriter) Write(p []byte) (int, error) {
	n, err := w.WriteCloser.Write(p)
	for line := range bytes.Lines(p) {
		w.open.add(-messages(line, false))
	}
	return n, err
}

// messages counts the calls of a line, or the answers.
func messages(line []byte, calls bool) int {
	type message struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	var batch []message
	line = bytes.TrimSpace(line)
	if len(line) > 0 && line[0] == '[' {
		_ = json.Unmarshal(line, &batch) // what is no message is no call
	} else {
		var one message
		if json.Unmarshal(line, &one) == nil {
			batch = []message{one}
		}
	}
	n := 0
	for _, m := range batch {
		if m.ID != nil && (m.Method != nil) == calls {
			n++
		}
	}
	return n
}
