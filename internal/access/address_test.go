package access

import (
	"net/netip"
	"strings"
	"testing"
)

func TestProxiesClient(t *testing.T) {
	proxies, err := ParseProxies([]string{"10.0.0.0/8", "2001:db8:ffff::1", "::ffff:172.16.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		remote         string
		forwarded, xff []string
		want           string // "": not known
	}{
		"no proxy":                    {"192.0.2.1", nil, nil, "192.0.2.1"},
		"a stranger's headers":        {"192.0.2.1", []string{"for=198.51.100.1"}, []string{"198.51.100.1"}, "192.0.2.1"},
		"no headers":                  {"10.0.0.1", nil, nil, "10.0.0.1"},
		"one hop":                     {"10.0.0.1", nil, []string{"198.51.100.1"}, "198.51.100.1"},
		"what the client put there":   {"10.0.0.1", nil, []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1"},
		"in lines of its own":         {"10.0.0.1", nil, []string{"203.0.113.9", "198.51.100.1"}, "198.51.100.1"},
		"two proxies":                 {"10.0.0.1", nil, []string{"203.0.113.9, 198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		"proxies only":                {"10.0.0.1", nil, []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"with ports":                  {"10.0.0.1", nil, []string{"198.51.100.1:4711"}, "198.51.100.1"},
		"IPv6":                        {"2001:db8:ffff::1", nil, []string{"2001:db8::5"}, "2001:db8::5"},
		"IPv6 with port":              {"2001:db8:ffff::1", nil, []string{"[2001:db8::5]:80"}, "2001:db8::5"},
		"mapped peer":                 {"::ffff:10.0.0.1", nil, []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		"mapped proxy":                {"172.16.0.1", nil, []string{"198.51.100.1"}, "198.51.100.1"},
		"empty header":                {"10.0.0.1", nil, []string{""}, "10.0.0.1"},
		"no address":                  {"10.0.0.1", nil, []string{"unknown"}, ""},
		"no address before":           {"10.0.0.1", nil, []string{"nonsense, 198.51.100.1"}, "198.51.100.1"},
		"no address among proxies":    {"10.0.0.1", nil, []string{"198.51.100.1, x, 10.0.0.2"}, ""},
		"Forwarded":                   {"10.0.0.1", []string{"for=198.51.100.1"}, nil, "198.51.100.1"},
		"Forwarded in full":           {"10.0.0.1", []string{`for=203.0.113.9, By=10.0.0.1;For="198.51.100.1:80" ; proto=https`}, nil, "198.51.100.1"},
		"Forwarded IPv6":              {"10.0.0.1", []string{`for="[2001:db8::5]:4711"`}, nil, "2001:db8::5"},
		"Forwarded IPv6 without port": {"10.0.0.1", []string{`for="[2001:db8::5]"`}, nil, "2001:db8::5"},
		"Forwarded hidden":            {"10.0.0.1", []string{"for=_hidden"}, nil, ""},
		"Forwarded without for":       {"10.0.0.1", []string{"proto=https"}, nil, ""},
		"Forwarded, comma quoted":     {"10.0.0.1", []string{`for="198.51.100.1";host="a,for=203.0.113.9"`}, nil, "198.51.100.1"},
		"Forwarded, quote open":       {"10.0.0.1", []string{`for="198.51.100.1, for=203.0.113.9`}, nil, ""},
		"Forwarded, odd escape":       {"10.0.0.1", []string{`for="198.51.100.1\`}, nil, ""},
		"both agree":                  {"10.0.0.1", []string{"for=198.51.100.1"}, []string{"198.51.100.1"}, "198.51.100.1"},
		"one is the client's lie":     {"10.0.0.1", []string{"for=203.0.113.9"}, []string{"198.51.100.1"}, ""},
		"too many hops":               {"10.0.0.1", nil, []string{strings.Repeat("10.0.0.2,", 100)}, "10.0.0.2"},
	} {
		got := proxies.Client(netip.MustParseAddr(c.remote), c.forwarded, c.xff)
		if want := c.want; got.IsValid() != (want != "") || want != "" && got.String() != want {
			t.Errorf("%s: %v, want %q", name, got, want)
		}
	}
	if got := (Proxies{}).Client(netip.MustParseAddr("10.0.0.1"), nil, []string{"198.51.100.1"}); got.String() != "10.0.0.1" {
		t.Errorf("without proxies %v", got)
	}
	if got := proxies.Client(netip.Addr{}, nil, []string{"198.51.100.1"}); got.IsValid() {
		t.Errorf("without peer %v", got)
	}
	for _, bad := range []string{"", "proxy.example", "10.0.0.0/99"} {
		if _, err := ParseProxies([]string{bad}); err == nil {
			t.Errorf("proxy %q is taken", bad)
		}
	}
}

func TestBucket(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1",
		"2001:db8:1:2:3::4": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := Bucket(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
	if got := Bucket(netip.Addr{}); got != "unknown" {
		t.Errorf("no address: %s", got)
	}
}

// FuzzProxiesClient: nothing in headers makes a stranger another client, and an answer
// is never a trusted proxy's unless there is nobody else in the header.
func FuzzProxiesClient(f *testing.F) {
	for _, s := range []string{
		"", "198.51.100.1", "a, 10.0.0.1", `for="[2001:db8::5]:80";by=_x`, `for="a\"`, `",;=`, "for=for=1.2.3.4",
		"10.0.0.1, 10.0.0.2", "[::1", "::ffff:10.0.0.9:80", "fe80::1%25eth0",
	} {
		f.Add(s, s)
	}
	proxies, err := ParseProxies([]string{"10.0.0.0/8"})
	if err != nil {
		f.Fatal(err)
	}
	stranger, proxy := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("10.1.1.1")
	f.Fuzz(func(t *testing.T, forwarded, xff string) {
		if got := proxies.Client(stranger, []string{forwarded}, []string{xff}); got != stranger {
			t.Fatalf("a stranger is taken for %v", got)
		}
		got := proxies.Client(proxy, []string{forwarded}, []string{xff})
		if got.IsValid() && (got.Zone() != "" || got.Is4In6()) {
			t.Fatalf("%v is not in the form that lists have", got)
		}
	})
}
