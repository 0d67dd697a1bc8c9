package report

import "github.com/toolmark/toolmark"

// driftAdvice is Advice for the codes of drift.
func driftAdvice(code toolmark.Code) string {
	switch code {
	case toolmark.CodeToolAdded:
		return "Read the new tool as if the server were new, and accept it only if you want agents to have it."
	case toolmark.CodeToolRemoved:
		return "Check that nothing of yours calls the tool; a list that shrinks may also be a failing server, or a login that sees less."
	case toolmark.CodeToolRenamed:
		return "Accept the new name where you accepted the old one; permissions given by name do not follow."
	case toolmark.CodeDescriptionChanged:
		return "Read the marked words; accept them if they only say what the tool does."
	case toolmark.CodeSchemaChanged:
		return "Check what the tool asks for now: a new parameter, or new words about an old one, may collect what it did not collect before."
	case toolmark.CodeAnnotationChanged:
		return "Check whether your client runs the tool without asking now, and whether you want that."
	case toolmark.CodeMemberChanged:
		return "Read the change; clients may show this member to users or to the model, or act by it."
	case toolmark.CodeContextChanged:
		return "Read the new text as you would a tool's description: a model reads it too."
	case toolmark.CodeServerChanged:
		return "Match the change with a release of the server, and read its changelog."
	case toolmark.CodeUnread:
		return "Find out why the list could not be read and check again; until then nothing is known of it, and nothing of what was approved was changed."
	}
	return ""
}

// driftMeaning is Explain for the codes of drift.
func driftMeaning(code toolmark.Code) string {
	switch code {
	case toolmark.CodeToolAdded:
		return "The server offers a tool that was not there when it was approved. Nobody has read its text yet, and every model that gets the list will."
	case toolmark.CodeToolRemoved:
		return "A tool that was approved is no longer there. Agents that call it fail; and if it comes back with another text, that is a new tool."
	case toolmark.CodeToolRenamed:
		return "A tool has a new name and otherwise the same definition. To clients one tool is gone and another is new: what was allowed by name is asked for again."
	case toolmark.CodeDescriptionChanged:
		return "A tool's description is not the one that was approved. The model takes it as trusted and acts by it. An honest edit and an injected order look the same to a hash, so both texts are shown, with the words that differ."
	case toolmark.CodeSchemaChanged:
		return "A tool's input schema changed: what it accepts, what it asks for, or what it says about a parameter. It is said whether it accepts more (widened), less (narrowed), the same with other words (annotation), or something that cannot be compared (restructured). Another spelling of the same schema is shown and fails nothing."
	case toolmark.CodeAnnotationChanged:
		return "An annotation changed. Clients decide by hints such as readOnlyHint and destructiveHint whether to ask the user before a call, so a flipped hint can take that question away. A hint that is absent means readOnlyHint false, destructiveHint true, idempotentHint false, openWorldHint true."
	case toolmark.CodeMemberChanged:
		return "Another member of a definition changed: a title, the output schema, icons, _meta, execution, capabilities, or one that no revision of MCP defines. A pin does not cover these, so they can change where a pin stays the same."
	case toolmark.CodeContextChanged:
		return "What the server says beside its tools changed: its instructions, prompts, resources or resource templates. Clients hand these texts to the model as well."
	case toolmark.CodeServerChanged:
		return "The server gives another name or version of itself. A new version is what an honest change comes with; another name may be another server."
	case toolmark.CodeUnread:
		return "The server could not be reached, or its list could not be read whole. That is never the same as an empty list, and never the same as no change."
	}
	return ""
}
