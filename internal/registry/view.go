package registry

import (
	"time"

	"github.com/toolmark/toolmark/internal/access"
)

// KeyView is a key as commands and the admin API show it, in JSON. Absent limits are
// null: no limit.
type KeyView struct {
	// APIKey is the key itself, given only where it is made.
	APIKey      string     `json:"api_key,omitempty"`
	ID          string     `json:"id"`
	Account     string     `json:"account_id"`
	Hint        string     `json:"hint"`
	Name        string     `json:"name"`
	Plan        string     `json:"plan"`
	Scopes      []string   `json:"scopes"`
	PerMinute   *int64     `json:"per_minute"`
	PerMonth    *int64     `json:"monthly"`
	Spend       *int64     `json:"spend_limit"`
	Credits     *int64     `json:"credits"` // left
	Used        int64      `json:"requests_used"`
	ResetAt     time.Time  `json:"reset_at"`
	Created     time.Time  `json:"created_at"`
	Expires     *time.Time `json:"expires_at"`
	Revoked     *time.Time `json:"revoked_at"`
	LastScanned *time.Time `json:"last_scan_at"`
	Status      string     `json:"status"` // active, expired or revoked
}

// View shows a key as it stands at a time.
func (k KeyState) View(now time.Time) KeyView {
	usage := k.Meter.Usage(now)
	v := KeyView{
		ID: k.ID, Account: k.Account, Hint: k.Hint, Name: k.Name, Plan: k.Plan, Scopes: make([]string, len(k.Scopes)),
		PerMinute: k.Limits.PerMinute, PerMonth: k.Limits.PerMonth, Spend: k.Limits.Spend, Credits: k.Meter.Credits,
		Used: usage.RequestsUsed, ResetAt: usage.ResetAt,
		Created: k.Created, Expires: timeOrNil(k.Expires), Revoked: timeOrNil(k.Revoked), LastScanned: timeOrNil(k.Meter.LastUsed),
		Status: "active",
	}
	for i, scope := range k.Scopes {
		v.Scopes[i] = string(scope)
	}
	switch {
	case v.Revoked != nil:
		v.Status = "revoked"
	case v.Expires != nil && !now.Before(k.Expires):
		v.Status = "expired"
	}
	return v
}

// View shows a new key with the key itself.
func (k MadeKey) View(now time.Time) KeyView {
	v := KeyState{Key: k.Key, Meter: access.Meter{Limits: k.Limits, Credits: k.Credits}}.View(now)
	v.APIKey = k.Plain
	return v
}

// RuleView is an entry of an access list as commands and the admin API show it.
type RuleView struct {
	ID      string        `json:"id"`
	Account string        `json:"account_id,omitempty"` // absent: the list of the whole service
	Action  access.Action `json:"action"`
	Kind    access.Kind   `json:"kind"`
	Value   string        `json:"value"`
	Note    string        `json:"note,omitempty"`
	Created time.Time     `json:"created_at"`
}

// View shows an entry.
func (r Rule) View() RuleView {
	return RuleView{
		ID: r.ID, Account: r.Account, Action: r.Action, Kind: r.Kind, Value: r.Value, Note: r.Note, Created: r.Created,
	}
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
