package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/toolmark/toolmark"
)

// readyWait bounds the question of --ready.
const readyWait = 4 * time.Second

// askReady asks the service that runs at --addr on this machine whether it is ready: a
// health check where there is no other program, as in the container image. It fails
// where nobody answers, or /readyz does not say 200. A certificate is not verified: it
// names the service's public name, and what is asked is no secret.
func (p *program) askReady(ctx context.Context, f *serveFlags) error {
	host, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		return usage("--addr: %v", err)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		if host = "127.0.0.1"; ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	scheme := "http"
	if f.tlsCert != "" {
		scheme = "https"
	}
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return usage("--addr: %v", err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return &toolmark.Error{Code: toolmark.ErrCannotConnect, Message: "no service answers at " + f.addr, Err: err}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err != nil {
		return &toolmark.Error{Code: toolmark.ErrCannotConnect, Message: "no service answers at " + f.addr, Err: err}
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the service at %s is not ready (%d): %s", f.addr, response.StatusCode, answer)
	}
	return p.write(answer)
}
