package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/shadow"
	"github.com/toolmark/toolmark/textcheck"
)

// Precall reads a server and says how it stands to the registry. A registered server is
// read with its own headers and the probe recorded; of any other nothing is stored.
func (s *Service) Precall(ctx context.Context, caller Caller, url string) (*Precall, error) {
	e, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	out := &Precall{
		URL: shownURL(e.url, e.names), Text: []DefinitionText{}, Collisions: []Collision{}, Findings: []toolmark.Finding{},
	}
	registered, err := s.at(ctx, caller, e)
	if err != nil {
		return nil, err
	}
	var m *toolmark.Manifest
	except := ""
	if len(registered) > 0 {
		r := &registered[0]
		except = r.ID
		if m, err = s.precallKnown(ctx, out, r, registered); err != nil {
			return nil, err
		}
	} else {
		got, err := s.probe(ctx, Target{URL: e.full()})
		if err != nil {
			return nil, err
		}
		out.ProbedAt, out.Why = got.at, got.why
		m = got.manifest
	}
	if m == nil {
		return out, nil
	}
	out.Reachable, out.Says, out.Pin = true, says(m), pin.Compute(m.Tools).SHA256
	out.Fingerprint, out.NoFingerprint = fingerprint(m)
	report, err := s.scan(ctx, m)
	if err != nil {
		return nil, err
	}
	out.Findings, out.Incomplete = append(out.Findings, report.Findings...), report.Unfinished()
	out.Text = definitions(m, report)
	return out, s.collide(ctx, out, caller, m, except)
}

// precallKnown answers for a registered server, and gives what it serves.
func (s *Service) precallKnown(ctx context.Context, out *Precall, r *ServerRecord, all []ServerRecord) (*toolmark.Manifest, error) {
	r, err := s.fresh(ctx, r)
	if err != nil {
		return nil, err
	}
	named := ref(r)
	out.Registered, out.Server, out.Approved, out.ProbedAt, out.Why = true, &named, r.Approved, r.ProbedAt, r.Why
	for i := range all {
		// Of different headers, and read at different times, only the records are compared.
		if i > 0 && all[i].Current.SHA256 != r.Current.SHA256 && !slices.Equal(all[i].Sealed, r.Sealed) {
			out.DiffersByCaller = true
		}
	}
	if r.State == Unreachable {
		return nil, nil
	}
	found, err := s.difference(ctx, r, r.BaselineID, r.CurrentID)
	if err != nil {
		return nil, err
	}
	matches := r.State == Unchanged
	out.Matches, out.Drift = &matches, found.drift
	return s.loadSnapshot(ctx, r.ID, r.CurrentID)
}

// definitions gives the invisible-text result of every definition.
func definitions(m *toolmark.Manifest, report *toolmark.Report) []DefinitionText {
	out := make([]DefinitionText, 0, len(m.Tools)+1)
	for i := range m.Tools {
		name := toolmark.Text(m.Tools[i].Name)
		out = append(out, DefinitionText{
			Tool: name, Checked: !slices.Contains(report.UnscannedTools, name), Findings: []toolmark.HiddenTextDetails{},
		})
	}
	out = append(out, DefinitionText{
		Tool: toolmark.WholeList, Checked: !slices.Contains(report.UnscannedTools, toolmark.WholeList), Findings: []toolmark.HiddenTextDetails{},
	})
	for i := range report.Findings {
		f := &report.Findings[i]
		d, ok := f.Details.(toolmark.HiddenTextDetails)
		if f.Code != toolmark.CodeHiddenText || !ok {
			continue
		}
		at := len(m.Tools)
		if f.Index >= 0 && f.Index < len(m.Tools) {
			at = f.Index
		}
		out[at].Hidden, out[at].Findings = true, append(out[at].Findings, d)
	}
	return out
}

// collide finds tools of other registered servers with the names of these.
func (s *Service) collide(ctx context.Context, out *Precall, caller Caller, m *toolmark.Manifest, except string) error {
	var keys []NameKey
	for i := range m.Tools {
		keys = append(keys, nameKeys(m.Tools[i].Name)...)
	}
	slices.SortFunc(keys, func(a, b NameKey) int { return slices.Compare(a[:], b[:]) })
	alike, err := s.cfg.Store.SimilarTools(ctx, caller.accounts(), except, slices.Compact(keys), 2*MaxCollisions)
	if err != nil {
		return fmt.Errorf("look for names like these: %w", err)
	}
	out.MoreCollisions = len(alike) == 2*MaxCollisions
	for i := range m.Tools {
		name := m.Tools[i].Name
		for _, other := range alike {
			match := matchNames(name, string(other.Tool))
			if match == "" {
				continue
			}
			if len(out.Collisions) == MaxCollisions {
				out.MoreCollisions = true
				return nil
			}
			out.Collisions = append(out.Collisions, Collision{
				Tool: toolmark.Text(name), Server: other.Server, ServerTool: other.Tool, Match: match,
			})
		}
	}
	return nil
}

// matchNames says how two names are alike, "" where they are not.
func matchNames(a, b string) string {
	names := shadow.NewNames(nil, []toolmark.OtherServer{{Name: "other", Tools: []string{b}}})
	for _, f := range names.ByName(a, 0) {
		if d, ok := f.Details.(toolmark.ShadowDetails); ok {
			return d.Match
		}
	}
	return ""
}

// ScanText finds what is hidden in a text.
func (s *Service) ScanText(text string) (*textcheck.Report, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("%w: a text has at most %d bytes", ErrInvalid, MaxText)
	}
	found := textcheck.Inspect(text, textcheck.Options{})
	report := textcheck.NewReport(text, &found)
	return &report, nil
}
