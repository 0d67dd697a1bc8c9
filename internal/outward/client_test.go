package outward

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
)

// get gives status and body.
func get(t *testing.T, c *http.Client, address string) (int, string, error) {
	t.Helper()
	resp, err := c.Get(address)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

func port(s *httptest.Server) string { return s.URL[strings.LastIndexByte(s.URL, ':'):] }

func hello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }

func TestAllowedNetworks(t *testing.T) {
	s := listen(t, "127.0.0.1", http.HandlerFunc(hello))
	d := &dns{answers: map[string][]string{
		"here.example": {"127.0.0.1"}, "mixed.example": {"10.0.0.7", "127.0.0.1"}, "elsewhere.example": {"127.0.0.2"},
	}}
	g := guarded(t, d, "127.0.0.1")
	client := g.Client(Limits{})
	for _, host := range []string{"127.0.0.1", "localhost", "here.example"} {
		if status, text, err := get(t, client, "http://"+host+port(s)+"/"); err != nil || status != 200 || text != "hello" {
			t.Errorf("%s: %d %q %v", host, status, text, err)
		}
	}
	// One range opens no other, nor another spelling of its own addresses.
	for host, rule := range map[string]Rule{
		"127.0.0.2": RuleAddress, "10.0.0.1": RuleAddress, "[::1]": RuleAddress, "[::ffff:127.0.0.1]": RuleEmbedded,
		"2130706433": RuleNumber, "127.1": RuleNumber, "[64:ff9b::7f00:1]": RuleEmbedded, "[2002:7f00:1::]": RuleEmbedded,
		"elsewhere.example": RuleName,
	} {
		_, _, err := get(t, client, "http://"+host+port(s)+"/")
		wantRefused(t, err, rule)
	}
	// Of several addresses only the allowed one is connected to.
	if _, text, err := get(t, client, "http://mixed.example"+port(s)+"/"); err != nil || text != "hello" {
		t.Errorf("mixed: %q %v", text, err)
	}
}

// A NAT64 prefix that the operator allows lets through what it should carry only.
func TestAllowedNAT64(t *testing.T) {
	g := guarded(t, &dns{}, "64:ff9b::/96", "64:ff9b:1::/48")
	for _, a := range []string{"[64:ff9b::808:808]:443", "[64:ff9b:1::808:808]:443", "[64:ff9b:1:808:8:800::]:443"} {
		if err := g.CheckAddr(netip.MustParseAddrPort(a)); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
	for _, a := range []string{"[64:ff9b::127.0.0.1]:443", "[64:ff9b::a9fe:a9fe]:443", "[64:ff9b:1::a00:1]:443", "[64:ff9b:1:a00:0:100::]:443"} {
		wantRefused(t, g.CheckAddr(netip.MustParseAddrPort(a)), RuleEmbedded)
	}
}

func TestParseNets(t *testing.T) {
	got, err := ParseNets([]string{"10.1.2.3/8", " 127.0.0.1 ", "::ffff:192.168.0.0/112", "fd00::1/8"})
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("fd00::/8")}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v %v", got, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
	for _, wrong := range []string{"", "10/8", "0.0.0.0/0", "::/0", "::ffff:0.0.0.0/90", "::ffff:0.0.0.0/96", "fe80::1%eth0", "localhost", "10.0.0.0/33"} {
		if p, err := ParseNets([]string{wrong}); err == nil {
			t.Errorf("%q gives %v", wrong, p)
		}
	}
}

func TestOnlyPorts(t *testing.T) {
	g := New(Options{Ports: []uint16{443, 8443}})
	defer g.Close()
	if _, err := g.CheckURL("https://example.com:8443/"); err != nil {
		t.Error(err)
	}
	_, err := g.CheckURL("http://example.com/")
	wantRefused(t, err, RulePort)
}

func TestProxiesAreNotUsed(t *testing.T) {
	proxy := listen(t, "127.0.0.1", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") }))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	s := listen(t, "127.0.0.1", http.HandlerFunc(hello))
	g := guarded(t, &dns{answers: map[string][]string{"here.example": {"127.0.0.1"}}}, "127.0.0.1")
	if _, text, err := get(t, g.Client(Limits{}), "http://here.example"+port(s)+"/"); err != nil || text != "hello" {
		t.Errorf("%q %v", text, err)
	}
	if g.transport.Proxy != nil {
		t.Error("the transport has a proxy")
	}
}

// A name that changes its address between check and use gets its second address checked.
func TestRebinding(t *testing.T) {
	sentinel := listen(t, "127.0.0.1", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the second address was asked") }))
	_ = sentinel
	first := listen(t, "127.0.0.2", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		io.WriteString(w, "first")
	}))
	d := &dns{
		answers: map[string][]string{"turn.example": {"127.0.0.2"}},
		rebind:  map[string][]string{"turn.example": {"127.0.0.1"}},
	}
	g := guarded(t, d, "127.0.0.2")
	client := g.Client(Limits{})
	address := "http://turn.example" + port(first) + "/"
	if _, err := g.CheckURL(address); err != nil {
		t.Fatal(err)
	}
	if _, text, err := get(t, client, address); err != nil || text != "first" {
		t.Fatalf("%q %v", text, err)
	}
	_, _, err := get(t, client, address)
	wantRefused(t, err, RuleName)
}

func TestLimits(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 256 {
			z.Write(make([]byte, 4096))
		}
		z.Close()
	})
	mux.HandleFunc("/exact", func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1000)) })
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/header", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 200<<10)) })
	s := listen(t, "127.0.0.1", mux)
	g := guarded(t, &dns{}, "127.0.0.0/8")
	client := g.Client(Limits{MaxBytes: 1000, Timeout: 300 * time.Millisecond})
	for _, path := range []string{"/endless", "/bomb"} {
		_, text, err := get(t, client, s.URL+path)
		var e *toolmark.Error
		if !errors.As(err, &e) || e.Code != toolmark.ErrTooLarge || len(text) != 1000 {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
	}
	if _, text, err := get(t, client, s.URL+"/exact"); err != nil || len(text) != 1000 {
		t.Errorf("a body of exactly the limit: %d %v", len(text), err)
	}
	if _, _, err := get(t, client, s.URL+"/slow"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("slow: %v", err)
	}
	if _, _, err := get(t, client, s.URL+"/header"); err == nil {
		t.Error("a header of 200 KiB was read")
	}
	// A negative limit is the caller's to keep.
	free := g.Client(Limits{MaxBytes: -1, Timeout: -1})
	resp, err := free.Get(s.URL + "/endless")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.CopyN(io.Discard, resp.Body, 100_000); n != 100_000 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}

func TestDeadAddressesAreNoRefusals(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	g := guarded(t, &dns{}, "127.0.0.0/8")
	_, _, err = get(t, g.Client(Limits{}), "http://"+address+"/")
	var u *url.Error
	if _, refused := AsRefusal(err); refused || !errors.As(err, &u) {
		t.Errorf("error %v", err)
	}
}

// Failures of the network tell neither our own address nor the resolver's.
func TestFailuresAreDiscreet(t *testing.T) {
	s := listen(t, "127.0.0.1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, rw, _ := w.(http.Hijacker).Hijack()
		if r.URL.Path == "/later" {
			rw.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
			rw.Flush()
			time.Sleep(50 * time.Millisecond) // so that the reset does not overtake it
		}
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}))
	g := guarded(t, &dns{}, "127.0.0.1")
	for _, maxBytes := range []int64{0, -1} {
		for _, path := range []string{"/now", "/later"} {
			_, text, err := get(t, g.Client(Limits{MaxBytes: maxBytes}), s.URL+path)
			if err == nil {
				t.Fatalf("%s: %q", path, text)
			}
			if told := strings.ReplaceAll(err.Error(), s.URL, ""); strings.Contains(told, "127.0.0.1") {
				t.Errorf("%s: %s", path, told)
			}
		}
	}
	err := discreet(&net.OpError{Op: "dial", Err: &net.DNSError{Err: "read udp 10.9.8.7:1->10.9.8.6:53: i/o timeout", Name: "x.example", Server: "10.9.8.6:53", IsTimeout: true}})
	var slow net.Error
	if s := err.Error(); strings.Contains(s, "10.9") || !strings.Contains(s, "x.example") || !errors.As(err, &slow) || !slow.Timeout() {
		t.Errorf("%s", s)
	}
}
