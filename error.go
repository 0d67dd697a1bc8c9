package toolmark

import "fmt"

// ErrorCode says what kind of failure an Error is.
type ErrorCode string

// The kinds of failure at the edges of the engine.
const (
	ErrInvalidJSON     ErrorCode = "invalid_json"     // not JSON, or JSON we refuse (RFC 8259, depth)
	ErrInvalidManifest ErrorCode = "invalid_manifest" // JSON, but not a tool list
	ErrTooLarge        ErrorCode = "too_large"        // over a limit on bytes, characters or tools
	ErrCannotStart     ErrorCode = "cannot_start"     // a stdio command that does not start, or dies
	ErrCannotConnect   ErrorCode = "cannot_connect"   // no connection, or lost
	ErrAddressRefused  ErrorCode = "address_refused"  // an address that the service does not connect to
	ErrTLS             ErrorCode = "tls"              // certificate or handshake
	ErrAuthRequired    ErrorCode = "auth_required"    // 401 or 403 from the server
	ErrNotMCP          ErrorCode = "not_mcp"          // something answered that is not an MCP endpoint
	ErrProtocol        ErrorCode = "protocol"         // an MCP server that breaks the protocol, or answers an error
	ErrTimeout         ErrorCode = "timeout"          // the time allowed ran out
	ErrUnreadableList  ErrorCode = "unreadable_list"  // a list that cannot be read whole
	ErrNotFound        ErrorCode = "not_found"        // a file or a name that does not exist
	ErrUsage           ErrorCode = "usage"            // wrong use of a command or an option
	ErrRules           ErrorCode = "rules"            // a rule pack that does not load
)

// Error is a failure as a caller sees it: what kind, what happened and where, and
// what was underneath.
type Error struct {
	Code    ErrorCode
	Message string // names the place and, where there is one, the next step
	Err     error  // the cause; may be nil
}

// Error gives the message followed by the cause.
func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Message
	case e.Message == "":
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %v", e.Message, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
