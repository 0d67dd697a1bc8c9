package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/secret"
)

// MaxWebhooks is how many webhooks an account may have.
const MaxWebhooks = 20

// Webhooks holds where events are sent, and what came of it.
type Webhooks interface {
	// CreateWebhook stores a webhook, and the account where there is none yet, unless the
	// account has most of them (ErrFull).
	CreateWebhook(ctx context.Context, w WebhookRecord, most int) error
	// ListWebhooks gives up to limit webhooks of an account whose id is greater than after.
	ListWebhooks(ctx context.Context, account, after string, limit int) ([]WebhookRecord, error)
	// DeleteWebhook removes a webhook of an account with its deliveries.
	DeleteWebhook(ctx context.Context, account, id string) error
	// ListDeliveries gives deliveries of one webhook, the newest first.
	ListDeliveries(ctx context.Context, q DeliveryQuery) ([]DeliveryRecord, error)
	// Sending gives a delivery with what is to be sent.
	Sending(ctx context.Context, delivery string) (Sending, error)
	// SetDelivery stores what came of an attempt.
	SetDelivery(ctx context.Context, d DeliveryRecord) error
	// Replay makes a delivery that is not pending one that is sent anew.
	Replay(ctx context.Context, webhook, delivery string, at time.Time) error
	// ForgetEvents removes events that were passed on before a time, with their deliveries
	// but for those that are pending.
	ForgetEvents(ctx context.Context, before time.Time) error
}

// WebhookRecord is a webhook as it is stored: its address and its signing secret sealed.
type WebhookRecord struct {
	ID, Account string // hook_…
	Origin      string // scheme and host: all of the address that is shown
	Events      []EventKind
	Sealed      []byte
	Created     time.Time
	CreatedBy   string
}

// Webhook is a webhook as its owner sees it.
type Webhook struct {
	ID string `json:"id"`
	// URL is shown without path and query, which may hold a secret.
	URL    string      `json:"url"`
	Events []EventKind `json:"events"`
	// Secret is given only where the webhook is made.
	Secret  string    `json:"secret,omitempty"`
	Created time.Time `json:"created_at"`
	By      string    `json:"created_by"`
}

// WebhookPage is a page of webhooks.
type WebhookPage struct {
	Webhooks []Webhook `json:"webhooks"`
	Next     *string   `json:"next"` // what to ask for next; nil is the end
}

// DeliveryState is how a delivery stands.
type DeliveryState string

// The states of deliveries.
const (
	DeliveryPending   DeliveryState = "pending"   // to be sent, or sent again
	DeliveryDelivered DeliveryState = "delivered" // the receiver answered 2xx
	DeliveryDead      DeliveryState = "dead"      // given up; it can be replayed
)

// ParseDeliveryState reads a state.
func ParseDeliveryState(text string) (DeliveryState, error) {
	switch s := DeliveryState(text); s {
	case DeliveryPending, DeliveryDelivered, DeliveryDead:
		return s, nil
	}
	return "", fmt.Errorf("%w: a delivery is pending, delivered or dead, not %q", ErrInvalid, text)
}

// DeliveryRecord is one event on its way to one webhook.
type DeliveryRecord struct {
	ID       string        `json:"id"` // dlv_…
	Webhook  string        `json:"webhook"`
	Event    string        `json:"event"`
	Kind     EventKind     `json:"type"`
	State    DeliveryState `json:"state"`
	Attempts int           `json:"attempts"`
	// Status is the HTTP status of the last answer, absent where there was none; Fault
	// says why the last attempt failed.
	Status  int       `json:"status,omitempty"`
	Fault   string    `json:"fault,omitempty"`
	Created time.Time `json:"created_at"`
	Changed time.Time `json:"changed_at"`
}

// DeliveryPage is a page of deliveries.
type DeliveryPage struct {
	Deliveries []DeliveryRecord `json:"deliveries"`
	Next       *string          `json:"next"`
}

// DeliveryQuery chooses deliveries of one webhook.
type DeliveryQuery struct {
	Account, Webhook string
	State            DeliveryState // "" is any
	After            string        // behind the one with this id
	Limit            int
}

// Sending is a delivery with what is to be sent.
type Sending struct {
	DeliveryRecord
	Payload []byte
	Sealed  []byte
}

// NewWebhook is a webhook to be made.
type NewWebhook struct {
	// URL is where events are posted: https, or http where the operator allows networks
	// of its own. It may have a query.
	URL string
	// Events are the kinds that are sent; none is all.
	Events []EventKind
}

// WebhookTarget is what of a webhook is sealed.
type WebhookTarget struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

// secretPrefix begins a signing secret (Standard Webhooks 1.0.0, symmetric signatures).
const secretPrefix = "whsec_"

// SecretBytes gives the key of a signing secret.
func SecretBytes(text string) ([]byte, error) {
	rest, ok := strings.CutPrefix(text, secretPrefix)
	if !ok {
		return nil, errors.New("a signing secret begins with " + secretPrefix)
	}
	key, err := base64.StdEncoding.DecodeString(rest)
	if err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("a signing secret is " + secretPrefix + " and 24 to 64 bytes in base64")
	}
	return key, nil
}

// CreateWebhook makes a webhook with a signing secret of its own, which is shown once.
func (s *Service) CreateWebhook(ctx context.Context, caller Caller, n NewWebhook) (*Webhook, error) {
	if err := validAccount(caller.Account); err != nil {
		return nil, err
	}
	e, err := parseURL(n.URL)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(e.url, "http://") && !s.cfg.PlainWebhooks {
		return nil, fmt.Errorf("%w: a webhook's URL begins with https://; the operator can allow http:// in networks of his own with --allow-net", ErrInvalid)
	}
	kinds := slices.Clone(n.Events)
	for _, kind := range kinds {
		if !slices.Contains(EventKinds(), kind) {
			return nil, fmt.Errorf("%w: no such event; there are %v", ErrInvalid, EventKinds())
		}
	}
	if len(kinds) == 0 {
		kinds = EventKinds()
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	if s.cfg.Secrets == nil {
		return nil, fmt.Errorf("%w: a webhook's address and secret are stored only encrypted, and this service has no key for that: give it --secret-key-file or TOOLMARK_SECRET_KEY", ErrInvalid)
	}
	id, err := access.NewID(s.cfg.Random, "hook")
	if err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	if _, err := io.ReadFull(s.cfg.Random, key); err != nil {
		return nil, err
	}
	target := WebhookTarget{URL: e.full(), Secret: secretPrefix + base64.StdEncoding.EncodeToString(key)}
	plain, err := json.Marshal(target)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(e.url)
	if err != nil {
		return nil, err
	}
	r := WebhookRecord{
		ID: id, Account: caller.Account, Origin: u.Scheme + "://" + u.Host, Events: kinds,
		Created: stored(s.cfg.Now()), CreatedBy: caller.Actor,
	}
	if r.Sealed, err = s.cfg.Secrets.Seal(s.cfg.Random, plain, id); err != nil {
		return nil, err
	}
	if err := s.cfg.Store.CreateWebhook(ctx, r, MaxWebhooks); err != nil {
		if errors.Is(err, ErrFull) {
			return nil, fmt.Errorf("%w: an account has at most %d webhooks", ErrInvalid, MaxWebhooks)
		}
		return nil, fmt.Errorf("store the webhook: %w", err)
	}
	w := r.view()
	w.Secret = target.Secret
	return &w, nil
}

func (r *WebhookRecord) view() Webhook {
	return Webhook{ID: r.ID, URL: r.Origin + "/…", Events: r.Events, Created: r.Created, By: r.CreatedBy}
}

// Webhooks lists the caller's webhooks by id, from behind after on.
func (s *Service) Webhooks(ctx context.Context, caller Caller, after string, limit int) (*WebhookPage, error) {
	records, err := s.cfg.Store.ListWebhooks(ctx, caller.Account, after, limit+1)
	if err != nil {
		return nil, fmt.Errorf("list the webhooks: %w", err)
	}
	page := &WebhookPage{Webhooks: []Webhook{}}
	for i := range records {
		if i == limit {
			page.Next = &records[i-1].ID
			break
		}
		page.Webhooks = append(page.Webhooks, records[i].view())
	}
	return page, nil
}

// DeleteWebhook removes a webhook; what was not delivered yet is not sent any more.
func (s *Service) DeleteWebhook(ctx context.Context, caller Caller, id string) error {
	if err := s.cfg.Store.DeleteWebhook(ctx, caller.Account, id); err != nil {
		return fmt.Errorf("remove the webhook: %w", err)
	}
	return nil
}

// Deliveries lists what was sent to a webhook of the caller, the newest first.
func (s *Service) Deliveries(ctx context.Context, caller Caller, webhook string, state DeliveryState, after string, limit int) (*DeliveryPage, error) {
	records, err := s.cfg.Store.ListDeliveries(ctx, DeliveryQuery{Account: caller.Account, Webhook: webhook, State: state, After: after, Limit: limit + 1})
	if err != nil {
		return nil, fmt.Errorf("list the deliveries: %w", err)
	}
	page := &DeliveryPage{Deliveries: []DeliveryRecord{}}
	if len(records) > limit {
		records = records[:limit]
		page.Next = &records[limit-1].ID
	}
	page.Deliveries = append(page.Deliveries, records...)
	return page, nil
}

// Replay sends a delivery anew, whether it was given up or delivered. The receiver sees
// the same webhook-id, so one that keeps ids acts on it once.
func (s *Service) Replay(ctx context.Context, caller Caller, webhook, delivery string) error {
	// The webhook must be the caller's.
	found, err := s.cfg.Store.ListDeliveries(ctx, DeliveryQuery{Account: caller.Account, Webhook: webhook, Limit: 1})
	if err != nil {
		return fmt.Errorf("find the delivery: %w", err)
	}
	if len(found) == 0 {
		return fmt.Errorf("find the delivery: %w", ErrNotFound)
	}
	if err := s.cfg.Store.Replay(ctx, webhook, delivery, stored(s.cfg.Now())); err != nil {
		return fmt.Errorf("replay the delivery: %w", err)
	}
	return nil
}

// Outgoing gives a delivery and where it goes. ErrNotFound says that its webhook was
// removed meanwhile.
func (s *Service) Outgoing(ctx context.Context, delivery string) (Sending, WebhookTarget, error) {
	var target WebhookTarget
	sending, err := s.cfg.Store.Sending(ctx, delivery)
	if err != nil {
		return sending, target, fmt.Errorf("read the delivery: %w", err)
	}
	if s.cfg.Secrets == nil {
		return sending, target, fmt.Errorf("the address of webhook %s is encrypted, and this process has no key: give it --secret-key-file or TOOLMARK_SECRET_KEY", sending.Webhook)
	}
	plain, err := s.cfg.Secrets.Open(sending.Sealed, sending.Webhook)
	if err != nil {
		if errors.Is(err, secret.ErrUnknownKey) {
			err = fmt.Errorf("%w; add that key to the file of keys", err)
		}
		return sending, target, fmt.Errorf("the address of webhook %s: %w", sending.Webhook, err)
	}
	if err := json.Unmarshal(plain, &target); err != nil {
		return sending, target, fmt.Errorf("the address of webhook %s: not what was sealed", sending.Webhook)
	}
	return sending, target, nil
}

// Delivered stores what came of an attempt to deliver.
func (s *Service) Delivered(ctx context.Context, d DeliveryRecord) error {
	d.Changed = stored(s.cfg.Now())
	if toolmark.CodePoints(d.Fault) > maxQuote {
		d.Fault = d.Fault[:toolmark.ByteOffset(d.Fault, maxQuote)]
	}
	if err := s.cfg.Store.SetDelivery(ctx, d); err != nil {
		return fmt.Errorf("store what came of the delivery: %w", err)
	}
	return nil
}

// eventTime is how long events and their deliveries are kept.
const eventTime = 30 * 24 * time.Hour

// ForgetEvents removes events that are older than 30 days.
func (s *Service) ForgetEvents(ctx context.Context) error {
	if err := s.cfg.Store.ForgetEvents(ctx, stored(s.cfg.Now()).Add(-eventTime)); err != nil {
		return fmt.Errorf("forget old events: %w", err)
	}
	return nil
}
