package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/pin"
)

// WriteSARIF writes the comparison as SARIF 2.1.0 in pure ASCII: a result for every
// change that counts, every new finding, and every server that could not be read or was
// removed; what is neutral is left out. Every result has a file and a line: in the new
// side's file where it has one, else in the old side's (the lockfile), else in
// mcp-servers/NAME.json.
func (d *DriftDocument) WriteSARIF(w io.Writer) error { return d.sarif().write(w, !d.Unfinished()) }

func (d *DriftDocument) sarif() *sarifBuilder {
	b := newSARIF()
	for i := range d.Servers {
		d.sarifServer(b, &d.Servers[i])
	}
	for _, warning := range d.Warnings {
		b.notify("warning", warning)
	}
	if d.Community.Off != "" {
		b.notify("note", d.Community.Off)
	}
	return b
}

func (d *DriftDocument) sarifServer(b *sarifBuilder, s *DriftServer) {
	whole := func(code toolmark.Code, severity toolmark.Severity, message string) {
		b.add(sarifResult{
			Level: level(severity), Message: sarifText{plainMessage(oneLine(message))},
			Locations:  []sarifLocation{{s.physical("", ""), []sarifLogical{{oneLine(s.Name), "object"}}}},
			Properties: map[string]any{"code": code, "tool": toolmark.WholeList, "pointer": ""},
		}, b.codeRule(code, severity), hashOf(s.Name, string(code)))
	}
	switch s.Status() {
	case DriftUnreachable:
		b.notify("error", s.Name+": "+s.why())
		whole(toolmark.CodeUnread, toolmark.Medium, s.Name+" could not be read, so nothing is known of it: "+s.why())
		return
	case DriftRemoved:
		whole(toolmark.CodeToolRemoved, toolmark.High, s.Name+" was removed, with "+Plural(s.Old.tools(), "tool"))
	}
	for _, warning := range s.Warnings {
		b.notify("warning", s.Name+": "+warning)
	}
	if n := len(s.Unscanned); n > 0 {
		b.notify("error", fmt.Sprintf("%s: the time ran out before %s", s.Name, Plural(n, "tool")))
	}
	for _, c := range s.changes() {
		if !c.Neutral() {
			s.sarifChange(b, c)
		}
	}
	doc, src := &Document{Rules: d.Rules}, s.source()
	was := s.oldIndexes()
	physical := func(f *toolmark.Finding, loc *toolmark.Location, _ *toolmark.Value) sarifPhysical {
		return s.physical(inList(was(f.Index), string(loc.Pointer)), inList(f.Index, string(loc.Pointer)))
	}
	for _, f := range s.found() {
		doc.sarifResults(b, src, physical, f, nil)
	}
	for i := range s.Suppressed {
		x := &s.Suppressed[i]
		doc.sarifResults(b, src, physical, &x.Finding, []sarifSuppression{{"external", oneLine(x.Reason)}})
	}
}

func (s *DriftServer) sarifChange(b *sarifBuilder, c *pin.Change) {
	subject := "Tool " + quoted(string(c.Tool))
	if c.OldIndex < 0 && c.NewIndex < 0 {
		subject = "Server " + quoted(s.Name)
	}
	message := subject + ": " + s.words(c).plain()
	if words := inEffect(c.Effect); words != "" {
		message += " (" + words + ")"
	}
	message += "." + s.gist(c)
	if s.Accept != "" {
		message += " To accept: " + oneLine(s.Accept)
	}
	old, now := inList(c.OldIndex, string(c.OldPointer)), inList(c.NewIndex, string(c.Pointer))
	if c.OldIndex < 0 && c.NewIndex >= 0 {
		old = "/tools"
	}
	if c.NewIndex < 0 && c.OldIndex >= 0 {
		now = "/tools"
	}
	r := sarifResult{
		Level: level(c.Severity), Message: sarifText{plainMessage(message)},
		Locations: []sarifLocation{{
			s.physical(old, now),
			[]sarifLogical{{oneLine(s.Name + "/" + string(c.Tool) + string(c.Pointer)), "object"}},
		}},
		Properties: map[string]any{
			"code": c.Code, "tool": oneLine(string(c.Tool)), "pointer": oneLine(string(c.Pointer)),
			"kind": c.Kind, "effect": c.Effect, "op": c.Op,
		},
	}
	if line := s.New.line(now); line > 0 {
		if line := s.Old.line(old); line > 0 && c.Op != pin.OpAdded {
			r.Related = []sarifRelated{{
				sarifPhysical{sarifArtifact{fileURI(s.Old.File)}, sarifRegion{StartLine: line}},
				sarifText{"as it was"},
			}}
		}
	}
	b.add(r, b.codeRule(c.Code, c.Severity), hashOf(s.Name, string(c.Code), string(c.Tool), string(c.OldTool),
		steady(string(c.Pointer)), string(c.Op), written(c.Old), written(c.New)))
}

// longestGist is how many code points of each side a message quotes.
const longestGist = 400

// gist gives what went and what came, for a message on one line; "" where the words have
// said it.
func (s *DriftServer) gist(c *pin.Change) string {
	if !s.showsDiff(c) {
		return ""
	}
	limits := diffLimits{line: longestGist}
	if segments := c.Segments(); segments != nil {
		var went, came []string
		for _, seg := range phrases(segments) {
			switch seg.Op {
			case pin.SegmentDelete:
				went = append(went, string(seg.Text))
			case pin.SegmentInsert:
				came = append(came, string(seg.Text))
			}
		}
		text := ""
		if len(went) > 0 {
			text += " Removed: " + limits.quote(strings.Join(went, " … "))
		}
		if len(came) > 0 {
			text += " Added: " + limits.quote(strings.Join(came, " … "))
		}
		return text
	}
	text := ""
	if c.Old != nil && c.Kind != pin.KindTool {
		text += " Was: " + limits.shown(written(c.Old)) + "."
	}
	if c.New != nil {
		text += " Is: " + limits.shown(written(c.New)) + "."
	}
	return text
}

func (l diffLimits) quote(text string) string {
	return `"` + strings.ReplaceAll(l.shown(text), `"`, `\"`) + `".`
}

// written gives a value as JSON in ASCII; "" where there is none.
func written(v *toolmark.Value) string {
	if v == nil {
		return ""
	}
	return string(canonjson.Append(nil, v))
}

// inList gives the pointer of a place of a tool from the object that holds "tools"; -1 is
// that object.
func inList(index int, pointer string) string {
	if index < 0 {
		return pointer
	}
	return toolmark.Pointer("/tools", index) + pointer
}

// line gives the line of a pointer in the side's file; 0 where it has no file.
func (s *DriftSide) line(pointer string) int {
	if s == nil || s.File == "" || s.Line == nil {
		return 0
	}
	return s.Line(pointer)
}

// physical gives the file and line of a place, given by its pointers in both sides.
func (s *DriftServer) physical(old, now string) sarifPhysical {
	if line := s.New.line(now); line > 0 {
		return sarifPhysical{sarifArtifact{fileURI(s.New.File)}, sarifRegion{StartLine: line}}
	}
	if line := s.Old.line(old); line > 0 {
		return sarifPhysical{sarifArtifact{fileURI(s.Old.File)}, sarifRegion{StartLine: line}}
	}
	for _, side := range []*DriftSide{s.New, s.Old} {
		if side != nil && side.File != "" {
			return sarifPhysical{sarifArtifact{fileURI(side.File)}, sarifRegion{StartLine: 1}}
		}
	}
	return sarifPhysical{sarifArtifact{serverURI(s.Name)}, sarifRegion{StartLine: 1}}
}

// oldIndexes gives for a tool of the new list its place in the old one, -1 where it had
// none. A tool that the drift does not name is one of that name.
func (s *DriftServer) oldIndexes() func(index int) int {
	was := map[int]int{}
	if s.Drift != nil {
		for i := range s.Drift.Tools {
			was[s.Drift.Tools[i].NewIndex] = s.Drift.Tools[i].OldIndex
		}
	}
	named := map[string]int{}
	if s.Old != nil && s.Old.Manifest != nil {
		for i := range s.Old.Manifest.Tools {
			named[s.Old.Manifest.Tools[i].Name] = i
		}
	}
	return func(index int) int {
		if index < 0 {
			return -1
		}
		if i, ok := was[index]; ok {
			return i
		}
		if s.New != nil && s.New.Manifest != nil && index < len(s.New.Manifest.Tools) {
			if i, ok := named[s.New.Manifest.Tools[index].Name]; ok {
				return i
			}
		}
		return -1
	}
}

// nearest follows a pointer as far as there is something.
func nearest(v *toolmark.Value, pointer string) *toolmark.Value {
	for {
		if found := resolve(v, pointer); len(found) > 0 {
			return found[len(found)-1].anchor()
		}
		i := strings.LastIndexByte(pointer, '/')
		if i < 0 {
			return v
		}
		pointer = pointer[:i]
	}
}
