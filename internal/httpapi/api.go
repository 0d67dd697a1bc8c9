package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/scan"
)

// Scanner scans lists; *scan.Scanner is one.
type Scanner interface {
	Scan(ctx context.Context, req scan.Request) (*toolmark.Report, error)
}

// Config is what the API needs. Accounts, Admin, Servers, Questions and Scanner have no
// default.
type Config struct {
	Accounts Accounts
	Admin    Admin
	Scanner  Scanner
	// Servers and Questions are the registry of servers.
	Servers   Servers
	Questions registry.Questions
	// Webhooks is where events are sent.
	Webhooks Webhooks
	// PublicTools lets callers without a key ask about servers and texts.
	PublicTools bool

	// MCP answers /mcp; nil leaves it out.
	MCP MCP

	// Ready says why the service cannot answer yet or any more; nil means it can.
	Ready func(ctx context.Context) error
	// Proxies are those whose word on a client's address is taken; none by default.
	Proxies access.Proxies
	// Unavailable reports whether an error means that the database does not answer now: a
	// 503 rather than a 500. nil takes no error for that but a wait that took too long.
	Unavailable func(error) bool
	// DatabaseTime is how long the database may take to let a request in or to count it;
	// 0 means 5 seconds.
	DatabaseTime time.Duration
	// Country gives the ISO 3166-1 alpha-2 code of an address, "" where it has none;
	// nil knows no countries.
	Country func(netip.Addr) string

	// Concurrency is how many scans run at once; 0 means GOMAXPROCS.
	Concurrency int
	// Queue is how many scans may wait; 0 means 2,048 for each that runs, less than 0
	// none. What their bodies take in memory is bounded besides.
	Queue int
	// QueueWait is the longest a scan waits for a turn; 0 means 5 seconds.
	QueueWait time.Duration
	// BodyTimeout is the time a client has to send its body; 0 means 10 seconds.
	BodyTimeout time.Duration

	// Community is what /readyz says of the community rules; the zero value says that
	// they are off.
	Community Community

	// Version is shown in the OpenAPI document's place and in metrics.
	Version string
	// Log gets a line a request; nil logs nothing.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// NewID makes the ids of requests; nil means 16 random bytes in base 32.
	NewID func() string
	// Traces gets a span a request; nil traces nothing.
	Traces trace.TracerProvider
	// Collectors are shown in /metrics beside the requests.
	Collectors []prometheus.Collector
}

// API answers requests. Make it with New; it may be used by several goroutines.
type API struct {
	accounts Accounts
	admin    Admin
	scanner  Scanner

	servers     Servers
	webhooks    Webhooks
	questions   registry.Questions
	publicTools bool

	mcp     MCP
	ready   func(ctx context.Context) error
	proxies access.Proxies
	country func(netip.Addr) string

	unavailable  func(error) bool
	databaseTime time.Duration

	community   Community
	gate        *gate
	bodyTimeout time.Duration
	log         *slog.Logger
	now         func() time.Time
	newID       func() string
	tracer      trace.Tracer
	metrics     *metrics

	mux    *http.ServeMux
	routes []route
}

// New makes an API. It fails where cfg lacks what has no default.
func New(cfg Config) (*API, error) {
	if cfg.Accounts == nil || cfg.Admin == nil || cfg.Scanner == nil || cfg.Servers == nil || cfg.Webhooks == nil || cfg.Questions == nil {
		return nil, errors.New("httpapi: Accounts, Admin, Servers, Webhooks, Questions and Scanner must be given")
	}
	a := &API{
		accounts: cfg.Accounts, admin: cfg.Admin, servers: cfg.Servers, webhooks: cfg.Webhooks, questions: cfg.Questions, publicTools: cfg.PublicTools, scanner: cfg.Scanner, mcp: cfg.MCP,
		ready: cfg.Ready, proxies: cfg.Proxies, country: cfg.Country, community: cfg.Community,
		bodyTimeout: cfg.BodyTimeout, log: cfg.Log, now: cfg.Now, newID: cfg.NewID,
	}
	if a.ready == nil {
		a.ready = func(context.Context) error { return nil }
	}
	a.unavailable, a.databaseTime = cfg.Unavailable, cfg.DatabaseTime
	if a.unavailable == nil {
		a.unavailable = func(error) bool { return false }
	}
	if a.databaseTime == 0 {
		a.databaseTime = 5 * time.Second
	}
	if a.country == nil {
		a.country = func(netip.Addr) string { return "" }
	}
	if a.bodyTimeout == 0 {
		a.bodyTimeout = 10 * time.Second
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.newID == nil {
		a.newID = randomID
	}
	if cfg.Traces == nil {
		cfg.Traces = noop.NewTracerProvider()
	}
	a.tracer = cfg.Traces.Tracer("github.com/toolmark/toolmark/internal/httpapi")

	cores, queue, wait := cfg.Concurrency, cfg.Queue, cfg.QueueWait
	if cores <= 0 {
		cores = runtime.GOMAXPROCS(0)
	}
	if queue == 0 {
		queue = 2048 * cores
	}
	if wait == 0 {
		wait = 5 * time.Second
	}
	a.gate = newGate(cores, max(queue, 0), wait)
	metrics, err := newMetrics(cfg.Version, cfg.Collectors)
	if err != nil {
		return nil, err
	}
	a.metrics = metrics
	if err := a.mount(); err != nil {
		return nil, err
	}
	return a, nil
}

// mount puts every path of the routes into the mux. One path is one entry, whatever
// its methods, so that a wrong method is ours to answer.
func (a *API) mount() error {
	documents, err := newDocuments()
	if err != nil {
		return err
	}
	a.routes = a.table(documents)
	a.mux = http.NewServeMux()
	byPath := map[string][]*route{}
	var paths []string
	for i := range a.routes {
		r := &a.routes[i]
		if byPath[r.path] == nil {
			paths = append(paths, r.path)
		}
		byPath[r.path] = append(byPath[r.path], r)
	}
	for _, path := range paths {
		routes := byPath[path]
		a.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.(*exchange).dispatch(path, routes, r)
		})
	}
	a.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.(*exchange).fail(notFound()) })
	return nil
}

// allow gives the methods of a path, for Allow (RFC 9110, section 10.2.1).
func allow(routes []*route) string {
	methods := []string{http.MethodOptions}
	for _, r := range routes {
		methods = append(methods, r.method)
		if r.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

func randomID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the program first
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}
