package registry_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/secret"
	"github.com/toolmark/toolmark/internal/store/storetest"
	"github.com/toolmark/toolmark/rulepack"
	"github.com/toolmark/toolmark/scan"
)

// world is the servers that a test's service can reach, by URL or first part of the
// command. It counts what was read and what was sent.
type world struct {
	mu     sync.Mutex
	now    func() time.Time
	lists  map[string]string // "" is a server that does not answer
	failed map[string]*toolmark.Error
	byCall func(t registry.Target) string // where a list depends on who asks
	probes int
	last   registry.Target
	before func() // called in each probe
}

func (w *world) serve(url, list string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lists[url] = list
	delete(w.failed, url)
}

func (w *world) fail(url string, code toolmark.ErrorCode, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed[url] = &toolmark.Error{Code: code, Message: message}
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.probes
}

// Probe makes the document that package probe makes.
func (w *world) Probe(ctx context.Context, t registry.Target) (*toolmark.Snapshot, error) {
	w.mu.Lock()
	w.probes++
	w.last = t
	name := t.URL
	if name == "" {
		name = t.Command[0]
	}
	list, failed, before := w.lists[name], w.failed[name], w.before
	if w.byCall != nil {
		list = w.byCall(t)
	}
	w.mu.Unlock()
	if before != nil {
		before()
	}
	if err := ctx.Err(); err != nil {
		return nil, &toolmark.Error{Code: toolmark.ErrTimeout, Message: "stopped", Err: err}
	}
	if failed != nil {
		return nil, failed
	}
	if list == "" {
		return nil, &toolmark.Error{Code: toolmark.ErrCannotConnect, Message: name + ": connection refused"}
	}
	at := w.now()
	doc := fmt.Sprintf(`{"toolmarkSnapshot":1,"source":%q,"readAt":%q,"protocolVersion":"2025-11-25",%s}`, name, at.Format(time.RFC3339Nano), list)
	tree, err := canonjson.Parse([]byte(doc), canonjson.Options{})
	if err != nil {
		return nil, err
	}
	m, err := toolmark.ReadManifest(tree)
	if err != nil {
		return nil, err
	}
	return &toolmark.Snapshot{Source: name, Manifest: m, ReadAt: at, Bytes: []byte(doc)}, nil
}

// listOf writes what a server declares: its version and tools, each "name: description".
func listOf(version string, tools ...string) string {
	var all []string
	for _, t := range tools {
		name, description, _ := strings.Cut(t, ": ")
		all = append(all, fmt.Sprintf(`{"name":%s,"description":%s,"inputSchema":{"type":"object"}}`, quoted(name), quoted(description)))
	}
	return fmt.Sprintf(`"serverInfo":{"name":"srv","version":%q},"tools":[%s]`, version, strings.Join(all, ","))
}

func quoted(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(out)
}

const someURL = "https://mail.example/mcp"

var caller = registry.Caller{Account: "acct", Actor: "key_a"}

func ring(tb testing.TB) *secret.Ring {
	tb.Helper()
	r, err := secret.Parse(base64.StdEncoding.EncodeToString(make([]byte, secret.KeySize)))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// watched is a service over a world, on a store, at a time that the test moves.
type watched struct {
	*registry.Service
	world *world
	clock *clock
	store registry.Store
}

func watching(tb testing.TB, store registry.Store, change ...func(*registry.Config)) *watched {
	tb.Helper()
	c := newClock()
	w := &world{now: c.Now, lists: map[string]string{}, failed: map[string]*toolmark.Error{}}
	rules, err := rulepack.Builtin()
	if err != nil {
		tb.Fatal(err)
	}
	scanner, err := scan.New(scan.Config{Rules: rules, Budget: -1})
	if err != nil {
		tb.Fatal(err)
	}
	cfg := registry.Config{Store: store, Now: c.Now, Probe: w, Scanner: scanner, Secrets: ring(tb)}
	for _, f := range change {
		f(&cfg)
	}
	return &watched{Service: service(tb, cfg), world: w, clock: c, store: store}
}

func onSQLite(t *testing.T, change ...func(*registry.Config)) *watched {
	t.Helper()
	return watching(t, storetest.SQLite(t)(t), change...)
}

// pass lets time go by.
func (w *watched) pass(d time.Duration) { w.clock.set(w.clock.Now().Add(d)) }

func (w *watched) register(t *testing.T, n registry.NewServer) *registry.Server {
	t.Helper()
	s, err := w.RegisterServer(t.Context(), caller, n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask asks about a server a minute later.
func (w *watched) ask(t *testing.T, server string) *registry.Integrity {
	t.Helper()
	w.pass(time.Minute)
	i, err := w.Integrity(t.Context(), caller, server)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func (w *watched) approveCurrent(t *testing.T, server string) {
	t.Helper()
	s, err := w.Server(t.Context(), caller, server)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Approve(t.Context(), caller, server, registry.NewApproval{Snapshot: s.Current.ID, Note: "read it"}); err != nil {
		t.Fatal(err)
	}
}

// events gives the kinds of what is in the outbox, in order.
func (w *watched) events(t *testing.T) string {
	t.Helper()
	all, err := w.store.PendingEvents(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range all {
		kinds = append(kinds, string(e.Kind))
	}
	return strings.Join(kinds, " ")
}
