package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

// failure is a call that could not be answered: a code for programs and our own words.
type failure struct {
	code, message string
}

func (f *failure) Error() string { return f.code + ": " + f.message }

func methodNotFound(method string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + method}
}

// known gives an error of what is below its code and words, once, and nil to what is not
// known. Codes are those of the HTTP API.
func known(err error) *failure {
	var f *failure
	var denial *access.Denial
	var engine *toolmark.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &denial):
		return &failure{string(denial.Code), denial.Message}
	case errors.As(err, &engine):
		return &failure{string(engine.Code), printable(engine.Error(), 300)}
	case errors.Is(err, registry.ErrInvalid):
		return &failure{"invalid_argument", printable(strings.TrimPrefix(err.Error(), registry.ErrInvalid.Error()+": "), 300)}
	case errors.Is(err, registry.ErrNotFound):
		return &failure{"not_found", "No server of that id, name or URL is registered. precall_check reads any server, registered or not."}
	case errors.Is(err, registry.ErrBusy):
		return &failure{"overloaded", "The service is busy. Try again."}
	case errors.Is(err, registry.ErrClosed):
		return &failure{"overloaded", "The service is stopping."}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &failure{"timeout", "The call was cancelled or took too long."}
	}
	return nil
}

// failed gives the result of a call that could not be answered. It has no structured
// content: clients hold that against the outputSchema.
func (s *Server) failed(tool string, err error) *mcp.CallToolResult {
	f := known(err)
	if f == nil {
		s.cfg.Log.Error("an MCP call failed", "tool", tool, "cause", err.Error())
		f = &failure{"internal_error", "Internal error."}
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: f.Error()}}}
}

// refuse answers a request that is refused before it is read, as MCP wants it: 403 with
// a JSON-RPC error without id.
func refuse(w http.ResponseWriter, err error) {
	f := known(err)
	doc, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": jsonrpc.CodeInvalidRequest, "message": f.message, "data": map[string]string{"code": f.code}},
	})
	if err != nil { // our own strings always have a JSON form
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write(append(doc, '\n')) // nobody is left to tell
}
