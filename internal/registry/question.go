package registry

import (
	"context"

	"github.com/toolmark/toolmark/textcheck"
)

// Questions are what anybody may ask about servers and texts; *Service answers them, and
// HTTP and MCP pass the same answers on. Errors are as those of the other use cases:
// ErrInvalid, ErrNotFound, ErrBusy, *access.Denial, or a fault. A server that cannot be
// read is no error but an answer.
type Questions interface {
	// Precall reads a server and says how it stands to the registry. What is read of a
	// server that is not registered is not stored.
	Precall(ctx context.Context, caller Caller, url string) (*Precall, error)
	// Integrity reads a registered server, named by its id, name or URL, and says whether
	// it still serves what was recorded.
	Integrity(ctx context.Context, caller Caller, server string) (*Integrity, error)
	// ScanText finds what is hidden in a text in WTF-8 of at most MaxText bytes.
	ScanText(text string) (*textcheck.Report, error)
}

// MaxText is the longest text of ScanText in bytes.
const MaxText = 1 << 20
