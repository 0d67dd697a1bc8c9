package access

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"
)

// Action is what an entry of an access list does.
type Action string

// The actions.
const (
	Allow Action = "allow"
	Block Action = "block"
)

// Kind is what an entry of an access list looks at.
type Kind string

// The kinds.
const (
	KindIP      Kind = "ip"       // one address
	KindCIDR    Kind = "ip_cidr"  // a network (RFC 4632, RFC 4291)
	KindEndUser Kind = "end_user" // the X-End-User header, compared as it is
	KindCountry Kind = "country"  // ISO 3166-1 alpha-2, from the operator's database
)

// MaxEndUser is the greatest length of an end user, in bytes.
const MaxEndUser = 256

// Client is whom a request comes from.
type Client struct {
	Addr    netip.Addr // zero: not known
	EndUser string     // "": none named
	Country string     // ISO 3166-1 alpha-2 in upper case; "": not known
}

// Rule is one entry of an access list.
type Rule struct {
	Action Action
	Kind   Kind
	Value  string // in the form that ParseRule gives
}

// ParseRule checks an entry and gives its value the one form it has in every list:
// addresses without zone, an IPv4 address in IPv6 form as IPv4, networks without host
// bits, countries in upper case.
func ParseRule(action, kind, value string) (Rule, error) {
	r := Rule{Action: Action(action), Kind: Kind(kind)}
	if r.Action != Allow && r.Action != Block {
		return Rule{}, fmt.Errorf("unknown action %q: allow or block", action)
	}
	if r.Kind != KindEndUser {
		value = strings.TrimSpace(value)
	}
	switch r.Kind {
	case KindIP:
		addr, err := netip.ParseAddr(value)
		if err != nil {
			return Rule{}, fmt.Errorf("%q is no IP address", value)
		}
		r.Value = plain(addr).String()
	case KindCIDR:
		network, err := netip.ParsePrefix(value)
		if err != nil {
			return Rule{}, fmt.Errorf("%q is no network such as 192.0.2.0/24", value)
		}
		if network, err = plainPrefix(network); err != nil {
			return Rule{}, err
		}
		r.Value = network.String()
	case KindEndUser:
		if value == "" || len(value) > MaxEndUser || !utf8.ValidString(value) || strings.ContainsFunc(value, isControl) {
			return Rule{}, fmt.Errorf("an end user has 1 to %d bytes of UTF-8 without control characters", MaxEndUser)
		}
		r.Value = value
	case KindCountry:
		value = strings.ToUpper(value)
		if len(value) != 2 || strings.ContainsFunc(value, func(c rune) bool { return c < 'A' || c > 'Z' }) {
			return Rule{}, fmt.Errorf("%q is no country code of two letters (ISO 3166-1)", value)
		}
		r.Value = value
	default:
		return Rule{}, fmt.Errorf("unknown kind %q: one of ip, ip_cidr, end_user, country", kind)
	}
	return r, nil
}

func isControl(c rune) bool { return c < 0x20 || c == 0x7f || c >= 0x80 && c < 0xa0 }

func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

func plainPrefix(p netip.Prefix) (netip.Prefix, error) {
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return netip.Prefix{}, fmt.Errorf("%s is wider than the IPv4 addresses it is written in", p)
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

// List is an access list made ready for use. Its zero value lets everyone through. It
// may be used by several goroutines at once.
type List struct {
	allow, block matcher
	anyAllow     bool
	anyAddress   bool
}

type matcher struct {
	exact    map[Rule]bool // Action left empty
	networks []netip.Prefix
}

func (m *matcher) add(r Rule) error {
	if r.Kind == KindCIDR {
		network, err := netip.ParsePrefix(r.Value)
		if err != nil {
			return fmt.Errorf("access list: network %q: %w", r.Value, err)
		}
		m.networks = append(m.networks, network)
		return nil
	}
	if m.exact == nil {
		m.exact = map[Rule]bool{}
	}
	m.exact[Rule{Kind: r.Kind, Value: r.Value}] = true
	return nil
}

func (m *matcher) match(c Client) bool {
	if c.Addr.IsValid() {
		if m.exact[Rule{Kind: KindIP, Value: c.Addr.String()}] {
			return true
		}
		for _, network := range m.networks {
			if network.Contains(c.Addr) {
				return true
			}
		}
	}
	return c.EndUser != "" && m.exact[Rule{Kind: KindEndUser, Value: c.EndUser}] ||
		c.Country != "" && m.exact[Rule{Kind: KindCountry, Value: c.Country}]
}

// NewList makes a list of entries in the form that ParseRule gives.
func NewList(rules []Rule) (*List, error) {
	l := &List{}
	for _, r := range rules {
		r, err := ParseRule(string(r.Action), string(r.Kind), r.Value)
		if err != nil {
			return nil, fmt.Errorf("access list: %w", err)
		}
		m := &l.block
		if r.Action == Allow {
			m, l.anyAllow = &l.allow, true
		}
		if r.Kind == KindIP || r.Kind == KindCIDR {
			l.anyAddress = true
		}
		if err := m.add(r); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Allows decides on a client. A block wins over every allow; where anything is
// allowed, everything else is blocked. A client whose address is not known passes no
// list that looks at addresses: a block must not be passed by hiding.
func (l *List) Allows(c Client) bool {
	if l == nil {
		return true
	}
	if c.Addr.IsValid() {
		c.Addr = plain(c.Addr)
	} else if l.anyAddress {
		return false
	}
	c.Country = strings.ToUpper(c.Country)
	if l.block.match(c) {
		return false
	}
	return !l.anyAllow || l.allow.match(c)
}
