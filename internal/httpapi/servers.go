package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

// Servers is the registry of servers; *registry.Service is one.
type Servers interface {
	ServerAdmin
	ServerRecords
}

// ServerAdmin changes what is registered.
type ServerAdmin interface {
	RegisterServer(ctx context.Context, caller registry.Caller, n registry.NewServer) (*registry.Server, error)
	CheckServer(ctx context.Context, caller registry.Caller, server string) (*registry.Integrity, error)
	Approve(ctx context.Context, caller registry.Caller, server string, n registry.NewApproval) (*registry.Server, error)
	DeleteServer(ctx context.Context, caller registry.Caller, server string) error
}

// ServerRecords gives what is recorded.
type ServerRecords interface {
	Servers(ctx context.Context, caller registry.Caller, after string, limit int) (*registry.ServerPage, error)
	Server(ctx context.Context, caller registry.Caller, server string) (*registry.Server, error)
	Snapshots(ctx context.Context, caller registry.Caller, server, after string, limit int) (*registry.SnapshotPage, error)
	Snapshot(ctx context.Context, caller registry.Caller, server, snapshot string) ([]byte, error)
	Drift(ctx context.Context, caller registry.Caller, server, from, to string) (*registry.DriftReport, error)
	History(ctx context.Context, caller registry.Caller, server, after string, limit int) (*registry.HistoryPage, error)
	Deeds(ctx context.Context, caller registry.Caller, server, after string, limit int) (*registry.DeedPage, error)
}

// as says who asks, for the registry.
func (x *exchange) as() registry.Caller {
	if x.grant == nil {
		return registry.Caller{}
	}
	return registry.Caller{Account: x.grant.Account, Actor: x.grant.KeyID}
}

// registerServer answers POST /v1/servers. A command is a program that runs here, so
// beside the operator's leave it needs a key that may administer.
func (a *API) registerServer(x *exchange) error {
	v, err := x.readObject()
	if err != nil {
		return err
	}
	var list faults
	n := registry.NewServer{
		URL: list.optional(v, "url"), Command: list.texts(v, "command"), Name: list.optional(v, "name"), Headers: list.headers(v.Get("headers")),
	}
	if seconds := list.limit(v, "interval_seconds"); seconds != nil {
		n.Interval = time.Duration(min(*seconds, int64(registry.MaxInterval/time.Second)+1)) * time.Second
	}
	list.only(v, "url", "command", "name", "headers", "interval_seconds")
	if err := list.failure(); err != nil {
		return err
	}
	if len(n.Command) > 0 && !x.grant.Scopes.Allow(access.ScopeAdmin) {
		return &failure{
			status: http.StatusForbidden, code: "scope_denied", message: "A command is run by this service: to register one the key needs the scope admin.",
		}
	}
	made, err := a.servers.RegisterServer(x.r.Context(), x.as(), n)
	if err != nil {
		return known(err)
	}
	x.Header().Set("Location", "/v1/servers/"+made.ID)
	return x.reply(http.StatusCreated, made)
}

// texts reads an array of strings.
func (f *faults) texts(v *toolmark.Value, name string) []string {
	list := v.Get(name)
	if list.Absent() {
		return nil
	}
	if list.Kind != toolmark.KindArray {
		f.add(faultList, name+" must be an array, not "+article(list), name)
		return nil
	}
	var out []string
	for i := range list.Items {
		if f.text(&list.Items[i], "an entry of "+name, name, i) {
			out = append(out, list.Items[i].Text)
		}
	}
	return out
}

// headers reads an object of header fields.
func (f *faults) headers(v *toolmark.Value) []registry.Header {
	if v.Absent() {
		return nil
	}
	if v.Kind != toolmark.KindObject {
		f.add(faultObject, "headers must be an object, not "+article(v), "headers")
		return nil
	}
	var out []registry.Header
	for i := range v.Members {
		m := &v.Members[i]
		// A header's name is the client's text, so its place is its number.
		if f.text(&m.Value, "the value of header "+strconv.Itoa(i+1), "headers") {
			out = append(out, registry.Header{Name: m.Name, Value: m.Value.Text})
		}
	}
	return out
}

// paging reads after and limit, and what else a path takes.
func (x *exchange) paging() (query url.Values, after string, limit int, err error) {
	query, err = url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return nil, "", 0, badQuery("The query cannot be read.")
	}
	limit = pageSize
	if text := query.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > registry.MaxPage {
			return nil, "", 0, badQuery(fmt.Sprintf("The limit is a number from 1 to %d.", registry.MaxPage))
		}
	}
	return query, query.Get("after"), limit, nil
}

func (a *API) listServers(x *exchange) error {
	_, after, limit, err := x.paging()
	if err != nil {
		return err
	}
	return x.answer(a.servers.Servers(x.r.Context(), x.as(), after, limit))
}

// answer sends what a use case gave, or its error.
func (x *exchange) answer(v any, err error) error {
	if err != nil {
		return known(err)
	}
	return x.reply(http.StatusOK, v)
}

func (a *API) showServer(x *exchange) error {
	return x.answer(a.servers.Server(x.r.Context(), x.as(), x.r.PathValue("id")))
}

func (a *API) deleteServer(x *exchange) error {
	if err := a.servers.DeleteServer(x.r.Context(), x.as(), x.r.PathValue("id")); err != nil {
		return known(err)
	}
	x.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *API) listSnapshots(x *exchange) error {
	_, after, limit, err := x.paging()
	if err != nil {
		return err
	}
	return x.answer(a.servers.Snapshots(x.r.Context(), x.as(), x.r.PathValue("id"), after, limit))
}

// showSnapshot answers with the document as it was read. It is whatever the server sent:
// a browser must not take it for anything but data.
func (a *API) showSnapshot(x *exchange) error {
	content, err := a.servers.Snapshot(x.r.Context(), x.as(), x.r.PathValue("id"), x.r.PathValue("snapshot"))
	if err != nil {
		return known(err)
	}
	x.Header().Set("Content-Disposition", `attachment; filename="snapshot.json"`)
	return x.send(http.StatusOK, content)
}

func (a *API) serverDrift(x *exchange) error {
	query, _, _, err := x.paging()
	if err != nil {
		return err
	}
	return x.answer(a.servers.Drift(x.r.Context(), x.as(), x.r.PathValue("id"), query.Get("from"), query.Get("to")))
}

func (a *API) serverHistory(x *exchange) error {
	_, after, limit, err := x.paging()
	if err != nil {
		return err
	}
	return x.answer(a.servers.History(x.r.Context(), x.as(), x.r.PathValue("id"), after, limit))
}

func (a *API) serverDeeds(x *exchange) error {
	_, after, limit, err := x.paging()
	if err != nil {
		return err
	}
	return x.answer(a.servers.Deeds(x.r.Context(), x.as(), x.r.PathValue("id"), after, limit))
}

func (a *API) checkServer(x *exchange) error {
	return x.answer(a.servers.CheckServer(x.r.Context(), x.as(), x.r.PathValue("id")))
}

func (a *API) approve(x *exchange) error {
	v, err := x.readObject()
	if err != nil {
		return err
	}
	var list faults
	n := registry.NewApproval{Fingerprint: list.optional(v, "fingerprint"), Snapshot: list.optional(v, "snapshot"), Note: list.optional(v, "note")}
	list.only(v, "fingerprint", "snapshot", "note")
	if err := list.failure(); err != nil {
		return err
	}
	return x.answer(a.servers.Approve(x.r.Context(), x.as(), x.r.PathValue("id"), n))
}
