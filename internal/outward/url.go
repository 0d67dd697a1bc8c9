package outward

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// maxURL is the most bytes of a URL.
const maxURL = 8 << 10

// CheckURL reads a URL and tells what can be told without a look-up: everything but what
// a name resolves to. It is made for an early answer; requests through a client of the
// guard are checked in any case.
func (g *Guard) CheckURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, refuse(RuleURL, "", "", "the URL is longer than "+strconv.Itoa(maxURL)+" bytes")
	}
	u, err := url.Parse(raw)
	if err != nil {
		// The parser's own message repeats the URL, with the password it may hold.
		return nil, refuse(RuleURL, "", "", "the URL cannot be read; write it as in https://host/mcp")
	}
	if err := g.checkURL(u); err != nil {
		return nil, err
	}
	return u, nil
}

func (g *Guard) checkURL(u *url.URL) error {
	switch u.Scheme {
	case "http", "https":
	case "":
		return refuse(RuleScheme, "", "", "the URL has no scheme; write it as in https://host/mcp")
	default:
		return refuse(RuleScheme, "", "", "the scheme "+quote(u.Scheme)+" is neither http nor https")
	}
	switch {
	case u.Opaque != "" || u.Hostname() == "":
		return refuse(RuleURL, "", "", "the URL has no host; write it as in https://host/mcp")
	case u.User != nil:
		return refuse(RuleUser, u.Hostname(), "", "the URL has a user or a password in it; send credentials in a header")
	}
	port, err := checkPort(u)
	if err != nil {
		return err
	}
	if err := g.checkPortNumber(u.Host, port); err != nil {
		return err
	}
	return g.checkHost(u)
}

// checkPort gives the port that a URL leads to.
func checkPort(u *url.URL) (uint16, error) {
	text := u.Port()
	if text == "" && !strings.HasSuffix(u.Host, ":") {
		if u.Scheme == "https" {
			return 443, nil
		}
		return 80, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || text[0] == '0' {
		return 0, refuse(RulePort, u.Host, "", "the port is not a number from 1 to 65535 without leading zeros")
	}
	return uint16(n), nil
}

// checkHost looks at the host as it is written.
func (g *Guard) checkHost(u *url.URL) error {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		addr, err := netip.ParseAddr(host)
		switch {
		case err != nil || !addr.Is6():
			return refuse(RuleHost, host, "", "what stands in brackets is not an IPv6 address")
		case addr.Zone() != "":
			return refuse(RuleZone, host, "", "the address has a zone")
		case addr.Is4In6():
			return refuse(RuleEmbedded, host, "", "the address has an IPv4 address inside; write that address itself")
		}
		return g.checkAddr(host, addr)
	}
	if reason := nameFault(host); reason != "" {
		return refuse(RuleHost, host, "", reason)
	}
	if endsInNumber(host) {
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return refuse(RuleNumber, host, "", "an IPv4 address is written as four decimal numbers without leading zeros")
		}
		return g.checkAddr(host, addr)
	}
	if len(g.allow) == 0 && isLocalName(host) {
		// Where the operator allows a range, what the name resolves to decides.
		return refuse(RuleLocalName, host, "", "the name means something only inside a network; give the server's public name")
	}
	return nil
}

// nameFault says what is wrong with a host that is not in brackets; "" for nothing.
// Only letters, digits, hyphens, underscores and dots pass: what other software maps to
// those (full-width digits, the ideographic full stop, percent signs) has no spelling
// here.
func nameFault(host string) string {
	if len(host) > 253 {
		return "the name is longer than 253 characters"
	}
	for i := range len(host) {
		switch c := host[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
		case c >= 0x80:
			return "the name is not ASCII; write it in its xn-- form (RFC 5890)"
		default:
			return "the name has a character that no host name has"
		}
	}
	if strings.HasSuffix(host, ".") {
		return "the name has a dot at its end; leave it out"
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return "a part of the name has no or more than 63 characters"
		}
	}
	return ""
}

// endsInNumber reports whether the last part of a host makes it an IPv4 address to
// software that follows the WHATWG URL standard (section 3.5) or inet_aton(3).
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if len(last) >= 2 && last[0] == '0' && last[1]|0x20 == 'x' {
		return strings.Trim(last[2:], "0123456789abcdefABCDEF") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// localSuffixes are the last parts of names that are not in the public DNS and lead
// inside: RFC 6761 (localhost, test), RFC 6762 with its appendix G (local, intranet,
// internal, private, corp, home, lan), RFC 8375 (home.arpa), and localdomain by custom.
var localSuffixes = [...]string{
	"localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "test",
}

// isLocalName reports whether a name leads inside by itself or, being a single word, by
// the resolver's search list.
func isLocalName(host string) bool {
	if !strings.Contains(host, ".") {
		return true
	}
	host = strings.ToLower(host)
	for _, s := range localSuffixes {
		if strings.HasSuffix(host, "."+s) {
			return true
		}
	}
	return false
}
