package probe

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/outward"
)

// An httpTransport speaks Streamable HTTP (MCP 2025-03-26 and later, transports): each
// message is a POST, its answer JSON or an event stream. A stream for what the server
// says unasked is opened only where a connection is held (see listen): a probe waits for
// nothing but answers.
type httpTransport struct {
	opts   Options
	notes  *notes
	client *http.Client
	own    *http.Transport // ours to close; nil where the client was given
	url    *url.URL
	header http.Header
	left   *budget // of answers
	news   *news

	legacy *legacy // the older transport, once the server turned out to speak that

	session string // Mcp-Session-Id, "" where the server gave none
	version string // of the last request

	stream *stream // what the server says unasked; nil where it is not open
}

// The limits of one HTTP exchange.
const (
	dialTimeout   = 10 * time.Second
	deleteTimeout = 2 * time.Second
	maxRedirects  = 5
	maxHeader     = 64 << 10
	maxErrorBody  = 64 << 10
	maxSessionID  = 4 << 10
)

func newHTTPTransport(src Source, opts Options, n *notes, heard *news) (*httpTransport, error) {
	u, err := url.Parse(src.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, failure(toolmark.ErrUsage, nil, "%s is not an http or https URL", quoteShort(displayURL(src.URL)))
	}
	u.Fragment = ""
	t := &httpTransport{opts: opts, notes: n, url: u, header: src.Header.Clone(), left: newBudget(opts.MaxBytes), news: heard}
	if t.header == nil {
		t.header = http.Header{}
	}
	for name := range t.header {
		// An empty value is a header nobody meant to send.
		if len(t.header.Values(name)) == 1 && t.header.Get(name) == "" {
			t.header.Del(name)
		}
	}
	client := http.Client{}
	if opts.Client != nil {
		client = *opts.Client
	} else {
		t.own = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    dialTimeout,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxHeader,
		}
		client.Transport = t.own
	}
	client.CheckRedirect = t.checkRedirect
	t.client = &client
	return t, nil
}

// checkRedirect follows a few redirects that keep method and body, never from https
// to http, and takes what identifies us off a request that leaves the origin.
func (t *httpTransport) checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) > maxRedirects:
		return failure(toolmark.ErrNotMCP, nil, "more than %d redirects", maxRedirects)
	case req.Method != first.Method:
		return failure(toolmark.ErrNotMCP, nil, "a redirect to %s that turns %s into %s; use that address if it is the right one", quoteShort(displayURL(req.URL.String())), first.Method, req.Method)
	case outward.Downgrades(req, via):
		return failure(toolmark.ErrTLS, nil, "a redirect from https to %s, which is not encrypted", quoteShort(displayURL(req.URL.String())))
	}
	if outward.StripCredentials(req, via) {
		for name := range t.header { // whatever its name is, it was given for the first origin
			req.Header.Del(name)
		}
	}
	return nil
}

func (t *httpTransport) connect(ctx context.Context) error {
	t.endStream()
	t.session = ""
	if t.legacy != nil {
		return t.legacy.connect(ctx)
	}
	t.opts.Progress("connecting to " + printable(t.url.Host))
	return nil
}

func (t *httpTransport) late(id int) *answer {
	if t.legacy != nil {
		return t.legacy.late(id)
	}
	return nil
}

// fallBack turns to the older transport after a server has refused initialize.
func (t *httpTransport) fallBack(ctx context.Context) error {
	l := &legacy{http: t}
	if err := l.connect(ctx); err != nil {
		return err
	}
	t.legacy = l
	return nil
}

// post sends a message.
func (t *httpTransport) post(ctx context.Context, body []byte, r request) (*http.Response, error) {
	req, err := t.postRequest(ctx, body, r)
	if err != nil {
		return nil, err
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, t.cannotConnect(ctx, err)
	}
	return resp, nil
}

func (t *httpTransport) postRequest(ctx context.Context, body []byte, r request) (*http.Request, error) {
	req, err := t.newRequest(ctx, http.MethodPost, t.url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if r.version != "" {
		req.Header.Set("MCP-Protocol-Version", r.version)
	}
	if r.version >= discoverVersion && r.method != "" {
		req.Header.Set("Mcp-Method", r.method) // MCP 2026-07-28, transports, standard headers
	}
	return req, nil
}

func (t *httpTransport) newRequest(ctx context.Context, method string, to *url.URL, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, failure(toolmark.ErrUsage, err, "cannot make a request")
	}
	req.Header = t.header.Clone()
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", t.opts.ClientName+"/"+t.opts.ClientVersion)
	}
	if t.session != "" {
		req.Header.Set("Mcp-Session-Id", t.session)
	}
	return req, nil
}

func (t *httpTransport) call(ctx context.Context, r request) (*answer, error) {
	if t.legacy != nil {
		return t.legacy.call(ctx, r)
	}
	t.version = r.version
	resp, err := t.post(ctx, r.encode(), r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return t.refused(ctx, resp, r)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); r.method == "initialize" && id != "" {
		if len(id) > maxSessionID {
			return nil, failure(toolmark.ErrProtocol, nil, "the server's Mcp-Session-Id has %d bytes", len(id))
		}
		t.session = id
	}
	body, err := t.body(resp, t.opts.MaxBytes)
	if err != nil {
		return nil, err
	}
	var a *answer
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case kind == "text/event-stream":
		a, err = t.readStream(ctx, body, r)
	case isJSONType(kind):
		a, err = t.readBody(ctx, body, r)
	default:
		return nil, t.notMCP(resp, body, r)
	}
	return a, t.readFault(ctx, err)
}

func isJSONType(kind string) bool {
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

func (t *httpTransport) readBody(ctx context.Context, body io.Reader, r request) (*answer, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, failure(toolmark.ErrNotMCP, nil, "the answer to %s is empty", r.method)
	}
	a, err := t.take(ctx, raw, r)
	if a == nil && err == nil {
		return nil, failure(toolmark.ErrNotMCP, nil, "the answer to %s is JSON, but not a JSON-RPC 2.0 response to it; is this the address of the MCP endpoint?", r.method)
	}
	return a, err
}

// readStream reads events until one holds the answer.
func (t *httpTransport) readStream(ctx context.Context, body io.Reader, r request) (*answer, error) {
	events := newEventReader(body)
	for {
		e, err := events.next()
		if err == io.EOF {
			return nil, failure(toolmark.ErrCannotConnect, nil, "the event stream ended before the answer to %s", r.method)
		}
		if err != nil {
			return nil, err
		}
		if len(e.data) == 0 || e.name != "" && e.name != "message" {
			continue
		}
		if a, err := t.take(ctx, e.data, r); a != nil || err != nil {
			return a, err
		}
	}
}

// take looks for the answer to r in raw and serves everything else there.
func (t *httpTransport) take(ctx context.Context, raw []byte, r request) (*answer, error) {
	all, err := readMessages(raw)
	if err != nil {
		if !looksLikeRPC(raw) {
			t.notes.skip(raw)
			return nil, nil
		}
		return nil, err
	}
	var found *answer
	for _, m := range all {
		switch m.kind() {
		case response:
			if found == nil && m.answers(r.id) {
				if found, err = m.answer(); err != nil {
					return nil, err
				}
			}
		case serverCall:
			t.reply(ctx, m, r)
		case notification:
			t.news.hear(m)
		case notRPC:
			t.notes.skip(raw[m.tree.Start:m.tree.End])
		}
	}
	return found, nil
}

// reply answers a request of the server. Whether it arrives is the server's concern.
func (t *httpTransport) reply(ctx context.Context, m message, r request) {
	if b := reply(m); b != nil {
		if resp, err := t.post(ctx, b, request{version: r.version}); err == nil {
			resp.Body.Close()
		}
	}
}

func (t *httpTransport) notify(ctx context.Context, r request) error {
	if t.legacy != nil {
		return t.legacy.notify(ctx, r)
	}
	t.version = r.version
	resp, err := t.post(ctx, r.encode(), r)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("HTTP status %d", resp.StatusCode)
	}
	return nil
}

// body gives the decoded body, bounded by limit and by what is left of MaxBytes.
func (t *httpTransport) body(resp *http.Response, limit int64) (io.Reader, error) {
	var r io.Reader = resp.Body
	switch coding := strings.ToLower(resp.Header.Get("Content-Encoding")); coding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, failure(toolmark.ErrProtocol, err, "the answer says that it is gzip, and is not")
		}
		r = z
	default:
		return nil, failure(toolmark.ErrProtocol, nil, "the answer has the content encoding %s, which was not asked for", quoteShort(coding))
	}
	return &limitReader{r: r, left: t.left, most: limit}, nil
}

// A limitReader fails with errByteLimit once left or most are used up.
type limitReader struct {
	r    io.Reader
	left *budget
	most int64
}

func (l *limitReader) Read(p []byte) (int, error) {
	left := l.left.n.Load()
	if left <= 0 || l.most <= 0 {
		// Only a body that goes on is over the limit.
		var one [1]byte
		if n, err := l.r.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, errByteLimit
	}
	n, err := l.r.Read(p[:min(int64(len(p)), left, l.most)])
	l.left.n.Add(-int64(n))
	l.most -= int64(n)
	return n, err
}

// readFault gives a failure to read a body its kind.
func (t *httpTransport) readFault(ctx context.Context, err error) error {
	switch _, known := asFailure(err); {
	case err == nil || known:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errByteLimit):
		return failure(toolmark.ErrTooLarge, nil, "the server sent more than %s", bytesText(t.opts.MaxBytes))
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return failure(toolmark.ErrProtocol, err, "the gzip of the answer is damaged")
	}
	return failure(toolmark.ErrCannotConnect, err, "the connection to %s was lost", quoteShort(t.url.Host))
}

// close ends the session, if there is one, and the connections.
func (t *httpTransport) close() {
	t.endStream()
	if t.legacy != nil {
		t.legacy.close()
	}
	if t.session != "" {
		ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
		defer cancel()
		if req, err := t.newRequest(ctx, http.MethodDelete, t.url, nil); err == nil {
			req.Header.Set("MCP-Protocol-Version", t.version)
			if resp, err := t.client.Do(req); err == nil {
				resp.Body.Close()
			}
		}
		t.session = ""
	}
	if t.own != nil {
		t.own.CloseIdleConnections()
	}
}
