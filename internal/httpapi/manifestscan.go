package httpapi

import (
	"context"
	"fmt"
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
	reservation, err := a.accounts.Reserve(ctx, x.grant)
	if err != nil {
		return known(err)
	}
	var answer []byte
	err = a.gate.turn(ctx, func() (err error) {
		answer, err = a.scan(ctx, req)
		return err
	})
	if err != nil {
		if giveBack := reservation.Release(ctx); giveBack != nil {
			return internal(fmt.Errorf("give a scan back that did not run: %w (it did not run because: %w)", giveBack, err))
		}
		return err
	}
	return x.send(http.StatusOK, answer)
}

// scan runs one scan and gives the answer's bytes.
func (a *API) scan(ctx context.Context, req *scanRequest) ([]byte, error) {
	ctx, span := a.tracer.Start(ctx, "scan", trace.WithSpanKind(trace.SpanKindInternal))
	defer span.End()
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
