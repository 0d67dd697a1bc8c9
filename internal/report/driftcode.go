package report

import "github.com/toolmark/toolmark"

// driftAdvice is Advice for the codes of drift.
func driftAdvice(code toolmark.Code) string {
	switch code {
	case toolmark.CodeToolAdded:
		return "Read the new tool as if the server were new; approve it if you want agents to have it."
	case toolmark.CodeToolRemoved:
		return "Check that nothing of yours calls the tool; a list that shrinks may also be a failing server."
	case toolmark.CodeToolRenamed:
		return "Approve the new name where you approved the old one; permissions given by name do not follow."
	case toolmark.CodeDescriptionChanged:
		return "Read old and new text side by side; approve the new one if a reviewer of the server would."
	case toolmark.CodeSchemaChanged:
		return "Check what the tool now accepts or asks for; a new parameter may collect what the old one did not."
	case toolmark.CodeAnnotationChanged:
		return "Check how your client treats the tool: a changed hint may let it run without asking."
	case toolmark.CodeMemberChanged:
		return "Read the change; clients may show or use this member."
	case toolmark.CodeContextChanged:
		return "Read the new text: a model reads instructions, prompts and resources as it reads tools."
	case toolmark.CodeServerChanged:
		return "Match the change with a release of the server."
	case toolmark.CodeUnread:
		return "Find out why the list could not be read; until then nothing is known of it."
	}
	return ""
}

// driftMeaning is Explain for the codes of drift.
func driftMeaning(code toolmark.Code) string {
	switch code {
	case toolmark.CodeToolAdded:
		return "The new list has a tool that the old one has not. Nobody has read its text yet, and every model that gets the list will."
	case toolmark.CodeToolRemoved:
		return "The new list lacks a tool of the old one. If it comes back it is compared with what it was."
	case toolmark.CodeToolRenamed:
		return "A tool has a new name and otherwise the same definition. To clients it is one tool gone and another one new."
	case toolmark.CodeDescriptionChanged:
		return "A tool's description is not what was approved. An honest edit and an injected order look the same to a hash, so old and new text are shown."
	case toolmark.CodeSchemaChanged:
		return "A tool's input schema changed. It is said whether it accepts more, less, or cannot be compared; spellings that mean the same are shown and fail nothing."
	case toolmark.CodeAnnotationChanged:
		return "A hint such as readOnlyHint or destructiveHint changed. Clients decide by it whether to ask the user."
	case toolmark.CodeMemberChanged:
		return "Another member of a tool changed: its title, output schema, icons, metadata, or one that no revision of MCP defines."
	case toolmark.CodeContextChanged:
		return "What the server says beside its tools changed: its instructions, prompts or resources."
	case toolmark.CodeServerChanged:
		return "The server's name, version or protocol revision changed."
	case toolmark.CodeUnread:
		return "The new list could not be read. That is never the same as an empty list, and never the same as no change."
	}
	return ""
}
