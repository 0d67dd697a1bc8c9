package outward

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// aton reads an IPv4 address as inet_aton(3) does: one to four numbers, decimal, octal
// or hex, of which the last fills the rest.
func aton(host string) (netip.Addr, bool) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	value := uint64(0)
	for i, p := range parts {
		base := 10
		switch {
		case len(p) > 1 && p[0] == '0' && p[1]|0x20 == 'x':
			base, p = 16, p[2:]
			if p == "" {
				p = "0"
			}
		case len(p) > 1 && p[0] == '0':
			base = 8
		}
		n, err := strconv.ParseUint(p, base, 64)
		most := uint64(255)
		if i == len(parts)-1 {
			most = 1<<(8*(5-len(parts))) - 1
		}
		if err != nil || n > most {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			value |= n
		} else {
			value |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// FuzzCheckURL: whatever is let through leads, by any reading, to a public address or to
// a plain name; and the text of an error is safe to print and bounded.
func FuzzCheckURL(f *testing.F) {
	for _, form := range refusedForms {
		if len(form.url) < 200 {
			f.Add(form.url)
		}
	}
	f.Add("https://example.com:8443/mcp?a=b#c")
	f.Add("http://8.8.8.8/")
	g := New(Options{OwnAddrs: func() ([]net.Addr, error) { return nil, nil }})
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := g.CheckURL(raw)
		if err != nil {
			if s := err.Error(); len(s) > 2000 || strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' && r != '…' }) >= 0 {
				t.Errorf("message %q", s)
			}
			return
		}
		host := u.Hostname()
		if u.Scheme != "http" && u.Scheme != "https" || u.User != nil || host == "" {
			t.Fatalf("%q was let through", raw)
		}
		if addr, ok := aton(host); ok {
			strict, err := netip.ParseAddr(host)
			if err != nil || strict != addr {
				t.Fatalf("%q can be read as %s", raw, addr)
			}
		}
		if addr, err := netip.ParseAddr(host); err == nil && (addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsMulticast() || addr.IsUnspecified() || addr.Is4In6() || addr.Zone() != "") {
			t.Fatalf("%q leads to %s", raw, addr)
		}
		// What is sent on is read in the same way again.
		again, err := url.Parse(u.String())
		if err != nil || again.Host != u.Host {
			t.Fatalf("%q is %q when written again: %v", raw, u.String(), err)
		}
	})
}
