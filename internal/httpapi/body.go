package httpapi

import (
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// declared holds what the header says of a body against the limits, before anything
// is read: its length (413), its media type and its coding (415).
func declared(r *http.Request, limit int64) error {
	if r.ContentLength > limit {
		return tooLarge(limit)
	}
	if _, err := coding(r); err != nil {
		return err
	}
	types := r.Header.Values("Content-Type")
	if len(types) == 0 {
		return nil // RFC 9110, section 8.3: the recipient may tell by looking
	}
	media, parameters, err := mime.ParseMediaType(types[0])
	if err != nil || len(types) > 1 || media != "application/json" {
		f := unsupported("unsupported_media_type", "The body must be application/json.")
		f.header = http.Header{"Accept": {"application/json"}}
		return f
	}
	if charset := parameters["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return unsupported("unsupported_media_type", "JSON is UTF-8 (RFC 8259, section 8.1); other charsets are not read.")
	}
	return nil
}

// coding gives the body's Content-Encoding: "gzip" or "" for identity.
func coding(r *http.Request) (string, error) {
	found := ""
	for _, line := range r.Header.Values("Content-Encoding") {
		for part := range strings.SplitSeq(line, ",") {
			switch part = strings.ToLower(strings.TrimSpace(part)); {
			case part == "" || part == "identity":
			case (part == "gzip" || part == "x-gzip") && found == "":
				found = "gzip"
			default:
				f := unsupported("unsupported_content_encoding", "Content-Encoding may be gzip, once, or identity.")
				f.header = http.Header{"Accept-Encoding": {"gzip, identity"}} // RFC 9110, section 12.5.3
				return "", f
			}
		}
	}
	return found, nil
}

// body is a request body in memory. Release gives its memory back; the bytes must not
// be used afterwards.
type body struct {
	bytes []byte
	held  int64
	gate  *gate
}

// Release may be called twice.
func (b *body) Release() {
	b.gate.bodies.Release(b.held)
	if cap(b.bytes) == firstChunk {
		chunks.Put((*[firstChunk]byte)(b.bytes[:firstChunk]))
	}
	b.held, b.bytes = 0, nil
}

// firstChunk is what a body gets first: enough for a usual list.
const firstChunk = 32 << 10

var chunks = sync.Pool{New: func() any { return new([firstChunk]byte) }}

// readBody reads a body of at most limit bytes, before and after gzip, in memory that
// grows with what arrives and not with what was promised. From now on the client has
// limited time to send it.
func (x *exchange) readBody(limit int64) (*body, error) {
	deadline := time.Now().Add(x.api.bodyTimeout)
	control := http.NewResponseController(x.w)
	if err := control.SetReadDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, internal(err)
	}
	raw := &counted{r: x.r.Body, left: limit}
	var source io.Reader = raw
	first := int64(firstChunk)
	if kind, err := coding(x.r); err != nil {
		return nil, err
	} else if kind == "gzip" {
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, x.readFailure(err, raw, limit)
		}
		source = z
	} else if n := x.r.ContentLength; 0 <= n && n < firstChunk/8 {
		first = n + 1 // thousands of small lists may wait at once
	}
	b := &body{gate: x.api.gate}
	if err := b.fill(source, limit, first); err != nil {
		b.Release()
		return nil, x.readFailure(err, raw, limit)
	}
	// The rest of the request's time is ours, not the client's; a deadline that passes
	// now would look as if the client had gone.
	if err := control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		b.Release()
		return nil, internal(err)
	}
	x.read = true
	return b, nil
}

var errTooLong = errors.New("the body is longer than the limit")

// fill reads to the end, into first bytes to begin with. A body of limit bytes has its
// end behind the last one, so one byte more than limit is asked for.
func (b *body) fill(source io.Reader, limit, first int64) error {
	if limit <= smallBody {
		// The number of connections bounds these. They come from callers without a key
		// too, who must not use up what lists are read into.
		b.bytes = make([]byte, 0, limit+1)
	} else if err := b.hold(first); err != nil {
		return err
	} else if first < firstChunk {
		b.bytes = make([]byte, 0, first)
	} else {
		b.bytes = chunks.Get().(*[firstChunk]byte)[:0]
	}
	for {
		if len(b.bytes) == cap(b.bytes) {
			if err := b.grow(); err != nil {
				return err
			}
		}
		n, err := source.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		b.bytes = b.bytes[:len(b.bytes)+n]
		if int64(len(b.bytes)) > limit {
			return errTooLong
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

func (b *body) grow() error {
	size := int64(cap(b.bytes))
	if err := b.hold(size); err != nil { // doubled
		return err
	}
	larger := make([]byte, len(b.bytes), 2*size)
	copy(larger, b.bytes)
	if size == firstChunk {
		chunks.Put((*[firstChunk]byte)(b.bytes[:firstChunk]))
	}
	b.bytes = larger
	return nil
}

func (b *body) hold(n int64) error {
	if !b.gate.bodies.TryAcquire(n) {
		return overloaded("too many bodies are being read")
	}
	b.held += n
	return nil
}

// counted reads at most left bytes and fails with errTooLong at the next, so that a
// compressed body is bounded as sent too.
type counted struct {
	r    io.Reader
	left int64
	err  error // of the connection, as opposed to that of the decoder
}

func (c *counted) Read(p []byte) (int, error) {
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1]
	}
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		c.err = errTooLong
		return n, errTooLong
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// readFailure says what a failed read means for the client.
func (x *exchange) readFailure(err error, raw *counted, limit int64) error {
	if raw.err != nil {
		err = raw.err
	}
	var known *failure
	switch {
	case errors.As(err, &known):
		known.hangUp = true
		return known
	case errors.Is(err, errTooLong):
		return tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded): // for net/http such a client has gone
		return &failure{
			status: http.StatusRequestTimeout, code: "request_timeout", hangUp: true,
			message: "The body did not arrive in time.",
		}
	case x.r.Context().Err() != nil:
		return x.r.Context().Err()
	case raw.err != nil:
		// Cut short, or chunks that are none: nothing behind this can be trusted.
		return &failure{
			status: http.StatusBadRequest, code: "malformed_body", hangUp: true,
			message: "The body does not arrive as its header says.",
		}
	}
	var list faults
	list.add(faultValue, "the body is not gzip, as its Content-Encoding says")
	f := list.failure().(*failure)
	f.hangUp = true
	return f
}
