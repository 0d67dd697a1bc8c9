package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"
)

type wireStatus struct {
	Status string `json:"status"`
}

// Community is the state of the community rules (E003), as it was when the service
// started.
type Community struct {
	On bool `json:"on"`
	// Version is that of the pack, absent where the rules are off.
	Version string `json:"pack_version,omitempty"`
	// Rules is how many of the pack read tool definitions, absent where they are off.
	Rules int `json:"rules,omitempty"`
}

type wireReady struct {
	Status    string    `json:"status"`
	Community Community `json:"community_rules"`
}

// healthz says that the process answers. It asks nothing else, so that a database that
// is away does not make a supervisor restart the service.
func (a *API) healthz(x *exchange) error { return x.reply(http.StatusOK, wireStatus{"ok"}) }

// readyTime is how long the database has to answer.
const readyTime = 2 * time.Second

// readyz says whether requests should be sent here.
func (a *API) readyz(x *exchange) error {
	ctx, cancel := context.WithTimeout(x.r.Context(), readyTime)
	defer cancel()
	if err := a.ready(ctx); err != nil {
		if x.r.Context().Err() != nil {
			return x.r.Context().Err()
		}
		message := "The database does not answer."
		if errors.Is(err, ErrStopping) {
			message = "The service is stopping."
		}
		return &failure{status: http.StatusServiceUnavailable, code: "not_ready", message: message, retryAfter: 5 * time.Second, cause: err}
	}
	return x.reply(http.StatusOK, wireReady{"ready", a.community})
}
