package registry_test

import (
	"errors"
	"io"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/storetest"
)

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

func newClock() *clock { return &clock{now: time.Date(2026, 4, 30, 23, 58, 30, 0, time.UTC)} }

func service(tb testing.TB, cfg registry.Config) *registry.Service {
	tb.Helper()
	s, err := registry.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

func n(v int64) *int64 { return &v }

func makeKey(tb testing.TB, s *registry.Service, k registry.NewKey) registry.MadeKey {
	tb.Helper()
	made, err := s.CreateKey(tb.Context(), k)
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

func admit(tb testing.TB, s *registry.Service, key string) *registry.Grant {
	tb.Helper()
	g, err := s.Admit(tb.Context(), registry.Call{Key: key, Scope: access.ScopeProxy})
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// denied gives the denial an error must be.
func denied(tb testing.TB, err error, want access.Code) *access.Denial {
	tb.Helper()
	var d *access.Denial
	if !errors.As(err, &d) {
		tb.Fatalf("error %v, want a denial with %s", err, want)
	}
	if d.Code != want {
		tb.Fatalf("denial %s, want %s", d.Code, want)
	}
	return d
}

func TestKeysOfAnyForm(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		s := service(t, registry.Config{Store: open(t)})
		right := makeKey(t, s, registry.NewKey{}).Plain
		admit(t, s, right)
		for _, key := range wrongKeys(right) {
			want := access.InvalidKey
			if key == "" {
				want = access.MissingKey
			}
			_, err := s.Admit(t.Context(), registry.Call{Key: key})
			if d := denied(t, err, want); d.Status() != 401 {
				t.Errorf("key of %d bytes: status %d", len(key), d.Status())
			}
		}
	})
}

func TestRevokedAndExpired(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		c := newClock()
		s, replica := service(t, registry.Config{Store: open(t), Now: c.Now}), service(t, registry.Config{Store: open(t), Now: c.Now})
		kept, revoked := makeKey(t, s, registry.NewKey{}), makeKey(t, s, registry.NewKey{})
		expiring := makeKey(t, s, registry.NewKey{Expires: c.Now().Add(time.Minute)})
		for _, k := range []registry.MadeKey{kept, revoked, expiring} {
			admit(t, replica, k.Plain)
		}
		state, err := s.RevokeKey(t.Context(), revoked.Plain) // by the key itself
		if err != nil || state.ID != revoked.ID || state.View(c.Now()).Status != "revoked" {
			t.Fatalf("revoked: %+v (%v)", state, err)
		}
		_, err = replica.Admit(t.Context(), registry.Call{Key: revoked.Plain})
		denied(t, err, access.InvalidKey)
		c.set(expiring.Expires.Add(-time.Microsecond))
		admit(t, replica, expiring.Plain)
		c.set(expiring.Expires)
		_, err = replica.Admit(t.Context(), registry.Call{Key: expiring.Plain})
		denied(t, err, access.InvalidKey)
		admit(t, replica, kept.Plain)
		if _, err := s.CreateKey(t.Context(), registry.NewKey{Expires: c.Now()}); !errors.Is(err, registry.ErrInvalid) {
			t.Errorf("a key that has expired already: %v", err)
		}
	})
}

// TestOrderOfChecks has a request that everything is wrong with, and mends it from the
// first check on.
func TestOrderOfChecks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		c := newClock()
		s := service(t, registry.Config{Store: open(t), Now: c.Now})
		ctx := t.Context()
		k := makeKey(t, s, registry.NewKey{Scopes: access.Scopes{access.ScopeRead}, Limits: access.Limits{PerMinute: n(0), PerMonth: n(0)}})
		blocked, err := s.AddAccess(ctx, registry.DefaultAccount, access.Rule{Action: access.Block, Kind: access.KindIP, Value: "192.0.2.7"}, "")
		if err != nil {
			t.Fatal(err)
		}
		client := access.Client{Addr: netip.MustParseAddr("192.0.2.7")}
		_, err = s.Admit(ctx, registry.Call{Key: k.Plain + "x", Scope: access.ScopeProxy, Client: client})
		denied(t, err, access.InvalidKey)
		_, err = s.Admit(ctx, registry.Call{Key: k.Plain, Scope: access.ScopeProxy, Client: client})
		if d := denied(t, err, access.AccessListBlock); d.Status() != 403 || d.Rate.Reset.IsZero() {
			t.Errorf("status %d", d.Status())
		}
		if err := s.RemoveAccess(ctx, blocked.ID); err != nil {
			t.Fatal(err)
		}
		_, err = s.Admit(ctx, registry.Call{Key: k.Plain, Scope: access.ScopeProxy, Client: client})
		if d := denied(t, err, access.ScopeDenied); d.Status() != 403 {
			t.Errorf("status %d", d.Status())
		}
		_, err = s.Admit(ctx, registry.Call{Key: k.Plain, Scope: access.ScopeRead, Client: client})
		if d := denied(t, err, access.RateExceeded); d.Status() != 429 || d.RetryAfter != 30*time.Second {
			t.Errorf("status %d, retry after %v", d.Status(), d.RetryAfter)
		}
		empty := makeKey(t, s, registry.NewKey{Limits: access.Limits{PerMonth: n(0)}})
		_, err = s.Reserve(ctx, admit(t, s, empty.Plain))
		denied(t, err, access.QuotaExceeded)
	})
}

func TestAccessLists(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		s, replica := service(t, registry.Config{Store: open(t)}), service(t, registry.Config{Store: open(t)})
		ctx := t.Context()
		first, second := makeKey(t, s, registry.NewKey{Account: "first"}), makeKey(t, s, registry.NewKey{Account: "second"})
		passes := func(k registry.MadeKey, user string) bool {
			t.Helper()
			_, err := replica.Admit(ctx, registry.Call{Key: k.Plain, Client: access.Client{EndUser: user}})
			if err != nil {
				denied(t, err, access.AccessListBlock)
			}
			return err == nil
		}
		add := func(account string, action access.Action, user string) registry.Rule {
			t.Helper()
			r, err := s.AddAccess(ctx, account, access.Rule{Action: action, Kind: access.KindEndUser, Value: user}, "")
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		is := func(what string, got, want bool) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %v", what, got)
			}
		}
		is("no list", passes(first, "ann"), true)
		block := add("", access.Block, "ann")
		is("blocked for all", passes(first, "ann") || passes(second, "ann"), false)
		is("another user", passes(first, "bob"), true)
		allow := add("first", access.Allow, "ann")
		is("a block of the service wins over an allow of the account", passes(first, "ann"), false)
		is("an allow shuts out the rest", passes(first, "bob"), false)
		is("of this account only", passes(second, "bob"), true)
		if err := s.RemoveAccess(ctx, block.ID); err != nil {
			t.Fatal(err)
		}
		is("the allowed one", passes(first, "ann"), true)
		if err := s.RemoveAccess(ctx, allow.ID); err != nil {
			t.Fatal(err)
		}
		is("an empty list", passes(first, "bob"), true)
		_, err := s.AddAccess(ctx, "third", access.Rule{Action: access.Block, Kind: access.KindEndUser, Value: "x"}, "")
		if !errors.Is(err, registry.ErrNotFound) {
			t.Errorf("a list for an account that is not there: %v", err)
		}
		_, err = s.AddAccess(ctx, "", access.Rule{Action: access.Block, Kind: access.KindIP, Value: "192.0.2"}, "")
		if !errors.Is(err, registry.ErrInvalid) {
			t.Errorf("an address that is none: %v", err)
		}
	})
}

func TestSignup(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		c := newClock()
		shut := service(t, registry.Config{Store: open(t), Now: c.Now})
		_, _, _, err := shut.Signup(t.Context(), access.Client{})
		if d := denied(t, err, access.SignupClosed); d.Status() != 403 {
			t.Errorf("status %d", d.Status())
		}
		s := service(t, registry.Config{Store: open(t), Now: c.Now, AllowSignup: true, SignupsPerHour: 2})
		home := access.Client{Addr: netip.MustParseAddr("2001:db8::1")}
		key, account, credits, err := s.Signup(t.Context(), home)
		if err != nil || credits != 100 {
			t.Fatalf("credits %d: %v", credits, err)
		}
		g := admit(t, s, key)
		if g.Account != account || g.Plan != "free" || g.Scopes.Allow(access.ScopeAdmin) {
			t.Errorf("granted %+v", g)
		}
		_, err = s.Admit(t.Context(), registry.Call{Key: key, Scope: access.ScopeAdmin})
		denied(t, err, access.ScopeDenied)
		for range 100 {
			if _, err := s.Reserve(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.Reserve(t.Context(), g)
		if d := denied(t, err, access.SpendingExceeded); d.Plan != "free" || d.Used != 100 || d.Limit != 100 {
			t.Errorf("denial %+v", d)
		}
		// The limit is by network: the same /64 has one more, another has its own.
		if _, _, _, err := s.Signup(t.Context(), access.Client{Addr: netip.MustParseAddr("2001:db8::2")}); err != nil {
			t.Fatal(err)
		}
		_, _, _, err = s.Signup(t.Context(), home)
		if d := denied(t, err, access.RateExceeded); d.RetryAfter != 90*time.Second {
			t.Errorf("retry after %v", d.RetryAfter)
		}
		if _, _, _, err := s.Signup(t.Context(), access.Client{Addr: netip.MustParseAddr("2001:db8:0:1::1")}); err != nil {
			t.Fatal(err)
		}
		c.set(c.Now().Add(90 * time.Second))
		if _, _, _, err := s.Signup(t.Context(), home); err != nil {
			t.Errorf("in the next hour: %v", err)
		}
		if _, err := s.AddAccess(t.Context(), "", access.Rule{Action: access.Block, Kind: access.KindIP, Value: "2001:db8:9::1"}, ""); err != nil {
			t.Fatal(err)
		}
		_, _, _, err = s.Signup(t.Context(), access.Client{Addr: netip.MustParseAddr("2001:db8:9::1")})
		denied(t, err, access.AccessListBlock)
	})
}

func TestCreateKeyRefuses(t *testing.T) {
	open := storetest.SQLite(t)
	s := service(t, registry.Config{Store: open(t)})
	for name, k := range map[string]registry.NewKey{
		"a limit below 0":    {Limits: access.Limits{PerMonth: n(-1)}},
		"a huge limit":       {Limits: access.Limits{Spend: n(access.MaxLimit + 1)}},
		"credits below 0":    {Credits: n(-1)},
		"an unknown scope":   {Scopes: access.Scopes{"root"}},
		"a name of lines":    {Name: "a\nb"},
		"a name not UTF-8":   {Name: "a\xff"},
		"an account of dots": {Account: "a/../b"},
	} {
		if _, err := s.CreateKey(t.Context(), k); !errors.Is(err, registry.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if keys, err := s.ListKeys(t.Context(), "", "", 0); err != nil || len(keys) != 0 {
		t.Errorf("%d keys were stored (%v)", len(keys), err)
	}
	broken := service(t, registry.Config{Store: open(t), Random: io.LimitReader(zero{}, 10)})
	if _, err := broken.CreateKey(t.Context(), registry.NewKey{}); err == nil {
		t.Error("a key was made of 10 random bytes")
	}
}

type zero struct{}

func (zero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
