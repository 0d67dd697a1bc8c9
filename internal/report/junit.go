package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
)

// The JUnit document: a test suite a source, a test case a tool, in the form that
// CI services read (the Ant schema with properties).
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string       `xml:"name,attr"`
	ClassName string       `xml:"classname,attr"`
	Skipped   *junitFault  `xml:"skipped"`
	Errors    []junitFault `xml:"error"`
	Failures  []junitFault `xml:"failure"`
	Out       string       `xml:"system-out,omitempty"`
}

type junitFault struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the document as JUnit XML. A finding that fails the run is a
// failure of its tool, another one is output; a tool that was not scanned is
// skipped, a source that could not be read is an error.
func (d *Document) WriteJUnit(w io.Writer) error {
	suites := make([]junitSuite, len(d.Sources))
	for i := range d.Sources {
		suites[i] = d.junitSuite(&d.Sources[i])
	}
	return writeJUnit(w, d.Elapsed, suites)
}

// writeJUnit writes suites as one document, built whole before its first byte is written.
func writeJUnit(w io.Writer, elapsed time.Duration, suites []junitSuite) error {
	out := junitSuites{Name: "toolmark", Time: fmt.Sprintf("%.3f", elapsed.Round(time.Millisecond).Seconds()), Suites: suites}
	for i := range suites {
		out.Tests += suites[i].Tests
		out.Failures += suites[i].Failures
		out.Errors += suites[i].Errors
	}
	var buf bytes.Buffer
	buf.WriteString(xml.Header)
	enc := xml.NewEncoder(&buf)
	enc.Indent("", "  ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	buf.WriteByte('\n')
	_, err := w.Write(buf.Bytes())
	return err
}

func (d *Document) junitSuite(src *Source) junitSuite {
	suite := junitSuite{Name: xmlText(title(src))}
	class := xmlText(src.Name)
	if src.Report == nil {
		message := "unknown reason"
		if src.Err != nil {
			message = src.Err.Error()
		}
		suite.Cases = []junitCase{{
			Name: "read", ClassName: class,
			Errors: []junitFault{{Message: xmlText(message), Type: "unreadable"}},
		}}
		suite.Tests, suite.Errors = 1, 1
		return suite
	}
	suite.Properties = []junitProperty{
		{"pin", src.Report.SHA256},
		{"suppressed", fmt.Sprint(len(src.Suppressed))},
	}
	if d.Community.Off != "" {
		suite.Properties = append(suite.Properties, junitProperty{"community rules", xmlText(d.Community.Off)})
	}
	for _, warning := range src.Snapshot.Warnings {
		suite.Properties = append(suite.Properties, junitProperty{"warning", xmlText(warning)})
	}
	cases := make([]junitCase, len(src.Report.Tools)+1)
	for i := range src.Report.Tools {
		cases[i] = junitCase{Name: xmlText(string(src.Report.Tools[i].Name)), ClassName: class}
	}
	whole := len(cases) - 1
	cases[whole] = junitCase{Name: "(whole list)", ClassName: class}
	output := make([][]string, len(cases))
	for i := range src.Report.Findings {
		f := &src.Report.Findings[i]
		at := whole
		if f.Index >= 0 && f.Index < whole {
			at = f.Index
		}
		text := d.junitText(src, f)
		if d.Fails(f.Severity) {
			cases[at].Failures = append(cases[at].Failures, junitFault{Type: string(f.Code), Message: xmlText(f.Code.Title()), Text: text})
			suite.Failures++
		} else {
			output[at] = append(output[at], f.Severity.String()+" "+text)
		}
	}
	unscanned := map[toolmark.Text]bool{}
	for _, name := range src.Report.UnscannedTools {
		unscanned[name] = true
	}
	for i := range cases {
		cases[i].Out = strings.Join(output[i], "\n")
		if i < whole && unscanned[src.Report.Tools[i].Name] && len(cases[i].Failures) == 0 {
			cases[i].Skipped = &junitFault{Message: "the time ran out before this tool was scanned"}
			suite.Skipped++
		}
	}
	suite.Cases, suite.Tests = cases, len(cases)
	return suite
}

func (d *Document) junitText(src *Source, f *toolmark.Finding) string {
	lines := []string{string(f.Code) + " " + f.Code.Title() + ": " + xmlText(f.Reason)}
	places := distinct(f.Places())
	for i := range places {
		loc := &places[i]
		line := "at " + xmlText(string(loc.Pointer))
		if r, known := d.rule(loc.Rule); known {
			line += ", rule " + xmlText(r.ID)
		}
		if text, _, ok := src.place(f, loc); ok {
			line += ": " + xmlText(flat(cutOut(text, around(loc)...)))
		}
		if says := decoded(loc); says != "" {
			line += " (" + xmlText(says) + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// xmlText makes hostile text printable and keeps only what XML 1.0 allows
// (section 2.2, Char). The encoder escapes the rest.
func xmlText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x20 && r != '\t' && r != '\n', r >= 0x7f && r < 0xa0, r == 0xfffe, r == 0xffff:
			return 0xfffd
		}
		return r
	}, oneLine(text))
}
