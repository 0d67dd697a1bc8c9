package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/toolmark/toolmark"
)

// failure is an answer that is no success: a status, and either an error object or
// the faults of a body. Its texts are our own words, never text of a request,
// but for a server that could not be read: what it said is escaped, cut and not logged.
type failure struct {
	status  int
	code    string
	message string
	// faults make it a 422 with {"detail":[…]}; code is then for the log only.
	faults []fault
	// quota adds current_plan, requests_used and requests_limit.
	quota *quota
	// retryAfter is written as Retry-After, rounded up to whole seconds.
	retryAfter time.Duration
	header     http.Header
	// hangUp closes the connection behind the answer.
	hangUp bool
	// cause is logged and not sent.
	cause error
}

type quota struct {
	plan        string
	used, limit int64
}

func (f *failure) Error() string { return f.code + ": " + f.message }
func (f *failure) Unwrap() error { return f.cause }

// The types of errors, by which a client can tell what to do without knowing codes.
const (
	typeAuthentication = "authentication_error"
	typePermission     = "permission_error"
	typeInvalid        = "invalid_request_error"
	typeNotFound       = "not_found_error"
	typeRate           = "rate_limit_error"
	typeQuota          = "quota_exceeded"
	typeServer         = "server_error"
	typeUpstream       = "upstream_error" // of the server that was asked about, not of this one
)

// kind gives the error's type.
func (f *failure) kind() string {
	switch f.status {
	case http.StatusUnauthorized:
		return typeAuthentication
	case http.StatusForbidden:
		return typePermission
	case http.StatusNotFound:
		return typeNotFound
	case http.StatusBadGateway:
		return typeUpstream
	case http.StatusTooManyRequests:
		if f.code == codeRate {
			return typeRate
		}
		return typeQuota
	}
	if f.status >= 500 {
		return typeServer
	}
	return typeInvalid
}

const codeRate = "rate_limit_exceeded"

// wireError is {"error":{…}}.
type wireError struct {
	Error struct {
		Code          string         `json:"code"`
		Message       toolmark.Text  `json:"message"`
		Type          string         `json:"type"`
		CurrentPlan   *toolmark.Text `json:"current_plan,omitempty"`
		RequestsUsed  *int64         `json:"requests_used,omitempty"`
		RequestsLimit *int64         `json:"requests_limit,omitempty"`
	} `json:"error"`
}

// wireFaults is {"detail":[…]}.
type wireFaults struct {
	Detail []fault `json:"detail"`
}

// body gives what is sent as JSON.
func (f *failure) body() any {
	if len(f.faults) > 0 {
		return wireFaults{Detail: f.faults}
	}
	var e wireError
	e.Error.Code, e.Error.Message, e.Error.Type = f.code, toolmark.Text(f.message), f.kind()
	if q := f.quota; q != nil {
		plan := toolmark.Text(q.plan)
		e.Error.CurrentPlan, e.Error.RequestsUsed, e.Error.RequestsLimit = &plan, &q.used, &q.limit
	}
	return e
}

// apply writes the failure's header fields.
func (f *failure) apply(h http.Header) {
	for name, values := range f.header {
		h[name] = values
	}
	if f.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="toolmark"`) // RFC 9110, section 11.6.1
	}
	if f.retryAfter > 0 {
		seconds := (f.retryAfter + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	if f.hangUp {
		h.Set("Connection", "close")
	}
}

func internal(cause error) *failure {
	return &failure{status: http.StatusInternalServerError, code: "internal_error", message: "Internal error.", cause: cause}
}

func overloaded(what string) *failure {
	return &failure{
		status: http.StatusServiceUnavailable, code: "overloaded",
		message: "The service is busy: " + what + ". Try again.", retryAfter: time.Second,
	}
}

func unavailable(cause error) *failure {
	return &failure{
		status: http.StatusServiceUnavailable, code: "database_unavailable",
		message: "The database does not answer. Try again.", retryAfter: 5 * time.Second, cause: cause,
	}
}

func notFound() *failure {
	return &failure{status: http.StatusNotFound, code: "not_found", message: "There is nothing at this path; /openapi.json lists what there is."}
}

func tooLarge(limit int64) *failure {
	return &failure{
		status: http.StatusRequestEntityTooLarge, code: "request_body_too_large",
		message: "A request body has at most " + strconv.FormatInt(limit, 10) + " bytes, before and after Content-Encoding.",
		hangUp:  true,
	}
}

func unsupported(code, message string) *failure {
	return &failure{status: http.StatusUnsupportedMediaType, code: code, message: message}
}
