package toolmark

import (
	"cmp"
	"slices"
	"strings"
)

// Location is one place of a finding.
type Location struct {
	// Pointer is the JSON Pointer (RFC 6901) of the string, from the tool's own
	// object for a finding about a tool, from the manifest for one about "*".
	Pointer Text `json:"pointer"`
	// Start and End are code points of the string, End exclusive. Both are 0 where
	// the finding is about the value as a whole.
	Start int `json:"start"`
	End   int `json:"end"`
	// Reading names the view of the text in which it was found; "raw" is the text
	// as sent.
	Reading string `json:"reading,omitempty"`
	// Rule is the opaque reference of the rule that matched here, if one did.
	Rule string `json:"rule,omitempty"`
	// Kind is the kind of character found here, if it is about characters.
	Kind string `json:"kind,omitempty"`
	// Excerpt is a bounded piece of the text around the place, as it was sent (or,
	// for a decoded reading, as it reads there). Hostile: escape it before printing.
	Excerpt Text `json:"excerpt,omitempty"`
}

// Details is the evidence of a finding; each code has its own type.
type Details interface{ details() }

// Finding is one thing found: a code at a place.
type Finding struct {
	Code     Code     `json:"code"`
	Tool     Text     `json:"tool"` // the tool's name, or "*" for the whole list
	Severity Severity `json:"severity"`
	Reason   string   `json:"reason"` // our own words, never text of the manifest
	Details  Details  `json:"details"`

	// Index is the tool's place in the list as sent, -1 for the whole list. Names
	// need not be unique, so the index is what tells tools apart.
	Index int `json:"-"`
}

// WholeList is the Tool of a finding about the list and not about one tool.
const WholeList = "*"

// PoisonDetails are the details of CodePoisoning.
type PoisonDetails struct {
	// MatchedRules are opaque references (see RuleReference), each once, in the
	// order in which they matched.
	MatchedRules      []string   `json:"matched_rules"`
	TagPayloadDecoded bool       `json:"tag_payload_decoded"`
	Locations         []Location `json:"locations"`
	// Score is nil unless weak signals that stand close together reached a threshold.
	Score *Score `json:"score,omitempty"`
}

// Score is the sum of signals, none of which says anything by itself.
type Score struct {
	Total int `json:"total"`
	// Threshold is the one that Total reached: that of severity medium or of high.
	Threshold int         `json:"threshold"`
	Parts     []ScorePart `json:"parts"` // their weights sum up to Total
}

// ScorePart is one rule's part of a score. A weight below 0 speaks against an attack.
type ScorePart struct {
	Rule   string `json:"rule"` // its opaque reference
	Weight int    `json:"weight"`
}

// HiddenTextDetails are the details of CodeHiddenText.
type HiddenTextDetails struct {
	Kinds             []string   `json:"kinds"`
	DecodedTagPayload Text       `json:"decoded_tag_payload,omitempty"`
	DecodedPayload    Text       `json:"decoded_payload,omitempty"`
	Locations         []Location `json:"locations"`
}

// ShadowDetails are the details of CodeShadowing.
type ShadowDetails struct {
	ShadowedServerName Text       `json:"shadowed_server_name"`
	ShadowedToolName   Text       `json:"shadowed_tool_name"`
	Match              string     `json:"match"` // exact, case, normalized, confusable, reference
	Locations          []Location `json:"locations,omitempty"`
}

// CommunityDetails are the details of CodeCommunity.
type CommunityDetails struct {
	RuleID      string     `json:"rule_id"`
	Title       string     `json:"title"`
	ATRSeverity string     `json:"atr_severity"`
	Maturity    string     `json:"maturity"`
	Confidence  float64    `json:"confidence"`
	PackVersion string     `json:"pack_version"`
	Locations   []Location `json:"locations,omitempty"`
}

// DuplicateNameDetails are the details of CodeDuplicateName.
type DuplicateNameDetails struct {
	Count int    `json:"count"`
	Names []Text `json:"names"`
	Match string `json:"match"` // exact, case, normalized, confusable
}

// RugPullDetails are the details of CodeRugPull.
type RugPullDetails struct {
	PinnedSHA256  string `json:"pinned_sha256"`
	CurrentSHA256 string `json:"current_sha256"`
}

// UnscannableDetails are the details of CodeUnscannable.
type UnscannableDetails struct {
	Cause string `json:"cause"`
}

// FaultDetails are the details of the J codes.
type FaultDetails struct {
	Locations []Location `json:"locations"`
}

// AdviceDetails are the details of the L codes. What does not belong to a code is empty.
type AdviceDetails struct {
	Locations []Location `json:"locations,omitempty"`
	// Kind says what kind of value varies (L107), what kind of text is flagged (L108), or
	// what is wrong with a name (L110).
	Kind string `json:"kind,omitempty"`
	// Old and New are what was and what is: versions (L101, L102), texts (L104, L106, L109).
	Old Text `json:"old,omitempty"`
	New Text `json:"new,omitempty"`
	// File is the file that says otherwise (L102) or says nothing (L109).
	File string `json:"file,omitempty"`
	// Names are the tools that fall together (L110).
	Names []Text `json:"names,omitempty"`
	// Sessions name the two sessions that differ (L106).
	Sessions []string `json:"sessions,omitempty"`
}

func (AdviceDetails) details()        {}
func (PoisonDetails) details()        {}
func (HiddenTextDetails) details()    {}
func (ShadowDetails) details()        {}
func (CommunityDetails) details()     {}
func (DuplicateNameDetails) details() {}
func (RugPullDetails) details()       {}
func (UnscannableDetails) details()   {}
func (FaultDetails) details()         {}

// Places gives the locations of the finding's details, nil where there are none.
func (f *Finding) Places() []Location {
	switch d := f.Details.(type) {
	case PoisonDetails:
		return d.Locations
	case HiddenTextDetails:
		return d.Locations
	case ShadowDetails:
		return d.Locations
	case CommunityDetails:
		return d.Locations
	case FaultDetails:
		return d.Locations
	case AdviceDetails:
		return d.Locations
	}
	return nil
}

// SortFindings puts findings in the order of the contract: by tool as sent, the
// whole list last, then by code, then by place. It is stable.
func SortFindings(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		if a.Index != b.Index {
			switch {
			case a.Index < 0:
				return 1
			case b.Index < 0:
				return -1
			}
			return cmp.Compare(a.Index, b.Index)
		}
		if c := strings.Compare(string(a.Code), string(b.Code)); c != 0 {
			return c
		}
		return comparePlaces(a.Places(), b.Places())
	})
}

func comparePlaces(a, b []Location) int {
	return slices.CompareFunc(a, b, func(x, y Location) int {
		return cmp.Or(
			strings.Compare(string(x.Pointer), string(y.Pointer)),
			cmp.Compare(x.Start, y.Start),
			cmp.Compare(x.End, y.End),
		)
	})
}
