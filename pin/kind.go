package pin

import (
	"fmt"
	"slices"
)

// Kind says what a change is about.
type Kind string

// The kinds of changes. KindTool is a whole tool that came, went or took another name;
// the others are one place of a definition.
const (
	KindTool          Kind = "tool"
	KindDescription   Kind = "description"    // a tool's own description
	KindSchema        Kind = "schema"         // a place of a tool's input schema
	KindAnnotation    Kind = "annotation"     // a tool's annotations, the hints among them
	KindTitle         Kind = "title"          // a tool's or the server's title
	KindOutputSchema  Kind = "output-schema"  // a place of a tool's output schema
	KindMetadata      Kind = "metadata"       // icons, _meta, execution, capabilities, members no revision of MCP defines
	KindInstructions  Kind = "instructions"   // the server's instructions
	KindPrompt        Kind = "prompt"         // a prompt, or a place of one
	KindResource      Kind = "resource"       // a resource or a resource template, or a place of one
	KindServerName    Kind = "server-name"    // serverInfo.name
	KindServerVersion Kind = "server-version" // serverInfo.version
	KindOrder         Kind = "order"          // the order of tools or of the members of an object; never a change by itself
	KindUnread        Kind = "unread"         // there is no new list
)

// Kinds lists every kind in the order above.
func Kinds() []Kind {
	return []Kind{
		KindTool, KindDescription, KindSchema, KindAnnotation, KindTitle, KindOutputSchema, KindMetadata,
		KindInstructions, KindPrompt, KindResource, KindServerName, KindServerVersion, KindOrder, KindUnread,
	}
}

// String gives the kind's name. It is the inverse of ParseKind.
func (k Kind) String() string { return string(k) }

// ParseKind reads a kind's name; an unknown one is an error.
func ParseKind(text string) (Kind, error) {
	if slices.Contains(Kinds(), Kind(text)) {
		return Kind(text), nil
	}
	return "", fmt.Errorf("unknown kind of change %q: one of %v", text, Kinds())
}

// Effect is the sub-kind of a change: what it does to the values that are accepted.
// Only schemas have all of them; elsewhere it is empty, or EffectEquivalent for another
// way to write the same value.
type Effect string

// The effects. Widened, narrowed and equivalent are proven (see docs/drift.md);
// whatever is not is restructured.
const (
	// EffectEquivalent: the same values are accepted, and nothing a model reads differs.
	EffectEquivalent Effect = "equivalent"
	// EffectAnnotation: the same values are accepted; a description, title, default,
	// example or comment differs.
	EffectAnnotation Effect = "annotation"
	// EffectWidened: all that was accepted still is.
	EffectWidened Effect = "widened"
	// EffectNarrowed: all that is accepted was accepted before.
	EffectNarrowed Effect = "narrowed"
	// EffectRestructured: anything else, and whatever could not be proven.
	EffectRestructured Effect = "restructured"
)

// Effects lists every effect, from none to the greatest.
func Effects() []Effect {
	return []Effect{EffectEquivalent, EffectAnnotation, EffectWidened, EffectNarrowed, EffectRestructured}
}

// String gives the effect's name. It is the inverse of ParseEffect.
func (e Effect) String() string { return string(e) }

// ParseEffect reads an effect's name; an unknown one is an error.
func ParseEffect(text string) (Effect, error) {
	if slices.Contains(Effects(), Effect(text)) {
		return Effect(text), nil
	}
	return "", fmt.Errorf("unknown effect %q: one of %v", text, Effects())
}

// Op says what happened at the place of a change.
type Op string

// What can happen at a place.
const (
	OpAdded   Op = "added"
	OpRemoved Op = "removed"
	OpRenamed Op = "renamed" // a tool: same definition, new name
	OpChanged Op = "changed"
	OpMoved   Op = "moved" // the order of what stands there, and nothing else
)

// Status says what happened to a tool.
type Status string

// What can happen to a tool. A tool of which nothing differs is not in a drift.
const (
	StatusAdded      Status = "added"
	StatusRemoved    Status = "removed"
	StatusRenamed    Status = "renamed"
	StatusChanged    Status = "changed"
	StatusEquivalent Status = "equivalent" // only changes that are neutral
)
