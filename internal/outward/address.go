package outward

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"code.dny.dev/ssrf"
)

// platform are addresses that look public and are not: they answer only from inside a
// cloud, with what belongs to the machine that asks. The others of their kind are in
// ranges that are refused anyway.
var platform = []netip.Prefix{
	netip.MustParsePrefix("168.63.129.16/32"), // Azure: wire server, DNS, health probes
}

// ParseNets reads the operator's --allow-net: networks, or single addresses. Host bits
// are cleared; an IPv4 network written in IPv6 means the IPv4 network. A network of all
// addresses would turn the guard off and is an error.
func ParseNets(values []string) ([]netip.Prefix, error) {
	var nets []netip.Prefix
	for _, v := range values {
		v = strings.TrimSpace(v)
		p, err := netip.ParsePrefix(v)
		if err != nil {
			addr, err := netip.ParseAddr(v)
			if err != nil || addr.Zone() != "" {
				return nil, fmt.Errorf("%s is no network such as 10.20.0.0/16, and no address", quote(v))
			}
			p = netip.PrefixFrom(addr, addr.BitLen())
		}
		if p.Addr().Is4In6() {
			if p.Bits() < 96 {
				return nil, fmt.Errorf("%s is wider than the IPv4 addresses it is written in", quote(v))
			}
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		if p.Bits() == 0 {
			return nil, fmt.Errorf("%s allows every address; name the networks that are needed", quote(v))
		}
		nets = append(nets, p.Masked())
	}
	return nets, nil
}

func (g *Guard) allowed(addr netip.Addr) bool {
	for _, p := range g.allow {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// checkAddr judges an address; host is what the caller wrote, "" where that is a name.
func (g *Guard) checkAddr(host string, addr netip.Addr) error {
	if addr.Zone() != "" {
		return refuse(RuleZone, host, addr.String(), "the address has a zone")
	}
	addr = addr.Unmap()
	inner, form := embedded(addr)
	if err := g.guardian.SafeAddr(addr); err != nil {
		if form != "" {
			return refuse(RuleEmbedded, host, err.Error(), "the address has an IPv4 address inside ("+form+")")
		}
		return refuse(RuleAddress, host, err.Error(), "the address is not a public one")
	}
	for _, v4 := range inner {
		if err := g.guardian.SafeAddr(v4); err != nil {
			return refuse(RuleEmbedded, host, addr.String()+": "+err.Error(), "the address has an IPv4 address inside ("+form+") that is not a public one")
		}
	}
	if g.allowed(addr) {
		return nil
	}
	own, err := g.ownAddrs()
	if err != nil {
		return refuse(RuleOwn, host, "the addresses of this machine cannot be listed: "+err.Error(), "the address is not a public one")
	}
	for _, o := range own {
		if p, err := netip.ParsePrefix(o.String()); err == nil && p.Addr().Unmap() == addr {
			return refuse(RuleOwn, host, addr.String()+" is of this machine", "the address is the service's own")
		}
	}
	return nil
}

var (
	nat64      = ssrf.IPv6NAT64Prefix                     // RFC 6052
	nat64Local = netip.MustParsePrefix("64:ff9b:1::/48")  // RFC 8215
	sixToFour  = netip.MustParsePrefix("2002::/16")       // RFC 3056
	teredo     = netip.MustParsePrefix("2001::/32")       // RFC 4380
	compatible = netip.MustParsePrefix("::/96")           // RFC 4291, section 2.5.5.1
	translated = netip.MustParsePrefix("::ffff:0:0:0/96") // RFC 2765, section 2.1
)

// embedded gives the IPv4 addresses that an IPv6 address carries and the form's name,
// "" where it carries none that could be told.
func embedded(addr netip.Addr) (inner []netip.Addr, form string) {
	if !addr.Is6() {
		return nil, ""
	}
	b := addr.As16()
	v4 := func(at int) netip.Addr { return netip.AddrFrom4([4]byte(b[at : at+4])) }
	switch {
	case addr.Is4In6():
		return []netip.Addr{addr.Unmap()}, "IPv4-mapped"
	case nat64.Contains(addr):
		return []netip.Addr{v4(12)}, "NAT64"
	case nat64Local.Contains(addr):
		// Below this prefix an operator may use any length; /96 and /48 are usual.
		if [5]byte(b[11:16]) == [5]byte{} {
			return []netip.Addr{netip.AddrFrom4([4]byte{b[6], b[7], b[9], b[10]})}, "NAT64"
		}
		return []netip.Addr{v4(12)}, "NAT64"
	case sixToFour.Contains(addr):
		return []netip.Addr{v4(2)}, "6to4"
	case teredo.Contains(addr):
		return []netip.Addr{v4(4), netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})}, "Teredo"
	case compatible.Contains(addr) && b[12]|b[13] != 0: // not :: and ::1
		return []netip.Addr{v4(12)}, "IPv4-compatible"
	case translated.Contains(addr):
		return []netip.Addr{v4(12)}, "IPv4-translated"
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // RFC 5214, section 6.1
		return []netip.Addr{v4(12)}, "ISATAP"
	}
	return nil, ""
}

// splitNets parts networks by family.
func splitNets(nets []netip.Prefix) (v4, v6 []netip.Prefix) {
	for _, p := range nets {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	return v4, v6
}

// hostOf gives the host of an address for a dial where it is a literal, else "".
func hostOf(address string) (literal, name string) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return host, ""
	}
	return "", host
}
