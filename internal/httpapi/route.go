package httpapi

import (
	"net/http"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
)

// route is one method of one path.
type route struct {
	method, path string
	// scope is what a key must have, where one is needed.
	scope access.Scope
	entry entry
	// limit is the longest body in bytes; 0 means that the route reads none.
	limit  int64
	handle func(x *exchange) error
}

// entry says who is let in.
type entry uint8

const (
	keyed  entry = iota // who has a key with the route's scope
	public              // the same, and without a key where the operator says so
	open                // everybody
)

// smallBody is the longest body of requests that carry no list.
const smallBody = 16 << 10

const (
	pathScan      = "/api/v1/mcp/manifest-scan"
	pathScanProxy = "/api/v1/proxy/mcp/manifest-scan"
)

// table lists every route of the service.
func (a *API) table(d *documents) []route {
	return []route{
		{http.MethodPost, pathScan, access.ScopeProxy, keyed, toolmark.MaxBody, a.manifestScan},
		{http.MethodPost, pathScanProxy, access.ScopeProxy, keyed, toolmark.MaxBody, a.manifestScan},
		{http.MethodGet, "/api/v1/usage/stats", access.ScopeRead, keyed, 0, a.usage},
		{http.MethodPost, "/v1/accounts/signup", "", open, smallBody, a.signup},
		{http.MethodPost, "/v1/licenses/check", "", open, smallBody, a.licenseCheck},
		{http.MethodPost, pathMCP, "", open, 0, a.serveMCP}, // checks key and body itself

		{http.MethodPost, pathPrecall, access.ScopeProxy, public, smallBody, a.precall},
		{http.MethodPost, pathIntegrity, access.ScopeProxy, public, smallBody, a.integrity},
		{http.MethodPost, pathText, access.ScopeRead, public, toolmark.MaxBody, a.textScan},

		{http.MethodPost, "/v1/servers", access.ScopeWrite, keyed, smallBody, a.registerServer},
		{http.MethodGet, "/v1/servers", access.ScopeRead, keyed, 0, a.listServers},
		{http.MethodGet, "/v1/servers/{id}", access.ScopeRead, keyed, 0, a.showServer},
		{http.MethodDelete, "/v1/servers/{id}", access.ScopeWrite, keyed, 0, a.deleteServer},
		{http.MethodGet, "/v1/servers/{id}/snapshots", access.ScopeRead, keyed, 0, a.listSnapshots},
		{http.MethodGet, "/v1/servers/{id}/snapshots/{snapshot}", access.ScopeRead, keyed, 0, a.showSnapshot},
		{http.MethodGet, "/v1/servers/{id}/drift", access.ScopeRead, keyed, 0, a.serverDrift},
		{http.MethodGet, "/v1/servers/{id}/history", access.ScopeRead, keyed, 0, a.serverHistory},
		{http.MethodGet, "/v1/servers/{id}/deeds", access.ScopeRead, keyed, 0, a.serverDeeds},
		{http.MethodPost, "/v1/servers/{id}/check", access.ScopeWrite, keyed, 0, a.checkServer},
		{http.MethodPost, "/v1/servers/{id}/approve", access.ScopeWrite, keyed, smallBody, a.approve},

		{http.MethodPost, "/v1/webhooks", access.ScopeWrite, keyed, smallBody, a.createWebhook},
		{http.MethodGet, "/v1/webhooks", access.ScopeRead, keyed, 0, a.listWebhooks},
		{http.MethodDelete, "/v1/webhooks/{id}", access.ScopeWrite, keyed, 0, a.deleteWebhook},
		{http.MethodGet, "/v1/webhooks/{id}/deliveries", access.ScopeRead, keyed, 0, a.listDeliveries},
		{http.MethodPost, "/v1/webhooks/{id}/deliveries/{delivery}/replay", access.ScopeWrite, keyed, 0, a.replayDelivery},

		{http.MethodPost, "/v1/admin/keys", access.ScopeAdmin, keyed, smallBody, a.createKey},
		{http.MethodGet, "/v1/admin/keys", access.ScopeAdmin, keyed, 0, a.listKeys},
		{http.MethodGet, "/v1/admin/keys/{id}", access.ScopeAdmin, keyed, 0, a.showKey},
		{http.MethodDelete, "/v1/admin/keys/{id}", access.ScopeAdmin, keyed, 0, a.revokeKey},
		{http.MethodPost, "/v1/admin/access", access.ScopeAdmin, keyed, smallBody, a.addAccess},
		{http.MethodGet, "/v1/admin/access", access.ScopeAdmin, keyed, 0, a.listAccess},
		{http.MethodDelete, "/v1/admin/access/{id}", access.ScopeAdmin, keyed, 0, a.removeAccess},

		{http.MethodGet, "/healthz", "", open, 0, a.healthz},
		{http.MethodGet, "/readyz", "", open, 0, a.readyz},
		{http.MethodGet, "/metrics", "", open, 0, a.metrics.serve},
		{http.MethodGet, "/openapi.json", "", open, 0, d.openAPI},
		{http.MethodGet, "/docs", "", open, 0, d.page},
		{http.MethodGet, pathSpec, "", open, 0, d.spec.page},
		{http.MethodGet, pathVectors, "", open, 0, d.spec.vectors},
	}
}
