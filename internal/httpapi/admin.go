package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

// Admin manages keys and access lists; *registry.Service is one.
type Admin interface {
	KeyAdmin
	AccessAdmin
}

// KeyAdmin manages keys.
type KeyAdmin interface {
	CreateKey(ctx context.Context, key registry.NewKey) (registry.MadeKey, error)
	ListKeys(ctx context.Context, account, after string, limit int) ([]registry.KeyState, error)
	ShowKey(ctx context.Context, id string) (registry.KeyState, error)
	RevokeKey(ctx context.Context, id string) (registry.KeyState, error)
}

// AccessAdmin manages access lists.
type AccessAdmin interface {
	AddAccess(ctx context.Context, account string, rule access.Rule, note string) (registry.Rule, error)
	ListAccess(ctx context.Context, account string) ([]registry.Rule, error)
	RemoveAccess(ctx context.Context, id string) error
}

func (a *API) createKey(x *exchange) error {
	v, err := x.readObject()
	if err != nil {
		return err
	}
	var list faults
	n := registry.NewKey{
		Account: list.optional(v, "account_id"), Name: list.optional(v, "name"), Plan: list.optional(v, "plan"),
		Limits:  access.Limits{PerMinute: list.limit(v, "per_minute"), PerMonth: list.limit(v, "monthly"), Spend: list.limit(v, "spend_limit")},
		Credits: list.limit(v, "credits"),
	}
	n.Scopes = list.scopes(v.Get("scopes"))
	if text := list.optional(v, "expires_at"); text != "" {
		if n.Expires, err = time.Parse(time.RFC3339, text); err != nil {
			list.add(faultValue, "expires_at is a time as RFC 3339 writes it, such as 2027-01-31T00:00:00Z", "expires_at")
		}
	}
	list.only(v, "account_id", "name", "plan", "scopes", "per_minute", "monthly", "spend_limit", "credits", "expires_at")
	if err := list.failure(); err != nil {
		return err
	}
	made, err := a.admin.CreateKey(x.r.Context(), n)
	if err != nil {
		return known(err)
	}
	x.Header().Set("Location", "/v1/admin/keys/"+made.ID)
	return x.reply(http.StatusCreated, made.View(a.now()))
}

// pageSize is how many keys a page has.
const pageSize = 100

func (a *API) listKeys(x *exchange) error {
	query, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return badQuery("The query cannot be read.")
	}
	limit := pageSize
	if text := query.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > registry.MaxPage {
			return badQuery(fmt.Sprintf("The limit is a number from 1 to %d.", registry.MaxPage))
		}
	}
	keys, err := a.admin.ListKeys(x.r.Context(), query.Get("account_id"), query.Get("after"), limit)
	if err != nil {
		return known(err)
	}
	page := struct {
		Keys []registry.KeyView `json:"keys"`
		Next *string            `json:"next"` // null: no further page
	}{Keys: make([]registry.KeyView, 0, len(keys))}
	for i := range keys {
		page.Keys = append(page.Keys, keys[i].View(a.now()))
	}
	if len(keys) == limit {
		page.Next = &keys[limit-1].ID
	}
	return x.reply(http.StatusOK, page)
}

func badQuery(message string) *failure {
	return &failure{status: http.StatusBadRequest, code: "invalid_query", message: message}
}

// id gives the path's id. A key is never looked up by itself here: it would stand in
// the access logs of every proxy on the way.
func (x *exchange) pathID() (string, error) {
	id := x.r.PathValue("id")
	if strings.HasPrefix(id, "tm_") {
		return "", &failure{status: http.StatusNotFound, code: "not_found", message: "Name a key by its id, not by itself."}
	}
	return id, nil
}

func (a *API) showKey(x *exchange) error {
	id, err := x.pathID()
	if err != nil {
		return err
	}
	key, err := a.admin.ShowKey(x.r.Context(), id)
	if err != nil {
		return known(err)
	}
	return x.reply(http.StatusOK, key.View(a.now()))
}

// revokeKey answers DELETE; the key stays in the list, with the time of its end.
func (a *API) revokeKey(x *exchange) error {
	id, err := x.pathID()
	if err != nil {
		return err
	}
	key, err := a.admin.RevokeKey(x.r.Context(), id)
	if err != nil {
		return known(err)
	}
	return x.reply(http.StatusOK, key.View(a.now()))
}

func (a *API) addAccess(x *exchange) error {
	v, err := x.readObject()
	if err != nil {
		return err
	}
	var list faults
	rule := access.Rule{
		Action: access.Action(list.required(v, "action")), Kind: access.Kind(list.required(v, "kind")), Value: list.required(v, "value"),
	}
	account, note := list.optional(v, "account_id"), list.optional(v, "note")
	list.only(v, "action", "kind", "value", "account_id", "note")
	if err := list.failure(); err != nil {
		return err
	}
	added, err := a.admin.AddAccess(x.r.Context(), account, rule, note)
	if err != nil {
		return known(err)
	}
	return x.reply(http.StatusCreated, added.View())
}

func (a *API) listAccess(x *exchange) error {
	query, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return badQuery("The query cannot be read.")
	}
	rules, err := a.admin.ListAccess(x.r.Context(), query.Get("account_id"))
	if err != nil {
		return known(err)
	}
	answer := struct {
		Rules []registry.RuleView `json:"rules"`
	}{make([]registry.RuleView, 0, len(rules))}
	for i := range rules {
		answer.Rules = append(answer.Rules, rules[i].View())
	}
	return x.reply(http.StatusOK, answer)
}

func (a *API) removeAccess(x *exchange) error {
	if err := a.admin.RemoveAccess(x.r.Context(), x.r.PathValue("id")); err != nil {
		return known(err)
	}
	x.WriteHeader(http.StatusNoContent)
	return nil
}
