package mcpserver

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// checkOrigin refuses what a page of another origin sends through a browser (MCP,
// "Security Warning" of Streamable HTTP: servers must validate Origin). A request with an
// Origin must be of the host it is sent to. On a loopback address that host must be one
// of this machine, or of Hosts: else a page could reach it under a name of its own whose
// address it changes (DNS rebinding).
func (s *Server) checkOrigin(r *http.Request) error {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && isLoopback(local.String()) && !s.knownHost(r.Host) {
		return &failure{code: "host_refused", message: "On a loopback address /mcp answers only to localhost, to loopback addresses and to the hosts that serve --mcp-host names."}
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil // not a browser
	}
	u, err := url.Parse(origins[0])
	if len(origins) > 1 || err != nil || u.Scheme != "http" && u.Scheme != "https" || !sameHost(u, r.Host) {
		return &failure{code: "origin_refused", message: "/mcp answers no page of another origin."}
	}
	return nil
}

func (s *Server) knownHost(host string) bool {
	name := hostname(host)
	return isLoopback(host) || slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// sameHost compares an origin with a Host field; the default port may be left out.
func sameHost(origin *url.URL, host string) bool {
	port := map[string]string{"http": ":80", "https": ":443"}[origin.Scheme]
	return strings.EqualFold(strings.TrimSuffix(origin.Host, port), strings.TrimSuffix(host, port))
}

func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func isLoopback(host string) bool {
	name := hostname(host)
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}
