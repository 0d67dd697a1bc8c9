package outward

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Options are what the operator decides. The zero value connects to public addresses
// only, at any port that is not another protocol's.
type Options struct {
	// AllowNet are networks that may be connected to although they are not public
	// (--allow-net; see ParseNets). An address that carries an IPv4 address inside also
	// needs that one to be public or allowed. Where there is any, names such as
	// localhost are resolved and the address decides.
	AllowNet []netip.Prefix
	// Ports are the only ports to connect to; none means every port but those that
	// another protocol owns.
	Ports []uint16
	// RootCAs are the authorities trusted for TLS; nil means the system's.
	RootCAs *x509.CertPool
	// Resolver looks names up; nil means the system's.
	Resolver *net.Resolver
	// OwnAddrs lists the addresses of this machine; nil means net.InterfaceAddrs.
	OwnAddrs func() ([]net.Addr, error)
}

// The time that a connection and the start of an answer get.
const (
	dialTimeout = 10 * time.Second
	tlsTimeout  = 10 * time.Second
	idleTimeout = 15 * time.Second
	maxHeader   = 64 << 10
)

// A Guard decides which addresses may be connected to, and makes clients that hold
// themselves to it. It may be used by several goroutines at once.
type Guard struct {
	allow     []netip.Prefix
	ports     []uint16
	guardian  *ssrf.Guardian
	ownAddrs  func() ([]net.Addr, error)
	dialer    *net.Dialer
	transport *http.Transport
}

// New makes a guard. Close ends what it keeps open.
func New(o Options) *Guard {
	v4, v6 := splitNets(o.AllowNet)
	g := &Guard{
		allow: slices.Clone(o.AllowNet), ports: slices.Clone(o.Ports), ownAddrs: o.OwnAddrs,
		guardian: ssrf.New(ssrf.WithPorts(o.Ports...), ssrf.WithAllowedV4Prefixes(v4...),
			ssrf.WithAllowedV6Prefixes(v6...), ssrf.WithDeniedV4Prefixes(slices.Clone(platform)...)),
	}
	if g.ownAddrs == nil {
		g.ownAddrs = net.InterfaceAddrs
	}
	g.dialer = &net.Dialer{Timeout: dialTimeout, Resolver: o.Resolver, Control: g.control}
	g.transport = &http.Transport{
		Proxy:                  nil, // a proxy would connect in our stead, unguarded
		DialContext:            g.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    tlsTimeout,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    2,
	}
	return g
}

// Close ends the connections that are open and unused. Those in use are their users'.
func (g *Guard) Close() { g.transport.CloseIdleConnections() }

// CheckAddr judges an address that was found in another way than by a URL.
func (g *Guard) CheckAddr(to netip.AddrPort) error {
	if err := g.checkPortNumber(to.String(), to.Port()); err != nil {
		return err
	}
	if to.Addr().Is4In6() {
		return refuse(RuleEmbedded, to.String(), "", "the address has an IPv4 address inside; write that address itself")
	}
	return g.checkAddr(to.String(), to.Addr())
}

// control is asked for every socket between its making and its connecting, with the
// address that it will connect to.
func (g *Guard) control(network, address string, c syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return refuse(RuleAddress, "", network+" "+address+": "+err.Error(), "the address is not a public one")
	}
	if err := g.checkPortNumber("", to.Port()); err != nil {
		return err
	}
	if err := g.checkAddr("", to.Addr()); err != nil {
		return err
	}
	// The library's own look at it, with the kind of network: nothing that passed above
	// is left to our reading alone.
	if err := g.guardian.Safe(network, netip.AddrPortFrom(to.Addr().Unmap(), to.Port()).String(), c); err != nil {
		return refuse(RuleAddress, "", err.Error(), "the address is not a public one")
	}
	return nil
}

// dial connects the sockets of the transport. To whoever asked, a name that resolves to
// nothing and one that resolves to what must not be told are the same.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := g.dialer.DialContext(ctx, network, address)
	if err == nil {
		return conn, nil
	}
	_, name := hostOf(address)
	if name == "" {
		return nil, err
	}
	var dns *net.DNSError
	refusal, refused := AsRefusal(err)
	switch {
	case refused && refusal.Rule == RulePort:
		return nil, err
	case refused:
		detail := refusal.Detail()
		if detail == "" {
			detail = refusal.Error()
		}
		return nil, refuse(RuleName, name, fmt.Sprintf("rule %s: %s", refusal.Rule, detail), noAddress)
	case errors.As(err, &dns) && dns.IsNotFound:
		return nil, refuse(RuleName, name, dns.Err, noAddress)
	}
	return nil, err
}

const noAddress = "the name has no public address"
