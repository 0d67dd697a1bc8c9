package report

import (
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// DriftDocument is what one comparison has to say: of servers with what was approved of
// them, or of two snapshots.
//
// Its writers give what those of [Document] give: hostile text is made visible, a
// document is built whole before its first byte is written, and the same document always
// gives the same bytes.
type DriftDocument struct {
	// Title is what ran, for headings: "check", "diff", "lock"; "" is "check".
	Title string
	// Servers are in the order in which they were asked for.
	Servers []DriftServer
	// Warnings are about the run as a whole: an expired suppression, for example.
	Warnings []string
	// FailOn is the severity from which a change or a finding fails the run; 0 is never.
	FailOn toolmark.Severity
	// Elapsed is the time the run took.
	Elapsed time.Duration
	// Community is the state of the community rules; the zero value says nothing of them.
	Community Community
	// Rules explains the opaque references of findings; nil knows none.
	Rules Catalogue
}

// DriftServer is one server: what was approved, what there is now, and the difference.
type DriftServer struct {
	// Name is what the server is called: its name in the lockfile, or a label.
	Name string
	// Old is what was approved; nil where nothing was, so that the server is new.
	Old *DriftSide
	// New is what there is now; nil where it could not be read, and Err says why, or,
	// without an Err, where the server is no longer there (of two lockfiles).
	New *DriftSide
	// Drift is the difference, with the findings attached that belong to a change (see
	// pin.Drift.Attach). It is nil only where one side is nil.
	Drift *pin.Drift
	// Findings are those of the new text that count and belong to no change: of a new
	// server all of them, otherwise what Attach returns.
	Findings []toolmark.Finding
	// Standing are findings that the approved text had already. They are counted and,
	// in the JSON, listed; they fail nothing.
	Standing []toolmark.Finding
	// Suppressed are the findings that do not count.
	Suppressed []Suppressed
	// Unscanned are the tools of the new list that the time budget did not reach.
	Unscanned []toolmark.Text
	// Err says why there is no new side. A *toolmark.Error keeps its code.
	Err error
	// Warnings say what the source did that it should not. Hostile text.
	Warnings []string
	// Accept is the exact command that makes the new side the approved one; "" where
	// there is nothing to accept, or nothing can.
	Accept string
}

// DriftSide is one of the two things that are compared.
type DriftSide struct {
	// Label says in a word or two which side it is: "approved", "served now", "1.4.0".
	Label string
	// Source is where it was read: a path, a URL, a command line.
	Source string
	// Manifest is what was read; its lists are those that the drift's indexes count in.
	Manifest *toolmark.Manifest
	// Pin and Fingerprint are those of the list; where there is no fingerprint
	// NoFingerprint says why.
	Pin           string
	Fingerprint   toolmark.Fingerprint
	NoFingerprint string
	// AcceptedBy and AcceptedAt say who approved it and when; zero where nobody did.
	AcceptedBy string
	AcceptedAt time.Time
	// File is the path of the file it stands in, relative to the working directory (or
	// the repository), with slashes; "" where it is in no such file.
	File string
	// Line gives the line of File, from 1, at which the value of a JSON Pointer starts;
	// 0 where it does not stand there. Pointers count from the object that holds "tools"
	// ("/tools/3/description"); "" is that object. Nil knows no lines. It is called only
	// by writers that need it. See LinesOf.
	Line func(pointer string) int
}

// DriftStatus says what came of one server.
type DriftStatus string

// What can come of a server.
const (
	DriftUnchanged   DriftStatus = "unchanged"   // the same, member for member
	DriftEquivalent  DriftStatus = "equivalent"  // only differences that mean nothing
	DriftChanged     DriftStatus = "changed"     // something differs
	DriftNew         DriftStatus = "new"         // nothing was approved yet
	DriftRemoved     DriftStatus = "removed"     // of two lockfiles: the new one has no such server
	DriftUnreachable DriftStatus = "unreachable" // there is no new list: never the same as unchanged
)

// Status says what came of the server.
func (s *DriftServer) Status() DriftStatus {
	switch {
	case s.Err != nil || s.Drift != nil && s.Drift.Unread != "":
		return DriftUnreachable
	case s.New == nil:
		return DriftRemoved
	case s.Old == nil:
		return DriftNew
	case s.Drift == nil || s.Drift.Empty():
		return DriftUnchanged
	case !s.Drift.Changed():
		return DriftEquivalent
	}
	return DriftChanged
}

// Worst gives the greatest severity of what counts on the server: changes that are not
// neutral and findings; 0 where there is none. A server that was removed is high, as a
// tool is: nothing watches it any more.
func (s *DriftServer) Worst() toolmark.Severity {
	var worst toolmark.Severity
	if s.Status() == DriftRemoved {
		worst = toolmark.High
	}
	if s.Drift != nil {
		worst = s.Drift.Worst()
	}
	for i := range s.Findings {
		worst = max(worst, s.Findings[i].Severity)
	}
	return worst
}

// Fails reports whether something of that severity fails the run.
func (d *DriftDocument) Fails(s toolmark.Severity) bool { return d.FailOn != 0 && s >= d.FailOn }

// Failed reports whether any change or finding fails the run. That a server could not be
// read does not: the run is then unfinished, whatever it should fail on.
func (d *DriftDocument) Failed() bool {
	for i := range d.Servers {
		if s := &d.Servers[i]; s.Status() != DriftUnreachable && d.Fails(s.Worst()) {
			return true
		}
	}
	return false
}

// Unfinished reports whether some server could not be read or was not scanned whole.
func (d *DriftDocument) Unfinished() bool {
	for i := range d.Servers {
		if s := &d.Servers[i]; s.Status() == DriftUnreachable || len(s.Unscanned) > 0 {
			return true
		}
	}
	return false
}

// LinesOf gives the Line of a side whose values were read from data: base is the value
// that holds "tools", as canonjson.Parse(data) gave it. A pointer to what does not stand
// there gives the line of the nearest value around it.
func LinesOf(data []byte, base *toolmark.Value) func(pointer string) int {
	var lines *ruler // made when first asked
	return func(pointer string) int {
		if lines == nil {
			lines = newRuler(data)
		}
		at := nearest(base, pointer)
		if at == nil || at.Start < 0 || at.Start >= len(data) {
			return 0
		}
		return lines.line(at.Start)
	}
}
