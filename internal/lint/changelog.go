package lint

import (
	"strings"
	"unicode"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// changelog looks for changes that no entry of the changelog quotes (L109): a changed text
// is quoted by its old and its new words, everything else by the names of the tool and of
// the parameter. Punctuation, case, line breaks and Markdown do not count.
func (c *collector) changelog(in Input, drift *pin.Drift) {
	if in.Changelog == "" && in.ChangelogFile == "" {
		return
	}
	log := bare(in.Changelog)
	type subject struct{ index, old int }
	missing := map[subject][]toolmark.Location{}
	var order []subject
	for i := range drift.Changes {
		change := &drift.Changes[i]
		if !definition(change) || quoted(log, in, change) {
			continue
		}
		s := subject{change.NewIndex, change.OldIndex}
		if change.NewIndex >= 0 || change.OldIndex < 0 {
			s.old = whole // a removed tool is told apart by its old place
		}
		if _, there := missing[s]; !there {
			order = append(order, s)
		}
		missing[s] = append(missing[s], toolmark.Location{Pointer: change.Pointer})
	}
	for _, s := range order {
		details := toolmark.AdviceDetails{File: in.ChangelogFile, Locations: missing[s][:min(len(missing[s]), maxPlaces)]}
		reason := "No entry of the changelog quotes this change, which is what a reviewer reads beside the diff"
		if s.old >= 0 {
			details.Names = []toolmark.Text{toolmark.Text(in.Previous.Tools[s.old].Name)}
			details.Locations = nil
			reason = "No entry of the changelog names this tool, which was removed"
		}
		c.add(in.Manifest, s.index, toolmark.CodeNoChangelog, toolmark.Medium, reason, details)
	}
}

// quoted reports whether the log, stripped, quotes a change.
func quoted(log string, in Input, change *pin.Change) bool {
	if change.OldIndex >= 0 && !strings.Contains(log, bare(in.Previous.Tools[change.OldIndex].Name)) {
		return false
	}
	if change.NewIndex >= 0 && !strings.Contains(log, bare(in.Manifest.Tools[change.NewIndex].Name)) {
		return false
	}
	if change.Op == pin.OpChanged {
		// A changed text: both its versions.
		return holds(log, change.Old) && holds(log, change.New)
	}
	// What came or went inside a tool is named by the last token of its place that is a
	// name; whole tools are named above.
	return change.Pointer == "" || strings.Contains(log, bare(lastName(string(change.Pointer))))
}

func holds(log string, v *toolmark.Value) bool {
	if v == nil || v.Kind != toolmark.KindString {
		return true // numbers and schemas are named, not quoted
	}
	return strings.Contains(log, bare(v.Text))
}

// bare strips a text to its letters and digits in lower case.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// lastName gives the last token of a JSON Pointer that is not an index or a keyword of
// schemas.
func lastName(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i := len(tokens) - 1; i > 0; i-- {
		token := strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[i])
		if token == "" || strings.Trim(token, "0123456789") == "" {
			continue
		}
		if _, keyword := schemaKeywords[token]; keyword && i > 1 {
			continue
		}
		return token
	}
	return ""
}

var schemaKeywords = map[string]struct{}{
	"description": {}, "type": {}, "enum": {}, "const": {}, "default": {}, "items": {}, "properties": {}, "required": {},
	"anyOf": {}, "oneOf": {}, "allOf": {}, "minimum": {}, "maximum": {}, "minLength": {}, "maxLength": {}, "pattern": {},
	"format": {}, "additionalProperties": {}, "title": {}, "examples": {}, "minItems": {}, "maxItems": {},
}
