package outward

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/toolmark/toolmark"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A dns answers look-ups in memory: no question leaves the process.
type dns struct {
	mu      sync.Mutex
	answers map[string][]string // by name; the last of several lists stays
	rebind  map[string][]string // what a name gives from its second look-up on
	asked   []string
}

func (d *dns) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go d.serve(theirs)
		return ours, nil
	}}
}

// serve speaks DNS over a stream (RFC 1035, section 4.2.2).
func (d *dns) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		reply := d.reply(query)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

func (d *dns) reply(query []byte) []byte {
	at, labels := 12, []string{}
	for query[at] != 0 {
		labels = append(labels, string(query[at+1:at+1+int(query[at])]))
		at += 1 + int(query[at])
	}
	kind := binary.BigEndian.Uint16(query[at+1:])
	name := strings.ToLower(strings.Join(labels, "."))
	d.mu.Lock()
	d.asked = append(d.asked, name)
	list, known := d.answers[name]
	if next, ok := d.rebind[name]; ok && kind == 1 {
		d.answers[name] = next
	}
	d.mu.Unlock()
	out := append([]byte(nil), query[:at+5]...)
	copy(out[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	if !known {
		out[3] = 0x83 // no such name
	}
	for _, text := range list {
		addr := netip.MustParseAddr(text)
		if addr.Is4() != (kind == 1) {
			continue
		}
		out[7]++
		out = append(out, 0xc0, 12, byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(addr.BitLen()/8))
		out = append(out, addr.AsSlice()...)
	}
	return out
}

// guarded makes a guard under which nothing but loopback can be connected to, whatever
// the code under test decides: a test must not send a packet anywhere else. What was
// about to be connected to is a failure of the test unless mayPass.
func guarded(t *testing.T, d *dns, allow ...string) *Guard {
	t.Helper()
	nets, err := ParseNets(allow)
	if err != nil {
		t.Fatal(err)
	}
	g := New(Options{AllowNet: nets, Resolver: d.resolver(), OwnAddrs: func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("11.22.33.44"), Mask: net.CIDRMask(24, 32)}}, nil
	}})
	// net.Dialer asks ControlContext in place of Control where both are set.
	g.dialer.ControlContext = func(_ context.Context, network, address string, c syscall.RawConn) error {
		if g.dialer.Control == nil {
			t.Error("the dialer asks nobody")
		} else if err := g.dialer.Control(network, address, c); err != nil {
			return err
		}
		if to, err := netip.ParseAddrPort(address); err != nil || !to.Addr().Unmap().IsLoopback() {
			t.Errorf("about to connect to %s", address)
			return errors.New("stopped by the test")
		}
		return nil
	}
	t.Cleanup(g.Close)
	return g
}

// listen serves on a loopback address of its own, or skips where there is only 127.0.0.1.
func listen(t *testing.T, address string, h http.Handler) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Skipf("this system has no loopback address %s: %v", address, err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func wantRefused(t *testing.T, err error, rule Rule) {
	t.Helper()
	var e *toolmark.Error
	if !errors.As(err, &e) || e.Code != toolmark.ErrAddressRefused {
		t.Fatalf("error %v is no refusal", err)
	}
	r, ok := AsRefusal(err)
	if !ok || r.Rule != rule {
		t.Errorf("refused by rule %v, want %s: %v", r, rule, e)
	}
	if i := strings.IndexFunc(e.Error(), func(r rune) bool { return r < ' ' || r > '~' && r != '…' }); i >= 0 {
		t.Errorf("message %q is not safe to print", e)
	}
}
