package report

import (
	"errors"
	"io"

	"github.com/toolmark/toolmark"
)

// The JSON document of a scan; docs/cli.md describes its members.
type jsonDocument struct {
	Sources   []jsonSource    `json:"sources"`
	Summary   Summary         `json:"summary"`
	Community jsonCommunity   `json:"community_rules"`
	Warnings  []toolmark.Text `json:"warnings"`
}

type jsonCommunity struct {
	On          bool          `json:"on"`
	PackVersion string        `json:"pack_version,omitempty"`
	Rules       int           `json:"rules,omitempty"`
	Off         toolmark.Text `json:"off,omitempty"` // why, and what to type
}

type jsonSource struct {
	Source        toolmark.Text        `json:"source"`
	Server        *jsonServer          `json:"server,omitempty"`
	Report        *toolmark.Report     `json:"report,omitempty"`
	Suppressed    []jsonSuppressed     `json:"suppressed"`
	Fingerprint   toolmark.Fingerprint `json:"fingerprint,omitempty"`
	NoFingerprint toolmark.Text        `json:"no_fingerprint,omitempty"`
	Warnings      []toolmark.Text      `json:"warnings"`
	Error         *Failure             `json:"error,omitempty"`
}

type jsonServer struct {
	Name    toolmark.Text `json:"name"`
	Version toolmark.Text `json:"version"`
	// Given is false where the server said nothing of itself (optional since MCP
	// 2026-07-28).
	Given bool `json:"given"`
}

type jsonSuppressed struct {
	Finding toolmark.Finding `json:"finding"`
	Reason  toolmark.Text    `json:"reason"`
	Expires string           `json:"expires,omitempty"`
}

// Failure is an error as JSON.
type Failure struct {
	Code    toolmark.ErrorCode `json:"code"`
	Message toolmark.Text      `json:"message"`
}

// NewFailure gives err as JSON shows it. An error that is not a *toolmark.Error has
// the code "internal".
func NewFailure(err error) *Failure {
	f := &Failure{Code: "internal", Message: toolmark.Text(err.Error())}
	var e *toolmark.Error
	if errors.As(err, &e) {
		f.Code = e.Code
	}
	return f
}

// JSON gives the document as JSON in pure ASCII.
func (d *Document) JSON() ([]byte, error) {
	out := jsonDocument{Sources: []jsonSource{}, Summary: d.Summary(), Warnings: texts(d.Warnings)}
	out.Community = jsonCommunity{
		On: d.Community.Off == "", PackVersion: d.Community.Version, Rules: d.Community.Rules, Off: toolmark.Text(d.Community.Off),
	}
	for i := range d.Sources {
		s := &d.Sources[i]
		j := jsonSource{
			Source: toolmark.Text(s.Name), Report: s.Report, Suppressed: []jsonSuppressed{}, Warnings: []toolmark.Text{},
			Fingerprint: s.Fingerprint, NoFingerprint: toolmark.Text(s.NoFingerprint),
		}
		if s.Snapshot != nil {
			info := s.Snapshot.Manifest.Server
			j.Server = &jsonServer{toolmark.Text(info.Name), toolmark.Text(info.Version), info.Given}
			j.Warnings = texts(s.Snapshot.Warnings)
		}
		for _, x := range s.Suppressed {
			j.Suppressed = append(j.Suppressed, jsonSuppressed{x.Finding, toolmark.Text(x.Reason), x.Expires})
		}
		if s.Err != nil {
			j.Error = NewFailure(s.Err)
		}
		out.Sources = append(out.Sources, j)
	}
	return MarshalASCII(out)
}

func texts(list []string) []toolmark.Text {
	out := make([]toolmark.Text, 0, len(list))
	for _, s := range list {
		out = append(out, toolmark.Text(s))
	}
	return out
}

// WriteJSON writes the document as JSON in pure ASCII.
func (d *Document) WriteJSON(w io.Writer) error {
	out, err := d.JSON()
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}
