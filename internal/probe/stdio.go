package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
)

// stdio speaks to a child process: one message a line (MCP, stdio transport).
type stdio struct {
	src   Source
	opts  Options
	notes *notes
	left  int64 // bytes of stdout that may still be read, over all children

	child  *child
	closed bool
	lines  chan line        // what the child says; closed at the end of stdout
	done   chan struct{}    // closed when nobody reads lines any more
	early  map[int]*answer  // answers whose call had given up
	asked  map[int]struct{} // calls that had given up
	read   chan struct{}    // closed when the reader of stdout has ended
}

// A line is what one line of stdout held, or why reading stopped.
type line struct {
	messages []message
	err      error
}

func newStdioTransport(src Source, opts Options, n *notes) *stdio {
	return &stdio{src: src, opts: opts, notes: n, left: opts.MaxBytes}
}

func (s *stdio) connect(ctx context.Context) error {
	s.close()
	s.opts.Progress("starting " + printable(s.src.Command[0]))
	c, err := startChild(s.src, s.opts.Stderr)
	if err != nil {
		return cannotStart(s.src, err)
	}
	s.child, s.closed = c, false
	s.lines, s.done, s.read = make(chan line), make(chan struct{}), make(chan struct{})
	s.early, s.asked = map[int]*answer{}, map[int]struct{}{}
	go s.readLines(c.stdout, s.lines, s.done, s.read)
	return nil
}

func cannotStart(src Source, err error) error {
	name := quoteShort(src.Command[0])
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return failure(toolmark.ErrCannotStart, nil, "the command %s was not found; check its spelling, install it, or give its full path", name)
	case errors.Is(err, os.ErrNotExist) && src.Dir != "":
		return failure(toolmark.ErrCannotStart, err, "the command %s or the directory %s does not exist", name, quoteShort(src.Dir))
	case errors.Is(err, os.ErrNotExist):
		return failure(toolmark.ErrCannotStart, nil, "the command %s does not exist, or the interpreter it names does not", name)
	case errors.Is(err, os.ErrPermission):
		return failure(toolmark.ErrCannotStart, nil, "the command %s may not be executed; check its permissions", name)
	}
	return failure(toolmark.ErrCannotStart, err, "the command %s does not start", name)
}

// readLines reads stdout to its end, or to the limit. It owns left until read is closed.
func (s *stdio) readLines(stdout io.Reader, lines chan<- line, done <-chan struct{}, read chan<- struct{}) {
	defer close(read)
	defer close(lines)
	send := func(l line) bool {
		select {
		case lines <- l:
			return true
		case <-done:
			return false
		}
	}
	r := newLineReader(stdout, &s.left)
	for {
		text, err := r.next()
		if len(text) > 0 && !errors.Is(err, errByteLimit) {
			messages, fault := s.decode(text)
			if (len(messages) > 0 || fault != nil) && !send(line{messages: messages, err: fault}) {
				return
			}
		}
		switch {
		case errors.Is(err, errByteLimit):
			send(line{err: failure(toolmark.ErrTooLarge, nil, "the command wrote more than %s to stdout, the last line %s; a server writes only its answers there",
				bytesText(s.opts.MaxBytes), quoteShort(string(text[:min(len(text), 4*shortText)])))})
			return
		case err != nil:
			return
		}
	}
}

// decode reads the messages of a line. A line that is something else is noted; one
// that was meant as a message and is not JSON is an error.
func (s *stdio) decode(text []byte) ([]message, error) {
	all, err := readMessages(text)
	if err != nil {
		if looksLikeRPC(text) {
			e, ok := asFailure(err)
			if !ok {
				e = failure(toolmark.ErrInvalidJSON, err, "not JSON")
			}
			return nil, failure(e.Code, err, "a message of the server cannot be read")
		}
		s.notes.skip(text)
		return nil, nil
	}
	kept := all[:0]
	for _, m := range all {
		if m.kind() != notRPC {
			kept = append(kept, m)
		}
	}
	if len(kept) == 0 {
		s.notes.skip(text)
	}
	return kept, nil
}

func (s *stdio) call(ctx context.Context, r request) (*answer, error) {
	if err := s.send(ctx, r.encode()); err != nil {
		return nil, s.died(ctx, err)
	}
	exited := s.child.exited
	var grace <-chan time.Time
	for {
		select {
		case l, open := <-s.lines:
			if !open {
				return nil, s.died(ctx, io.EOF)
			}
			if l.err != nil {
				return nil, l.err
			}
			if a, err := s.take(ctx, l.messages, r.id); a != nil || err != nil {
				return a, err
			}
		case <-exited:
			// What it wrote before it ended is still in the pipe; but a process it left
			// behind may hold the pipe open for ever.
			exited = nil
			timer := time.NewTimer(exitGrace)
			defer timer.Stop()
			grace = timer.C
		case <-grace:
			return nil, s.died(ctx, io.EOF)
		case <-ctx.Done():
			s.asked[r.id] = struct{}{}
			return nil, ctx.Err()
		}
	}
}

// exitGrace is how long we go on reading after the child has ended.
const exitGrace = 500 * time.Millisecond

// take looks for the answer to id and serves everything else.
func (s *stdio) take(ctx context.Context, messages []message, id int) (*answer, error) {
	var found *answer
	for _, m := range messages {
		switch m.kind() {
		case response:
			if found == nil && m.answers(id) {
				a, err := m.answer()
				if err != nil {
					return nil, err
				}
				found = a
				continue
			}
			for old := range s.asked {
				if a, err := m.answer(); m.answers(old) && err == nil {
					s.early[old] = a
				}
			}
		case serverCall:
			if b := reply(m); b != nil {
				if err := s.send(ctx, b); err != nil {
					return nil, s.died(ctx, err)
				}
			}
		}
	}
	return found, nil
}

func (s *stdio) notify(ctx context.Context, r request) error {
	return s.send(ctx, r.encode())
}

func (s *stdio) late(id int) *answer { return s.early[id] }

// send writes one line. A child that does not read its stdin cannot hold it for
// longer than ctx allows.
func (s *stdio) send(ctx context.Context, b []byte) error {
	s.child.allowWrites()
	ran := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ran)
		s.child.endWrites()
	})
	_, err := s.child.stdin.Write(append(b, '\n'))
	if !stop() {
		<-ran
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// died explains why there is no more to read.
func (s *stdio) died(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-s.child.exited:
		s.child.stop()
		how := s.child.outcome()
		return failure(toolmark.ErrCannotStart, nil, "the command ended (%s) before it answered; start it by hand to see why%s", how, s.stderrTail())
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	if cause == io.EOF {
		return failure(toolmark.ErrCannotStart, nil, "the command closed its stdout before it answered%s", s.stderrTail())
	}
	return failure(toolmark.ErrCannotStart, cause, "the command does not take what is written to its stdin%s", s.stderrTail())
}

// stderrTail gives the last lines of stderr for a message, escaped; "" if there are
// none.
func (s *stdio) stderrTail() string {
	if s.child == nil {
		return ""
	}
	text := strings.TrimSpace(s.child.stderrTail())
	if text == "" {
		return ""
	}
	all := strings.Split(text, "\n")
	all = all[max(0, len(all)-stderrLines):]
	for i, l := range all {
		quoted := quoteShort(strings.TrimRight(l, "\r"))
		all[i] = quoted
	}
	return "; its stderr ends with " + strings.Join(all, " ")
}

// stderrLines is how many lines of stderr an error quotes.
const stderrLines = 4

// close ends the child and waits for the reader.
func (s *stdio) close() {
	if s.child == nil || s.closed {
		return
	}
	s.closed = true
	close(s.done)
	if left := s.child.stop(); left != "" {
		s.notes.warn("%s", left)
	}
	<-s.read
}

func bytesText(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
