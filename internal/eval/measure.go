package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/scan"
)

// hit is one finding of one tool.
type hit struct {
	server   string
	tool     string
	code     toolmark.Code
	severity toolmark.Severity
	rules    []string // ids
	excerpts []string
	named    bool // E002 by nothing but an equal name
}

// result is what was found in a case.
type result struct {
	testCase
	hits []hit
	met  bool // everything expected was found
}

// worst gives the greatest severity at which a code was found, 0 for not at all.
func (r *result) worst(code toolmark.Code) toolmark.Severity {
	var worst toolmark.Severity
	for i := range r.hits {
		if r.hits[i].code == code {
			worst = max(worst, r.hits[i].severity)
		}
	}
	return worst
}

// found reports whether a code was found so that it counts: an info says that a text
// is worth knowing, not that it is wrong.
func (r *result) found(code toolmark.Code) bool { return r.worst(code) >= toolmark.Medium }

// measure scans every case.
func measure(cases []testCase, set *rule.Set) ([]result, error) {
	scanner, err := scan.New(scan.Config{Rules: set, Budget: -1})
	if err != nil {
		return nil, err
	}
	results := make([]result, 0, len(cases))
	for _, c := range cases {
		r := result{testCase: c}
		for i := range c.servers {
			report, err := scanner.Scan(context.Background(), scan.Request{
				Manifest: c.servers[i].manifest, OtherServers: c.servers[i].others, Scope: toolmark.ScopeAll,
			})
			if err != nil {
				return nil, fmt.Errorf("scan %s: %w", c.id, err)
			}
			if report.Incomplete {
				return nil, fmt.Errorf("scan %s: incomplete, not scanned: %v", c.id, report.UnscannedTools)
			}
			for j := range report.Findings {
				r.hits = append(r.hits, newHit(c.source, &report.Findings[j], set))
			}
		}
		r.met = !slices.ContainsFunc(c.expect, func(code toolmark.Code) bool { return !r.found(code) })
		results = append(results, r)
	}
	return results, nil
}

func newHit(server string, f *toolmark.Finding, set *rule.Set) hit {
	h := hit{server: server, tool: string(f.Tool), code: f.Code, severity: f.Severity}
	switch d := f.Details.(type) {
	case toolmark.PoisonDetails:
		for _, ref := range d.MatchedRules {
			if r := set.Find(ref); r != nil {
				h.rules = append(h.rules, r.ID)
			}
		}
	case toolmark.ShadowDetails:
		h.named = d.Match == "exact"
	}
	for _, place := range f.Places() {
		h.excerpts = append(h.excerpts, fmt.Sprintf("%s [%s] %s", place.Pointer, place.Reading, place.Excerpt))
	}
	return h
}

// count is a number of cases or tools and how many of them something holds for.
type count struct{ n, of int }

func (c count) share() float64 {
	if c.of == 0 {
		return 0
	}
	return float64(c.n) / float64(c.of)
}

func (c count) String() string { return fmt.Sprintf("%d of %d (%.1f%%)", c.n, c.of, 100*c.share()) }

// recall counts the cases that expect something and got all of it.
func recall(results []result, want func(*result) bool) count {
	var c count
	for i := range results {
		r := &results[i]
		if len(r.expect) == 0 || !want(r) {
			continue
		}
		c.of++
		if r.met {
			c.n++
		}
	}
	return c
}

// poisonings counts the cases that expect E001 and got it at least as bad as least.
func poisonings(results []result, least toolmark.Severity, want func(*result) bool) count {
	var c count
	for i := range results {
		r := &results[i]
		if !slices.Contains(r.expect, toolmark.CodePoisoning) || !want(r) {
			continue
		}
		c.of++
		if r.worst(toolmark.CodePoisoning) >= least {
			c.n++
		}
	}
	return c
}

// alarms counts the honest tools whose worst finding is of that severity. E002 by an
// equal name is left out: it says that two servers share a name, and both may be
// honest. What is found in a server's own texts counts as one tool more.
func alarms(results []result, severity toolmark.Severity, want func(*result) bool) count {
	var c count
	for i := range results {
		r := &results[i]
		if !r.corpus.honest() || !want(r) {
			continue
		}
		c.of += r.tools
		worst := map[string]toolmark.Severity{}
		for j := range r.hits {
			if h := &r.hits[j]; !h.named {
				worst[h.tool] = max(worst[h.tool], h.severity)
			}
		}
		for _, s := range worst {
			if s == severity {
				c.n++
			}
		}
	}
	return c
}

func in(c corpus) func(*result) bool { return func(r *result) bool { return r.corpus == c } }

func inTier(c corpus, tier string) func(*result) bool {
	return func(r *result) bool { return r.corpus == c && r.tier == tier }
}

// inOwn wants the project's own cases of one part and language; language "" is all.
func inOwn(part, lang string) func(*result) bool {
	return func(r *result) bool {
		return (r.corpus == ownAttack || r.corpus == ownHonest) && r.tier == part && (lang == "" || r.source == lang)
	}
}
