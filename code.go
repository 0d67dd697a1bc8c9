package toolmark

import (
	"fmt"
	"slices"
)

// Code names what kind of thing was found. The E and W codes are those of the
// manifest-scan API; J codes are faults of the JSON itself; D codes are drift, the
// difference of two snapshots; L codes are release advice for those who build servers.
type Code string

// The codes of drift.
const (
	// CodeToolAdded: a tool that the old list does not have.
	CodeToolAdded Code = "D101"
	// CodeToolRemoved: a tool that the new list does not have.
	CodeToolRemoved Code = "D102"
	// CodeToolRenamed: a tool with the same definition and a new name.
	CodeToolRenamed Code = "D103"
	// CodeDescriptionChanged: a tool's description differs.
	CodeDescriptionChanged Code = "D110"
	// CodeSchemaChanged: a tool's input schema differs.
	CodeSchemaChanged Code = "D120"
	// CodeAnnotationChanged: a tool's annotations differ.
	CodeAnnotationChanged Code = "D130"
	// CodeMemberChanged: any other member of a tool or of the manifest differs.
	CodeMemberChanged Code = "D140"
	// CodeContextChanged: the server's instructions, prompts or resources differ.
	CodeContextChanged Code = "D150"
	// CodeServerChanged: the server's name or version differs.
	CodeServerChanged Code = "D160"
	// CodeUnread: there is no new list to compare, which is not the same as no tools.
	CodeUnread Code = "D190"
)

// The codes of release advice.
const (
	// CodeVersionNotBumped: definitions changed and serverInfo.version did not.
	CodeVersionNotBumped Code = "L101"
	// CodeVersionDiffers: the version served is not that of server.json or package.json.
	CodeVersionDiffers Code = "L102"
	// CodeListChanged: tools.listChanged says what is not so.
	CodeListChanged Code = "L103"
	// CodeRepurposed: a tool kept its name and became another tool.
	CodeRepurposed Code = "L104"
	// CodeRemovedUnannounced: a tool was removed without a release that deprecated it.
	CodeRemovedUnannounced Code = "L105"
	// CodeSessionsDiffer: two sessions were served different definitions.
	CodeSessionsDiffer Code = "L106"
	// CodeVolatile: a definition holds a value of the moment, the machine or the user.
	CodeVolatile Code = "L107"
	// CodeFlagged: text that scanners flag or a diff hides.
	CodeFlagged Code = "L108"
	// CodeNoChangelog: no changelog entry quotes a change.
	CodeNoChangelog Code = "L109"
	// CodeAwkwardName: a name that clients do not take, or fold into another's.
	CodeAwkwardName Code = "L110"
)

// The codes a scan can report.
const (
	// CodePoisoning: instructions to the model in a tool's text.
	CodePoisoning Code = "E001"
	// CodeShadowing: a name or a text that takes the place of another server's tool.
	CodeShadowing Code = "E002"
	// CodeCommunity: an ATR community rule matched.
	CodeCommunity Code = "E003"
	// CodeRugPull: the list no longer matches its pin.
	CodeRugPull Code = "E301"
	// CodeUnscannable: one tool could not be scanned.
	CodeUnscannable Code = "E900"
	// CodeDuplicateKey: an object has a member twice, so two readers may see two tools.
	CodeDuplicateKey Code = "J101"
	// CodeLoneSurrogate: a string has half a surrogate pair, which is not Unicode text.
	CodeLoneSurrogate Code = "J102"
	// CodeInexactNumber: a number that no IEEE 754 double holds.
	CodeInexactNumber Code = "J103"
	// CodeHiddenText: invisible or look-alike characters.
	CodeHiddenText Code = "W021"
	// CodeDuplicateName: tools of one server share a name.
	CodeDuplicateName Code = "W022"
)

var codeTitles = map[Code]string{
	CodeToolAdded:          "A tool was added",
	CodeToolRemoved:        "A tool was removed",
	CodeToolRenamed:        "A tool was renamed",
	CodeDescriptionChanged: "A tool's description changed",
	CodeSchemaChanged:      "A tool's input schema changed",
	CodeAnnotationChanged:  "A tool's annotations changed",
	CodeMemberChanged:      "Another member of a definition changed",
	CodeContextChanged:     "Instructions, prompts or resources changed",
	CodeServerChanged:      "The server's name or version changed",
	CodeUnread:             "The server's list could not be read",

	CodeVersionNotBumped:   "Definitions changed without a new version",
	CodeVersionDiffers:     "The version served is not the version published",
	CodeListChanged:        "tools.listChanged does not say what is so",
	CodeRepurposed:         "An existing tool became another tool",
	CodeRemovedUnannounced: "A tool was removed that no release deprecated",
	CodeSessionsDiffer:     "Sessions are served different definitions",
	CodeVolatile:           "A definition holds a value that varies",
	CodeFlagged:            "Text that scanners flag or a diff hides",
	CodeNoChangelog:        "No changelog entry quotes a change",
	CodeAwkwardName:        "A name that clients do not take as it is",

	CodePoisoning:     "Instructions to the model in a tool's text",
	CodeShadowing:     "A tool takes the place of another server's tool",
	CodeCommunity:     "A community rule matched",
	CodeRugPull:       "The tool list changed since it was pinned",
	CodeUnscannable:   "A tool could not be scanned",
	CodeDuplicateKey:  "An object has the same key twice",
	CodeLoneSurrogate: "A string holds half a surrogate pair",
	CodeInexactNumber: "A number that no double holds exactly",
	CodeHiddenText:    "Invisible or look-alike characters",
	CodeDuplicateName: "Tools of one server share a name",
}

// Codes lists every code a finding or a drift can have, sorted.
func Codes() []Code {
	codes := make([]Code, 0, len(codeTitles))
	for c := range codeTitles {
		codes = append(codes, c)
	}
	slices.Sort(codes)
	return codes
}

// String gives the code's text. It is the inverse of ParseCode.
func (c Code) String() string { return string(c) }

// Title says in a few words what the code means.
func (c Code) Title() string { return codeTitles[c] }

// ParseCode reads a code in upper case as String writes it; an unknown one is an
// error.
func ParseCode(text string) (Code, error) {
	if _, ok := codeTitles[Code(text)]; ok {
		return Code(text), nil
	}
	return "", fmt.Errorf("unknown finding code %q: one of %v", text, Codes())
}
