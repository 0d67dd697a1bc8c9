package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/textcheck"
)

// The JSON document of a comparison; docs/cli.md describes its members.
type jsonDrift struct {
	Servers   []jsonDriftServer `json:"servers"`
	Summary   DriftSummary      `json:"summary"`
	FailOn    string            `json:"fail_on"`
	Failed    bool              `json:"failed"`
	Community *jsonCommunity    `json:"community_rules,omitempty"`
	Warnings  []toolmark.Text   `json:"warnings"`
}

type jsonDriftServer struct {
	Name       toolmark.Text      `json:"name"`
	Status     DriftStatus        `json:"status"`
	Severity   toolmark.Severity  `json:"severity,omitempty"`
	Old        *jsonSide          `json:"old,omitempty"`
	New        *jsonSide          `json:"new,omitempty"`
	Drift      *jsonDriftOf       `json:"drift,omitempty"`
	Findings   []toolmark.Finding `json:"findings"`
	Standing   []toolmark.Finding `json:"standing"`
	Suppressed []jsonSuppressed   `json:"suppressed"`
	Unscanned  []toolmark.Text    `json:"unscanned_tools"`
	Warnings   []toolmark.Text    `json:"warnings"`
	Error      *Failure           `json:"error,omitempty"`
	Accept     toolmark.Text      `json:"accept,omitempty"`
}

type jsonSide struct {
	Label         toolmark.Text        `json:"label,omitempty"`
	Source        toolmark.Text        `json:"source,omitempty"`
	File          toolmark.Text        `json:"file,omitempty"`
	Server        *jsonServer          `json:"server,omitempty"`
	Protocol      toolmark.Text        `json:"protocol_version,omitempty"`
	Tools         int                  `json:"tools"`
	Pin           string               `json:"pin,omitempty"`
	Fingerprint   toolmark.Fingerprint `json:"fingerprint,omitempty"`
	NoFingerprint toolmark.Text        `json:"no_fingerprint,omitempty"`
	AcceptedBy    toolmark.Text        `json:"accepted_by,omitempty"`
	AcceptedAt    string               `json:"accepted_at,omitempty"`
}

type jsonDriftOf struct {
	Changed bool              `json:"changed"`
	Tools   []pin.ToolDrift   `json:"tools"`
	Changes []json.RawMessage `json:"changes"`
	Unread  toolmark.Text     `json:"unread,omitempty"`
}

// jsonWords is what a change has beside what pin.Change writes of itself.
type jsonWords struct {
	// Words say in a sentence what the change is, Effect what it does to what is accepted.
	Words  toolmark.Text `json:"words"`
	Effect string        `json:"effect_words,omitempty"`
	// Visible is text with what is hidden spelled out.
	Visible []pin.Segment `json:"visible,omitempty"`
}

// WriteJSON writes the comparison as JSON in pure ASCII.
func (d *DriftDocument) WriteJSON(w io.Writer) error {
	out, err := d.JSON()
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// JSON gives the comparison as JSON in pure ASCII.
func (d *DriftDocument) JSON() ([]byte, error) {
	out := jsonDrift{Servers: []jsonDriftServer{}, Summary: d.Summary(), FailOn: "never", Failed: d.Failed(), Warnings: texts(d.Warnings)}
	if d.FailOn != 0 {
		out.FailOn = d.FailOn.String()
	}
	if d.Community != (Community{}) {
		out.Community = &jsonCommunity{
			On: d.Community.Off == "", PackVersion: d.Community.Version, Rules: d.Community.Rules, Off: toolmark.Text(d.Community.Off),
		}
	}
	for i := range d.Servers {
		s := &d.Servers[i]
		j := jsonDriftServer{
			Name: toolmark.Text(s.Name), Status: s.Status(), Severity: s.Worst(), Old: s.Old.json(), New: s.New.json(),
			Findings: listed(s.Findings), Standing: listed(s.Standing), Suppressed: []jsonSuppressed{},
			Unscanned: append([]toolmark.Text{}, s.Unscanned...), Warnings: texts(s.Warnings), Accept: toolmark.Text(s.Accept),
		}
		var err error
		if j.Drift, err = s.jsonDrift(); err != nil {
			return nil, fmt.Errorf("write JSON: %w", err)
		}
		for _, x := range s.Suppressed {
			j.Suppressed = append(j.Suppressed, jsonSuppressed{x.Finding, toolmark.Text(x.Reason), x.Expires})
		}
		if s.Err != nil {
			j.Error = NewFailure(s.Err)
		}
		out.Servers = append(out.Servers, j)
	}
	return MarshalASCII(out)
}

func listed(findings []toolmark.Finding) []toolmark.Finding {
	return append([]toolmark.Finding{}, findings...)
}

func (s *DriftSide) json() *jsonSide {
	if s == nil {
		return nil
	}
	j := &jsonSide{
		Label: toolmark.Text(s.Label), Source: toolmark.Text(s.Source), File: toolmark.Text(s.File), Tools: s.tools(),
		Pin: s.Pin, Fingerprint: s.Fingerprint, NoFingerprint: toolmark.Text(s.NoFingerprint), AcceptedBy: toolmark.Text(s.AcceptedBy),
	}
	if m := s.Manifest; m != nil {
		j.Server = &jsonServer{toolmark.Text(m.Server.Name), toolmark.Text(m.Server.Version), m.Server.Given}
		j.Protocol = toolmark.Text(m.ProtocolVersion)
	}
	if !s.AcceptedAt.IsZero() {
		j.AcceptedAt = s.AcceptedAt.UTC().Format(time.RFC3339)
	}
	return j
}

func (s *DriftServer) jsonDrift() (*jsonDriftOf, error) {
	if s.Drift == nil {
		return nil, nil
	}
	j := &jsonDriftOf{
		Changed: s.Drift.Changed(), Unread: s.Drift.Unread,
		Tools: append([]pin.ToolDrift{}, s.Drift.Tools...), Changes: []json.RawMessage{},
	}
	for _, c := range s.changes() {
		change, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		words, err := json.Marshal(jsonWords{toolmark.Text(s.words(c).plain()), inEffect(c.Effect), visible(phrases(c.Segments()))})
		if err != nil {
			return nil, err
		}
		// Both are objects, and neither is empty: they become one.
		joined := append(append(change[:len(change)-1:len(change)-1], ','), words[1:]...)
		j.Changes = append(j.Changes, joined)
	}
	return j, nil
}

// visible spells out what is hidden in the segments of a text diff.
func visible(segments []pin.Segment) []pin.Segment {
	out := make([]pin.Segment, len(segments))
	for i, s := range segments {
		out[i] = pin.Segment{Op: s.Op, Text: toolmark.Text(textcheck.Visible(string(s.Text)))}
	}
	return out
}
