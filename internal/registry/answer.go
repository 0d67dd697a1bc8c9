package registry

import (
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// ServerRef names a registered server.
type ServerRef struct {
	ID   string        `json:"id"`
	Name toolmark.Text `json:"name"`
}

// Precall is the evidence about a server before it is called. It is no rating: it says
// what is served now and how that stands to what was recorded.
type Precall struct {
	URL toolmark.Text `json:"url"`
	// Registered: the server is in the registry, and Server names it there.
	Registered bool       `json:"registered"`
	Server     *ServerRef `json:"server"`
	// Reachable is false where nothing could be read; Why then says why, and nothing is
	// said of the tools.
	Reachable bool      `json:"reachable"`
	Why       *Why      `json:"why"`
	ProbedAt  time.Time `json:"probed_at"`

	// Matches says whether what is served now is what was recorded; null where the
	// server is not registered or was not read. Approved: somebody approved that record.
	Matches  *bool `json:"matches"`
	Approved bool  `json:"approved"`
	// Drift is from the record to what is served now; null as Matches is.
	Drift *pin.Drift `json:"drift"`
	// DiffersByCaller: the address is registered several times, with different headers,
	// and serves different definitions to them.
	DiffersByCaller bool `json:"differs_by_caller"`

	Says          ServerSays           `json:"says"`
	Pin           string               `json:"pin,omitempty"`
	Fingerprint   toolmark.Fingerprint `json:"fingerprint,omitempty"`
	NoFingerprint toolmark.Text        `json:"no_fingerprint,omitempty"`

	// Text is the invisible-text result of every definition, in the order served; what
	// belongs to no tool (instructions, prompts, resources) is the tool "*".
	Text []DefinitionText `json:"text"`
	// Collisions are tools of other registered servers whose names these tools have, or
	// seem to have. At most MaxCollisions; MoreCollisions says that there are more.
	Collisions     []Collision `json:"collisions"`
	MoreCollisions bool        `json:"more_collisions"`
	// Findings are those of a scan of everything that is served.
	Findings []toolmark.Finding `json:"findings"`
	// Incomplete: the scan ran out of time; the tools it did not finish are not checked.
	Incomplete bool `json:"incomplete"`
}

// MaxCollisions is the most collisions that one answer lists.
const MaxCollisions = 100

// DefinitionText says whether a definition holds hidden or look-alike characters.
type DefinitionText struct {
	Tool toolmark.Text `json:"tool"`
	// Checked is false where the scan did not finish this tool; Hidden says nothing then.
	Checked  bool                         `json:"checked"`
	Hidden   bool                         `json:"hidden"`
	Findings []toolmark.HiddenTextDetails `json:"findings"`
}

// Collision is a name that two servers' tools share, or that one seems to.
type Collision struct {
	Tool       toolmark.Text `json:"tool"`
	Server     ServerRef     `json:"server"`
	ServerTool toolmark.Text `json:"server_tool"`
	Match      string        `json:"match"` // exact, case, normalized, confusable
}

// Integrity is the answer to whether a registered server still serves what was recorded.
type Integrity struct {
	Server ServerRef `json:"server"`
	Status State     `json:"status"`
	Since  time.Time `json:"since"`
	// Why says why it is unreachable; null where it is not.
	Why      *Why      `json:"why"`
	ProbedAt time.Time `json:"probed_at"`
	// LastKnown and ReadAt are of the last probe that read something.
	LastKnown State     `json:"last_known"`
	ReadAt    time.Time `json:"read_at"`
	// Suspicious says what is likely a fault rather than a release; "" where nothing is.
	Suspicious string `json:"suspicious,omitempty"`

	// Approved is false where the baseline is only the first snapshot.
	Approved bool           `json:"approved"`
	Approval *Approval      `json:"approval"`
	Baseline SnapshotRecord `json:"baseline"`
	Current  SnapshotRecord `json:"current"` // the last that was read
	// Drift is from Baseline to Current; null for an unreachable server, of which nobody
	// knows.
	Drift *pin.Drift `json:"drift"`
	// NameChanged and VersionChanged are what the server says of itself.
	NameChanged    bool `json:"server_name_changed"`
	VersionChanged bool `json:"server_version_changed"`
	// NewFindings are findings of Current that Baseline did not have and that are at no
	// changed place; those that are stand in the drift.
	NewFindings []toolmark.Finding `json:"new_findings"`
}

// DriftReport is the difference of two snapshots of one server.
type DriftReport struct {
	Server ServerRef      `json:"server"`
	From   SnapshotRecord `json:"from"`
	To     SnapshotRecord `json:"to"`
	Same   bool           `json:"same"` // nothing differs but what is neutral
	Drift  *pin.Drift     `json:"drift"`
}

// ProbeRun is a run of probes with the same outcome.
type ProbeRun struct {
	From   time.Time `json:"from"` // the first probe of the run
	To     time.Time `json:"to"`   // the last
	Count  int64     `json:"count"`
	Status State     `json:"status"`
	// Snapshot is what was read, "" where nothing was; Why then says why.
	Snapshot string `json:"snapshot,omitempty"`
	Why      *Why   `json:"why"`
}

// HistoryPage is a server's probes, the newest run first.
type HistoryPage struct {
	Runs []ProbeRun `json:"runs"`
	Next *string    `json:"next"`
}

// DeedPage is what was done to a server, and by whom, the newest first.
type DeedPage struct {
	Deeds []Deed  `json:"deeds"`
	Next  *string `json:"next"`
}

// Deed is one act on a server.
type Deed struct {
	Act
	What     string        `json:"what"` // registered, approved, removed
	Snapshot string        `json:"snapshot,omitempty"`
	Note     toolmark.Text `json:"note,omitempty"`
}
