package textcheck

import (
	"fmt"
	"slices"
)

// Kind is a kind of hidden or deceptive text.
type Kind string

// The kinds. Those above the gap are the kinds of finding W021 and count as hidden
// or look-alike characters; those below are text that a person may overlook but
// that is written in plain characters.
const (
	KindZeroWidth     Kind = "zero-width"         // zero width, default-ignorable, format and noncharacters
	KindBidi          Kind = "bidi"               // bidirectional controls without need
	KindTag           Kind = "tag"                // U+E0000–U+E007F outside the three recommended flags
	KindVariation     Kind = "variation-selector" // variation selectors that vary nothing
	KindPrivateUse    Kind = "private-use"        // private use code points
	KindControl       Kind = "control"            // C0, DEL and C1 other than tab and line ends
	KindANSI          Kind = "ansi-escape"        // ANSI escape sequences
	KindHomoglyph     Kind = "homoglyph"          // look-alikes inside one word, or a name that looks like ASCII
	KindLoneSurrogate Kind = "lone-surrogate"     // half of a UTF-16 pair
	KindFiller        Kind = "filler"             // letters and symbols that are blank
	KindLineSeparator Kind = "line-separator"     // U+2028 and U+2029
	KindPadding       Kind = "padding"            // white space that pushes the text after it off the screen

	KindHTMLComment Kind = "html-comment" // <!-- … -->
	KindBase64      Kind = "base64"       // a base64 run that decodes to text
	KindMarkup      Kind = "markup"       // markup that a renderer does not show
)

var kinds = [...]Kind{
	KindZeroWidth, KindBidi, KindTag, KindVariation, KindPrivateUse, KindControl, KindANSI,
	KindHomoglyph, KindLoneSurrogate, KindFiller, KindLineSeparator, KindPadding,
	KindHTMLComment, KindBase64, KindMarkup,
}

// Kinds lists every kind, those of W021 first.
func Kinds() []Kind { return slices.Clone(kinds[:]) }

// String gives the kind's name. It is the inverse of ParseKind.
func (k Kind) String() string { return string(k) }

// ParseKind reads a kind's name; an unknown one is an error.
func ParseKind(text string) (Kind, error) {
	if slices.Contains(kinds[:], Kind(text)) {
		return Kind(text), nil
	}
	return "", fmt.Errorf("unknown kind %q of hidden text: one of %v", text, kinds)
}

// Hidden reports whether the kind counts for finding W021. Comments, base64
// and markup do not: they are shown by a text check, and what they hold is read by
// the rules, but honest texts have them too. Padding counts, since it is found only
// where text follows it.
func (k Kind) Hidden() bool {
	switch k {
	case KindHTMLComment, KindBase64, KindMarkup:
		return false
	}
	return true
}
