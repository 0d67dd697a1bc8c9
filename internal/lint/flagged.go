package lint

import (
	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/textcheck"
)

// flagged collects text that scanners flag or that a diff hides (L108): what a scan found
// of orders and hidden characters, and comments and base64 runs. One finding a tool and
// kind.
func (c *collector) flagged(m *toolmark.Manifest, scan []toolmark.Finding) {
	type group struct {
		tool int
		kind string
	}
	places := map[group][]toolmark.Location{}
	var order []group
	add := func(g group, at toolmark.Location) {
		if _, there := places[g]; !there {
			order = append(order, g)
		}
		if len(places[g]) < maxPlaces {
			places[g] = append(places[g], at)
		}
	}
	for i := range scan {
		f := &scan[i]
		switch f.Code {
		case toolmark.CodePoisoning, toolmark.CodeHiddenText:
			if f.Severity < toolmark.Medium {
				continue
			}
			for _, at := range f.Places() {
				add(group{f.Index, string(f.Code)}, at)
			}
		}
	}
	walk(m, func(t text) {
		in := textcheck.Inspect(t.text, textcheck.Options{Name: t.name})
		for i := range in.Hits {
			hit := &in.Hits[i]
			if hit.Kind.Hidden() {
				continue // W021, which the scan has
			}
			add(group{t.tool, hit.Kind.String()}, toolmark.Location{
				Pointer: toolmark.Text(t.pointer), Start: hit.Start, End: hit.End, Reading: "raw", Kind: hit.Kind.String(),
				Excerpt: around(t.text, toolmark.ByteOffset(t.text, hit.Start), toolmark.ByteOffset(t.text, hit.End)),
			})
		}
	})
	for _, g := range order {
		severity, reason := toolmark.Medium, ""
		switch g.kind {
		case string(toolmark.CodePoisoning):
			reason = "Scanners read this text as an order to the model"
		case string(toolmark.CodeHiddenText):
			reason = "There are hidden or look-alike characters, which scanners flag and a diff does not show"
		case string(textcheck.KindBase64):
			severity, reason = toolmark.Info, "There is a base64 run, which scanners flag and nobody can review"
		default:
			reason = "There is markup that a page hides and a model reads, and scanners flag it"
		}
		c.add(m, g.tool, toolmark.CodeFlagged, severity, reason, toolmark.AdviceDetails{Kind: g.kind, Locations: places[g]})
	}
}

// maxPlaces is the most places of one finding.
const maxPlaces = 20
