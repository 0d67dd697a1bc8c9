package lint

import (
	"strings"
	"unicode"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// release holds a list against that of the last release.
func (c *collector) release(in Input) {
	bare := bareList(in.Previous) || bareList(in.Manifest)
	drift := pin.Diff(in.Previous, in.Manifest, pin.Options{ToolsOnly: bare})
	if !bare {
		c.versionBump(in, drift)
	}
	for i := range drift.Tools {
		t := &drift.Tools[i]
		switch t.Status {
		case pin.StatusChanged:
			c.repurposed(in, t)
		case pin.StatusRemoved, pin.StatusRenamed:
			c.removed(in, t)
		}
	}
	c.changelog(in, drift)
}

// bareList reports whether a manifest is a tools/list result alone, which says nothing of
// the server's version and of what it declares beside its tools.
func bareList(m *toolmark.Manifest) bool { return !m.Server.Given && m.ProtocolVersion == "" }

// definition reports whether a change is one of what the server declares, and not of the
// name and version it declares it under.
func definition(change *pin.Change) bool {
	return !change.Neutral() && change.Code != toolmark.CodeServerChanged && change.Code != toolmark.CodeUnread
}

// versionBump looks for definitions that changed under the same version (L101).
func (c *collector) versionBump(in Input, drift *pin.Drift) {
	old, new := in.Previous.Server.Version, in.Manifest.Server.Version
	if old != new {
		return
	}
	changed, places := 0, []toolmark.Location(nil)
	for i := range drift.Changes {
		change := &drift.Changes[i]
		if !definition(change) {
			continue
		}
		changed++
		if len(places) < maxPlaces {
			places = append(places, toolmark.Location{Pointer: toolmark.Text(manifestPointer(in.Manifest, change))})
		}
	}
	if changed == 0 {
		return
	}
	reason := "Definitions changed and serverInfo.version did not, so nobody can look up which release a client sees"
	if new == "" {
		reason = "Definitions changed, and the server reports no version under which a client could look the change up"
	}
	c.add(in.Manifest, whole, toolmark.CodeVersionNotBumped, toolmark.High, reason,
		toolmark.AdviceDetails{Old: toolmark.Text(old), New: toolmark.Text(new), Locations: places})
}

// manifestPointer gives a change's place from the manifest.
func manifestPointer(m *toolmark.Manifest, change *pin.Change) string {
	base := strings.TrimSuffix(m.ToolsPointer, "/tools")
	switch {
	case change.NewIndex >= 0:
		return toolmark.Pointer(base+"/tools", change.NewIndex) + string(change.Pointer)
	case change.OldIndex >= 0:
		return base + "/tools"
	}
	return base + string(change.Pointer)
}

// The shares below which a tool counts as another tool under an old name. Of the real
// releases in the project's corpus of honest edits none reaches them but true replacements.
const (
	sameWords      = 0.2
	sameProperties = 1.0 / 3
	fewWords       = 5
)

// repurposed looks for a tool that kept its name and became another one (L104): nothing of
// its description is left, or hardly any of its parameters.
func (c *collector) repurposed(in Input, t *pin.ToolDrift) {
	old, new := &in.Previous.Tools[t.OldIndex], &in.Manifest.Tools[t.NewIndex]
	var kinds []string
	a, b := words(old.Description()), words(new.Description())
	if len(a) >= fewWords && len(b) >= fewWords && share(a, b) < sameWords {
		kinds = append(kinds, "description")
	}
	p, q := properties(old), properties(new)
	if len(p) >= 2 && len(q) >= 1 && share(p, q) < sameProperties {
		kinds = append(kinds, "schema")
	}
	if len(kinds) == 0 {
		return
	}
	details := toolmark.AdviceDetails{Kind: strings.Join(kinds, ", "), Old: excerpt(old.Description()), New: excerpt(new.Description())}
	for _, kind := range kinds {
		pointer := "/description"
		if _, member := new.InputSchema(); kind == "schema" {
			pointer = "/" + member
		}
		details.Locations = append(details.Locations, toolmark.Location{Pointer: toolmark.Text(pointer)})
	}
	c.add(in.Manifest, t.NewIndex, toolmark.CodeRepurposed, toolmark.High,
		"The tool kept its name and became another tool; people who approved the old one are asked to trust the new one under its name", details)
}

// words gives the different words of a text, folded; those of one or two letters say
// little.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if toolmark.CodePoints(word) > 2 {
			set[word] = true
		} else if word[0] >= 0x80 {
			set[word] = true
		}
	}
	return set
}

// properties gives the names of a tool's parameters.
func properties(t *toolmark.Tool) map[string]bool {
	set := map[string]bool{}
	schema, _ := t.InputSchema()
	if schema == nil {
		return set
	}
	for _, member := range schema.Get("properties").Members {
		set[member.Name] = true
	}
	return set
}

// share gives what two sets have in common, as a part of the smaller one.
func share(a, b map[string]bool) float64 {
	common := 0
	for word := range a {
		if b[word] {
			common++
		}
	}
	return float64(common) / float64(min(len(a), len(b)))
}

// deprecation is how people announce the end of a tool.
var deprecation = lazily(`(?i)deprecat|obsolete|will be removed|to be removed|superseded|no longer (?:supported|maintained)|(?:use|replaced by|renamed to|in favou?r of) [` + "`" + `'"]?[a-z0-9_.-]+[` + "`" + `'"]? instead|replaced by|renamed to|veralte|obsolèt|dépréci|obsolet|устарел|非推奨|廃止|弃用|已废弃|사용 중단`)

// removed looks for a tool that went without a release that said so (L105). A new name for
// the same definition is the end of the old name.
func (c *collector) removed(in Input, t *pin.ToolDrift) {
	old := &in.Previous.Tools[t.OldIndex]
	if announced(old.Tree) {
		return
	}
	index, reason := whole, "A tool was removed, and the last release did not call it deprecated, so those who use it had no warning"
	if t.Status == pin.StatusRenamed {
		index, reason = t.NewIndex, "A tool was renamed, and the last release did not call the old name deprecated; keep the old name for a release"
	}
	c.add(in.Manifest, index, toolmark.CodeRemovedUnannounced, toolmark.Medium, reason,
		toolmark.AdviceDetails{Names: []toolmark.Text{toolmark.Text(old.Name)}})
}

// announced reports whether a tool says of itself that it will go: in a text a person
// reads, or in a member named deprecated that is not false.
func announced(tool *toolmark.Value) bool {
	for _, name := range []string{"description", "title"} {
		if v := tool.Get(name); v.Kind == toolmark.KindString && deprecation().MatchString(v.Text) {
			return true
		}
	}
	for _, holder := range []*toolmark.Value{tool, tool.Get("annotations"), tool.Get("_meta")} {
		for i := range holder.Members {
			member := &holder.Members[i]
			if !strings.Contains(strings.ToLower(member.Name), "deprecat") {
				continue
			}
			if v := &member.Value; !v.Absent() && v.Kind != toolmark.KindFalse {
				return true
			}
		}
	}
	return false
}
