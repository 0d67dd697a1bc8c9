package alert_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/alert"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/secret"
	"github.com/toolmark/toolmark/internal/store/postgres"
	"github.com/toolmark/toolmark/internal/store/sqlite"
	"github.com/toolmark/toolmark/internal/store/storetest"
	"github.com/toolmark/toolmark/rulepack"
	"github.com/toolmark/toolmark/scan"
)

var caller = registry.Caller{Account: "acct", Actor: "key_a"}

// list is a server that serves one tool with the description it is set to.
type list struct {
	mu   sync.Mutex
	text string
}

func (l *list) set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = text
}

func (l *list) Probe(context.Context, registry.Target) (*toolmark.Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text == "" {
		return nil, &toolmark.Error{Code: toolmark.ErrCannotConnect, Message: "connection refused"}
	}
	doc := []byte(fmt.Sprintf(`{"toolmarkSnapshot":1,"tools":[{"name":"t","description":%q}]}`, l.text))
	tree, err := canonjson.Parse(doc, canonjson.Options{})
	if err != nil {
		return nil, err
	}
	m, err := toolmark.ReadManifest(tree)
	if err != nil {
		return nil, err
	}
	return &toolmark.Snapshot{Manifest: m, ReadAt: time.Now(), Bytes: doc}, nil
}

func service(t *testing.T, store registry.Store, l *list, change ...func(*registry.Config)) *registry.Service {
	t.Helper()
	rules, err := rulepack.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := scan.New(scan.Config{Rules: rules, Budget: -1})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := secret.Parse(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	cfg := registry.Config{Store: store, Probe: l, Scanner: scanner, Secrets: ring, PlainWebhooks: true, Fresh: time.Nanosecond}
	for _, f := range change {
		f(&cfg)
	}
	s, err := registry.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// receiver keeps what it was sent, and answers as it is told.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status []int // of the next answers; then 204
	got    []received
}

type received struct {
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T, status ...int) *receiver {
	r := &receiver{status: status}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, received{request.Header.Clone(), body})
		status := http.StatusNoContent
		if len(r.status) > 0 {
			status, r.status = r.status[0], r.status[1:]
		}
		if status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func start(t *testing.T, store registry.Store, s *registry.Service, cfg alert.Config, log io.Writer) *alert.Sender {
	t.Helper()
	if cfg.Client == nil {
		cfg.Client = &http.Client{}
	}
	cfg.Sweep = 20 * time.Millisecond
	if log == nil {
		log = io.Discard
	}
	cfg.Log = slog.New(slog.NewTextHandler(log, nil))
	var sender *alert.Sender
	var err error
	switch store := store.(type) {
	case *sqlite.Store:
		sender, err = alert.Start[*sql.Tx](t.Context(), store, s, cfg)
	case *postgres.Store:
		sender, err = alert.Start[pgx.Tx](t.Context(), store, s, cfg)
	default:
		t.Fatalf("a store of type %T", store)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := sender.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return sender
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: it did not happen", what)
		}
	}
}

func hook(t *testing.T, s *registry.Service, url string, kinds ...registry.EventKind) *registry.Webhook {
	t.Helper()
	w, err := s.CreateWebhook(t.Context(), caller, registry.NewWebhook{URL: url, Events: kinds})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func deliveries(t *testing.T, s *registry.Service, webhook string, state registry.DeliveryState) []registry.DeliveryRecord {
	t.Helper()
	page, err := s.Deliveries(t.Context(), caller, webhook, state, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	return page.Deliveries
}

// TestEachChangeIsToldOnce has two replicas tell of a change, of a server that goes and of
// one that comes back: each receiver gets what it asked for, once, signed with its secret.
func TestEachChangeIsToldOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		l := &list{text: "Tells the time."}
		stores := []registry.Store{open(t), open(t)}
		one, two := service(t, stores[0], l), service(t, stores[1], l)
		everything, outages := newReceiver(t), newReceiver(t)
		all := hook(t, one, everything.URL+"/in?token=s3cret")
		some := hook(t, one, outages.URL, registry.ServerUnreachable, registry.ServerRecovered)
		server, err := one.RegisterServer(t.Context(), caller, registry.NewServer{URL: "https://host.example/mcp", Name: "clock"})
		if err != nil {
			t.Fatal(err)
		}
		start(t, stores[0], one, alert.Config{Version: "9.9"}, nil)
		start(t, stores[1], two, alert.Config{Version: "9.9"}, nil)

		for _, text := range []string{"Tells the time, and the date.", "", "Tells the time, and the date."} {
			l.set(text)
			if err := one.Check(t.Context(), server.ID, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "three events for one, two for the other", func() bool { return len(everything.all()) >= 3 && len(outages.all()) >= 2 })
		eventually(t, "all delivered", func() bool {
			return len(deliveries(t, one, all.ID, registry.DeliveryDelivered)) == 3 && len(deliveries(t, one, some.ID, registry.DeliveryDelivered)) == 2
		})
		time.Sleep(100 * time.Millisecond) // what would be told twice would be told by now

		kinds := map[string]int{}
		for _, r := range everything.all() {
			if err := alert.Verify(all.Secret, r.header, r.body, time.Now()); err != nil {
				t.Errorf("the signature: %v", err)
			}
			if err := alert.Verify(some.Secret, r.header, r.body, time.Now()); !errors.Is(err, alert.ErrSignature) {
				t.Errorf("another webhook's secret: %v", err)
			}
			var m registry.Message
			if err := json.Unmarshal(r.body, &m); err != nil || m.ID != r.header.Get(alert.HeaderID) || r.header.Get("User-Agent") != "toolmark/9.9" {
				t.Errorf("%v %s %v", err, r.body, r.header)
			}
			kinds[string(m.Type)]++
			if m.Type == registry.DriftDetected && !strings.Contains(string(r.body), "and the date") {
				t.Errorf("the event does not quote the new text: %s", r.body)
			}
		}
		if len(kinds) != 3 || kinds["drift.detected"] != 1 || kinds["server.unreachable"] != 1 || kinds["server.recovered"] != 1 {
			t.Errorf("told: %v", kinds)
		}
		if n := len(outages.all()); n != 2 {
			t.Errorf("the other receiver got %d", n)
		}
		page, err := two.Webhooks(t.Context(), caller, "", 10)
		if err != nil || len(page.Webhooks) != 2 {
			t.Fatalf("%+v %v", page, err)
		}
		for _, w := range page.Webhooks {
			if w.Secret != "" || strings.Contains(w.URL, "s3cret") {
				t.Errorf("shown: %+v", w)
			}
		}
	})
}

// TestRetriesThenDeadThenReplayed: an attempt that fails is made again under the same id;
// what is given up stays in the list of the dead and goes out again when it is replayed.
func TestRetriesThenDeadThenReplayed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open storetest.Opener) {
		store := open(t)
		l := &list{text: "Tells the time."}
		s := service(t, store, l)
		flaky, broken, gone, moved := newReceiver(t, 500, 503), newReceiver(t, 500, 500, 500), newReceiver(t, http.StatusGone), newReceiver(t, 302, 302, 302)
		hooks := map[*receiver]*registry.Webhook{}
		for _, r := range []*receiver{flaky, broken, gone, moved} {
			hooks[r] = hook(t, s, r.URL+"/path-with-s3cret", registry.DriftDetected)
		}
		server, err := s.RegisterServer(t.Context(), caller, registry.NewServer{URL: "https://host.example/mcp"})
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		sender := start(t, store, s, alert.Config{Waits: []time.Duration{10 * time.Millisecond, 10 * time.Millisecond}}, &log)
		l.set("Tells another time.")
		if err := s.Check(t.Context(), server.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the ends of all four", func() bool {
			return len(deliveries(t, s, hooks[flaky].ID, registry.DeliveryDelivered)) == 1 && len(deliveries(t, s, hooks[broken].ID, registry.DeliveryDead)) == 1 &&
				len(deliveries(t, s, hooks[gone].ID, registry.DeliveryDead)) == 1 && len(deliveries(t, s, hooks[moved].ID, registry.DeliveryDead)) == 1
		})
		got := flaky.all()
		if len(got) != 3 || got[0].header.Get(alert.HeaderID) != got[2].header.Get(alert.HeaderID) {
			t.Errorf("%d attempts", len(got))
		}
		if d := deliveries(t, s, hooks[flaky].ID, "")[0]; d.Attempts != 3 || d.Status != http.StatusNoContent || d.Fault != "" {
			t.Errorf("%+v", d)
		}
		dead := deliveries(t, s, hooks[broken].ID, registry.DeliveryDead)[0]
		if dead.Attempts != 3 || dead.Status != 500 || !strings.Contains(dead.Fault, "answered 500") {
			t.Errorf("%+v", dead)
		}
		if d := deliveries(t, s, hooks[gone].ID, "")[0]; d.Attempts != 1 || d.Status != http.StatusGone {
			t.Errorf("410 ends it: %+v", d)
		}
		if d := deliveries(t, s, hooks[moved].ID, "")[0]; !strings.Contains(d.Fault, "redirects are not followed") || len(moved.all()) != 3 {
			t.Errorf("%+v, %d requests", d, len(moved.all()))
		}

		if err := s.Replay(t.Context(), caller, hooks[broken].ID, dead.ID); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the replay", func() bool { return len(deliveries(t, s, hooks[broken].ID, registry.DeliveryDelivered)) == 1 })
		if got := broken.all(); len(got) != 4 || got[0].header.Get(alert.HeaderID) != got[3].header.Get(alert.HeaderID) {
			t.Errorf("%d requests", len(got))
		}
		for _, c := range []struct {
			who               registry.Caller
			webhook, delivery string
		}{
			{registry.Caller{Account: "other"}, hooks[broken].ID, dead.ID}, {caller, hooks[gone].ID, dead.ID}, {caller, "hook_none", dead.ID}, {caller, hooks[broken].ID, "dlv_none"},
		} {
			if err := s.Replay(t.Context(), c.who, c.webhook, c.delivery); !errors.Is(err, registry.ErrNotFound) {
				t.Errorf("replay %+v: %v", c, err)
			}
		}
		if err := sender.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log.String(), "s3cret") || strings.Contains(log.String(), "whsec_") || !strings.Contains(log.String(), "given up") {
			t.Errorf("the log: %s", log.String())
		}
	})
}

// TestReceiverThatCannotBeReached: no receiver, one that never answers, and one that the
// guard refuses; the fault says which, and never where.
func TestReceiverThatCannotBeReached(t *testing.T) {
	store := storetest.SQLite(t)(t)
	l := &list{text: "Tells the time."}
	s := service(t, store, l)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer silent.Close()
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	inside := hook(t, s, "http://inside.example/s3cret", registry.DriftDetected)
	late, away := hook(t, s, silent.URL, registry.DriftDetected), hook(t, s, nobody.URL, registry.DriftDetected)
	server, err := s.RegisterServer(t.Context(), caller, registry.NewServer{URL: "https://host.example/mcp"})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: refusing{http.DefaultTransport}}
	start(t, store, s, alert.Config{Client: client, Timeout: 200 * time.Millisecond, Waits: []time.Duration{}}, nil)
	l.set("Tells another time.")
	if err := s.Check(t.Context(), server.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{inside.ID: "address_refused: not a public address", late.ID: "did not answer in time", away.ID: "no connection to the receiver"} {
		eventually(t, want, func() bool { return len(deliveries(t, s, id, registry.DeliveryDead)) == 1 })
		if d := deliveries(t, s, id, "")[0]; !strings.Contains(d.Fault, want) || d.Status != 0 || strings.Contains(d.Fault, "s3cret") {
			t.Errorf("%+v, want %q", d, want)
		}
	}
}

// refusing refuses one host as the guard does.
type refusing struct{ http.RoundTripper }

func (r refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host == "inside.example" {
		return nil, &toolmark.Error{Code: toolmark.ErrAddressRefused, Message: "not a public address"}
	}
	return r.RoundTripper.RoundTrip(request)
}

func TestWebhooksThatCannotBe(t *testing.T) {
	store := storetest.SQLite(t)(t)
	strict := service(t, store, &list{}, func(cfg *registry.Config) { cfg.PlainWebhooks = false })
	for _, c := range []struct {
		s    *registry.Service
		n    registry.NewWebhook
		part string
	}{
		{strict, registry.NewWebhook{URL: "http://host.example/"}, "begins with https://"},
		{strict, registry.NewWebhook{URL: "ftp://host.example/"}, "https://"},
		{strict, registry.NewWebhook{URL: "https://user:pw@host.example/"}, "user"},
		{strict, registry.NewWebhook{URL: ""}, "URL"},
		{strict, registry.NewWebhook{URL: "https://host.example/", Events: []registry.EventKind{"drift"}}, "no such event"},
		{service(t, store, &list{}, func(cfg *registry.Config) { cfg.Secrets = nil }), registry.NewWebhook{URL: "https://host.example/"}, "--secret-key-file"},
	} {
		if _, err := c.s.CreateWebhook(t.Context(), caller, c.n); !errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%+v: %v, want %q", c.n, err, c.part)
		}
	}
	for range registry.MaxWebhooks {
		hook(t, strict, "https://host.example/")
	}
	if _, err := strict.CreateWebhook(t.Context(), caller, registry.NewWebhook{URL: "https://host.example/"}); !errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), "at most") {
		t.Errorf("one too many: %v", err)
	}
}
