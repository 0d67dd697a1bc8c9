package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/outward"
)

// refused reads an answer whose HTTP status is not a success. Where the body is a
// JSON-RPC error, that error is the answer, except where the status alone decides.
func (t *httpTransport) refused(ctx context.Context, resp *http.Response, r request) (*answer, error) {
	status := statusText(resp)
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return nil, t.authRequired(resp, r.method)
	}
	body, err := t.body(resp, maxErrorBody)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(body)
	if err != nil && !errors.Is(err, errByteLimit) {
		return nil, t.readFault(ctx, err)
	}
	text := string(raw)
	var rpc *rpcError
	var a *answer
	if all, err := readMessages(raw); err == nil && len(all) == 1 && all[0].kind() == response {
		if a, err = all[0].answer(); err == nil && a.err != nil {
			rpc, text = a.err, a.err.message
		}
	}
	handshake := r.method == "initialize" || r.method == "server/discover"
	ends := resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusTooManyRequests
	if rpc != nil && (handshake || !ends || rpc.code == codeMethodNotFound) {
		return a, nil
	}
	if ends && !handshake {
		lost := &lostError{ends: true, status: resp.StatusCode, versions: knownVersions(text)}
		if rpc != nil && len(rpc.supported()) > 0 {
			lost.versions = rpc.supported()
		}
		lost.version = strings.Contains(strings.ToLower(text), "version")
		lost.cause = failure(toolmark.ErrProtocol, nil, "the server answered %s%s", status, said(text))
		return nil, lost
	}
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
		wait := ""
		if after := resp.Header.Get("Retry-After"); after != "" {
			wait = "; it says to try again after " + quoteShort(after)
		}
		return nil, &lostError{status: resp.StatusCode, cause: failure(toolmark.ErrCannotConnect, nil, "%s answered %s to %s%s%s",
			quoteShort(t.url.Host), status, r.method, said(text), wait)}
	}
	lost := &lostError{status: resp.StatusCode, versions: knownVersions(text)}
	lost.cause = failure(toolmark.ErrNotMCP, nil, "%s is not a Streamable HTTP endpoint of MCP: it answered %s with %s to a POST of %s%s; check the path, which is often /mcp",
		quoteShort(t.url.Host+t.url.Path), status, contentType(resp.Header), r.method, said(text))
	return nil, lost
}

func (t *httpTransport) authRequired(resp *http.Response, to string) error {
	return failure(toolmark.ErrAuthRequired, nil, "authentication required: %s answered %s to %s%s; pass credentials with --header",
		quoteShort(t.url.Host), statusText(resp), to, challenge(resp.Header))
}

// notMCP describes a success that is neither JSON nor an event stream.
func (t *httpTransport) notMCP(resp *http.Response, body io.Reader, r request) error {
	start := make([]byte, 4*shortText)
	n, _ := io.ReadFull(body, start)
	what := "it answered " + statusText(resp) + " with " + contentType(resp.Header) + " to a POST of " + r.method + said(string(start[:n]))
	if n == 0 {
		what += " and no body"
	}
	return failure(toolmark.ErrNotMCP, nil, "%s is not a Streamable HTTP endpoint of MCP: %s; check the path, which is often /mcp", quoteShort(t.url.Host+t.url.Path), what)
}

func statusText(resp *http.Response) string {
	return quoteShort(resp.Status)
}

func contentType(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || kind == "" {
		return "no content type"
	}
	return "the content type " + quoteShort(kind)
}

// said quotes the start of a body.
func said(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	return ", saying " + quoteShort(text)
}

var metadataParameter = regexp.MustCompile(`(?i)\bresource_metadata\s*=\s*(?:"([^"]*)"|([^\s,]+))`)

// challenge names the schemes of WWW-Authenticate (RFC 9110, section 11.6.1) and where
// the server says how to log in (RFC 9728, section 5.1).
func challenge(h http.Header) string {
	var schemes []string
	metadata := ""
	for _, c := range h.Values("WWW-Authenticate") {
		c = cut(c, 2048)
		scheme, _, _ := strings.Cut(strings.TrimSpace(c), " ")
		if scheme = quoteShort(strings.TrimRight(scheme, ",")); scheme != `""` && !slices.Contains(schemes, scheme) {
			schemes = append(schemes, scheme)
		}
		if m := metadataParameter.FindStringSubmatch(c); m != nil && metadata == "" {
			metadata = m[1] + m[2]
		}
	}
	text := ", naming no scheme"
	if len(schemes) > 0 {
		text = " with the scheme " + strings.Join(schemes[:min(len(schemes), 4)], ", ")
	}
	if metadata != "" {
		text += ", resource_metadata " + quoteShort(metadata)
	}
	return text
}

// cannotConnect gives an error of http.Client its kind.
func (t *httpTransport) cannotConnect(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if refused, ok := outward.AsRefusal(err); ok { // of the client of a service
		return failure(toolmark.ErrAddressRefused, refused, "not connected to %s", quoteShort(t.url.Host))
	}
	if e, ok := asFailure(err); ok { // of checkRedirect
		return failure(e.Code, e.Err, "%s answered with %s", quoteShort(t.url.Host), e.Message)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // its text would repeat the URL, password and all
	}
	host := quoteShort(t.url.Host)
	if reason := tlsReason(err); reason != "" {
		return failure(toolmark.ErrTLS, nil, "no TLS connection to %s: %s", host, reason)
	}
	var dns *net.DNSError
	var op *net.OpError
	var slow net.Error
	switch {
	case errors.As(err, &dns):
		return failure(toolmark.ErrCannotConnect, nil, "cannot connect to %s over Streamable HTTP: the name %s was not resolved (%s); check the address and the network", host, quoteShort(dns.Name), quoteShort(dns.Err))
	case errors.As(err, &op):
		return failure(toolmark.ErrCannotConnect, op.Err, "cannot connect to %s over Streamable HTTP (%s); is the server running?", host, op.Op)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return failure(toolmark.ErrCannotConnect, nil, "%s closed the connection without an answer", host)
	case strings.Contains(err.Error(), "malformed HTTP"), strings.Contains(err.Error(), "readLoopPeekFail"):
		return failure(toolmark.ErrNotMCP, nil, "%s does not speak HTTP: %s", host, quoteShort(err.Error()))
	case strings.Contains(err.Error(), "invalid header field"):
		return failure(toolmark.ErrUsage, nil, "a header that was given cannot be sent: %s", quoteShort(err.Error()))
	case errors.As(err, &slow) && slow.Timeout():
		return failure(toolmark.ErrTimeout, nil, "%s did not answer in the time that the HTTP client allows: %s", host, quoteShort(err.Error()))
	}
	return failure(toolmark.ErrCannotConnect, nil, "cannot connect to %s over Streamable HTTP: %s", host, quoteShort(err.Error()))
}

// tlsReason says what was wrong with TLS; "" where it was something else.
func tlsReason(err error) string {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		alert    tls.AlertError
	)
	switch {
	case errors.As(err, &unknown):
		return "its certificate is signed by an authority that is not trusted here (set SSL_CERT_FILE to trust one of your own)"
	case errors.As(err, &hostname):
		return "its certificate is for another name: " + quoteShort(hostname.Error())
	case errors.As(err, &invalid):
		return "its certificate is not valid: " + quoteShort(invalid.Error())
	case errors.As(err, &verify):
		return "its certificate cannot be verified: " + quoteShort(verify.Error())
	case errors.As(err, &record):
		return "it does not speak TLS there; try http:// or another port"
	case errors.As(err, &alert):
		return "it refused the handshake: " + quoteShort(alert.Error())
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "it speaks plain HTTP there; try http://"
	case strings.Contains(err.Error(), "tls: "), strings.Contains(err.Error(), "TLS handshake timeout"):
		return quoteShort(err.Error())
	}
	return ""
}
