package scan

import (
	"fmt"
	"runtime/debug"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/rulepack/atr"
	"github.com/toolmark/toolmark/shadow"
	"github.com/toolmark/toolmark/textcheck"
)

// subject is what is scanned by itself: one tool, or what the server says beside
// its tools.
type subject struct {
	name  string
	index int // of the tool, -1 for the server's own texts
	tree  *toolmark.Value
	tool  *toolmark.Tool
	names *shadow.Names
	scope toolmark.Scope
	asked bool // for JSON faults

	texts     *texts
	memory    *rule.Memory
	collected []field
	prose     []int        // those of collected that are no names
	batch     *atr.Batch   // of all tools, by index; nil: the pack is asked for this one alone
	fields    []rule.Field // collected with their readings, as far as they were made
	hidden    []textcheck.Inspection
	findings  []toolmark.Finding
	done      bool
}

// check is one kind of examination of a subject. It reports whether it came to its
// end before stop.
type check struct {
	name string
	run  func(s *Scanner, sub *subject, stop func() bool) bool
}

func (s *Scanner) subjects(req Request, others []toolmark.OtherServer) []*subject {
	m := req.Manifest
	names := shadow.NewNames(m.Tools, others)
	texts, memory := newTexts(), s.rules.Memory(s.least())
	subjects := make([]*subject, 0, len(m.Tools)+1)
	for i := range m.Tools {
		subjects = append(subjects, &subject{
			name: m.Tools[i].Name, index: i, tree: m.Tools[i].Tree, tool: &m.Tools[i],
			names: names, texts: texts, memory: memory, scope: req.Scope, asked: req.Faults,
		})
	}
	if req.Scope == toolmark.ScopeAll {
		var c collector
		c.server(m)
		if len(c.fields) > 0 {
			subjects = append(subjects, &subject{
				name: toolmark.WholeList, index: -1, names: names, texts: texts, memory: memory, scope: req.Scope, collected: c.fields,
			})
		}
	}
	return subjects
}

// turn scans one subject until it is done or stop says so. Where it is called again
// the checks start over, but not the readings that are already there.
func (s *Scanner) turn(sub *subject, stop func() bool) {
	sub.findings = nil
	for i := range s.checks {
		finished, failed := s.contained(&s.checks[i], sub, stop)
		if failed {
			// Once more would fail once more.
			sub.findings = []toolmark.Finding{sub.finding(toolmark.CodeUnscannable, toolmark.Info,
				"This tool could not be scanned; the rest of the list was",
				toolmark.UnscannableDetails{Cause: fmt.Sprintf("the check for %s failed on it", s.checks[i].name)})}
			sub.done = true
			return
		}
		if !finished {
			return
		}
	}
	sub.done = true
}

// contained runs a check so that its panic is an answer and not the end of the scan.
func (s *Scanner) contained(c *check, sub *subject, stop func() bool) (finished, failed bool) {
	defer func() {
		if v := recover(); v != nil {
			failed = true
			s.fault(sub.index, v, debug.Stack())
		}
	}()
	return c.run(s, sub, stop), false
}

func (sub *subject) finding(code toolmark.Code, severity toolmark.Severity, reason string, details toolmark.Details) toolmark.Finding {
	return toolmark.Finding{
		Code: code, Tool: toolmark.Text(sub.name), Index: sub.index,
		Severity: severity, Reason: reason, Details: details,
	}
}

// askEvery is how many bytes of texts are prepared between two looks at the clock, which
// take as long as a short text does.
const askEvery = 1 << 10

// collect gathers the texts of a tool, once.
func (sub *subject) collect() {
	if sub.collected != nil || sub.tree == nil {
		return
	}
	var c collector
	c.tool(sub.tree, sub.scope)
	for i := range c.fields {
		if !c.fields[i].options.Name {
			sub.prose = append(sub.prose, i)
		}
	}
	sub.collected = c.fields
}

// prepare makes the readings of the subject's texts, the costliest step that is
// shared by all checks.
func (sub *subject) prepare(stop func() bool) bool {
	sub.collect()
	if sub.fields == nil {
		sub.fields = make([]rule.Field, 0, len(sub.collected))
		sub.hidden = make([]textcheck.Inspection, 0, len(sub.collected))
	}
	unasked := askEvery
	for i := len(sub.fields); i < len(sub.collected); i++ {
		f := &sub.collected[i]
		if unasked += len(f.text); unasked >= askEvery {
			if unasked = 0; stop() {
				return false
			}
		}
		hidden, readings := sub.texts.examine(f)
		sub.hidden = append(sub.hidden, hidden)
		sub.fields = append(sub.fields, rule.Field{Surface: f.surface, Pointer: f.pointer, Text: f.text, Readings: readings})
	}
	return true
}
