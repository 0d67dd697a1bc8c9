package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

// admit holds the caller against key, access lists, scope and rate, in this order.
func (x *exchange) admit(scope access.Scope) error {
	ctx, cancel := x.database()
	defer cancel()
	grant, err := x.api.accounts.Admit(ctx, registry.Call{Key: key(x.r), Scope: scope, Client: x.client()})
	if err != nil {
		return known(err)
	}
	x.grant = grant
	x.rate(grant.Rate)
	return nil
}

// admitPublic holds a caller without a key against the service's access list and the
// rate of an address.
func (x *exchange) admitPublic() error {
	ctx, cancel := x.database()
	defer cancel()
	rate, err := x.api.accounts.AdmitPublic(ctx, x.client())
	if err != nil {
		return known(err)
	}
	x.rate(rate)
	return nil
}

// database gives the time that the database has for a short question: one that has
// stopped to answer must not hold requests until their clients give up.
func (x *exchange) database() (context.Context, context.CancelFunc) {
	return context.WithTimeout(x.r.Context(), x.api.databaseTime)
}

// key gives the API key as it was sent. X-API-Key wins over Authorization.
func key(r *http.Request) string {
	if k := strings.TrimSpace(r.Header.Get("X-API-Key")); k != "" {
		return k
	}
	return bearer(r.Header.Get("Authorization"))
}

func (x *exchange) client() access.Client {
	return access.Client{Addr: x.addr, EndUser: x.r.Header.Get("X-End-User"), Country: x.api.country(x.addr)}
}

// address gives the address a request comes from, through the proxies that are trusted.
func (a *API) address(r *http.Request) netip.Addr {
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // no TCP connection: a test, or a socket of another kind
	}
	return a.proxies.Client(remote.Addr().Unmap(), r.Header.Values("Forwarded"), r.Header.Values("X-Forwarded-For"))
}

// rate says where the key stands in its minute. Reset is in seconds since 1970 UTC.
func (x *exchange) rate(rate access.Rate) {
	// A limit of 0 is a limit; only a key without one has no time at which it ends.
	if rate.Reset.IsZero() {
		return
	}
	h := x.Header()
	h.Set("X-RateLimit-Limit", strconv.FormatInt(rate.Limit, 10))
	h.Set("X-RateLimit-Remaining", strconv.FormatInt(rate.Remaining, 10))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(rate.Reset.Unix(), 10))
}

// denied gives a refusal its form.
func (x *exchange) denied(d *access.Denial) *failure {
	x.rate(d.Rate)
	x.refused = d.KeyID
	f := &failure{status: d.Status(), code: string(d.Code), message: d.Message, retryAfter: d.RetryAfter}
	if d.Code == access.QuotaExceeded || d.Code == access.SpendingExceeded {
		f.quota = &quota{plan: d.Plan, used: d.Used, limit: d.Limit}
	}
	return f
}

// known gives the registry's errors their answers; what is not known is internal.
func known(err error) error {
	var unread *registry.UnreadError
	switch {
	case errors.As(err, &unread):
		return &failure{
			status: http.StatusBadGateway, code: "unreadable_server",
			message: "The server could not be read (" + string(unread.Why.Code) + "): " + string(unread.Why.Message),
		}
	case errors.Is(err, registry.ErrBusy):
		f := overloaded("too many requests wait for the database")
		f.cause = err
		return f
	case errors.Is(err, registry.ErrClosed):
		f := overloaded("the service is stopping")
		f.cause = err
		return f
	case errors.Is(err, registry.ErrNotFound):
		return &failure{status: http.StatusNotFound, code: "not_found", message: "There is no such entry."}
	case errors.Is(err, registry.ErrExists):
		return &failure{status: http.StatusConflict, code: "exists", message: "This entry is there already."}
	case errors.Is(err, registry.ErrInvalid):
		var list faults
		list.add(faultValue, strings.TrimPrefix(err.Error(), registry.ErrInvalid.Error()+": "))
		return list.failure()
	}
	return err
}
