// Package probe makes one attempt to read a manifest from a live MCP server: it
// starts a command or connects to an address, asks for what the server declares,
// and gives it back byte for byte as a [toolmark.Snapshot].
//
// It speaks the stdio and the Streamable HTTP transport, and the HTTP+SSE transport
// of the first revision, in the MCP revisions 2024-11-05, 2025-03-26, 2025-06-18,
// 2025-11-25 and 2026-07-28. It only lists: no tool is called, no prompt or resource
// is read.
//
// What it guarantees. Time, bytes, pages and the length of every message are
// bounded. Every error is a *toolmark.Error that says what failed, at which step,
// and what to do next; text of the server in it is escaped and cut. When Probe
// returns, its goroutines have ended, and so have the processes it started: the
// child, its process group, its session, and every process that carries the
// probe's mark in its environment. Two kinds of process it cannot end: one that
// runs as another user, and, on Linux, one that left the session, lost its parent
// and wiped its environment; elsewhere, one that left the process group.
//
// What it does not do: it does not decide what a manifest means, does not log in,
// and does not keep private addresses from being reached. A service passes a
// Client of package outward, which does the last.
package probe

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
)

// Source says where a server is: Command or URL, exactly one of them.
type Source struct {
	// Command is a program and its arguments; it speaks MCP on stdin and stdout.
	Command []string
	// Env are further variables for the command, each "NAME=value". Of our own
	// environment it gets only what programs need to run (see childEnv).
	Env []string
	// Dir is the command's working directory; "" is ours.
	Dir string

	// URL is the MCP endpoint, http or https.
	URL string
	// Header is sent with every request to URL, and never to another origin.
	Header http.Header
}

// Name is how the source is written in reports and snapshots: the address without
// its user and password, or the command line quoted for a POSIX shell. It is as
// hostile as what it was made from.
func (s Source) Name() string {
	if s.URL != "" {
		return displayURL(s.URL)
	}
	return shellJoin(s.Command)
}

// The defaults of Options.
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxBytes = 16 << 20
	DefaultMaxPages = 1000
)

// Options are the limits and the surroundings of a probe. The zero value works.
type Options struct {
	// Timeout is the time for the whole probe; 0 means DefaultTimeout. Ending the
	// child afterwards takes at most a few seconds more.
	Timeout time.Duration
	// MaxBytes is the most bytes read from the server in all; 0 means DefaultMaxBytes.
	MaxBytes int64
	// MaxPages is the most pages of one list; 0 means DefaultMaxPages.
	MaxPages int
	// ProtocolVersion is the revision to offer; "" means the newest.
	ProtocolVersion string
	// Stderr gets what the command writes to its stderr, raw. Where it is nil only
	// the end is kept, for error messages.
	Stderr io.Writer
	// Progress is called with a short text at each step, from the goroutine that
	// called Probe.
	Progress func(stage string)
	// Client sends the HTTP requests; its CheckRedirect is replaced by ours. Where it
	// is nil a client is made that wants TLS 1.2 or newer and uses the proxy that the
	// environment names.
	Client *http.Client
	// ClientName and ClientVersion are what we call ourselves; "" means toolmark, dev.
	ClientName    string
	ClientVersion string
	// Now is the clock for Snapshot.ReadAt; nil means time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxPages <= 0 {
		o.MaxPages = DefaultMaxPages
	}
	if o.ProtocolVersion == "" {
		o.ProtocolVersion = versions[0]
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.ClientName == "" {
		o.ClientName = "toolmark"
	}
	if o.ClientVersion == "" {
		o.ClientVersion = "dev"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// A transport carries messages to one server and back.
type transport interface {
	// connect opens the connection. It is called again after a lost session or a
	// dead child, and then starts afresh.
	connect(ctx context.Context) error
	// call sends a request and waits for its answer, a JSON-RPC error included.
	call(ctx context.Context, r request) (*answer, error)
	// notify sends a notification.
	notify(ctx context.Context, r request) error
	// late gives an answer that came after its call had given up; nil if none has.
	late(id int) *answer
	// listen makes what the server says unasked arrive. r is the request that asks for
	// it, without an id in revisions that have none. The error wraps ErrNotListening
	// where the server offers no way.
	listen(ctx context.Context, r request) error
	// next waits until the server has said something of news. It fails when the
	// connection is lost; errStreamEnded says that listen may be called again.
	next(ctx context.Context) error
	// rearm lets another MaxBytes be read.
	rearm()
	// close ends the connection and everything behind it.
	close()
}

// Probe reads a snapshot from src.
//
// The error is a *toolmark.Error with one of the codes usage, cannot_start,
// cannot_connect, address_refused, tls, auth_required, not_mcp, protocol, timeout, unreadable_list,
// too_large, invalid_json and invalid_manifest.
func Probe(ctx context.Context, src Source, opts Options) (*toolmark.Snapshot, error) {
	opts = opts.withDefaults()
	p := &prober{opts: opts, source: src.Name(), notes: &notes{}, news: &news{}}
	tr, err := p.transport(src)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok { // the caller's own, where that is earlier
		p.opts.Timeout = min(opts.Timeout, time.Until(deadline).Round(time.Millisecond))
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	p.tr = tr
	parts, err := p.read(ctx)
	tr.close()
	if err != nil {
		return nil, p.explain(ctx, err)
	}
	return p.snapshot(parts)
}

type prober struct {
	opts   Options
	source string
	tr     transport
	notes  *notes
	news   *news
	hello  func(ctx context.Context, got *parts) error // called between handshake and lists; may be nil
	stage  string                                      // what was being asked for, for timeouts
	nextID int
}

func (p *prober) transport(src Source) (transport, error) {
	switch {
	case len(src.Command) > 0 && src.URL != "":
		return nil, failure(toolmark.ErrUsage, nil, "a source is a command or a URL, not both")
	case src.URL != "":
		return newHTTPTransport(src, p.opts, p.notes, p.news)
	case len(src.Command) > 0 && src.Command[0] != "":
		for _, v := range src.Env {
			if strings.Index(v, "=") < 1 {
				return nil, failure(toolmark.ErrUsage, nil, "a variable for the command is written NAME=value, not %s", quoteShort(v))
			}
		}
		return newStdioTransport(src, p.opts, p.notes, p.news), nil
	}
	return nil, failure(toolmark.ErrUsage, nil, "a source needs a command or a URL")
}

// step names what is done next.
func (p *prober) step(stage string) {
	p.stage = stage
	p.opts.Progress(stage)
}

// explain gives an error its final form. Whatever went wrong after the time was up
// went wrong because of that.
func (p *prober) explain(ctx context.Context, err error) error {
	source := printable(p.source)
	switch ctx.Err() {
	case context.DeadlineExceeded:
		return failure(toolmark.ErrTimeout, nil, "%s: no answer to %s within %s; give it longer with --timeout, or start the server by hand to see what it waits for%s",
			source, p.stage, p.opts.Timeout, p.hint())
	case context.Canceled:
		return failure(toolmark.ErrTimeout, ctx.Err(), "%s: stopped during %s", source, p.stage)
	}
	if e, ok := asFailure(err); ok {
		return failure(e.Code, e.Err, "%s: %s", source, e.Message)
	}
	return failure(toolmark.ErrProtocol, err, "%s: %s", source, p.stage)
}

// hint adds what the server said on the side, where it said something.
func (p *prober) hint() string {
	if s, ok := p.tr.(interface{ stderrTail() string }); ok {
		return s.stderrTail()
	}
	return ""
}

func failure(code toolmark.ErrorCode, cause error, format string, args ...any) *toolmark.Error {
	return &toolmark.Error{Code: code, Message: fmt.Sprintf(format, args...), Err: cause}
}
