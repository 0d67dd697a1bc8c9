package registry_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

// TestPrecallOfAStranger: nothing of a server that is not registered is stored.
func TestPrecallOfAStranger(t *testing.T) {
	w := onSQLite(t)
	w.world.serve(someURL, listOf("3", "clean: Adds.", "odd: Adds\u200b\u200b two."))
	p, err := w.Precall(t.Context(), caller, someURL)
	if err != nil {
		t.Fatal(err)
	}
	if p.Registered || p.Server != nil || p.Matches != nil || p.Drift != nil || !p.Reachable || p.Why != nil {
		t.Errorf("%+v", p)
	}
	if len(p.Pin) != 64 || !strings.HasPrefix(string(p.Fingerprint), toolmark.FingerprintPrefix) || p.Says.Version != "3" || p.Incomplete {
		t.Errorf("%+v", p)
	}
	if len(p.Text) != 3 || p.Text[0].Hidden || !p.Text[0].Checked || !p.Text[1].Hidden || len(p.Text[1].Findings) != 1 || p.Text[2].Tool != "*" {
		t.Errorf("text %+v", p.Text)
	}
	if len(p.Findings) == 0 || p.Findings[0].Code != toolmark.CodeHiddenText {
		t.Errorf("findings %+v", p.Findings)
	}
	all, err := w.store.FindServers(t.Context(), registry.ServerQuery{Limit: 10})
	if err != nil || len(all) != 0 || w.events(t) != "" {
		t.Errorf("something was stored: %v (%v)", all, err)
	}
	w.world.fail(someURL, toolmark.ErrAddressRefused, "not connected")
	p, err = w.Precall(t.Context(), caller, someURL)
	if err != nil || p.Reachable || p.Why.Code != toolmark.ErrAddressRefused || p.Pin != "" || len(p.Text) != 0 {
		t.Errorf("%+v (%v)", p, err)
	}
	if _, err := w.Precall(t.Context(), caller, "ftp://mail.example/"); !errors.Is(err, registry.ErrInvalid) {
		t.Errorf("another scheme: %v", err)
	}
}

func TestPrecallOfARegisteredServer(t *testing.T) {
	w := onSQLite(t)
	w.world.serve(someURL, listOf("1", "a: A."))
	s := w.register(t, registry.NewServer{URL: someURL, Name: "x"})
	p, err := w.Precall(t.Context(), caller, someURL)
	if err != nil || !p.Registered || p.Server.ID != s.ID || !*p.Matches || p.Approved || !p.Drift.Empty() {
		t.Errorf("%+v (%v)", p, err)
	}
	w.world.serve(someURL, listOf("2", "a: B."))
	w.pass(time.Minute)
	p, err = w.Precall(t.Context(), caller, someURL)
	if err != nil || *p.Matches || len(p.Drift.Changes) != 2 || p.Says.Version != "2" {
		t.Errorf("%+v (%v)", p, err)
	}
	w.world.fail(someURL, toolmark.ErrTLS, "bad certificate")
	w.pass(time.Minute)
	p, err = w.Precall(t.Context(), caller, someURL)
	if err != nil || p.Reachable || p.Matches != nil || p.Drift != nil || p.Why.Code != toolmark.ErrTLS || !p.Registered {
		t.Errorf("%+v (%v)", p, err)
	}
}

func TestCollisions(t *testing.T) {
	w := onSQLite(t)
	const other = "https://other.example/mcp"
	w.world.serve(other, listOf("1", "send_mail: A.", "read: B.", "own: C."))
	w.register(t, registry.NewServer{URL: other, Name: "other"})
	w.world.serve(someURL, listOf("1", "Send-Mail: A.", "re\u0430d: B.", "fresh: D."))
	p, err := w.Precall(t.Context(), caller, someURL)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range p.Collisions {
		got = append(got, string(c.Tool)+"="+string(c.Server.Name)+"/"+string(c.ServerTool)+" "+c.Match)
	}
	want := "Send-Mail=other/send_mail normalized, re\u0430d=other/read confusable"
	if strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", strings.Join(got, ", "), want)
	}
	// A server does not collide with itself.
	p, err = w.Precall(t.Context(), caller, other)
	if err != nil || len(p.Collisions) != 0 {
		t.Errorf("%+v (%v)", p.Collisions, err)
	}
}

func TestManyCollisions(t *testing.T) {
	w := onSQLite(t)
	var tools []string
	for _, c := range strings.Repeat("x", 150) {
		tools = append(tools, "t"+strings.Repeat(string(c), len(tools)+1)+": T.")
	}
	w.world.serve("https://other.example/mcp", listOf("1", tools...))
	w.register(t, registry.NewServer{URL: "https://other.example/mcp"})
	w.world.serve(someURL, listOf("1", tools...))
	p, err := w.Precall(t.Context(), caller, someURL)
	if err != nil || len(p.Collisions) != registry.MaxCollisions || !p.MoreCollisions {
		t.Errorf("%d collisions, more: %v (%v)", len(p.Collisions), p.MoreCollisions, err)
	}
}

func TestScanText(t *testing.T) {
	w := onSQLite(t)
	r, err := w.ScanText("a\nb\u200bc <!-- x -->")
	if err != nil || !r.Hidden || len(r.Hits) != 2 || r.Hits[0].Line != 2 || r.Hits[0].Column != 2 || r.Hits[0].Start != 3 || strings.Contains(string(r.Sanitized), "\u200b") {
		t.Errorf("%+v (%v)", r, err)
	}
	if _, err := w.ScanText(strings.Repeat("a", registry.MaxText+1)); !errors.Is(err, registry.ErrInvalid) {
		t.Errorf("a long text: %v", err)
	}
}
