package httpapi

import (
	"net/http"
	"time"

	"github.com/toolmark/toolmark"
)

// readObject reads a small body, which must be an object.
func (x *exchange) readObject() (*toolmark.Value, error) {
	body, err := x.readBody(smallBody)
	if err != nil {
		return nil, err
	}
	defer body.Release()
	v, err := parse(body.bytes)
	if err != nil {
		return nil, err
	}
	if v.Kind != toolmark.KindObject {
		var list faults
		list.add(faultObject, "the body must be an object, not "+article(v))
		return nil, list.failure()
	}
	return v, nil
}

// signup answers POST /v1/accounts/signup. The key is shown here and nowhere else.
func (a *API) signup(x *exchange) error {
	v, err := x.readObject()
	if err != nil {
		return err
	}
	var list faults
	switch accepted := v.Get("accept_terms"); accepted.Kind {
	case toolmark.KindTrue:
	case toolmark.KindAbsent:
		list.add(faultMissing, "accept_terms is required", "accept_terms")
	case toolmark.KindFalse:
		list.add(faultValue, "accept_terms must be true: there is no account without them", "accept_terms")
	default:
		list.add(faultBool, "accept_terms must be true, not "+article(accepted), "accept_terms")
	}
	if err := list.failure(); err != nil {
		return err
	}
	ctx, cancel := x.database()
	defer cancel()
	key, account, credits, err := a.accounts.Signup(ctx, x.client())
	if err != nil {
		return known(err)
	}
	return x.reply(http.StatusOK, struct {
		APIKey    string `json:"api_key"`
		AccountID string `json:"account_id"`
		Credits   int64  `json:"credits"`
	}{key, account, credits})
}

// usage answers GET /api/v1/usage/stats for the key it was asked with.
func (a *API) usage(x *exchange) error {
	ctx, cancel := x.database()
	defer cancel()
	u, err := a.accounts.Usage(ctx, x.grant)
	if err != nil {
		return known(err)
	}
	return x.reply(http.StatusOK, struct {
		RequestsUsed  int64  `json:"requests_used"`
		RequestsLimit *int64 `json:"requests_limit"` // null: no limit
		Overage       int64  `json:"overage"`
		ResetAt       string `json:"reset_at"`
	}{u.RequestsUsed, u.RequestsLimit, u.Overage, u.ResetAt.UTC().Format(time.RFC3339)})
}
