package access

import "time"

// Code says why a request was refused, in the words of the HTTP API.
type Code string

// The reasons.
const (
	MissingKey       Code = "missing_api_key"
	InvalidKey       Code = "invalid_api_key"
	AccessListBlock  Code = "access_list_block"
	ScopeDenied      Code = "scope_denied"
	RateExceeded     Code = "rate_limit_exceeded"
	QuotaExceeded    Code = "monthly_quota_exceeded"
	SpendingExceeded Code = "spending_limit_exceeded"
	SignupClosed     Code = "signup_closed"
)

// Status gives the HTTP status of the reason: 401, 403 or 429 (RFC 9110, RFC 6585).
func (c Code) Status() int {
	switch c {
	case MissingKey, InvalidKey:
		return 401
	case RateExceeded, QuotaExceeded, SpendingExceeded:
		return 429
	}
	return 403
}

// Rate is where a key stands in the current minute, for X-RateLimit-Limit, -Remaining
// and -Reset.
type Rate struct {
	Limit     int64     // requests a minute
	Remaining int64     // what is left of them
	Reset     time.Time // when the next minute starts
}

// Denial is a refusal. Nothing was counted for it.
type Denial struct {
	Code    Code
	Message string // for the caller; holds nothing of a key
	// KeyID is the id of a key that was recognised, for the log; "" where none was.
	KeyID string
	// Rate is set where a key was recognised, in every denial but those with status 401.
	Rate Rate
	// RetryAfter is how long to wait; 0 where waiting does not help or nobody knows.
	RetryAfter time.Duration
	// Plan, Used and Limit are set with QuotaExceeded and SpendingExceeded: the plan's
	// name, the requests of this month and how many there may be.
	Plan        string
	Used, Limit int64
}

// Error gives code and message.
func (d *Denial) Error() string { return string(d.Code) + ": " + d.Message }

// Status gives the HTTP status.
func (d *Denial) Status() int { return d.Code.Status() }
