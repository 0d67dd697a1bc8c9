package outward

import (
	"net/http"
	"net/url"
	"strings"
)

func (l Limits) checkRedirect(req *http.Request, via []*http.Request) error {
	if l.MaxRedirects < 0 {
		return http.ErrUseLastResponse
	}
	if len(via) > l.MaxRedirects {
		return refuse(RuleRedirect, req.URL.Hostname(), "", "there are too many redirects")
	}
	if Downgrades(req, via) {
		return refuse(RuleRedirect, req.URL.Hostname(), "", "a redirect leads from https to an address that is not encrypted")
	}
	StripCredentials(req, via)
	return nil
}

// Downgrades reports whether a redirect leads from https to anything else.
func Downgrades(req *http.Request, via []*http.Request) bool {
	return via[0].URL.Scheme == "https" && req.URL.Scheme != "https"
}

// goesAlong are the headers that a redirect takes to another origin: those that say what
// is sent and wanted, and nothing of who asks. Referer is not among them, since a path
// or a query may be a secret.
var goesAlong = map[string]bool{
	"Accept": true, "Accept-Language": true, "Content-Encoding": true, "Content-Language": true,
	"Content-Type": true, "User-Agent": true, "Mcp-Method": true, "Mcp-Protocol-Version": true,
}

// StripCredentials takes every header that could identify the caller off a redirect's
// request, once a redirect has left the origin (scheme, host and port; RFC 6454) that
// the first request went to. It is for http.Client.CheckRedirect, which is asked at each
// redirect: net/http starts each from the first request's headers. It reports whether the
// origin was left.
func StripCredentials(req *http.Request, via []*http.Request) bool {
	first := origin(via[0].URL)
	left := origin(req.URL) != first
	for _, r := range via[1:] {
		left = left || origin(r.URL) != first
	}
	if !left {
		return false
	}
	for name := range req.Header {
		if !goesAlong[http.CanonicalHeaderKey(name)] {
			delete(req.Header, name)
		}
	}
	req.Host = "" // a Host header of the caller's own was for the first origin
	return true
}

func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
