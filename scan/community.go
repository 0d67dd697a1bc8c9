package scan

import (
	"fmt"
	"runtime/debug"
	"strings"
	"unicode"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/rulepack/atr"
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

// proseTexts gives the texts that are read by the community rules.
func (sub *subject) proseTexts() []string {
	texts := make([]string, len(sub.prose))
	for i, n := range sub.prose {
		texts[i] = sub.collected[n].text
	}
	return texts
}

// batch has the community rules look at all tools together first, which says of most that
// none of them has to be looked for. A fault in it is told, and costs no more than time:
// the tools are then looked at one by one, each in its turn.
func (s *Scanner) batch(subjects []*subject, stop func() bool) {
	if s.community == nil || len(subjects) < 2 {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			s.fault(-1, v, debug.Stack())
		}
	}()
	var list [][]string
	for _, sub := range subjects {
		if sub.tool == nil {
			continue
		}
		if stop() {
			return
		}
		sub.collect()
		list = append(list, sub.proseTexts())
	}
	batch := s.community.Batch(list, stop)
	for _, sub := range subjects {
		sub.batch = batch
	}
}

// checkCommunity reports the rules of the community pack that match (E003): one
// finding a rule, medium or info, never more. Names are not given to the pack: its
// rules are written for prose and fire on them.
func checkCommunity(s *Scanner, sub *subject, stop func() bool) bool {
	if s.community == nil || sub.tool == nil || len(sub.prose) == 0 {
		return true
	}
	var result atr.Result
	if sub.batch != nil {
		result = sub.batch.Match(sub.index, stop)
	} else {
		result = s.community.Match(sub.proseTexts(), stop)
	}
	from := sub.prose
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
