package pin

import (
	"strings"

	"github.com/toolmark/toolmark"
)

// hintDefaults are the hints of MCP's ToolAnnotations and what they mean where they are
// absent (MCP 2025-03-26 and later, schema.ts, ToolAnnotations).
var hintDefaults = map[string]bool{
	"readOnlyHint":    false,
	"destructiveHint": true,
	"idempotentHint":  false,
	"openWorldHint":   true,
}

// weigh gives a change its severity and its reason. The rule: what a pin covers is high,
// so that a check by drift is never weaker than one by pin; so is what a model reads or a
// client decides by. What neither reads is medium. The exceptions are named where they
// are made.
func weigh(c *Change) (toolmark.Severity, string) {
	if c.Kind == KindOrder {
		if c.Moves != nil || c.Pointer == "/tools" {
			return toolmark.Info, "the same entries stand in another order"
		}
		return toolmark.Info, "the same members stand in another order"
	}
	if c.Effect == EffectEquivalent {
		return toolmark.Info, "another way to write the same"
	}
	if c.Pointer == "" && c.Op == OpChanged {
		return toolmark.High, "a member stands twice, so two readers may see two definitions"
	}
	switch c.Kind {
	case KindTool:
		return toolmark.High, map[Op]string{
			OpAdded:   "a tool that was not there before",
			OpRemoved: "a tool that is no longer there",
			OpRenamed: "the same definition under a new name",
		}[c.Op]
	case KindDescription:
		return toolmark.High, "the tool's description " + did(c)
	case KindSchema:
		return weighSchema(c)
	case KindOutputSchema:
		severity, reason := weighSchema(c)
		if !c.AddsText {
			severity = min(severity, toolmark.Medium) // a pin does not cover it
		}
		return severity, "in the output schema: " + reason
	case KindAnnotation:
		return weighAnnotation(c)
	case KindTitle:
		return byText(c), "the title " + did(c)
	case KindInstructions:
		return byText(c), "the server's instructions " + did(c)
	case KindPrompt:
		return byText(c), "a prompt " + did(c)
	case KindResource:
		return byText(c), "a resource " + did(c)
	case KindServerName:
		return toolmark.Medium, "the server's name " + did(c)
	case KindServerVersion:
		return toolmark.Info, "the server's version " + did(c)
	}
	if c.Tool == toolmark.WholeList {
		// Agreed on at the beginning of a session, not declared.
		switch at := string(c.Pointer); {
		case at == "/protocolVersion":
			return toolmark.Info, "the protocol revision " + did(c)
		case at == "/supportedVersions", strings.HasPrefix(at, "/supportedVersions/"):
			return toolmark.Info, "what protocol revisions the server offers " + did(c)
		}
	}
	return toolmark.Medium, "a member that tells a client more about it " + did(c)
}

func did(c *Change) string {
	switch c.Op {
	case OpAdded:
		return "was added"
	case OpRemoved:
		return "was removed"
	}
	return "changed"
}

func byText(c *Change) toolmark.Severity {
	if c.AddsText {
		return toolmark.High
	}
	return toolmark.Medium
}

func weighSchema(c *Change) (toolmark.Severity, string) {
	at := string(c.Pointer)
	token := last(at)
	parent := last(strings.TrimSuffix(at, "/"+toolmark.EscapePointer(token)))
	switch {
	case token == "additionalProperties" && !c.AddsText && open(c.Old) && open(c.New) && (c.Effect == EffectWidened || c.Effect == EffectNarrowed):
		// What generators of schemas add and drop at an upgrade. It names no parameter and
		// says nothing to a model.
		if c.Effect == EffectWidened {
			return toolmark.Info, "members that are not named are accepted now"
		}
		return toolmark.Info, "members that are not named are refused now"
	case parent == "properties" && c.Op == OpAdded:
		return toolmark.High, "a parameter was added"
	case parent == "properties" && c.Op == OpRemoved:
		return toolmark.High, "a parameter was removed"
	case c.Effect == EffectAnnotation:
		return toolmark.High, "what the schema tells a model " + did(c) + "; the same values are accepted"
	case c.Effect == EffectWidened:
		return toolmark.High, "accepts all it accepted, and maybe more"
	case c.Effect == EffectNarrowed:
		return toolmark.High, "accepts nothing it did not accept, and maybe less"
	}
	return toolmark.High, "accepts other values, or it could not be shown that it does not"
}

// open reports whether a value of additionalProperties is absent or a boolean.
func open(v *toolmark.Value) bool {
	return v == nil || v.Kind == toolmark.KindTrue || v.Kind == toolmark.KindFalse
}

func weighAnnotation(c *Change) (toolmark.Severity, string) {
	name, below := strings.CutPrefix(string(c.Pointer), "/annotations/")
	if !below {
		// All of them came or went: as bad as the worst of them.
		for hint := range hintDefaults {
			if flips(hint, member(c.Old, hint), member(c.New, hint)) {
				return toolmark.High, "annotations " + did(c) + ", and with them what a hint says"
			}
		}
		return toolmark.Medium, "annotations " + did(c)
	}
	if _, ok := hintDefaults[name]; ok {
		if flips(name, c.Old, c.New) {
			return toolmark.High, "a hint says the opposite now"
		}
		if c.Op == OpRemoved {
			return toolmark.Info, "a hint is no longer set; its default says the same"
		}
		return toolmark.Info, "a hint is set now; its default says the same"
	}
	for hint := range hintDefaults {
		if strings.EqualFold(strings.NewReplacer("_", "", "-", "").Replace(name), hint) {
			return toolmark.Medium, "a member spelled almost like a hint, which clients do not read, " + did(c)
		}
	}
	return toolmark.Medium, "an annotation " + did(c)
}

func member(v *toolmark.Value, name string) *toolmark.Value {
	if v == nil {
		return nil
	}
	return v.Get(name)
}

// flips reports whether a hint says something else: its default counts where it is
// absent, and a value that is no boolean may mean anything.
func flips(hint string, old, new *toolmark.Value) bool {
	a, ok := hintValue(hint, old)
	b, fine := hintValue(hint, new)
	return !ok || !fine || a != b
}

func hintValue(hint string, v *toolmark.Value) (value, ok bool) {
	switch {
	case v.Absent():
		return hintDefaults[hint], true
	case v.Kind == toolmark.KindTrue || v.Kind == toolmark.KindFalse:
		return v.Kind == toolmark.KindTrue, true
	}
	return false, false
}
