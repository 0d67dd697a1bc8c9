package toolmark

import (
	"fmt"
	"slices"
)

// Code names what kind of thing was found. The E and W codes are those of the
// manifest-scan API; J codes are faults of the JSON itself.
type Code string

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

// Codes lists every code a scan can report, sorted.
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
