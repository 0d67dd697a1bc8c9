package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
)

// mostResults is how many results one run reports. GitHub refuses a file with more than
// 25,000 and shows 5,000; a server must not be able to make its own findings go away by
// having too many.
const mostResults = 5000

// sarifBuilder puts one run together.
type sarifBuilder struct {
	results       []sarifResult
	rules         map[string]sarifRule
	notifications []sarifNotification
	seen          map[string]int // fingerprints
	codes         map[ruleKey]sarifRule
}

type ruleKey struct {
	code     toolmark.Code
	severity toolmark.Severity
}

// codeRule is codeRule, made once.
func (b *sarifBuilder) codeRule(c toolmark.Code, severity toolmark.Severity) sarifRule {
	k := ruleKey{c, severity}
	r, ok := b.codes[k]
	if !ok {
		r = codeRule(c, severity)
		b.codes[k] = r
	}
	return r
}

func newSARIF() *sarifBuilder {
	return &sarifBuilder{results: []sarifResult{}, rules: map[string]sarifRule{}, notifications: []sarifNotification{}, seen: map[string]int{}, codes: map[ruleKey]sarifRule{}}
}

// add adds a result and its rule. Results that are the same in everything but their
// place are told apart by their number.
func (b *sarifBuilder) add(r sarifResult, rule sarifRule, fingerprint string) {
	b.seen[fingerprint]++
	if n := b.seen[fingerprint]; n > 1 {
		fingerprint = hashOf(fingerprint, fmt.Sprint(n))
	}
	r.RuleID = rule.ID
	r.PartialFingerprints = map[string]string{fingerprintKey: fingerprint}
	if known, ok := b.rules[rule.ID]; !ok || levels[rule.Default.Level] < levels[known.Default.Level] {
		b.rules[rule.ID] = rule // its worst result says how severe a rule is
	}
	b.results = append(b.results, r)
}

// notify adds a message about the run. Its text may be hostile.
func (b *sarifBuilder) notify(level, text string) {
	b.notifications = append(b.notifications, sarifNotification{level, sarifText{plainMessage(oneLine(text))}})
}

// bounded gives the results, of too many those that weigh most.
func (b *sarifBuilder) bounded() []sarifResult {
	if len(b.results) <= mostResults {
		return b.results
	}
	list := slices.Clone(b.results)
	slices.SortStableFunc(list, func(x, y sarifResult) int { return levels[x.Level] - levels[y.Level] })
	return list[:mostResults]
}

// write writes the log.
func (b *sarifBuilder) write(w io.Writer, successful bool) error {
	results := b.bounded()
	if extra := len(b.results) - len(results); extra > 0 {
		b.notify("warning", fmt.Sprintf("%d results more are left out here, those of the least severity; the JSON report has them all", extra))
	}
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "toolmark", InformationURI: "https://github.com/toolmark/toolmark", Rules: []sarifRule{}}},
		ColumnKind: "utf16CodeUnits", Results: results,
		Invocations: []sarifInvocation{{ExecutionSuccessful: successful, Notifications: b.notifications}},
	}
	used := map[string]bool{}
	for i := range results {
		used[results[i].RuleID] = true
	}
	for id, r := range b.rules {
		if used[id] {
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, r)
		}
	}
	slices.SortFunc(run.Tool.Driver.Rules, func(a, b sarifRule) int { return strings.Compare(a.ID, b.ID) })
	index := map[string]int{}
	for i, r := range run.Tool.Driver.Rules {
		index[r.ID] = i
	}
	for i := range run.Results {
		run.Results[i].RuleIndex = index[run.Results[i].RuleID]
	}
	out, err := MarshalASCII(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// hashOf gives the SHA-256 of texts, so that no two lists of texts have the same.
func hashOf(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// steady gives a pointer without the indexes of arrays: what stands before a place must
// not change which place it is.
func steady(pointer string) string {
	tokens := tokensOf(pointer)
	for i, t := range tokens {
		if t != "" && strings.Trim(t, "0123456789") == "" {
			tokens[i] = "*"
		}
	}
	return pointerOf(tokens)
}

// levels are the levels of SARIF, the gravest first.
var levels = map[string]int{"error": 0, "warning": 1, "note": 2}

func level(s toolmark.Severity) string {
	switch s {
	case toolmark.High:
		return "error"
	case toolmark.Medium:
		return "warning"
	}
	return "note"
}

// plainMessage keeps [ and ] from being read as the link of a SARIF message
// (section 3.11.6).
func plainMessage(text string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(text)
}
