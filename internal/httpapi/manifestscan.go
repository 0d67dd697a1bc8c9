package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/scan"
)

// Accounts lets requests in and counts them; *registry.Service is one.
type Accounts interface {
	Admit(ctx context.Context, call registry.Call) (*registry.Grant, error)
	AdmitPublic(ctx context.Context, client access.Client) (access.Rate, error)
	Reserve(ctx context.Context, grant *registry.Grant) (*registry.Reservation, error)
	Usage(ctx context.Context, grant *registry.Grant) (access.Usage, error)
	Signup(ctx context.Context, client access.Client) (key, account string, credits int64, err error)
}

// manifestScan answers POST /api/v1/mcp/manifest-scan. A core is held only while it
// works, not while the quota is asked for.
func (a *API) manifestScan(x *exchange) error {
	ctx := x.r.Context()
	body, err := x.readBody(toolmark.MaxBody)
	if err != nil {
		return err
	}
	defer body.Release()
	leave, err := a.gate.enter(ctx, body.bytes)
	if err != nil {
		return err
	}
	defer leave()

	var req *scanRequest
	err = a.gate.turn(ctx, func() error {
		tree, err := parse(body.bytes)
		if err != nil {
			return err
		}
		req, err = readScan(tree)
		return err
	})
	if err != nil {
		return err
	}
	counting, cancel := x.database()
	reservation, err := a.accounts.Reserve(counting, x.grant)
	cancel()
	if err != nil {
		return known(err)
	}
	ran := false
	defer func() {
		if !ran { // an error, a client that left, a panic
			x.giveBack(reservation)
		}
	}()
	var answer []byte
	err = a.gate.turn(ctx, func() (err error) {
		answer, err = x.scan(ctx, req)
		return err
	})
	if err != nil {
		return err
	}
	ran = true
	return x.send(http.StatusOK, answer)
}

// giveBack takes back the count of a scan that did not run.
func (x *exchange) giveBack(r *registry.Reservation) {
	if err := r.Release(x.r.Context()); err != nil {
		x.api.log.Error("a scan that did not run stays counted", slog.String("request_id", x.id), slog.String("cause", err.Error()))
	}
}

// scan runs one scan and gives the answer's bytes. A panic must not reach the end of
// the span, which would write its value down: it may be text of the list.
func (x *exchange) scan(ctx context.Context, req *scanRequest) (_ []byte, err error) {
	a := x.api
	ctx, span := a.tracer.Start(ctx, "scan", trace.WithSpanKind(trace.SpanKindInternal))
	defer span.End()
	defer func() {
		if v := recover(); v != nil {
			err = x.panicked(v)
		}
	}()
	start := time.Now()
	report, err := a.scanner.Scan(ctx, scan.Request{Manifest: req.manifest, Scope: req.scope})
	if err != nil {
		return nil, err
	}
	answer, err := encode(report)
	if err != nil {
		return nil, internal(err)
	}
	a.metrics.scanned(report, time.Since(start).Seconds())
	return answer, nil
}
