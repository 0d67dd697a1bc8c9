package report

import "github.com/toolmark/toolmark"

// Advice says in one line what to do about a code. A rule's own fix is better where
// there is one.
func Advice(code toolmark.Code) string {
	switch code {
	case toolmark.CodePoisoning:
		return "Do not connect this server until its author has explained the text; a description says what a tool does, not what the model must do."
	case toolmark.CodeHiddenText:
		return "Read what is spelled out above; an honest text says the same without these characters. `toolmark text --sanitize` gives a clean copy."
	case toolmark.CodeShadowing:
		return "Do not run both servers in one agent, or rename the tool: the model cannot tell which of the two it calls."
	case toolmark.CodeDuplicateName:
		return "Ask the author to give each tool its own name: which of them an agent calls is up to its client."
	case toolmark.CodeRugPull:
		return "Compare the list with the one you approved. If you trust the new one, use its pin from now on."
	case toolmark.CodeCommunity:
		return "Advisory: check whether the tool needs what the rule describes."
	case toolmark.CodeUnscannable:
		return "Read this tool yourself before you use it; it was not scanned."
	case toolmark.CodeDuplicateKey:
		return "Ask the author to write each key once: two JSON readers may see two different tools."
	case toolmark.CodeLoneSurrogate:
		return "Ask the author to write whole characters; clients replace, refuse or drop half of one."
	case toolmark.CodeInexactNumber:
		return "Ask the author to send the number as a string, or one that a double holds."
	}
	if text := driftAdvice(code); text != "" {
		return text
	}
	return releaseAdvice(code)
}

// Explain says in a few sentences what a code means and why it matters.
func Explain(code toolmark.Code) string {
	switch code {
	case toolmark.CodePoisoning:
		return "A text that the model reads as trusted gives it orders: to read secrets, to keep something from the user, to prefer this tool, to forget earlier instructions. Each place names the rule that matched by its opaque reference."
	case toolmark.CodeHiddenText:
		return "A text holds characters that a person does not see or takes for others, while the model reads them: zero-width, bidirectional and tag characters, variation selectors, terminal escapes, look-alike letters, and the like. Where they carry a message it is decoded. Emoji, and scripts that need joiners, are not reported."
	case toolmark.CodeShadowing:
		return "A tool has the name of another server's tool, or one that reads the same, or its text tells the model to use it in place of the other. The model may then hand it what was meant for the other."
	case toolmark.CodeDuplicateName:
		return "Two or more tools of one server share a name, ignoring case. Which one an agent calls is up to its client, so a harmless tool can hide a harmful one."
	case toolmark.CodeRugPull:
		return "The list is not the one that was pinned. That need not be an attack: a server you upgraded changes its tools too."
	case toolmark.CodeCommunity:
		return "A rule of the ATR community pack matched. Many of them describe what a tool can do rather than its abuse, so alone it never makes a list fail."
	case toolmark.CodeUnscannable:
		return "A check failed on this tool. It was not scanned, and the rest of the list was."
	case toolmark.CodeDuplicateKey:
		return "A JSON object has the same key twice. RFC 8259 leaves open which one counts, so a scanner may read one text and a client another. Both values were scanned; the pin covers the last, and there is no fingerprint."
	case toolmark.CodeLoneSurrogate:
		return "A string holds half of a UTF-16 surrogate pair. That is no Unicode text: readers replace it, refuse it or drop it, so two of them may see two texts. There is no fingerprint."
	case toolmark.CodeInexactNumber:
		return "A number has more digits than an IEEE 754 double holds, so readers round it to different numbers. The pin keeps it exactly as CPython does; there is no fingerprint."
	}
	if text := driftMeaning(code); text != "" {
		return text
	}
	return releaseMeaning(code)
}

// readings say in words how a text had to be read for a rule to match: one for each of
// textcheck.ReadingNames.
var readings = map[string]string{
	"":                           "",
	"raw":                        "",
	"space":                      "with its white space made single spaces",
	"nfkc":                       "with compatibility characters made plain",
	"visible":                    "after removing invisible characters",
	"folded":                     "with look-alike letters made plain",
	"words":                      "with joined words parted",
	"spaced":                     "with spaced-out letters closed up",
	"leet":                       "with digits read as letters",
	"comment":                    "inside an HTML comment",
	"decoded:tag":                "decoded from tag characters",
	"decoded:variation-selector": "decoded from variation selectors",
	"decoded:bits":               "decoded from zero-width characters",
	"decoded:entities":           "with HTML entities decoded",
	"decoded:escapes":            "with \\u and \\x escapes decoded",
	"decoded:percent":            "with percent-encoding decoded",
	"decoded:base64":             "decoded from base64",
	"decoded:hex":                "decoded from hex",
	"decoded:rot13":              "with its letters turned by 13 places (rot13)",
}

// decoded says how a location was read and what the text says then, for one line; ""
// where it was read as sent.
func decoded(loc *toolmark.Location) string {
	words := inWords(loc.Reading)
	if words == "" || loc.Excerpt == "" {
		return ""
	}
	return words + ": " + oneLine(string(loc.Excerpt))
}

// inWords gives the reading of a location in words; "" where it is the text as sent.
func inWords(reading string) string {
	if words, ok := readings[reading]; ok {
		return words
	}
	return "in the reading " + Printable(reading)
}
