package scan

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/toolmark/toolmark"
)

// onlySigns reports whether a stretch of a text, in code points, has no letter, digit or
// ASCII sign: emoji, joiners, tags. Whether those hide something is textcheck's to say,
// which knows flags and emoji sequences; the pack's rules fire on every tag character.
func onlySigns(text string, start, end int) bool {
	from := toolmark.ByteOffset(text, start)
	for _, r := range text[from : from+toolmark.ByteOffset(text[from:], end-start)] {
		if r < 0x80 && r > ' ' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return false
		}
	}
	return true
}

// checkCommunity reports the rules of the community pack that match (E003): one
// finding a rule, medium or info, never more. Names are not given to the pack: its
// rules are written for prose and fire on them.
func checkCommunity(s *Scanner, sub *subject, stop func() bool) bool {
	if s.community == nil || sub.tool == nil {
		return true
	}
	var texts []string
	var from []int
	for i := range sub.collected {
		if f := &sub.collected[i]; !f.options.Name {
			texts = append(texts, f.text)
			from = append(from, i)
		}
	}
	if len(texts) == 0 {
		return true
	}
	result := s.community.Match(texts, stop)
	for _, match := range result.Matches {
		r := match.Rule
		severity := min(r.Grade(), toolmark.Medium) // advisory, whatever the pack says
		f := &sub.collected[from[match.Text]]
		if !sub.hidden[from[match.Text]].Hidden() && onlySigns(f.text, match.Start, match.End) {
			continue
		}
		sub.findings = append(sub.findings, sub.finding(toolmark.CodeCommunity, severity,
			surfaceNouns[f.surface]+" matches a community rule", toolmark.CommunityDetails{
				RuleID: r.ID, Title: r.Title, ATRSeverity: r.Severity, Maturity: r.Maturity, Confidence: r.Confidence,
				PackVersion: s.community.Version(),
				Locations: []toolmark.Location{{
					Pointer: toolmark.Text(f.pointer), Start: match.Start, End: match.End,
					Excerpt: toolmark.Text(excerpt(f.text, match.Start, match.End)),
				}},
			}))
	}
	if len(result.Unfinished) > 0 {
		sub.findings = append(sub.findings, sub.finding(toolmark.CodeUnscannable, toolmark.Info,
			"Some community rules came to no answer on this tool in time; the rest of it was scanned",
			toolmark.UnscannableDetails{Cause: fmt.Sprintf("no answer from %s", strings.Join(result.Unfinished, ", "))}))
	}
	return result.Complete
}
