package lint

import (
	"time"

	"github.com/toolmark/toolmark"
)

// Input is what there is to know of one server. Only Manifest must be given; every check
// says only what its own part of the input shows.
type Input struct {
	// Manifest is what the server lists now.
	Manifest *toolmark.Manifest
	// Previous is what the last release listed; nil compares nothing (L101, L104, L105,
	// L109).
	Previous *toolmark.Manifest
	// Sessions are what further sessions were listed (L106).
	Sessions []Session
	// Packages are the files that name the version that is published (L102).
	Packages []Package
	// Changelog is the text of the changelog, and ChangelogFile its name; "" checks no
	// changelog (L109).
	Changelog, ChangelogFile string
	// Live is what was seen while a connection was held (L103); nil where none was.
	Live *Live
	// Surroundings are values of this machine, which a definition should not hold (L107).
	Surroundings Surroundings
	// Now is the time at which the list was read, against which dates are held (L107).
	Now time.Time
	// Scan are the findings of a scan of Manifest on every surface (L108).
	Scan []toolmark.Finding
}

// Session is one further session with the same server.
type Session struct {
	// Label says how it differed from the first: "session 2", "locale ja_JP".
	Label    string
	Manifest *toolmark.Manifest
}

// Live is what a connection that was held open showed.
type Live struct {
	// First is what was listed at its beginning; nil is what the Manifest of the Input is.
	// Another session may be listed other things (L106), so that says nothing here.
	First *toolmark.Manifest
	// Notified is that the server sent notifications/tools/list_changed.
	Notified bool
	// Deaf is that the server offers no stream on which it could.
	Deaf bool
	// Later is the list as it was when the connection was ended; nil was not read.
	Later *toolmark.Manifest
}

// Surroundings are values of the machine and its user. Values of fewer than four
// characters are too common to be looked for.
type Surroundings struct {
	// User, Home, Host and Dir are the user's name, home directory, the host's name and
	// the directory in which the server ran.
	User, Home, Host, Dir string
}

// Check gives all advice, in the order of toolmark.SortFindings.
func Check(in Input) []toolmark.Finding {
	var c collector
	c.names(in.Manifest)
	c.flagged(in.Manifest, in.Scan)
	c.volatile(in.Manifest, in.Now, in.Surroundings)
	c.versions(in.Manifest, in.Packages)
	c.listChanged(in.Manifest, in.Live)
	c.sessions(in.Manifest, in.Sessions)
	if in.Previous != nil {
		c.release(in)
	}
	toolmark.SortFindings(c.findings)
	return c.findings
}

type collector struct{ findings []toolmark.Finding }

// whole is the index of what is not about one tool.
const whole = -1

func (c *collector) add(m *toolmark.Manifest, index int, code toolmark.Code, severity toolmark.Severity, reason string, details toolmark.AdviceDetails) {
	f := toolmark.Finding{Code: code, Tool: toolmark.WholeList, Severity: severity, Reason: reason, Details: details, Index: index}
	if index >= 0 {
		f.Tool = toolmark.Text(m.Tools[index].Name)
	}
	c.findings = append(c.findings, f)
}

// excerptLength is the most code points of a text that a finding quotes.
const excerptLength = 200

// excerpt cuts a text at a code point.
func excerpt(text string) toolmark.Text {
	if toolmark.CodePoints(text) <= excerptLength {
		return toolmark.Text(text)
	}
	return toolmark.Text(text[:toolmark.ByteOffset(text, excerptLength)] + "…")
}

// around quotes what stands around a place of a text, given in bytes.
func around(text string, from, to int) toolmark.Text {
	const side = 60
	start, end := max(0, from-side), min(len(text), to+side)
	for start > 0 && text[start]&0xc0 == 0x80 {
		start--
	}
	for end < len(text) && text[end]&0xc0 == 0x80 {
		end++
	}
	quoted := text[start:end]
	if start > 0 {
		quoted = "…" + quoted
	}
	if end < len(text) {
		quoted += "…"
	}
	return toolmark.Text(quoted)
}
