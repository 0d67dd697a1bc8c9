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
	news  *news
	left  *budget // of stdout, over all children

	child  *child
	closed bool
	*duplex
}

func newStdioTransport(src Source, opts Options, n *notes, heard *news) *stdio {
	return &stdio{src: src, opts: opts, notes: n, news: heard, left: newBudget(opts.MaxBytes)}
}

func (s *stdio) connect(ctx context.Context) error {
	s.close()
	s.opts.Progress("starting " + printable(s.src.Command[0]))
	c, err := startChild(s.src, s.opts.Stderr)
	if err != nil {
		return cannotStart(s.src, err)
	}
	s.child, s.closed = c, false
	s.duplex = newDuplex(s.write, s.gone, s.news)
	s.exited = c.exited
	go s.readLines(c.stdout)
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

// readLines reads stdout to its end, or to the limit.
func (s *stdio) readLines(stdout io.Reader) {
	defer s.ended()
	r := newLineReader(stdout, s.left)
	for {
		text, err := r.next()
		if len(text) > 0 && !errors.Is(err, errByteLimit) {
			messages, fault := s.notes.decode(text)
			if (len(messages) > 0 || fault != nil) && !s.deliver(line{messages: messages, err: fault}) {
				return
			}
		}
		switch {
		case errors.Is(err, errByteLimit):
			s.deliver(line{err: failure(toolmark.ErrTooLarge, nil, "the command wrote more than %s to stdout, the last line %s; a server writes only its answers there",
				bytesText(s.opts.MaxBytes), quoteShort(string(text[:min(len(text), 4*shortText)])))})
			return
		case err != nil:
			return
		}
	}
}

// write sends one line. A child that does not read its stdin cannot hold it for
// longer than ctx allows.
func (s *stdio) write(ctx context.Context, b []byte) error {
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

// gone explains why there is no more to read.
func (s *stdio) gone(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-s.child.exited:
		s.child.stop()
		how := s.child.outcome()
		if s.idle {
			return failure(toolmark.ErrCannotConnect, nil, "the command ended (%s) while it was connected%s", how, s.stderrTail())
		}
		return failure(toolmark.ErrCannotStart, nil, "the command ended (%s) before it answered; start it by hand to see why%s", how, s.stderrTail())
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	if cause == io.EOF && s.idle {
		return failure(toolmark.ErrCannotConnect, nil, "the command closed its stdout while it was connected%s", s.stderrTail())
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
