package httpapi

import (
	"bytes"
	"io"
	"net/http"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

// MCP answers /mcp; *mcpserver.Server is one.
type MCP interface {
	// Public reports whether callers without a key are let in.
	Public() bool
	// ServeMCP answers a request whose caller was let in and whose body is read. grant is
	// nil for a caller without a key.
	ServeMCP(w http.ResponseWriter, r *http.Request, call registry.Call, grant *registry.Grant)
}

const pathMCP = "/mcp"

// mcpBody is the longest body of /mcp: a list of the longest and its JSON-RPC envelope.
const mcpBody = toolmark.MaxBody + 64<<10

// serveMCP answers POST /mcp. Key, access list, rate, size and type of the body are
// checked here as for every route, so a refusal has the form that all have; what a tool
// needs of the key is checked where the tool is known.
func (a *API) serveMCP(x *exchange) error {
	if a.mcp == nil {
		return notFound()
	}
	call := registry.Call{Key: key(x.r), Client: x.client()}
	if call.Key == "" && a.mcp.Public() {
		if err := x.admitPublic(); err != nil {
			return err
		}
	} else if err := x.admit(""); err != nil {
		return err
	}
	if err := declared(x.r, mcpBody); err != nil {
		return err
	}
	body, err := x.readBody(mcpBody)
	if err != nil {
		return err
	}
	defer body.Release()
	x.r.Body = io.NopCloser(bytes.NewReader(body.bytes))
	x.r.ContentLength = int64(len(body.bytes))
	x.r.Header.Del("Content-Encoding")
	a.mcp.ServeMCP(x, x.r, call, x.grant)
	return nil
}
