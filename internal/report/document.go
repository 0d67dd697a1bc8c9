package report

import (
	"time"

	"github.com/toolmark/toolmark"
)

// Document is what one run has to say about its sources.
type Document struct {
	// Sources are in the order in which they were asked for.
	Sources []Source
	// Warnings are about the run as a whole: an expired suppression, for example.
	Warnings []string
	// FailOn is the severity from which a finding fails the run; 0 is never.
	FailOn toolmark.Severity
	// Elapsed is the time the run took.
	Elapsed time.Duration
	// Community is the state of the community rules.
	Community Community
	// Rules explains the opaque references of findings; nil knows none.
	Rules Catalogue
}

// Community is the state of the community rules (E003) in a run.
type Community struct {
	// Version is that of the pack; "" where the rules are off.
	Version string
	Rules   int
	// Off says why they are off, and what to type; "" where they are on.
	Off string
}

// Catalogue finds a rule by its opaque reference (Location.Rule).
type Catalogue interface {
	Rule(reference string) (Rule, bool)
}

// Rule is what a reader is told of a rule.
type Rule struct {
	ID         string
	Reference  string
	Title      string
	Explain    string
	Fix        string
	Severity   toolmark.Severity
	References []string
}

// Source is one source and what came of it: a report, or an error.
type Source struct {
	// Name is the source as it was asked for: a path, "-", a URL, a command line.
	Name string
	// Label is what the source is called where the server says nothing of itself; ""
	// is Name.
	Label string
	// File is the path of the source relative to the working directory, with slashes;
	// "" where the source is not a file below it.
	File string
	// Snapshot is what was read; nil where Err is set.
	Snapshot *toolmark.Snapshot
	// Report is what was found; its findings are those that count.
	Report *toolmark.Report
	// Scope is how much of the manifest was scanned.
	Scope toolmark.Scope
	// Suppressed are the findings that do not count.
	Suppressed []Suppressed
	// Fingerprint is the list's fingerprint; where it is "" NoFingerprint says why.
	Fingerprint   toolmark.Fingerprint
	NoFingerprint string
	// Err says why there is no report.
	Err error
}

// Suppressed is a finding that a person has accepted.
type Suppressed struct {
	Finding toolmark.Finding
	Reason  string
	// Expires is the last day of the suppression, YYYY-MM-DD; "" where there is none.
	Expires string
}

// Server is the name by which a source is called: what the server says of itself,
// else the source's label or name.
func (s *Source) Server() string {
	if s.Snapshot != nil && s.Snapshot.Manifest.Server.Name != "" {
		return s.Snapshot.Manifest.Server.Name
	}
	if s.Label != "" {
		return s.Label
	}
	return s.Name
}

// Summary counts what a document holds.
type Summary struct {
	Sources    int  `json:"sources"`
	Failed     int  `json:"failed"` // sources that could not be read or scanned
	Tools      int  `json:"tools"`
	High       int  `json:"high"`
	Medium     int  `json:"medium"`
	Info       int  `json:"info"`
	Suppressed int  `json:"suppressed"`
	Unscanned  int  `json:"unscanned"` // tools that the time budget did not reach
	OK         bool `json:"ok"`        // every source was read and its report is ok
}

// Summary counts the document.
func (d *Document) Summary() Summary {
	sum := Summary{Sources: len(d.Sources), OK: true}
	for i := range d.Sources {
		s := &d.Sources[i]
		sum.Suppressed += len(s.Suppressed)
		if s.Report == nil {
			sum.Failed++
			sum.OK = false
			continue
		}
		sum.OK = sum.OK && s.Report.OK
		sum.Tools += len(s.Report.Tools)
		sum.Unscanned += len(s.Report.UnscannedTools)
		for j := range s.Report.Findings {
			switch s.Report.Findings[j].Severity {
			case toolmark.High:
				sum.High++
			case toolmark.Medium:
				sum.Medium++
			default:
				sum.Info++
			}
		}
	}
	return sum
}

// Fails reports whether a finding of that severity fails the run.
func (d *Document) Fails(s toolmark.Severity) bool { return d.FailOn != 0 && s >= d.FailOn }

// Failed reports whether any finding fails the run.
func (d *Document) Failed() bool {
	for i := range d.Sources {
		if r := d.Sources[i].Report; r != nil && d.Fails(r.Worst()) {
			return true
		}
	}
	return false
}

// Unfinished reports whether some source could not be read or was not scanned whole.
func (d *Document) Unfinished() bool {
	for i := range d.Sources {
		if r := d.Sources[i].Report; r == nil || r.Unfinished() {
			return true
		}
	}
	return false
}

// rule looks a reference up; where it is not known the result names only itself.
func (d *Document) rule(reference string) (Rule, bool) {
	if reference == "" || d.Rules == nil {
		return Rule{Reference: reference}, false
	}
	r, ok := d.Rules.Rule(reference)
	if !ok {
		return Rule{Reference: reference}, false
	}
	return r, true
}
