package registry

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/pin"
)

// Bounds of an event's payload. Text of servers is cut, and marked where it was.
const (
	// MaxPayload is the most bytes of a payload.
	MaxPayload = 64 << 10
	// maxChanges is how many changes and findings a payload lists, maxQuote how many code
	// points of a text it quotes.
	maxChanges = 20
	maxQuote   = 300
)

// Message is the payload of an event.
type Message struct {
	Type      EventKind   `json:"type"`
	ID        string      `json:"id"` // evt_…, the same in every delivery
	Timestamp time.Time   `json:"timestamp"`
	Data      MessageData `json:"data"`
}

// MessageData is what an event tells. Text of servers is in ASCII escapes, and hostile.
type MessageData struct {
	Server  ServerRef     `json:"server"`
	Account string        `json:"account_id"`
	URL     toolmark.Text `json:"url,omitempty"`
	Status  State         `json:"status"`
	Before  State         `json:"status_before"`
	// Since is when the new status began; UnreachableSince when the old one did, for
	// server.recovered.
	Since            time.Time  `json:"since"`
	UnreachableSince *time.Time `json:"unreachable_since,omitempty"`
	Why              *Why       `json:"why,omitempty"`
	Approved         bool       `json:"approved"`
	Suspicious       string     `json:"suspicious,omitempty"`
	Baseline         string     `json:"baseline"` // snap_…
	Current          string     `json:"current"`  // snap_…: what to approve
	// Tools count what happened to them.
	Tools map[pin.Status]int `json:"tools,omitempty"`
	// Changes are the first of those against the baseline, the worst first; More counts
	// the others.
	Changes []MessageChange `json:"changes,omitempty"`
	More    int             `json:"more_changes,omitempty"`
	// Findings are new against the baseline.
	Findings     []MessageFinding `json:"findings,omitempty"`
	MoreFindings int              `json:"more_findings,omitempty"`
}

// MessageChange is a change with its old and new text, cut.
type MessageChange struct {
	Code     toolmark.Code     `json:"code"`
	Severity toolmark.Severity `json:"severity"`
	Kind     pin.Kind          `json:"kind"`
	Effect   pin.Effect        `json:"effect,omitempty"`
	Op       pin.Op            `json:"op"`
	Tool     toolmark.Text     `json:"tool"`
	Pointer  toolmark.Text     `json:"pointer"`
	Reason   string            `json:"reason"`
	Old      toolmark.Text     `json:"old,omitempty"`
	New      toolmark.Text     `json:"new,omitempty"`
	// Cut: Old or New is longer than what is quoted.
	Cut bool `json:"cut,omitempty"`
}

// MessageFinding is a finding without its places.
type MessageFinding struct {
	Code     toolmark.Code     `json:"code"`
	Severity toolmark.Severity `json:"severity"`
	Tool     toolmark.Text     `json:"tool"`
	Reason   string            `json:"reason"`
}

// tell adds an event to a change.
func (s *Service) tell(c *ServerChange, r *ServerRecord, kind EventKind, found *comparison) error {
	id, err := access.NewID(s.cfg.Random, "evt")
	if err != nil {
		return err
	}
	st := &c.Status
	m := Message{Type: kind, ID: id, Timestamp: st.ProbedAt, Data: MessageData{
		Server: ref(r), Account: r.Account, URL: shownURL(r.URL, r.QueryNames), Status: st.State, Before: r.State, Since: st.Since, Why: st.Why,
		Approved: st.Approved, Suspicious: st.Suspicious, Baseline: st.BaselineID, Current: st.CurrentID,
	}}
	if c.Snapshot != nil {
		m.Data.Current = c.Snapshot.ID
	}
	if kind == ServerRecovered {
		m.Data.UnreachableSince = &r.Since
	}
	if found != nil {
		m.Data.quote(found)
	}
	payload, err := json.Marshal(m)
	for err == nil && len(payload) > MaxPayload && len(m.Data.Changes)+len(m.Data.Findings) > 0 {
		m.Data.shorten()
		payload, err = json.Marshal(m)
	}
	if err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	c.Events = append(c.Events, Event{ID: id, Account: r.Account, Server: r.ID, Kind: kind, At: st.ProbedAt, Payload: payload})
	return nil
}

// shorten drops the last half of what is listed.
func (d *MessageData) shorten() {
	keep := len(d.Changes) / 2
	d.More += len(d.Changes) - keep
	d.Changes = d.Changes[:keep]
	keep = len(d.Findings) / 2
	d.MoreFindings += len(d.Findings) - keep
	d.Findings = d.Findings[:keep]
}

func (d *MessageData) quote(found *comparison) {
	d.Tools = map[pin.Status]int{}
	for i := range found.drift.Tools {
		d.Tools[found.drift.Tools[i].Status]++
	}
	addFinding := func(f *toolmark.Finding) {
		if len(d.Findings) == maxChanges {
			d.MoreFindings++
			return
		}
		d.Findings = append(d.Findings, MessageFinding{Code: f.Code, Severity: f.Severity, Tool: cut(string(f.Tool), nil), Reason: f.Reason})
	}
	for i := range found.drift.Changes {
		c := &found.drift.Changes[i]
		for j := range c.Findings {
			addFinding(&c.Findings[j])
		}
		if c.Neutral() {
			continue
		}
		if len(d.Changes) == maxChanges {
			d.More++
			continue
		}
		m := MessageChange{
			Code: c.Code, Severity: c.Severity, Kind: c.Kind, Effect: c.Effect, Op: c.Op, Reason: c.Reason,
		}
		m.Tool, m.Pointer = cut(string(c.Tool), &m.Cut), cut(string(c.Pointer), &m.Cut)
		m.Old, m.New = quoted(c.Old, &m.Cut), quoted(c.New, &m.Cut)
		d.Changes = append(d.Changes, m)
	}
	for i := range found.rest {
		addFinding(&found.rest[i])
	}
}

// quoted gives a string as it is and any other value as JSON, cut.
func quoted(v *toolmark.Value, was *bool) toolmark.Text {
	switch {
	case v == nil:
		return ""
	case v.Kind == toolmark.KindString:
		return cut(v.Text, was)
	}
	return cut(string(canonjson.Append(nil, v)), was)
}

// cut gives the beginning of a text.
func cut(text string, was *bool) toolmark.Text {
	if end := toolmark.ByteOffset(text, maxQuote); end < len(text) {
		if was != nil {
			*was = true
		}
		return toolmark.Text(text[:end])
	}
	return toolmark.Text(text)
}
