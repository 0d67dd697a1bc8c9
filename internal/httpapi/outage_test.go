package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

// outage is a service whose database fails, or does not answer at all.
type outage struct {
	Accounts
	err error // nil: it waits
}

func (o outage) wait(ctx context.Context) error {
	if o.err != nil {
		return o.err
	}
	<-ctx.Done()
	return ctx.Err()
}

func (o outage) Admit(ctx context.Context, _ registry.Call) (*registry.Grant, error) {
	return nil, o.wait(ctx)
}

func (o outage) Signup(ctx context.Context, _ access.Client) (key, account string, credits int64, err error) {
	return "", "", 0, o.wait(ctx)
}

// late lets everybody in, and cannot count.
type late struct{ outage }

func (l late) Admit(ctx context.Context, call registry.Call) (*registry.Grant, error) {
	return l.Accounts.Admit(ctx, call)
}

func (l late) Reserve(ctx context.Context, _ *registry.Grant) (*registry.Reservation, error) {
	return nil, l.wait(ctx)
}

// TestDatabaseOutage asks a service whose database is away or silent: 503 with
// Retry-After, in time, on every path that needs it, and the cause for the log only. A
// fault of ours stays a 500.
func TestDatabaseOutage(t *testing.T) {
	away := errors.New("dial 192.0.2.9: connection refused")
	broken := errors.New("a column that is not there")
	for name, c := range map[string]struct {
		err    error
		late   bool
		status int
		code   string
	}{
		"away":         {err: away, status: 503, code: "database_unavailable"},
		"silent":       {status: 503, code: "database_unavailable"},
		"away later":   {err: away, late: true, status: 503, code: "database_unavailable"},
		"silent later": {late: true, status: 503, code: "database_unavailable"},
		"ours":         {err: broken, status: 500, code: "internal_error"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, fixtureConfig{signup: true, change: func(cfg *Config) {
				o := outage{cfg.Accounts, c.err}
				if cfg.Accounts = o; c.late {
					cfg.Accounts = late{o}
				}
				cfg.DatabaseTime = 50 * time.Millisecond
				cfg.Unavailable = func(err error) bool { return errors.Is(err, away) }
			}})
			key := f.key(t, registry.NewKey{})
			asks := map[string]string{
				pathScan: clean, pathScanProxy: clean, pathText: `{"text":"a"}`, "/v1/accounts/signup": `{"accept_terms":true}`,
				pathMCP: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "/v1/servers": `{"url":"https://example.com/"}`,
			}
			if c.late {
				asks = map[string]string{pathScan: clean}
			}
			for path, body := range asks {
				start := time.Now()
				w := f.ask(http.MethodPost, path, key, body)
				if w.Code != c.status || !strings.Contains(w.Body.String(), `"code":"`+c.code+`"`) || strings.Contains(w.Body.String(), "192.0.2.9") {
					t.Errorf("%s: %d %s", path, w.Code, w.Body)
				}
				if (w.Header().Get("Retry-After") != "") != (c.status == 503) {
					t.Errorf("%s: Retry-After %q", path, w.Header().Get("Retry-After"))
				}
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("%s: the answer took %v", path, took)
				}
			}
			if c.err == away && !strings.Contains(f.log.String(), "192.0.2.9") {
				t.Errorf("the log does not say why: %s", f.log)
			}
		})
	}
}
