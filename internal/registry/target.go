package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/secret"
)

// Limits of what is registered.
const (
	// MaxURL is the longest URL in bytes.
	MaxURL = 2048
	// MaxName is the longest name of a server in bytes.
	MaxName = 200
	// MaxHeaders is the most header fields of one server, MaxHeaderBytes the most bytes of
	// all their names and values.
	MaxHeaders     = 32
	MaxHeaderBytes = 8 << 10
	// MaxArguments is the most parts of a command, MaxCommandBytes the bytes of all.
	MaxArguments    = 64
	MaxCommandBytes = 8 << 10
)

// endpoint is a URL taken apart: what may be shown and searched, and what may not.
type endpoint struct {
	url   string // normal form without query
	host  string // with port where it is not the scheme's own
	query string // raw, without the question mark
	names []string
}

// parseURL reads the URL of an MCP server: http or https, without user, password and
// fragment. Scheme and host are put into lower case and the scheme's own port left out;
// the rest is kept as it was written, because servers read it as it is.
func parseURL(text string) (endpoint, error) {
	if text == "" || len(text) > MaxURL {
		return endpoint{}, fmt.Errorf("%w: a URL has 1 to %d bytes", ErrInvalid, MaxURL)
	}
	if err := validText("URL", text, MaxURL); err != nil {
		return endpoint{}, err
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return endpoint{}, fmt.Errorf("%w: not the URL of a server; write it as https://host/path", ErrInvalid)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return endpoint{}, fmt.Errorf("%w: the URL of a server begins with https:// or http://", ErrInvalid)
	case u.User != nil:
		return endpoint{}, fmt.Errorf("%w: a URL must not hold a user or a password; send them as a header", ErrInvalid)
	case u.Fragment != "":
		return endpoint{}, fmt.Errorf("%w: a URL must not hold a fragment (#…)", ErrInvalid)
	}
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	e := endpoint{host: u.Host, query: u.RawQuery}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		if name, _, _ := strings.Cut(part, "="); name != "" {
			if plain, err := url.QueryUnescape(name); err == nil {
				name = plain
			}
			e.names = append(e.names, strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", "\ufffd"), "\ufffd"))
		}
	}
	u.RawQuery, u.ForceQuery = "", false
	if u.Path == "" {
		u.Path = "/"
	}
	e.url = u.String()
	return e, nil
}

// full gives the URL with its query.
func (e endpoint) full() string {
	if e.query == "" {
		return e.url
	}
	return e.url + "?" + e.query
}

// shownURL gives a URL with the names of its query and without their values.
func shownURL(base string, names []string) toolmark.Text {
	for i, name := range names {
		sign := "&"
		if i == 0 {
			sign = "?"
		}
		base += sign + url.QueryEscape(name) + "=…"
	}
	return toolmark.Text(base)
}

// validHeaders holds header fields to RFC 9110, section 5, and refuses those that belong
// to the connection or to the protocol.
func validHeaders(headers []Header) error {
	if len(headers) > MaxHeaders {
		return fmt.Errorf("%w: at most %d headers", ErrInvalid, MaxHeaders)
	}
	size := 0
	seen := map[string]bool{}
	for i := range headers {
		h := &headers[i]
		size += len(h.Name) + len(h.Value)
		lower := strings.ToLower(h.Name)
		switch {
		case h.Name == "" || strings.ContainsFunc(h.Name, func(c rune) bool { return !isToken(c) }):
			return fmt.Errorf("%w: header %d has no name that is a token (RFC 9110, section 5.6.2)", ErrInvalid, i+1)
		case !utf8.ValidString(h.Value) || strings.ContainsFunc(h.Value, func(c rune) bool { return c < 0x20 && c != '\t' || c == 0x7f }):
			return fmt.Errorf("%w: the value of header %d has a control character, or is not text", ErrInvalid, i+1)
		case slices.Contains(ownHeaders, lower) || strings.HasPrefix(lower, "proxy-"):
			return fmt.Errorf("%w: header %d (%s) is set by the connection itself", ErrInvalid, i+1, h.Name)
		case seen[lower]:
			return fmt.Errorf("%w: header %d (%s) is given twice", ErrInvalid, i+1, h.Name)
		}
		seen[lower] = true
	}
	if size > MaxHeaderBytes {
		return fmt.Errorf("%w: headers have at most %d bytes together", ErrInvalid, MaxHeaderBytes)
	}
	return nil
}

var ownHeaders = []string{
	"host", "content-length", "content-type", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive", "expect",
	"accept", "accept-encoding", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id",
}

func isToken(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

func validCommand(command []string) error {
	size := 0
	for _, part := range command {
		size += len(part)
		if strings.ContainsRune(part, 0) || strings.ToValidUTF8(part, "") != part {
			return fmt.Errorf("%w: a command is text without U+0000", ErrInvalid)
		}
	}
	if len(command) > MaxArguments || size > MaxCommandBytes || command[0] == "" {
		return fmt.Errorf("%w: a command is a program and at most %d arguments, of at most %d bytes together", ErrInvalid, MaxArguments-1, MaxCommandBytes)
	}
	return nil
}

// sealed is what of a server is encrypted.
type sealed struct {
	Query   string   `json:"query,omitempty"`
	Headers []Header `json:"headers,omitempty"`
}

// seal gives the secrets of a server for its record; nil where it has none.
func (s *Service) seal(id string, secrets sealed) ([]byte, error) {
	if secrets.Query == "" && len(secrets.Headers) == 0 {
		return nil, nil
	}
	if s.cfg.Secrets == nil {
		return nil, fmt.Errorf("%w: headers, and a query in the URL, are stored only encrypted, and this service has no key for that: give it --secret-key-file or TOOLMARK_SECRET_KEY", ErrInvalid)
	}
	plain, err := json.Marshal(secrets)
	if err != nil {
		return nil, err
	}
	return s.cfg.Secrets.Seal(s.cfg.Random, plain, id)
}

// open gives the secrets of a server back.
func (s *Service) open(r *ServerRecord) (secrets sealed, err error) {
	if r.Sealed == nil {
		return sealed{}, nil
	}
	if s.cfg.Secrets == nil {
		return sealed{}, fmt.Errorf("the headers of server %s are encrypted, and this process has no key: give it --secret-key-file or TOOLMARK_SECRET_KEY", r.ID)
	}
	plain, err := s.cfg.Secrets.Open(r.Sealed, r.ID)
	if err != nil {
		if errors.Is(err, secret.ErrUnknownKey) {
			return sealed{}, fmt.Errorf("the headers of server %s: %w; add that key to the file of keys", r.ID, err)
		}
		return sealed{}, fmt.Errorf("the headers of server %s: %w", r.ID, err)
	}
	if err := json.Unmarshal(plain, &secrets); err != nil {
		return sealed{}, fmt.Errorf("the headers of server %s: not what was sealed", r.ID)
	}
	return secrets, nil
}

// target gives a stored server as a prober needs it.
func (s *Service) target(r *ServerRecord) (Target, error) {
	secrets, err := s.open(r)
	if err != nil {
		return Target{}, err
	}
	return Target{URL: endpoint{url: r.URL, query: secrets.Query}.fullOr(), Command: r.Command, Headers: secrets.Headers}, nil
}

// fullOr is full for a record that may have no URL.
func (e endpoint) fullOr() string {
	if e.url == "" {
		return ""
	}
	return e.full()
}
