package access

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseRule(t *testing.T) {
	for _, c := range []struct{ kind, value, want string }{
		{"ip", "192.0.2.1", "192.0.2.1"},
		{"ip", " 192.0.2.1 ", "192.0.2.1"},
		{"ip", "::FFFF:192.0.2.1", "192.0.2.1"},
		{"ip", "2001:DB8:0::1", "2001:db8::1"},
		{"ip", "fe80::1%eth0", "fe80::1"},
		{"ip_cidr", "203.0.113.77/24", "203.0.113.0/24"},
		{"ip_cidr", "::ffff:203.0.113.77/120", "203.0.113.0/24"},
		{"ip_cidr", "2001:db8::1/32", "2001:db8::/32"},
		{"ip_cidr", "0.0.0.0/0", "0.0.0.0/0"},
		{"end_user", " Ann ", " Ann "},
		{"end_user", "名前", "名前"},
		{"country", "nz", "NZ"},
	} {
		r, err := ParseRule("block", c.kind, c.value)
		if err != nil || r.Value != c.want || r.Kind != Kind(c.kind) || r.Action != Block {
			t.Errorf("%s %q: %+v (%v), want %q", c.kind, c.value, r, err, c.want)
		}
		again, err := ParseRule("block", c.kind, r.Value)
		if err != nil || again != r {
			t.Errorf("%s %q is not its own form: %+v (%v)", c.kind, r.Value, again, err)
		}
	}
	for _, c := range []struct{ action, kind, value string }{
		{"deny", "ip", "192.0.2.1"},
		{"", "ip", "192.0.2.1"},
		{"block", "host", "a"},
		{"block", "", "192.0.2.1"},
		{"block", "ip", ""},
		{"block", "ip", "192.0.2"},
		{"block", "ip", "192.0.2.1/24"},
		{"block", "ip", "192.0.2.01"},
		{"block", "ip_cidr", "192.0.2.1"},
		{"block", "ip_cidr", "192.0.2.0/33"},
		{"block", "ip_cidr", "::ffff:0:0/64"},
		{"block", "end_user", ""},
		{"block", "end_user", "a\nb"},
		{"block", "end_user", "a\u0085b"},
		{"block", "end_user", "\xff"},
		{"block", "end_user", strings.Repeat("a", MaxEndUser+1)},
		{"block", "country", "N"},
		{"block", "country", "NZL"},
		{"block", "country", "É"},
		{"block", "country", "1A"},
	} {
		if r, err := ParseRule(c.action, c.kind, c.value); err == nil {
			t.Errorf("%s %s %q is taken as %+v", c.action, c.kind, c.value, r)
		}
	}
}

func TestListAllows(t *testing.T) {
	addr := netip.MustParseAddr
	none := Client{}
	home := Client{Addr: addr("192.0.2.10"), EndUser: "ann", Country: "NZ"}
	away := Client{Addr: addr("198.51.100.7"), EndUser: "bob", Country: "FR"}
	mapped := Client{Addr: addr("::ffff:192.0.2.10")}
	user := Client{EndUser: "ann"}
	for name, c := range map[string]struct {
		rules             []string
		in, out           []Client
		unknownAddressOut bool
	}{
		"empty":             {nil, []Client{none, home, away}, nil, false},
		"block ip":          {[]string{"block ip 192.0.2.10"}, []Client{away}, []Client{home, mapped, none, user}, true},
		"block network":     {[]string{"block ip_cidr 192.0.2.0/24"}, []Client{away}, []Client{home, mapped, none}, true},
		"block user":        {[]string{"block end_user ann"}, []Client{away, none, mapped}, []Client{home, user}, false},
		"users have a case": {[]string{"block end_user ANN"}, []Client{home}, nil, false},
		"block country":     {[]string{"block country NZ"}, []Client{away, none, mapped}, []Client{home}, false},
		"allow ip":          {[]string{"allow ip 192.0.2.10"}, []Client{home, mapped}, []Client{away, none}, true},
		"allow user":        {[]string{"allow end_user ann"}, []Client{home, user}, []Client{away, none}, false},
		"any allow is enough": {
			[]string{"allow ip 203.0.113.1", "allow country FR", "allow ip_cidr 192.0.2.0/28"},
			[]Client{home, away},
			[]Client{none, {Addr: addr("192.0.2.99")}},
			true,
		},
		"block wins":                {[]string{"allow ip_cidr 192.0.2.0/24", "block ip 192.0.2.10"}, []Client{{Addr: addr("192.0.2.11")}}, []Client{home, away}, true},
		"block wins in any order":   {[]string{"block end_user ann", "allow ip 192.0.2.10"}, []Client{mapped}, []Client{home}, true},
		"everything blocked":        {[]string{"block ip_cidr 0.0.0.0/0", "block ip_cidr ::/0"}, nil, []Client{home, away, {Addr: addr("2001:db8::1")}}, true},
		"IPv4 networks hold IPv4":   {[]string{"block ip_cidr 0.0.0.0/0"}, []Client{{Addr: addr("2001:db8::1")}}, []Client{mapped}, true},
		"a zone is not looked at":   {[]string{"block ip fe80::1"}, nil, []Client{{Addr: addr("fe80::1%en0")}}, true},
		"country in small letters":  {[]string{"block country NZ"}, nil, []Client{{Country: "nz"}}, false},
		"an end user is no address": {[]string{"block end_user 192.0.2.10"}, []Client{home}, nil, false},
	} {
		var rules []Rule
		for _, text := range c.rules {
			f := strings.Fields(text)
			r, err := ParseRule(f[0], f[1], f[2])
			if err != nil {
				t.Fatal(err)
			}
			rules = append(rules, r)
		}
		l, err := NewList(rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, client := range c.in {
			if !l.Allows(client) {
				t.Errorf("%s: %+v is kept out", name, client)
			}
		}
		for _, client := range c.out {
			if l.Allows(client) {
				t.Errorf("%s: %+v is let in", name, client)
			}
		}
		if got := !l.Allows(none) && l.anyAddress; got != c.unknownAddressOut {
			t.Errorf("%s: a client without address is kept out: %v", name, got)
		}
	}
	if _, err := NewList([]Rule{{Action: Block, Kind: KindIP, Value: "nonsense"}}); err == nil {
		t.Error("a list with an entry that means nothing is used")
	}
}

// TestListOrder: the order of entries decides nothing.
func TestListOrder(t *testing.T) {
	pool := []Rule{
		{Allow, KindIP, "192.0.2.1"},
		{Block, KindIP, "192.0.2.1"},
		{Allow, KindCIDR, "192.0.2.0/30"},
		{Block, KindCIDR, "192.0.2.2/31"},
		{Allow, KindEndUser, "ann"},
		{Block, KindEndUser, "bob"},
		{Allow, KindCountry, "NZ"},
		{Block, KindCountry, "FR"},
	}
	rapid.Check(t, func(t *rapid.T) {
		rules := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 6).Draw(t, "rules")
		client := Client{
			Addr:    rapid.SampledFrom([]netip.Addr{{}, netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.3"), netip.MustParseAddr("198.51.100.1")}).Draw(t, "addr"),
			EndUser: rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "user"),
			Country: rapid.SampledFrom([]string{"", "NZ", "FR"}).Draw(t, "country"),
		}
		one, err := NewList(rules)
		if err != nil {
			t.Fatal(err)
		}
		reversed := slices.Clone(rules)
		slices.Reverse(reversed)
		two, err := NewList(reversed)
		if err != nil {
			t.Fatal(err)
		}
		if one.Allows(client) != two.Allows(client) {
			t.Fatal("order matters")
		}
		// One block more lets nobody in.
		more, err := NewList(append(slices.Clone(rules), Rule{Block, KindEndUser, "carl"}))
		if err != nil {
			t.Fatal(err)
		}
		if more.Allows(client) && !one.Allows(client) {
			t.Fatal("a block lets somebody in")
		}
	})
}

func TestScopes(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "read": "read", "write,proxy": "proxy,write", " admin , read,admin": "admin,read",
	} {
		s, err := ParseScopes(text)
		if err != nil || s.String() != want {
			t.Errorf("%q: %q (%v), want %q", text, s, err, want)
		}
		again, err := ParseScopes(s.String())
		if err != nil || !slices.Equal(again, s) {
			t.Errorf("%q does not come back", s)
		}
	}
	for _, text := range []string{"root", "Read", "read,", ",", "read;write"} {
		if s, err := ParseScopes(text); err == nil {
			t.Errorf("%q is taken as %q", text, s)
		}
	}
}
