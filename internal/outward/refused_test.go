package outward

import (
	"net/netip"
	"strings"
	"testing"
)

// refusedForms are URLs that lead, or could be read as leading, to where the service has
// no business. Those of rule name resolve as hostileNames says.
var refusedForms = []struct {
	url  string
	rule Rule
}{
	// This machine.
	{"http://127.0.0.1/", RuleAddress},
	{"http://127.0.0.1:8080/mcp", RuleAddress},
	{"http://127.255.255.254/", RuleAddress},
	{"http://0.0.0.0:6789/", RuleAddress},
	{"http://0.1.2.3/", RuleAddress},
	{"http://[::1]/", RuleAddress},
	{"http://[0:0:0:0:0:0:0:1]:8080/", RuleAddress},
	{"http://[0000:0000:0000:0000:0000:0000:0000:0001]/", RuleAddress},
	{"http://[::]/", RuleAddress},
	{"http://11.22.33.44/", RuleOwn},
	// Inside.
	{"http://10.0.0.1/", RuleAddress},
	{"http://10.255.255.255/", RuleAddress},
	{"http://172.16.0.1/", RuleAddress},
	{"http://172.31.255.255/", RuleAddress},
	{"http://192.168.1.1/", RuleAddress},
	{"http://100.64.0.1/", RuleAddress},
	{"http://[fc00::1]/", RuleAddress},
	{"http://[fdff:ffff::1]/", RuleAddress},
	{"http://[fec0::1]/", RuleAddress},
	{"http://[fe80::1]/", RuleAddress},
	{"http://[fe80::1%25eth0]/", RuleZone},
	{"http://[2606:4700::1%25eth0]/", RuleZone},
	// Platforms of clouds.
	{"http://169.254.169.254/latest/meta-data/", RuleAddress},
	{"http://169.254.170.2/v2/credentials", RuleAddress},
	{"http://[fd00:ec2::254]/", RuleAddress},
	{"http://100.100.100.200/", RuleAddress},
	{"http://192.0.0.192/", RuleAddress},
	{"http://168.63.129.16/", RuleAddress},
	{"http://metadata.google.internal/", RuleLocalName},
	// Reserved, for documents, benchmarks, many receivers.
	{"http://192.0.0.1/", RuleAddress},
	{"http://192.0.2.1/", RuleAddress},
	{"http://198.18.0.1/", RuleAddress},
	{"http://198.19.255.255/", RuleAddress},
	{"http://198.51.100.1/", RuleAddress},
	{"http://203.0.113.1/", RuleAddress},
	{"http://192.88.99.1/", RuleAddress},
	{"http://224.0.0.1/", RuleAddress},
	{"http://239.255.255.250/", RuleAddress},
	{"http://240.0.0.1/", RuleAddress},
	{"http://255.255.255.255/", RuleAddress},
	{"http://[ff02::1]/", RuleAddress},
	{"http://[100::1]/", RuleAddress},
	{"http://[2001:db8::1]/", RuleAddress},
	{"http://[3fff::1]/", RuleAddress},
	{"http://[2001:2::1]/", RuleAddress},
	{"http://[2001:20::1]/", RuleAddress},
	{"http://[5f00::1]/", RuleAddress},
	{"http://[4000::1]/", RuleAddress},
	// IPv4 inside IPv6.
	{"http://[::ffff:127.0.0.1]:6789/", RuleEmbedded},
	{"http://[::ffff:7f00:1]/", RuleEmbedded},
	{"http://[::ffff:a9fe:a9fe]/", RuleEmbedded},
	{"http://[0:0:0:0:0:ffff:10.0.0.1]/", RuleEmbedded},
	{"http://[::ffff:8.8.8.8]/", RuleEmbedded},
	{"http://[::127.0.0.1]/", RuleEmbedded},
	{"http://[::a9fe:a9fe]/", RuleEmbedded},
	{"http://[::ffff:0:127.0.0.1]/", RuleEmbedded},
	{"http://[64:ff9b::127.0.0.1]/", RuleEmbedded},
	{"http://[64:ff9b::a00:1]/", RuleEmbedded},
	{"http://[64:ff9b:1::10.0.0.1]/", RuleEmbedded},
	{"http://[2002:7f00:1::]/", RuleEmbedded},
	{"http://[2002:a9fe:a9fe::1]/", RuleEmbedded},
	{"http://[2001:0:7f00:1::]/", RuleEmbedded},
	{"http://[2001:0:808:808:0:0:80ff:fffe]/", RuleEmbedded},
	{"http://[2606:4700::5efe:127.0.0.1]/", RuleEmbedded},
	{"http://[2606:4700::200:5efe:10.0.0.1]/", RuleEmbedded},
	// IPv4 in other spellings.
	{"http://2130706433/", RuleNumber},
	{"http://0x7f000001/", RuleNumber},
	{"http://0X7F000001/", RuleNumber},
	{"http://017700000001/", RuleNumber},
	{"http://0x7f.0.0.1/", RuleNumber},
	{"http://0177.0.0.1/", RuleNumber},
	{"http://127.0.0.01/", RuleNumber},
	{"http://127.1/", RuleNumber},
	{"http://127.0.1/", RuleNumber},
	{"http://0/", RuleNumber},
	{"http://0x/", RuleNumber},
	{"http://10.0.0.0x1/", RuleNumber},
	{"http://127.0.0.1.5/", RuleNumber},
	{"http://999.999.999.999/", RuleNumber},
	{"http://8.8.2056/", RuleNumber},
	{"http://127.0.0.1./", RuleHost},
	{"http://[127.0.0.1]/", RuleURL},
	{"http://127。0。0。1/", RuleHost},
	{"http://１２７.0.0.1/", RuleHost},
	{"http://①②⑦.⓪.⓪.①/", RuleHost},
	{"http://%31%32%37.0.0.1/", RuleURL},
	{"http://127%2e0%2e0%2e1/", RuleURL},
	{"http://127.0.0.1%00.example.com/", RuleURL},
	// Names that lead inside.
	{"http://localhost/", RuleLocalName},
	{"http://LOCALHOST:8080/", RuleLocalName},
	{"http://localhost./", RuleHost},
	{"http://a.localhost/", RuleLocalName},
	{"http://localhost.localdomain/", RuleLocalName},
	{"http://ip6-localhost/", RuleLocalName},
	{"http://ⓛocalhost/", RuleHost},
	{"http://printer.local/", RuleLocalName},
	{"http://wiki.corp/", RuleLocalName},
	{"http://nas.lan/", RuleLocalName},
	{"http://router.home.arpa/", RuleLocalName},
	{"http://kubernetes.default.svc.cluster.local/", RuleLocalName},
	{"http://redis:80/", RuleLocalName},
	{"http://metadata/", RuleLocalName},
	{"http://loop.example/", RuleName},
	{"http://127.0.0.1.nip.example/", RuleName},
	{"http://inside.example/", RuleName},
	{"http://inside6.example/", RuleName},
	{"http://mapped.example/", RuleName},
	{"http://sixtofour.example/", RuleName},
	{"http://cloud.example/", RuleName},
	{"http://own.example/", RuleName},
	{"http://nowhere.example/", RuleName},
	{"http://all-inside.example/", RuleName},
	// Other faults of a URL.
	{"file:///etc/passwd", RuleScheme},
	{"FILE:///etc/passwd", RuleScheme},
	{"gopher://127.0.0.1:6379/_INFO", RuleScheme},
	{"ftp://example.com/", RuleScheme},
	{"unix:///var/run/docker.sock", RuleScheme},
	{"ws://example.com/", RuleScheme},
	{"data:text/plain,x", RuleScheme},
	{"javascript:alert(1)", RuleScheme},
	{"//example.com/", RuleScheme},
	{"example.com/mcp", RuleScheme},
	{"", RuleScheme},
	{"http:example.com", RuleURL},
	{"http:///mcp", RuleURL},
	{"http://:80/", RuleURL},
	{" http://example.com/", RuleURL},
	{"http://example.com\\@127.0.0.1/", RuleURL},
	{"http://example.com\t/", RuleURL},
	{"http://[::1/", RuleURL},
	{"http://" + strings.Repeat("a", 9000) + ".example/", RuleURL},
	{"http://user@example.com/", RuleUser},
	{"http://example.com:pw@127.0.0.1/", RuleUser},
	{"http://@127.0.0.1/", RuleUser},
	{"http://example.com#@127.0.0.1/", RuleName}, // the host is example.com
	{"http://example.com:0/", RulePort},
	{"http://example.com:/", RulePort},
	{"http://example.com:080/", RulePort},
	{"http://example.com:65536/", RulePort},
	{"http://example.com:22/", RulePort},
	{"http://example.com:25/", RulePort},
	{"http://example.com:6667/", RulePort},
	{"http://a..example/", RuleHost},
	{"http://exa mple.com/", RuleURL},
	{"http://exa!mple.com/", RuleHost},
	{"http://ex*mple.com/", RuleHost},
	{"http://" + strings.Repeat("a", 64) + ".example/", RuleHost},
	{"http://" + strings.Repeat("abc.", 70) + "example/", RuleHost},
}

var hostileNames = map[string][]string{
	"loop.example":          {"127.0.0.1"},
	"127.0.0.1.nip.example": {"127.0.0.1"},
	"inside.example":        {"10.0.0.7"},
	"inside6.example":       {"fd00::7"},
	"mapped.example":        {"::ffff:10.0.0.7"},
	"sixtofour.example":     {"2002:a00:7::1"},
	"cloud.example":         {"169.254.169.254"},
	"own.example":           {"11.22.33.44"},
	"all-inside.example":    {"10.0.0.7", "::1", "192.168.0.1"},
}

func TestRefusedForms(t *testing.T) {
	if len(refusedForms) < 140 {
		t.Fatalf("only %d forms", len(refusedForms))
	}
	d := &dns{answers: hostileNames}
	g := guarded(t, d)
	client := g.Client(Limits{})
	for _, f := range refusedForms {
		t.Run(strings.ReplaceAll(f.url[:min(len(f.url), 60)], "/", "|"), func(t *testing.T) {
			u, err := g.CheckURL(f.url)
			if f.rule == RuleName {
				if err != nil {
					t.Fatalf("a name is refused without a look-up: %v", err)
				}
				resp, err := client.Get(u.String())
				if err == nil {
					resp.Body.Close()
				}
				wantRefused(t, err, RuleName)
				r, _ := AsRefusal(err)
				if r.Reason != noAddress || r.Detail() == "" {
					t.Errorf("reason %q, detail %q", r.Reason, r.Detail())
				}
				return
			}
			wantRefused(t, err, f.rule)
			if resp, err := client.Get(f.url); err == nil {
				resp.Body.Close()
				t.Error("the client got an answer")
			}
		})
	}
	for _, name := range d.asked {
		if isLocalName(name) {
			t.Errorf("the name %s was looked up", name)
		}
	}
}

// What a name resolves to is not told to whoever asked, and a name inside looks like one
// that does not exist.
func TestRefusalsTellNothing(t *testing.T) {
	g := guarded(t, &dns{answers: hostileNames})
	client := g.Client(Limits{})
	texts := map[string]bool{}
	for name := range hostileNames {
		_, err := client.Get("http://" + name + "/")
		texts[strings.ReplaceAll(err.Error(), name, "NAME")] = true
	}
	_, err := client.Get("http://nowhere.example/")
	texts[strings.ReplaceAll(err.Error(), "nowhere.example", "NAME")] = true
	if len(texts) != 1 {
		t.Errorf("the texts differ: %v", texts)
	}
	_, err = g.CheckURL("http://me:hunter2@example.com/?token=abc")
	if s := err.Error(); strings.Contains(s, "hunter2") || strings.Contains(s, "abc") {
		t.Errorf("message %q repeats a secret", s)
	}
}

// Addresses as sockets would get them, in the forms that a resolver could give.
func TestCheckAddr(t *testing.T) {
	g := guarded(t, &dns{})
	for address, rule := range map[string]Rule{
		"127.0.0.1:80":                       RuleAddress,
		"[::ffff:127.0.0.1]:80":              RuleEmbedded,
		"[64:ff9b::808:808]:80":              RuleEmbedded, // also with a public one inside
		"[64:ff9b:1:a00:0:100::]:80":         RuleEmbedded, // 10.0.0.1 below a /48
		"[fe80::1%eth0]:80":                  RuleZone,
		"8.8.8.8:22":                         RulePort,
		"[2606:4700::5efe:192.168.0.1]:8443": RuleEmbedded,
	} {
		err := g.CheckAddr(netip.MustParseAddrPort(address))
		wantRefused(t, err, rule)
	}
	for _, address := range []string{"8.8.8.8:443", "1.1.1.1:8080", "[2606:4700::1111]:443", "[2606:4700::5efe:808:808]:443", "172.32.0.1:80", "100.128.0.1:80", "11.22.33.45:80"} {
		if err := g.CheckAddr(netip.MustParseAddrPort(address)); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, u := range []string{"https://example.com/mcp", "https://EXAMPLE.com:8443/mcp?a=b#c", "http://8.8.8.8/", "http://[2606:4700::1111]:3000/", "https://xn--bcher-kva.example/", "https://a_b.example.org/", "https://0x7f.example.com/", "https://localhost.example.com/"} {
		if _, err := g.CheckURL(u); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
}
