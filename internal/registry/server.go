package registry

import (
	"context"
	"fmt"
	"time"

	"github.com/toolmark/toolmark"
)

// State says how what a server served last stands to the snapshot it is held against.
type State string

// The states. A server that was read is unchanged or changed; one that could not be
// read is unreachable, whatever it was before. None is ever reported for another.
const (
	// Unchanged: the last read gave what the baseline has, member for member, but for
	// what is neutral in a drift (order, another spelling of the same).
	Unchanged State = "unchanged"
	// Changed: the last read differs from the baseline.
	Changed State = "changed"
	// Unreachable: the last probe read nothing. What is known is from an earlier one.
	Unreachable State = "unreachable"
)

// ParseState reads a state's name; an unknown one is an error.
func ParseState(text string) (State, error) {
	switch s := State(text); s {
	case Unchanged, Changed, Unreachable:
		return s, nil
	}
	return "", fmt.Errorf("unknown state %q: one of unchanged, changed, unreachable", text)
}

// String gives the state's name. It is the inverse of ParseState.
func (s State) String() string { return string(s) }

// PublicAccount is the account whose servers everybody's questions are answered from:
// those of callers without a key, and beside their own those of all others. An operator
// puts servers there (toolmark servers add --account public); it has none by itself.
const PublicAccount = "public"

// Caller is who asks: an account, and who of it, for the record.
type Caller struct {
	Account string // "" is PublicAccount, without the right to change it
	Actor   string // key_…, or what the command line says of itself
}

// Header is one header field that is sent with every request to a server.
type Header struct{ Name, Value string }

// NewServer is what is said of a server to be registered: a URL or a command.
type NewServer struct {
	URL     string   // http or https, without user and password
	Command []string // only where the operator allows commands
	// Name is unique in its account; "" is the URL, or the command's text.
	Name string
	// Headers are sealed with the operator's key, and so is a query of the URL; without
	// such a key they are refused.
	Headers []Header
	// Interval is the time between two probes; 0 is the service's own.
	Interval time.Duration
}

// Server is a registered server as answers show it.
type Server struct {
	ID      string          `json:"id"` // srv_…
	Account string          `json:"account_id"`
	Name    toolmark.Text   `json:"name"`
	URL     toolmark.Text   `json:"url,omitempty"` // without the values of its query
	Command []toolmark.Text `json:"command,omitempty"`
	// Headers are the names of the fields that are sent; their values are never shown.
	Headers  []string `json:"headers"`
	Interval int64    `json:"interval_seconds"`

	Status State     `json:"status"`
	Since  time.Time `json:"since"` // when it was first seen in this state
	// Why says why it is unreachable; null where it is not.
	Why *Why `json:"why"`
	// LastKnown is what the last read gave, unchanged or changed; for an unreachable
	// server that is not its state.
	LastKnown State `json:"last_known"`
	// Suspicious says what about the last read is likely a fault rather than a release,
	// such as a list that is suddenly empty; "" where nothing is.
	Suspicious string `json:"suspicious,omitempty"`

	// Approved is false where nobody has approved anything yet: the baseline is then the
	// first snapshot, which nobody may have looked at.
	Approved bool `json:"approved"`
	// Baseline is the snapshot it is held against, Current the last that was read.
	Baseline SnapshotRecord `json:"baseline"`
	Current  SnapshotRecord `json:"current"`
	Approval *Approval      `json:"approval"` // of the baseline; null where it has none

	Registered Act        `json:"registered"`
	ProbedAt   time.Time  `json:"probed_at"`     // the last probe
	ReadAt     time.Time  `json:"read_at"`       // the last probe that read something
	NextProbe  *time.Time `json:"next_probe_at"` // null where nothing watches
}

// Why is a failure to read a server.
type Why struct {
	Code    toolmark.ErrorCode `json:"code"`
	Message toolmark.Text      `json:"message"`
}

// Act is who did something, and when.
type Act struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Approval is an act of a person who looked at a snapshot.
type Approval struct {
	Act
	Snapshot string        `json:"snapshot"` // snap_…
	Note     toolmark.Text `json:"note"`
}

// SnapshotRecord is a snapshot as answers show it: what tells it from others, not its
// content.
type SnapshotRecord struct {
	ID string `json:"id"` // snap_…
	// SHA256 is that of the content as stored: the snapshot's document without its source
	// and time.
	SHA256        string               `json:"sha256"`
	Pin           string               `json:"pin"`
	Fingerprint   toolmark.Fingerprint `json:"fingerprint,omitempty"`
	NoFingerprint toolmark.Text        `json:"no_fingerprint,omitempty"` // why it has none
	Server        ServerSays           `json:"server"`
	Tools         int                  `json:"tools"`
	FirstSeen     time.Time            `json:"first_seen"`
	LastSeen      time.Time            `json:"last_seen"`
	Approval      *Approval            `json:"approval"` // the last one, null where there is none
}

// ServerSays is what a server says of itself.
type ServerSays struct {
	Name    toolmark.Text `json:"name"`
	Version toolmark.Text `json:"version"`
	// Given is false where it said nothing (optional since MCP 2026-07-28).
	Given bool `json:"given"`
}

// ServerPage is some servers by id. Next is what the next page comes after; null for none.
type ServerPage struct {
	Servers []Server `json:"servers"`
	Next    *string  `json:"next"`
}

// SnapshotPage is some snapshots of a server, the newest first.
type SnapshotPage struct {
	Snapshots []SnapshotRecord `json:"snapshots"`
	Next      *string          `json:"next"`
}

// Prober reads a snapshot from a server, once. The error is a *toolmark.Error. It is
// where addresses that must not be reached are refused.
type Prober interface {
	Probe(ctx context.Context, t Target) (*toolmark.Snapshot, error)
}

// Target is a server as a Prober needs it.
type Target struct {
	URL     string
	Command []string
	Headers []Header
}

// NewApproval names the snapshot that is approved: by its id, or by a fingerprint that
// only one snapshot of the server has.
type NewApproval struct {
	Fingerprint string
	Snapshot    string
	Note        string // at most 2,000 bytes
}
