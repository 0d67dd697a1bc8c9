package httpapi

import (
	"context"
	"net/http"

	"github.com/toolmark/toolmark/internal/registry"
)

// Webhooks is where events are sent; *registry.Service is one.
type Webhooks interface {
	CreateWebhook(ctx context.Context, caller registry.Caller, n registry.NewWebhook) (*registry.Webhook, error)
	Webhooks(ctx context.Context, caller registry.Caller, after string, limit int) (*registry.WebhookPage, error)
	DeleteWebhook(ctx context.Context, caller registry.Caller, id string) error
	Deliveries(ctx context.Context, caller registry.Caller, webhook string, state registry.DeliveryState, after string, limit int) (*registry.DeliveryPage, error)
	Replay(ctx context.Context, caller registry.Caller, webhook, delivery string) error
}

func (a *API) createWebhook(x *exchange) error {
	v, err := x.readObject()
	if err != nil {
		return err
	}
	var list faults
	n := registry.NewWebhook{URL: list.required(v, "url")}
	for _, kind := range list.texts(v, "events") {
		n.Events = append(n.Events, registry.EventKind(kind))
	}
	list.only(v, "url", "events")
	if err := list.failure(); err != nil {
		return err
	}
	made, err := a.webhooks.CreateWebhook(x.r.Context(), x.as(), n)
	if err != nil {
		return known(err)
	}
	x.Header().Set("Location", "/v1/webhooks/"+made.ID)
	return x.reply(http.StatusCreated, made)
}

func (a *API) listWebhooks(x *exchange) error {
	_, after, limit, err := x.paging()
	if err != nil {
		return err
	}
	return x.answer(a.webhooks.Webhooks(x.r.Context(), x.as(), after, limit))
}

func (a *API) deleteWebhook(x *exchange) error {
	if err := a.webhooks.DeleteWebhook(x.r.Context(), x.as(), x.r.PathValue("id")); err != nil {
		return known(err)
	}
	x.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *API) listDeliveries(x *exchange) error {
	query, after, limit, err := x.paging()
	if err != nil {
		return err
	}
	var state registry.DeliveryState
	if text := query.Get("state"); text != "" {
		if state, err = registry.ParseDeliveryState(text); err != nil {
			return badQuery("The state is pending, delivered or dead.")
		}
	}
	return x.answer(a.webhooks.Deliveries(x.r.Context(), x.as(), x.r.PathValue("id"), state, after, limit))
}

// replayDelivery answers at once: the delivery is sent by the jobs.
func (a *API) replayDelivery(x *exchange) error {
	if err := a.webhooks.Replay(x.r.Context(), x.as(), x.r.PathValue("id"), x.r.PathValue("delivery")); err != nil {
		return known(err)
	}
	x.WriteHeader(http.StatusAccepted)
	return nil
}
