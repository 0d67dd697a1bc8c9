package rule

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/toolmark/toolmark"
)

// Verify runs the examples of every rule and gives all that do not behave, nil
// where all do:
//
//   - an example that must match is matched by the alternative it names, with the
//     severity it says, and a clean one by no alternative at all;
//   - each alternative is the only one of its rule that matches some example, so that
//     none can be lost without being missed;
//   - every pattern compiles and does not match the empty text.
//
// Each error names file, line and rule.
func (s *Set) Verify() []error {
	var failures []error
	for _, r := range s.rules {
		failures = append(failures, s.verifyPatterns(r)...)
	}
	if len(failures) > 0 {
		return failures
	}
	for _, r := range s.rules {
		failures = append(failures, s.verifyExamples(r)...)
	}
	return failures
}

// Check is Verify with one joined error.
func Check(s *Set) error { return errors.Join(s.Verify()...) }

func (s *Set) verifyPatterns(r *Rule) []error {
	var failures []error
	check := func(c *condition, file string, line int) {
		if c.regex == nil {
			return
		}
		re, err := c.regex.compile()
		if err == nil && re.MatchString("") {
			err = fmt.Errorf("pattern %q matches the empty text", c.regex.source)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s:%d: rule %s: %w", file, line, r.ID, err))
		}
	}
	for _, e := range slices.Concat(r.unless, r.downgrade) {
		check(&e.condition, r.File, 1)
	}
	for _, alt := range r.alternatives {
		for _, c := range alt.conditions {
			check(c, alt.file, alt.line)
		}
		for _, e := range slices.Concat(alt.unless, alt.downgrade) {
			check(&e.condition, alt.file, alt.line)
		}
	}
	return failures
}

func (s *Set) verifyExamples(r *Rule) []error {
	examples, err := r.Examples()
	if err != nil {
		return []error{err}
	}
	var failures []error
	fail := func(e *Example, format string, args ...any) {
		failures = append(failures, fmt.Errorf("%s: %s", e.where(r), fmt.Sprintf(format, args...)))
	}
	alone := map[string]bool{}
	for i := range examples.Match {
		e := &examples.Match[i]
		if !slices.Contains(r.Alternatives(), e.By) {
			fail(e, "there is no alternative %q", e.By)
			continue
		}
		got := s.matchedBy(r, e)
		severity, ok := got[e.By]
		switch {
		case !ok && len(got) == 0:
			fail(e, "the example should match by %s, and nothing matches", e.By)
		case !ok:
			fail(e, "the example should match by %s, but only %v match", e.By, keysOf(got))
		case severity != e.Severity:
			fail(e, "the example should match with severity %v, not %v", e.Severity, severity)
		case len(got) == 1:
			alone[e.By] = true
		}
	}
	for i := range examples.Clean {
		e := &examples.Clean[i]
		if got := s.matchedBy(r, e); len(got) > 0 {
			fail(e, "the clean example is matched by %v", keysOf(got))
		}
	}
	for _, alt := range r.alternatives {
		if !alone[alt.id] {
			failures = append(failures, fmt.Errorf("%s:%d: rule %s: no example is matched by %s alone", alt.file, alt.line, r.ID, alt.id))
		}
	}
	return failures
}

// matchedBy gives the alternatives of a rule that match an example, with the
// strongest severity.
func (s *Set) matchedBy(r *Rule, e *Example) map[string]toolmark.Severity {
	fields := e.Fields()
	got := map[string]toolmark.Severity{}
	for _, alt := range r.alternatives {
		matches, _ := s.matcher(nil, alt).run(fields)
		for _, m := range matches {
			got[alt.id] = max(got[alt.id], m.Severity)
		}
	}
	return got
}

func keysOf(m map[string]toolmark.Severity) []string { return slices.Sorted(maps.Keys(m)) }
