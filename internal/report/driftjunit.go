package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// WriteJUnit writes the comparison as JUnit XML: a test suite a server, a test case a
// tool of the new list, one for each tool that was removed, and one for the server as a
// whole. What fails the run is a failure of its tool, what else changed is output; a
// tool that was not scanned is skipped, a server that could not be read is an error.
func (d *DriftDocument) WriteJUnit(w io.Writer) error {
	suites := make([]junitSuite, len(d.Servers))
	for i := range d.Servers {
		suites[i] = d.junitSuite(&d.Servers[i])
	}
	return writeJUnit(w, d.Elapsed, suites)
}

// wholeServer is the name of the test case about the server as a whole.
const wholeServer = "(server)"

func (d *DriftDocument) junitSuite(s *DriftServer) junitSuite {
	class := xmlText(s.Name)
	suite := junitSuite{Name: class, Properties: s.junitProperties()}
	if s.Status() == DriftUnreachable {
		suite.Cases = []junitCase{{
			Name: wholeServer, ClassName: class,
			Errors: []junitFault{{Type: string(toolmark.CodeUnread), Message: xmlText(s.why())}},
		}}
		suite.Tests, suite.Errors = 1, 1
		return suite
	}
	cases := []junitCase{{Name: wholeServer, ClassName: class}}
	at := map[[2]int]int{} // (old index, new index) of a removed tool, (-1, new index) of any other
	if s.New != nil && s.New.Manifest != nil {
		for i := range s.New.Manifest.Tools {
			at[[2]int{-1, i}] = len(cases)
			cases = append(cases, junitCase{Name: xmlText(s.New.Manifest.Tools[i].Name), ClassName: class})
		}
	}
	output := map[int][]string{}
	put := func(i int, severity toolmark.Severity, counts bool, code toolmark.Code, text string) {
		if counts && d.Fails(severity) {
			cases[i].Failures = append(cases[i].Failures, junitFault{Type: string(code), Message: xmlText(firstLine(text)), Text: text})
			suite.Failures++
		} else {
			output[i] = append(output[i], text)
		}
	}
	if s.Status() == DriftRemoved {
		put(0, toolmark.High, true, toolmark.CodeToolRemoved, "the server was removed, with "+Plural(s.Old.tools(), "tool"))
	}
	for _, c := range s.changes() {
		i := 0
		switch {
		case c.NewIndex >= 0:
			i = at[[2]int{-1, c.NewIndex}]
		case c.OldIndex >= 0:
			k := [2]int{c.OldIndex, -1}
			if at[k] == 0 {
				at[k] = len(cases)
				cases = append(cases, junitCase{Name: xmlText(string(c.Tool)), ClassName: class})
			}
			i = at[k]
		}
		put(i, c.Severity, !c.Neutral(), c.Code, s.junitChange(c))
	}
	doc, src := &Document{Rules: d.Rules}, s.source()
	for _, f := range s.found() {
		i := 0
		if f.Index >= 0 {
			i = at[[2]int{-1, f.Index}]
		}
		put(i, f.Severity, true, f.Code, doc.junitText(src, f))
	}
	unscanned := map[toolmark.Text]bool{}
	for _, name := range s.Unscanned {
		unscanned[toolmark.Text(xmlText(string(name)))] = true
	}
	for i := range cases {
		cases[i].Out = strings.Join(output[i], "\n")
		if i > 0 && unscanned[toolmark.Text(cases[i].Name)] && len(cases[i].Failures) == 0 {
			cases[i].Skipped = &junitFault{Message: "the time ran out before this tool was scanned"}
			suite.Skipped++
		}
	}
	suite.Cases, suite.Tests = cases, len(cases)
	return suite
}

func (s *DriftServer) junitProperties() []junitProperty {
	list := []junitProperty{{"status", string(s.Status())}, {"tools", xmlText(s.toolCount())}}
	if s.Old != nil && s.Old.Pin != "" {
		list = append(list, junitProperty{"pin approved", xmlText(s.Old.Pin)})
	}
	if s.New != nil && s.New.Pin != "" {
		list = append(list, junitProperty{"pin", xmlText(s.New.Pin)})
	}
	if s.Accept != "" {
		list = append(list, junitProperty{"accept", xmlText(s.Accept)})
	}
	if len(s.Suppressed) > 0 {
		list = append(list, junitProperty{"suppressed", fmt.Sprint(len(s.Suppressed))})
	}
	for _, warning := range s.Warnings {
		list = append(list, junitProperty{"warning", xmlText(warning)})
	}
	return list
}

// why says why there is no new list.
func (s *DriftServer) why() string {
	switch {
	case s.Err != nil:
		return s.Err.Error()
	case s.Drift != nil && s.Drift.Unread != "":
		return string(s.Drift.Unread)
	}
	return "unknown reason"
}

// junitChange tells of a change in plain lines, the first of which is a heading.
func (s *DriftServer) junitChange(c *pin.Change) string {
	head := string(c.Code) + " " + xmlText(s.words(c).plain()) + at(c)
	if c.Neutral() {
		head = "in form only: " + head
	}
	if words := inEffect(c.Effect); words != "" {
		head += " (" + words + ")"
	}
	out := []string{head}
	if s.showsDiff(c) && !c.Neutral() {
		for _, l := range diffOf(c, diffLimits{lines: mostLines}) {
			out = append(out, string(l.sign)+" "+xmlText(flat(l.pieces)))
		}
	}
	return strings.Join(out, "\n")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
