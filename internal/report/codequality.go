package report

import (
	"io"
	"strings"
)

// quality is one entry of a Code Quality report, the JSON that GitLab reads (GitLab Docs,
// Code Quality, "Code Quality report format").
type quality struct {
	Description string          `json:"description"`
	CheckName   string          `json:"check_name"`
	Fingerprint string          `json:"fingerprint"`
	Severity    string          `json:"severity"`
	Location    qualityLocation `json:"location"`
}

type qualityLocation struct {
	Path  string       `json:"path"`
	Lines qualityLines `json:"lines"`
}

type qualityLines struct {
	Begin int `json:"begin"`
}

// qualitySeverity is what GitLab calls a level of SARIF.
var qualitySeverity = map[string]string{"error": "critical", "warning": "major", "note": "info"}

// WriteCodeQuality writes the findings as a Code Quality report in pure ASCII, for
// GitLab: what SARIF has as results, at the same places, without what is suppressed.
func (d *Document) WriteCodeQuality(w io.Writer) error { return d.sarif().writeQuality(w) }

// WriteCodeQuality writes the changes and findings that count as a Code Quality report in
// pure ASCII, for GitLab: what SARIF has as results, at the same places.
func (d *DriftDocument) WriteCodeQuality(w io.Writer) error { return d.sarif().writeQuality(w) }

func (b *sarifBuilder) writeQuality(w io.Writer) error {
	list := []quality{}
	for _, r := range b.bounded() {
		if len(r.Suppressions) > 0 {
			continue
		}
		place := r.Locations[0].Physical
		list = append(list, quality{
			Description: unescapeMessage(r.Message.Text), CheckName: r.RuleID, Fingerprint: r.PartialFingerprints[fingerprintKey],
			Severity: qualitySeverity[r.Level], Location: qualityLocation{filePath(place.Artifact.URI), qualityLines{place.Region.StartLine}},
		})
	}
	out, err := MarshalASCII(list)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// unescapeMessage undoes plainMessage.
func unescapeMessage(text string) string {
	return strings.NewReplacer(`\\`, `\`, `\[`, `[`, `\]`, `]`).Replace(text)
}
