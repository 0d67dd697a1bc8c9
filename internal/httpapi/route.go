package httpapi

import (
	"net/http"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
)

// route is one method of one path.
type route struct {
	method, path string
	// scope is what a key must have; routes that are open need no key.
	scope access.Scope
	open  bool
	// limit is the longest body in bytes; 0 means that the route reads none.
	limit  int64
	handle func(x *exchange) error
}

// smallBody is the longest body of requests that carry no list.
const smallBody = 16 << 10

const (
	pathScan      = "/api/v1/mcp/manifest-scan"
	pathScanProxy = "/api/v1/proxy/mcp/manifest-scan"
)

// table lists every route of the service.
func (a *API) table(d *documents) []route {
	return []route{
		{http.MethodPost, pathScan, access.ScopeProxy, false, toolmark.MaxBody, a.manifestScan},
		{http.MethodPost, pathScanProxy, access.ScopeProxy, false, toolmark.MaxBody, a.manifestScan},
		{http.MethodGet, "/api/v1/usage/stats", access.ScopeRead, false, 0, a.usage},
		{http.MethodPost, "/v1/accounts/signup", "", true, smallBody, a.signup},
		{http.MethodPost, "/v1/licenses/check", "", true, smallBody, a.licenseCheck},
		{http.MethodPost, pathMCP, "", true, 0, a.serveMCP}, // checks key and body itself

		{http.MethodPost, "/v1/admin/keys", access.ScopeAdmin, false, smallBody, a.createKey},
		{http.MethodGet, "/v1/admin/keys", access.ScopeAdmin, false, 0, a.listKeys},
		{http.MethodGet, "/v1/admin/keys/{id}", access.ScopeAdmin, false, 0, a.showKey},
		{http.MethodDelete, "/v1/admin/keys/{id}", access.ScopeAdmin, false, 0, a.revokeKey},
		{http.MethodPost, "/v1/admin/access", access.ScopeAdmin, false, smallBody, a.addAccess},
		{http.MethodGet, "/v1/admin/access", access.ScopeAdmin, false, 0, a.listAccess},
		{http.MethodDelete, "/v1/admin/access/{id}", access.ScopeAdmin, false, 0, a.removeAccess},

		{http.MethodGet, "/healthz", "", true, 0, a.healthz},
		{http.MethodGet, "/readyz", "", true, 0, a.readyz},
		{http.MethodGet, "/metrics", "", true, 0, a.metrics.serve},
		{http.MethodGet, "/openapi.json", "", true, 0, d.openAPI},
		{http.MethodGet, "/docs", "", true, 0, d.page},
	}
}
