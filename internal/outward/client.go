package outward

import (
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/toolmark/toolmark"
)

// The defaults of Limits.
const (
	DefaultTimeout      = 30 * time.Second
	DefaultMaxBytes     = 16 << 20
	DefaultMaxRedirects = 5
)

// Limits bound one request with all its redirects. The zero value is the defaults.
type Limits struct {
	// Timeout is the time until the body is read; 0 means DefaultTimeout, a negative
	// one that the request's context decides.
	Timeout time.Duration
	// MaxBytes is the most bytes of an answer's body, after decoding; 0 means
	// DefaultMaxBytes, a negative one that the caller counts.
	MaxBytes int64
	// MaxRedirects is the most redirects; 0 means DefaultMaxRedirects, a negative one
	// that a redirect is given back as the answer it is.
	MaxRedirects int
}

// Client makes a client whose every request the guard checks. All clients of a guard
// share its connections. Its Transport keeps to the guard also where CheckRedirect is
// replaced; what stays behind at a redirect is then for the caller to see to
// (StripCredentials).
func (g *Guard) Client(l Limits) *http.Client {
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	if l.MaxBytes == 0 {
		l.MaxBytes = DefaultMaxBytes
	}
	if l.MaxRedirects == 0 {
		l.MaxRedirects = DefaultMaxRedirects
	}
	return &http.Client{
		Transport:     &checked{guard: g, maxBytes: l.MaxBytes},
		CheckRedirect: l.checkRedirect,
		Timeout:       max(l.Timeout, 0),
	}
}

// checked is the transport of a client.
type checked struct {
	guard    *Guard
	maxBytes int64
}

func (t *checked) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.guard.checkURL(req.URL); err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	resp, err := t.guard.transport.RoundTrip(req)
	if err != nil {
		return nil, discreet(err)
	}
	most := t.maxBytes
	if most < 0 {
		most = math.MaxInt64
	}
	resp.Body = &body{ReadCloser: resp.Body, left: most, most: most}
	return resp, nil
}

// CloseIdleConnections makes http.Client.CloseIdleConnections work.
func (t *checked) CloseIdleConnections() { t.guard.Close() }

// A body fails once more than most bytes were read.
type body struct {
	io.ReadCloser
	left, most int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// Only a body that goes on is over the limit.
		var one [1]byte
		if n, err := b.ReadCloser.Read(one[:]); n == 0 {
			return 0, discreet(err)
		}
		return 0, &toolmark.Error{Code: toolmark.ErrTooLarge, Message: "the answer has more than " + strconv.FormatInt(b.most, 10) + " bytes"}
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, discreet(err)
}

// discreet gives a failure of the network without the addresses at both its ends and
// without that of the resolver: they say what the network here looks like.
func discreet(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if _, refused := AsRefusal(err); refused {
		return err
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		text := "the look-up failed"
		if dns.IsTimeout {
			text = "the look-up took too long"
		}
		return &net.DNSError{Err: text, Name: dns.Name, IsTimeout: dns.IsTimeout, IsTemporary: dns.IsTemporary}
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return &net.OpError{Op: op.Op, Net: op.Net, Err: op.Err}
	}
	return err
}
