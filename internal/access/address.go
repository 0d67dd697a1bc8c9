package access

import (
	"net/netip"
	"strings"
)

// maxHops is how many addresses of a forwarding header are looked at, from the right.
const maxHops = 64

// Proxies are the proxies whose word on a client's address is taken. The zero value
// trusts none.
type Proxies struct {
	Trusted []netip.Prefix
}

// ParseProxies reads networks or single addresses.
func ParseProxies(values []string) (Proxies, error) {
	var p Proxies
	for _, v := range values {
		kind := KindIP
		if strings.Contains(v, "/") {
			kind = KindCIDR
		}
		rule, err := ParseRule(string(Allow), string(kind), v)
		if err != nil {
			return Proxies{}, err
		}
		if kind == KindCIDR {
			p.Trusted = append(p.Trusted, netip.MustParsePrefix(rule.Value))
			continue
		}
		addr := netip.MustParseAddr(rule.Value)
		p.Trusted = append(p.Trusted, netip.PrefixFrom(addr, addr.BitLen()))
	}
	return p, nil
}

func (p Proxies) trusts(addr netip.Addr) bool {
	for _, network := range p.Trusted {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// Client gives the address a request comes from. remote is the connection's peer;
// forwarded and xff are the lines of the Forwarded (RFC 7239) and the X-Forwarded-For
// header, in order.
//
// Only a trusted peer's headers are read, from the right: every address was put there
// by the hop after it, so the first that is not itself a trusted proxy is the client.
// The zero address says that it cannot be known: a hop that is no address, or two
// headers that name different clients, one of which the proxy did not write.
func (p Proxies) Client(remote netip.Addr, forwarded, xff []string) netip.Addr {
	if !remote.IsValid() {
		return netip.Addr{}
	}
	remote = plain(remote)
	if !p.trusts(remote) {
		return remote
	}
	byXFF, byForwarded := remote, remote
	if len(xff) > 0 {
		byXFF = p.walk(remote, split(xff, ','), parseHop)
	}
	if len(forwarded) > 0 {
		byForwarded = p.walk(remote, split(forwarded, ','), parseForwarded)
	}
	switch {
	case len(forwarded) == 0:
		return byXFF
	case len(xff) == 0:
		return byForwarded
	case byXFF != byForwarded:
		return netip.Addr{}
	}
	return byXFF
}

func (p Proxies) walk(remote netip.Addr, hops []string, parse func(string) netip.Addr) netip.Addr {
	last := remote
	for i := len(hops) - 1; i >= 0 && len(hops)-i <= maxHops; i-- {
		addr := parse(strings.TrimSpace(hops[i]))
		if !addr.IsValid() {
			return netip.Addr{}
		}
		last = plain(addr)
		if !p.trusts(last) {
			return last
		}
	}
	return last
}

// split cuts lines at a character outside of quoted strings (RFC 9110, section 5.6.4).
// Empty elements are dropped.
func split(lines []string, at byte) []string {
	var parts []string
	for _, line := range lines {
		start, quoted := 0, false
		for i := 0; i <= len(line); i++ {
			switch {
			case i == len(line) || line[i] == at && !quoted:
				if part := strings.TrimSpace(line[start:i]); part != "" {
					parts = append(parts, part)
				}
				start = i + 1
			case line[i] == '"':
				quoted = !quoted
			case line[i] == '\\' && quoted:
				i++
				if i == len(line) {
					i--
				}
			}
		}
	}
	return parts
}

// parseForwarded gives the for= address of an element of Forwarded.
func parseForwarded(element string) netip.Addr {
	for _, pair := range split([]string{element}, ';') {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "for") {
			continue
		}
		value = strings.TrimSpace(value)
		if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		return parseHop(value)
	}
	return netip.Addr{}
}

// parseHop reads an address with or without port, IPv6 with or without brackets.
func parseHop(text string) netip.Addr {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr
	}
	if pair, err := netip.ParseAddrPort(text); err == nil {
		return pair.Addr()
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			if addr, err := netip.ParseAddr(inner); err == nil && addr.Is6() {
				return addr
			}
		}
	}
	return netip.Addr{}
}

// Bucket gives what an address is counted by: itself, or for IPv6 the /64 it is in,
// since one subscriber has at least that many. An unknown address has one bucket of
// its own.
func Bucket(addr netip.Addr) string {
	if !addr.IsValid() {
		return "unknown"
	}
	addr = plain(addr)
	if addr.Is4() {
		return addr.String()
	}
	return netip.PrefixFrom(addr, 64).Masked().String()
}
