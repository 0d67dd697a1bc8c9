package suppression

import (
	"fmt"
	"slices"
	"time"

	"github.com/toolmark/toolmark"
)

// Match is a finding with the first entry that suppresses part of it.
type Match struct {
	Finding toolmark.Finding
	Entry   *Entry
}

// Use applies a list to the reports of one run and keeps account of which entries
// named something. It is not safe for concurrent use.
type Use struct {
	list *List
	now  time.Time
	// ruleID gives the id of an opaque reference, "" where it is unknown.
	ruleID func(reference string) string
	used   []bool
}

// Begin starts a run at that time. RuleID turns the opaque reference of a location
// into the rule's id, so that entries may name either; nil knows no ids.
func (l *List) Begin(now time.Time, ruleID func(reference string) string) *Use {
	if ruleID == nil {
		ruleID = func(string) string { return "" }
	}
	return &Use{list: l, now: now, ruleID: ruleID, used: make([]bool, len(l.Entries))}
}

// Apply takes the findings of one server's report apart: those that count, and those
// that are suppressed, both in their order.
func (u *Use) Apply(server string, findings []toolmark.Finding) (kept []toolmark.Finding, suppressed []Match) {
	kept = make([]toolmark.Finding, 0, len(findings))
	for _, f := range findings {
		if entry := u.covers(server, &f); entry != nil {
			suppressed = append(suppressed, Match{f, entry})
		} else {
			kept = append(kept, f)
		}
	}
	return kept, suppressed
}

// covers gives an entry if all places of the finding are named by entries that hold.
// Every entry that names one counts as used.
func (u *Use) covers(server string, f *toolmark.Finding) *Entry {
	if f.Code == toolmark.CodeRugPull {
		return nil
	}
	places := f.Places()
	if len(places) == 0 {
		places = []toolmark.Location{{}}
	}
	var first *Entry
	all := listed(f, places)
	for i := range places {
		named := false
		for j := range u.list.Entries {
			e := &u.list.Entries[j]
			if !u.names(e, server, f, &places[i]) {
				continue
			}
			u.used[j] = true
			if e.expired(u.now) {
				continue
			}
			named = true
			if first == nil {
				first = e
			}
		}
		all = all && named
	}
	if !all {
		return nil
	}
	return first
}

// listed reports whether every rule that matched has a place among those listed: a
// finding lists only so many places, and a rule beyond them cannot be named.
func listed(f *toolmark.Finding, places []toolmark.Location) bool {
	d, ok := f.Details.(toolmark.PoisonDetails)
	if !ok {
		return true
	}
	for _, ref := range d.MatchedRules {
		if !slices.ContainsFunc(places, func(l toolmark.Location) bool { return l.Rule == ref }) {
			return false
		}
	}
	return true
}

func (u *Use) names(e *Entry, server string, f *toolmark.Finding, loc *toolmark.Location) bool {
	return e.Code == f.Code && e.Tool == string(f.Tool) &&
		(e.Server == "" || e.Server == server) &&
		(e.Place == "" || e.Place == string(loc.Pointer)) &&
		(e.Rule == "" || loc.Rule != "" && (e.Rule == loc.Rule || e.Rule == u.ruleID(loc.Rule)))
}

// Warnings names the entries that have expired and, where everything was scanned,
// those that named nothing. The texts hold what the file says, so they are to be
// escaped before printing.
func (u *Use) Warnings(complete bool) []string {
	var out []string
	for i := range u.list.Entries {
		e := &u.list.Entries[i]
		switch {
		case e.expired(u.now):
			out = append(out, fmt.Sprintf("%s:%d: the suppression of %s expired on %s and no longer holds",
				u.list.Name, e.Line, e, e.Expires.Format(time.DateOnly)))
		case complete && !u.used[i]:
			out = append(out, fmt.Sprintf("%s:%d: the suppression of %s names nothing that was found; remove it",
				u.list.Name, e.Line, e))
		}
	}
	return out
}
