package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

// exchange is one request and its answer. It is the ResponseWriter the mux sees, so
// that whatever answers is measured and logged alike.
type exchange struct {
	api   *API
	w     http.ResponseWriter
	r     *http.Request
	id    string
	start time.Time

	route   string // the path's pattern; "" where nothing matched
	addr    netip.Addr
	grant   *registry.Grant
	refused string // the id of a key that was recognised and not let in
	code    string // of the error, if one was answered
	status  int
	sent    int64
	cause   error
	read    bool // the body, to its end
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{api: a, w: w, id: a.newID(), start: a.now()}
	x.addr = a.address(r)
	h := w.Header()
	h.Set("X-Request-Id", x.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")

	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := a.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	x.r = r.WithContext(ctx)
	if r.ContentLength == 0 {
		// The deadline of Serve is for bodies. Past it a client would seem to have gone.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	a.metrics.inFlight.Inc()
	defer x.end(span)
	defer x.contain()
	if r.RequestURI == "*" {
		x.options("GET, HEAD, OPTIONS, POST, DELETE")
		return
	}
	if path.Clean(r.URL.Path) != r.URL.Path {
		x.fail(notFound()) // the mux would redirect, and a body be sent twice
		return
	}
	a.mux.ServeHTTP(x, x.r)
}

// contain answers for a handler that panicked.
func (x *exchange) contain() {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
		panic(v)
	}
	failed := x.panicked(v)
	if x.status != 0 {
		panic(http.ErrAbortHandler) // too late to say anything: cut the answer short
	}
	x.fail(failed)
}

// panicked logs a panic and gives its answer. The value may hold text of a request, so
// only the runtime's own errors are logged as they are; the stack holds addresses.
func (x *exchange) panicked(v any) error {
	what := "panic"
	if err, ok := v.(runtime.Error); ok {
		what = err.Error()
	}
	x.api.log.Error("panic", slog.String("request_id", x.id), slog.String("what", what), slog.String("stack", string(debug.Stack())))
	return internal(errors.New(what))
}

// end measures and logs what was answered.
func (x *exchange) end(span trace.Span) {
	a := x.api
	took := a.now().Sub(x.start)
	route := x.route
	if route == "" {
		route = "unmatched"
	}
	method := knownMethod(x.r.Method)
	a.metrics.inFlight.Dec()
	a.metrics.requests.WithLabelValues(route, method, strconv.Itoa(x.status)).Inc()
	a.metrics.seconds.WithLabelValues(route).Observe(took.Seconds())

	span.SetName(method + " " + route)
	span.SetAttributes(
		attribute.String("http.request.method", method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", x.status), attribute.String("toolmark.request_id", x.id),
	)
	span.End()

	level := slog.LevelInfo
	if x.status >= 500 && x.status != http.StatusBadGateway { // which is another server's fault
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.id), slog.String("method", method), slog.String("route", route),
		slog.Int("status", x.status), slog.Duration("took", took), slog.Int64("bytes", x.sent),
		slog.String("client", x.addr.String()),
	}
	if x.code != "" {
		attrs = append(attrs, slog.String("code", x.code))
	}
	if x.grant != nil {
		attrs = append(attrs, slog.String("key_id", x.grant.KeyID))
	} else if x.refused != "" {
		attrs = append(attrs, slog.String("key_id", x.refused))
	}
	if x.cause != nil {
		attrs = append(attrs, slog.String("cause", x.cause.Error()))
	}
	a.log.LogAttrs(context.WithoutCancel(x.r.Context()), level, "request", attrs...)
}

// knownMethod keeps what a client makes up out of logs and labels.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// dispatch runs the checks of a route in their order, and then the route.
func (x *exchange) dispatch(path string, routes []*route, r *http.Request) {
	x.route, x.r = path, r
	var chosen *route
	for _, candidate := range routes {
		if candidate.method == r.Method || candidate.method == http.MethodGet && r.Method == http.MethodHead {
			chosen = candidate
		}
	}
	switch {
	case chosen != nil:
	case r.Method == http.MethodOptions:
		x.options(allow(routes))
		return
	default:
		x.fail(&failure{
			status: http.StatusMethodNotAllowed, code: "method_not_allowed",
			message: "This path takes " + allow(routes) + ".", header: http.Header{"Allow": {allow(routes)}},
		})
		return
	}
	if err := x.run(chosen); err != nil {
		x.fail(err)
	}
}

func (x *exchange) run(route *route) error {
	switch {
	case route.entry == open:
	case route.entry == public && x.api.publicTools && key(x.r) == "":
		if err := x.admitPublic(); err != nil {
			return err
		}
	default:
		if err := x.admit(route.scope); err != nil {
			return err
		}
	}
	if route.limit > 0 {
		if err := declared(x.r, route.limit); err != nil {
			return err
		}
	}
	return route.handle(x)
}

func (x *exchange) options(methods string) {
	x.Header().Set("Allow", methods)
	x.WriteHeader(http.StatusNoContent)
}

// reply sends a value as JSON.
func (x *exchange) reply(status int, v any) error {
	doc, err := encode(v)
	if err != nil {
		return internal(err)
	}
	return x.send(status, doc)
}

// send sends JSON that is encoded already.
func (x *exchange) send(status int, doc []byte) error {
	h := x.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(doc)))
	x.WriteHeader(status)
	_, _ = x.Write(doc) // nobody is left to tell
	return nil
}

// statusGone is logged for a client that left before its answer (nginx's number).
const statusGone = 499

// fail answers an error, whatever it is.
func (x *exchange) fail(err error) {
	var f *failure
	var denial *access.Denial
	switch {
	case errors.As(err, &f):
	case errors.As(err, &denial):
		f = x.denied(denial)
	case x.r.Context().Err() != nil:
		x.status, x.code = statusGone, "client_gone"
		panic(http.ErrAbortHandler)
	case x.api.unavailable(err) || errors.Is(err, context.DeadlineExceeded): // the request itself has no deadline
		f = unavailable(err)
	default:
		f = internal(err)
	}
	x.code, x.cause = f.code, f.cause
	f.apply(x.Header())
	if err := x.reply(f.status, f.body()); err != nil { // our own types always have a JSON form
		panic(err)
	}
}

// drainTime is how long an answer that comes before the body, whether it is an error or
// not, waits for a short rest of it, which net/http reads away so that the connection
// can be used again; a rest of 256 KiB or more, or one that does not come in time,
// closes the connection.
const drainTime = time.Second

func (x *exchange) limitUnread() {
	if x.r.ContentLength != 0 && !x.read {
		// Where there are no deadlines there is no connection either.
		_ = http.NewResponseController(x.w).SetReadDeadline(time.Now().Add(drainTime))
	}
}

// Header gives the header of the answer.
func (x *exchange) Header() http.Header { return x.w.Header() }

// WriteHeader starts the answer. net/http's own answers (redirects to clean paths, the
// mux's 404) come through here too and get our form.
func (x *exchange) WriteHeader(status int) {
	if x.status != 0 {
		return
	}
	x.status = status
	x.limitUnread()
	x.w.WriteHeader(status)
}

// Write writes the answer's body.
func (x *exchange) Write(p []byte) (int, error) {
	x.WriteHeader(http.StatusOK)
	n, err := x.w.Write(p)
	x.sent += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.w }

// encode gives v as one line of ASCII JSON.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	doc := buf.Bytes()
	if isASCII(doc) {
		return doc, nil
	}
	out := make([]byte, 0, len(doc)+len(doc)/4)
	for i := 0; i < len(doc); { // outside strings JSON is ASCII
		if doc[i] < 0x7f {
			out = append(out, doc[i])
			i++
			continue
		}
		_, size := utf8.DecodeRune(doc[i:])
		quoted := toolmark.AppendQuoted(nil, string(doc[i:i+size]))
		out = append(out, quoted[1:len(quoted)-1]...)
		i += size
	}
	return out, nil
}

func isASCII(doc []byte) bool {
	for _, c := range doc {
		if c >= 0x7f {
			return false
		}
	}
	return true
}

// bearer gives the token of an Authorization header (RFC 6750, section 2.1).
func bearer(header string) string {
	scheme, token, found := strings.Cut(header, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
