package scan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/rulepack/atr"
	"github.com/toolmark/toolmark/shadow"
)

// DefaultBudget is the time one scan may take where Config does not say.
const DefaultBudget = time.Second

// Config is what a Scanner needs. Only Rules has no default.
type Config struct {
	// Rules are matched against every text. Nil is an error: a scan without rules
	// would call everything clean.
	Rules *rule.Set
	// MoreRules are matched beside Rules: rules of a user's own; nil is none.
	MoreRules *rule.Set
	// Community is the pack of community rules (E003); nil is none.
	Community *atr.Pack
	// Budget is the time one scan may take; zero means DefaultBudget, less than zero
	// no limit.
	Budget time.Duration
	// Now is the clock the budget is measured by; nil means time.Now.
	Now func() time.Time
	// Fault is told of a check that panicked; nil means nobody is. The manifest's text
	// may be part of value: it must not be logged where texts must not be.
	Fault func(tool int, value any, stack []byte)
}

// Scanner scans manifests. It is safe for concurrent use.
type Scanner struct {
	rules, more *rule.Set
	community   *atr.Pack
	budget      time.Duration
	now         func() time.Time
	fault       func(tool int, value any, stack []byte)
	checks      []check
}

// New makes a Scanner. It fails where cfg has no rules.
func New(cfg Config) (*Scanner, error) {
	if cfg.Rules == nil {
		return nil, errors.New("scan: no rules given: use rulepack.Builtin")
	}
	s := &Scanner{rules: cfg.Rules, more: cfg.MoreRules, community: cfg.Community, budget: cfg.Budget, now: cfg.Now, fault: cfg.Fault}
	if s.budget == 0 {
		s.budget = DefaultBudget
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.fault == nil {
		s.fault = func(int, any, []byte) {}
	}
	s.checks = []check{{"hidden text", checkText}, {"rules", checkRules}, {"shadowing", checkNames}, {"community rules", checkCommunity}, {"JSON faults", checkFaults}}
	return s, nil
}

// Request is one list to scan.
type Request struct {
	Manifest *toolmark.Manifest
	// OtherServers are the agent's other servers; nil means those of the manifest.
	OtherServers []toolmark.OtherServer
	// Pin is the pin of an earlier scan; "" means that of the manifest, if it has one.
	Pin string
	// Scope says which texts are read.
	Scope toolmark.Scope
	// Faults asks for faults of the JSON itself too (the J codes).
	Faults bool
}

// Scan checks a manifest. It returns an error where ctx ends before the scan does, or
// where the pin is not one; a budget that runs out is no error but an incomplete
// report.
func (s *Scanner) Scan(ctx context.Context, req Request) (*toolmark.Report, error) {
	m := req.Manifest
	if m == nil {
		return nil, errors.New("scan: no manifest given")
	}
	wanted := req.Pin
	if wanted == "" {
		wanted = m.Pin
	}
	if wanted != "" && !toolmark.IsPin(wanted) {
		return nil, &toolmark.Error{Code: toolmark.ErrUsage, Message: "a pin is 64 lower-case hex digits: give exactly what an earlier scan returned"}
	}
	others := req.OtherServers
	if others == nil {
		others = m.OtherServers
	}

	clock := newClock(ctx, s.now, s.budget)
	report, err := begin(m, wanted)
	if err != nil {
		return nil, err
	}
	subjects := s.subjects(req, others)
	s.batch(subjects, clock.share(2))
	s.run(clock, subjects)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("scan stopped: %w", err)
	}
	for _, sub := range subjects {
		report.Findings = append(report.Findings, sub.findings...)
		if !sub.done {
			report.Incomplete = true
			report.UnscannedTools = append(report.UnscannedTools, toolmark.Text(sub.name))
		}
	}
	report.Findings = append(report.Findings, shadow.Duplicates(m.Tools)...)
	toolmark.SortFindings(report.Findings)
	report.OK = report.Worst() < toolmark.High && !report.Incomplete
	return report, nil
}

// begin computes what is always complete: pin, hashes, the comparison with the
// wanted pin, and the fingerprint where the server is known and one is possible.
func begin(m *toolmark.Manifest, wanted string) (*toolmark.Report, error) {
	p := pin.Compute(m.Tools)
	report := &toolmark.Report{
		SHA256:         p.SHA256,
		Findings:       []toolmark.Finding{},
		Tools:          p.Tools,
		UnscannedTools: []toolmark.Text{},
	}
	if report.Tools == nil {
		report.Tools = []toolmark.ToolHash{}
	}
	if wanted != "" && wanted != p.SHA256 {
		report.Findings = append(report.Findings, toolmark.Finding{
			Code: toolmark.CodeRugPull, Tool: toolmark.WholeList, Index: -1, Severity: toolmark.High,
			Reason:  "Tool list changed since it was pinned (possible rug-pull)",
			Details: toolmark.RugPullDetails{PinnedSHA256: wanted, CurrentSHA256: p.SHA256},
		})
	}
	if m.Server.Given {
		// A manifest that RFC 8785 cannot carry has no fingerprint; who wants to
		// know why asks pin.Fingerprint.
		if fp, err := pin.Fingerprint(m.Server, m.Tools); err == nil {
			report.Fingerprint = fp
		}
	}
	return report, nil
}

// CheckSize holds a request's list against the limit on characters: the canonical
// JSON of the tools and the names of the other servers' tools may have at most
// toolmark.MaxCharacters together. The error is a *toolmark.Error with ErrTooLarge.
func CheckSize(m *toolmark.Manifest) error {
	n := 0
	for _, server := range m.OtherServers {
		n += toolmark.CodePoints(server.Name)
		for _, tool := range server.Tools {
			n += toolmark.CodePoints(tool)
		}
	}
	if n+atMost(m.Tools) <= toolmark.MaxCharacters {
		return nil
	}
	if n += pin.Size(m.Tools); n > toolmark.MaxCharacters {
		return &toolmark.Error{Code: toolmark.ErrTooLarge, Message: fmt.Sprintf(
			"the tools' canonical JSON and the names of other servers have %d characters; at most %d are allowed", n, toolmark.MaxCharacters)}
	}
	return nil
}

// atMost bounds pin.Size without writing the canonical JSON: a usual list is far below
// the limit. A byte as sent becomes at most five characters (a character of two bytes six,
// 1e15 eighteen), and what a tool lacks 64. Trees that were not read from JSON say nothing
// of their length.
func atMost(tools []toolmark.Tool) int {
	n := 2
	for i := range tools {
		length := tools[i].Tree.End - tools[i].Tree.Start
		if length <= 0 {
			return toolmark.MaxCharacters + 1
		}
		n += 5*length + 64
	}
	return n
}
