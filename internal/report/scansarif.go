package report

import (
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/toolmark/toolmark"
)

// WriteSARIF writes the document as SARIF 2.1.0 in pure ASCII. Each rule that
// matched in a string is a result of its own, and so is a source that could not be
// read. Every result has a file and a region in it, since some readers refuse a whole
// upload for one that has none: a live source is called mcp-servers/NAME.json.
func (d *Document) WriteSARIF(w io.Writer) error { return d.sarif().write(w, !d.Unfinished()) }

func (d *Document) sarif() *sarifBuilder {
	b := newSARIF()
	for i := range d.Sources {
		d.sarifSource(b, &d.Sources[i])
	}
	for _, warning := range d.Warnings {
		b.notify("warning", warning)
	}
	if d.Community.Off != "" {
		b.notify("note", d.Community.Off)
	}
	return b
}

func (d *Document) sarifSource(b *sarifBuilder, src *Source) {
	if src.Report == nil {
		message := "unknown reason"
		if src.Err != nil {
			message = src.Err.Error()
		}
		b.notify("error", message)
		b.add(sarifResult{
			Level: level(toolmark.Medium), Message: sarifText{plainMessage(oneLine("The list could not be read, so nothing is known of it: " + message))},
			Locations:  []sarifLocation{located(artifact(src), region{1, 1, 1, 2}, src.Server())},
			Properties: map[string]any{"code": toolmark.CodeUnread, "tool": toolmark.WholeList, "pointer": ""},
		}, b.codeRule(toolmark.CodeUnread, toolmark.Medium), hashOf(src.Server(), string(toolmark.CodeUnread)))
		return
	}
	for _, warning := range src.Snapshot.Warnings {
		b.notify("warning", src.Name+": "+warning)
	}
	if src.Report.Incomplete {
		b.notify("error", fmt.Sprintf("%s: the time ran out before %s", src.Name, Plural(len(src.Report.UnscannedTools), "tool")))
	}
	lines := newRuler(src.Snapshot.Bytes)
	physical := func(f *toolmark.Finding, loc *toolmark.Location, at *toolmark.Value) sarifPhysical {
		if f.Index < 0 && loc.Pointer == "" {
			at = src.list()
		}
		return located(artifact(src), lines.region(at), "").Physical
	}
	for j := range src.Report.Findings {
		d.sarifResults(b, src, physical, &src.Report.Findings[j], nil)
	}
	for j := range src.Suppressed {
		x := &src.Suppressed[j]
		d.sarifResults(b, src, physical, &x.Finding, []sarifSuppression{{"external", oneLine(x.Reason)}})
	}
}

// located gives a location: a file, a region in it, and what stands there.
func located(uri string, r region, what string) sarifLocation {
	return sarifLocation{
		Physical: sarifPhysical{sarifArtifact{uri}, sarifRegion{r.startLine, r.startColumn, r.endLine, r.endColumn}},
		Logical:  []sarifLogical{{oneLine(what), "object"}},
	}
}

// sarifResults adds a result for each rule and string of a finding, and at least one.
// physical says where a place stands, given its value.
func (d *Document) sarifResults(b *sarifBuilder, src *Source, physical func(*toolmark.Finding, *toolmark.Location, *toolmark.Value) sarifPhysical,
	f *toolmark.Finding, suppressions []sarifSuppression,
) {
	places := distinct(f.Places())
	if len(places) == 0 {
		places = []toolmark.Location{{}}
	}
	seen := map[[2]string]bool{}
	for i := range places {
		loc := &places[i]
		key := [2]string{loc.Rule, string(loc.Pointer)}
		if seen[key] {
			continue
		}
		seen[key] = true
		text, at, isText := src.place(f, loc)
		message := fmt.Sprintf("%s (tool %s%s)", strings.TrimSuffix(f.Reason, "."), oneLine(string(f.Tool)), atPointer(loc))
		if shadow, ok := f.Details.(toolmark.ShadowDetails); ok {
			message += fmt.Sprintf(": %s of server %s", oneLine(string(shadow.ShadowedToolName)), oneLine(string(shadow.ShadowedServerName)))
		}
		if isText {
			message += ": " + flat(cutOut(text, around(loc)...))
		}
		if says := decoded(loc); says != "" {
			message += " (" + says + ")"
		}
		b.add(sarifResult{
			Level: level(f.Severity), Message: sarifText{plainMessage(oneLine(message))},
			Locations: []sarifLocation{{
				Physical: physical(f, loc, at),
				Logical:  []sarifLogical{{oneLine(src.Server() + "/" + string(f.Tool) + string(loc.Pointer)), "object"}},
			}},
			Suppressions: suppressions,
			Properties:   map[string]any{"code": f.Code, "tool": oneLine(string(f.Tool)), "pointer": oneLine(string(loc.Pointer))},
		}, d.sarifRule(f, loc), fingerprint(src, f, loc))
	}
}

func atPointer(loc *toolmark.Location) string {
	if loc.Pointer == "" {
		return ""
	}
	return ", at " + oneLine(string(loc.Pointer))
}

// fingerprint identifies a result by what it says and not by where in the list it
// stands: it stays the same when tools are reordered, and when others change. The
// whole text is part of it, so that who dismissed a result has not dismissed another
// text; so is the pin that a list has now.
func fingerprint(src *Source, f *toolmark.Finding, loc *toolmark.Location) string {
	text, _, _ := src.place(f, loc)
	if d, ok := f.Details.(toolmark.RugPullDetails); ok {
		text = d.CurrentSHA256
	}
	return hashOf(src.Server(), string(f.Code), string(f.Tool), steady(string(loc.Pointer)), loc.Rule, text)
}

// artifact gives the relative URI of a source (RFC 3986): its path below the working
// directory, or a name that stays the same from run to run.
func artifact(src *Source) string {
	if src.File != "" {
		return fileURI(src.File)
	}
	return serverURI(src.Server())
}

// fileURI gives a path with slashes as a relative URI.
func fileURI(file string) string {
	parts := strings.Split(strings.TrimLeft(file, "/"), "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	// A colon in the first segment would read as a scheme.
	return strings.ReplaceAll(path.Join(parts...), ":", "%3A")
}

// filePath undoes fileURI: some readers want paths.
func filePath(uri string) string {
	if plain, err := url.PathUnescape(uri); err == nil {
		return oneLine(plain)
	}
	return uri
}

// serverURI names the list of a server that is read from no file.
func serverURI(name string) string {
	var slug strings.Builder
	for _, c := range name {
		if c < 0x80 && (c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			slug.WriteRune(c)
		} else if s := slug.String(); !strings.HasSuffix(s, "-") {
			slug.WriteByte('-')
		}
	}
	name = strings.Trim(slug.String(), "-.")
	if name == "" {
		name = "server"
	}
	return "mcp-servers/" + name[:min(len(name), 100)] + ".json"
}
