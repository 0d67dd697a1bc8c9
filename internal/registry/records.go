package registry

import (
	"context"
	"errors"
	"time"

	"github.com/toolmark/toolmark"
)

var (
	// ErrConflict says that a record was changed by somebody else since it was read.
	ErrConflict = errors.New("changed meanwhile")
	// ErrClaimed says that a server is being probed already.
	ErrClaimed = errors.New("a probe of this server is under way")
	// ErrFull says that an account has its number of servers.
	ErrFull = errors.New("the account has as many servers as it may have")
)

// Servers holds registered servers, each with its state.
type Servers interface {
	// CreateServer stores a server, its first snapshot and the deed, and the account where
	// there is none yet, unless the account has most servers (ErrFull). A name that is
	// taken in the account is ErrExists.
	CreateServer(ctx context.Context, s ServerRecord, first NewSnapshot, deed DeedRecord, most int) error
	// FindServers gives servers by id.
	FindServers(ctx context.Context, q ServerQuery) ([]ServerRecord, error)
	// ClaimServer reserves a server for one probe until a time, if its revision is still
	// what it was (else ErrConflict). One that is reserved at now is ErrClaimed.
	ClaimServer(ctx context.Context, id string, revision int64, now, until time.Time) error
	// ChangeServer stores a change if the server's revision is still what it was, and
	// otherwise gives ErrConflict and stores nothing.
	ChangeServer(ctx context.Context, c ServerChange) error
	// DeleteServer removes a server with its snapshots and probes. Deeds and events stay.
	DeleteServer(ctx context.Context, id string, deed DeedRecord) error
}

// Snapshots holds what servers served.
type Snapshots interface {
	// SnapshotContent gives a snapshot's content.
	SnapshotContent(ctx context.Context, server, snapshot string) ([]byte, error)
	// ListSnapshots gives snapshots of one server, the newest first.
	ListSnapshots(ctx context.Context, q SnapshotQuery) ([]SnapshotRecord, error)
	// SimilarTools gives up to limit tools that other servers of the accounts serve now and
	// that have one of the keys, by server.
	SimilarTools(ctx context.Context, accounts []string, except string, keys []NameKey, limit int) ([]ServedTool, error)
}

// Histories holds what happened.
type Histories interface {
	// ProbeRuns gives up to limit ended runs that began before a time, the newest first.
	ProbeRuns(ctx context.Context, server string, before time.Time, limit int) ([]ProbeRun, error)
	// Deeds gives up to limit deeds on a server, the newest first, from behind the deed
	// with the id after on.
	Deeds(ctx context.Context, server, after string, limit int) ([]DeedRecord, error)
}

// Outbox holds events until deliveries were made of them. An event is stored with the
// change it tells of, so that there is one for each change, whatever dies in between.
type Outbox interface {
	// PendingEvents gives up to limit events that were not passed on, the oldest first.
	PendingEvents(ctx context.Context, limit int) ([]Event, error)
}

// ServerRecord is a server as it is stored.
type ServerRecord struct {
	ID, Account string
	Name        string
	URL         string // normal form, without query; "" for a command
	Host        string // of the URL, for limits
	Command     []string
	HeaderNames []string
	QueryNames  []string // the URL's query, without values
	Sealed      []byte   // header values and query, sealed for ID; nil where there are none
	Interval    time.Duration
	Created     time.Time
	CreatedBy   string

	ServerStatus
	// Busy is until when it is reserved for a probe.
	Busy time.Time
	// Due is when it is to be probed next.
	Due time.Time
	// Revision rises with every change.
	Revision int64

	// Baseline and Current are read with the server and not stored with it.
	Baseline, Current SnapshotRecord
}

// ServerStatus is the part of a server that probes and approvals change.
type ServerStatus struct {
	State      State
	Since      time.Time
	LastKnown  State
	Why        *Why
	Suspicious string
	Approved   bool
	// BaselineID and CurrentID name snapshots.
	BaselineID, CurrentID string
	ProbedAt, ReadAt      time.Time
	Failures              int // probes in a row that read nothing
	// RunFrom and RunCount are of the run of probes that ProbedAt ends.
	RunFrom  time.Time
	RunCount int64
}

// ServerQuery chooses servers; what is empty chooses all.
type ServerQuery struct {
	ID, Account, Name, URL string
	After                  string // only ids greater than this
	Limit                  int
}

// DueServer is a server that is to be probed.
type DueServer struct {
	ID, Host string
	Interval time.Duration // 0 is the service's own
}

// SnapshotQuery chooses snapshots of one server.
type SnapshotQuery struct {
	Server          string
	ID, Fingerprint string // "" is any
	After           string // behind the one with this id
	Limit           int
}

// NewSnapshot is a snapshot to be stored. Where the server has one of the same content
// already, that one is seen again, and keeps its id.
type NewSnapshot struct {
	SnapshotRecord
	Content []byte
	Tools   []ToolName
}

// ToolName is a tool's name with the keys under which names like it are found.
type ToolName struct {
	Name toolmark.Text
	Keys []NameKey
}

// NameKey is a hash of a name's normal form, or of its skeleton.
type NameKey [16]byte

// ServedTool is a tool that a registered server serves.
type ServedTool struct {
	Server ServerRef
	Tool   toolmark.Text
}

// ServerChange is what a probe or an approval makes of a server.
type ServerChange struct {
	ID       string
	Revision int64 // the one it was made for
	Status   ServerStatus
	Due      time.Time // zero: as it is
	// Release ends the reservation.
	Release bool
	// Snapshot is a new one that becomes the current one; nil where it is as it was.
	// Status.CurrentID is then that of the one it turns out to be.
	Snapshot *NewSnapshot
	// Ended is the run of probes before this one.
	Ended *ProbeRun
	// Approval approves the snapshot that it names, and Deed tells of it.
	Approval *Approval
	Deed     *DeedRecord
	Events   []Event
}

// DeedRecord is a deed as it is stored.
type DeedRecord struct {
	ID, Server, Account string // deed_…
	Deed
}

// How much is kept of one server.
const (
	// MaxSnapshots is how many snapshots are kept of a server beside its baseline, its
	// current one and those that were approved; the oldest go first.
	MaxSnapshots = 50
	// MaxRuns is how many runs of probes are kept of a server.
	MaxRuns = 200
)

// EventKind is what an event tells.
type EventKind string

// The kinds of events.
const (
	DriftDetected     EventKind = "drift.detected"
	FindingHigh       EventKind = "finding.high"
	ServerUnreachable EventKind = "server.unreachable"
	ServerRecovered   EventKind = "server.recovered"
)

// EventKinds lists every kind of event.
func EventKinds() []EventKind {
	return []EventKind{DriftDetected, FindingHigh, ServerUnreachable, ServerRecovered}
}

// Event is one change of one server, told once.
type Event struct {
	ID      string // evt_…
	Account string
	Server  string
	Kind    EventKind
	At      time.Time
	// Payload is the event as receivers get it, a Message as JSON of at most MaxPayload bytes.
	Payload []byte
}
