package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
)

// sarifSchema names the schema of SARIF 2.1.0 (OASIS, errata 01).
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// fingerprintKey names our result fingerprint; the number changes with what it covers.
const fingerprintKey = "toolmarkFinding/v1"

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	ColumnKind  string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string         `json:"id"`
	Name             string         `json:"name"`
	ShortDescription sarifText      `json:"shortDescription"`
	FullDescription  sarifText      `json:"fullDescription"`
	Help             sarifText      `json:"help"`
	Default          sarifDefault   `json:"defaultConfiguration"`
	Properties       map[string]any `json:"properties"`
}

type sarifDefault struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifInvocation struct {
	ExecutionSuccessful bool                `json:"executionSuccessful"`
	Notifications       []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct {
	RuleID              string             `json:"ruleId"`
	RuleIndex           int                `json:"ruleIndex"`
	Level               string             `json:"level"`
	Message             sarifText          `json:"message"`
	Locations           []sarifLocation    `json:"locations"`
	PartialFingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions        []sarifSuppression `json:"suppressions,omitempty"`
	Properties          map[string]any     `json:"properties"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

type sarifLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
	EndLine     int `json:"endLine"`
	EndColumn   int `json:"endColumn"`
}

type sarifLogical struct {
	FullyQualifiedName string `json:"fullyQualifiedName"`
	Kind               string `json:"kind"`
}

// WriteSARIF writes the document as SARIF 2.1.0 in pure ASCII. Each rule that
// matched in a string is a result of its own. Every result has a file and a region
// in it, since some readers refuse a whole upload for one that has none: a live
// source is called mcp-servers/NAME.json.
func (d *Document) WriteSARIF(w io.Writer) error {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "toolmark", InformationURI: "https://github.com/toolmark/toolmark", Rules: []sarifRule{}}},
		ColumnKind: "utf16CodeUnits", Results: []sarifResult{},
	}
	invocation := sarifInvocation{ExecutionSuccessful: !d.Unfinished(), Notifications: []sarifNotification{}}
	rules := map[string]sarifRule{}
	for i := range d.Sources {
		src := &d.Sources[i]
		if src.Report == nil {
			message := "unknown reason"
			if src.Err != nil {
				message = src.Err.Error()
			}
			invocation.Notifications = append(invocation.Notifications, sarifNotification{"error", sarifText{oneLine(message)}})
			continue
		}
		for _, warning := range src.Snapshot.Warnings {
			invocation.Notifications = append(invocation.Notifications, sarifNotification{"warning", sarifText{oneLine(src.Name + ": " + warning)}})
		}
		if src.Report.Incomplete {
			invocation.Notifications = append(invocation.Notifications, sarifNotification{
				"error",
				sarifText{fmt.Sprintf("%s: the time ran out before %s", oneLine(src.Name), Plural(len(src.Report.UnscannedTools), "tool"))},
			})
		}
		lines := newRuler(src.Snapshot.Bytes)
		for j := range src.Report.Findings {
			run.Results = append(run.Results, d.sarifResults(src, lines, &src.Report.Findings[j], rules, nil)...)
		}
		for j := range src.Suppressed {
			x := &src.Suppressed[j]
			run.Results = append(run.Results, d.sarifResults(src, lines, &x.Finding, rules,
				[]sarifSuppression{{"external", oneLine(x.Reason)}})...)
		}
	}
	for _, warning := range d.Warnings {
		invocation.Notifications = append(invocation.Notifications, sarifNotification{"warning", sarifText{oneLine(warning)}})
	}
	if d.Community.Off != "" {
		invocation.Notifications = append(invocation.Notifications, sarifNotification{"note", sarifText{oneLine(d.Community.Off)}})
	}
	for _, r := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, r)
	}
	slices.SortFunc(run.Tool.Driver.Rules, func(a, b sarifRule) int { return strings.Compare(a.ID, b.ID) })
	for i := range run.Results {
		run.Results[i].RuleIndex = slices.IndexFunc(run.Tool.Driver.Rules, func(r sarifRule) bool { return r.ID == run.Results[i].RuleID })
	}
	run.Invocations = []sarifInvocation{invocation}
	out, err := MarshalASCII(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// sarifResults gives a result for each rule and string of a finding, and at least one.
func (d *Document) sarifResults(src *Source, lines *ruler, f *toolmark.Finding, rules map[string]sarifRule, suppressions []sarifSuppression) []sarifResult {
	places := distinct(f.Places())
	if len(places) == 0 {
		places = []toolmark.Location{{}}
	}
	var out []sarifResult
	seen := map[[2]string]bool{}
	for i := range places {
		loc := &places[i]
		key := [2]string{loc.Rule, string(loc.Pointer)}
		if seen[key] {
			continue
		}
		seen[key] = true
		rule := d.sarifRule(f, loc)
		rules[rule.ID] = rule
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
		if f.Index < 0 && loc.Pointer == "" {
			at = src.list()
		}
		r := lines.region(at)
		out = append(out, sarifResult{
			RuleID: rule.ID, Level: level(f.Severity), Message: sarifText{plainMessage(oneLine(message))},
			Locations: []sarifLocation{{
				Physical: sarifPhysical{sarifArtifact{artifact(src)}, sarifRegion{r.startLine, r.startColumn, r.endLine, r.endColumn}},
				Logical:  []sarifLogical{{oneLine(src.Server() + "/" + string(f.Tool) + string(loc.Pointer)), "object"}},
			}},
			PartialFingerprints: map[string]string{fingerprintKey: fingerprint(src, f, loc)},
			Suppressions:        suppressions,
			Properties:          map[string]any{"code": f.Code, "tool": oneLine(string(f.Tool)), "pointer": oneLine(string(loc.Pointer))},
		})
	}
	return out
}

func atPointer(loc *toolmark.Location) string {
	if loc.Pointer == "" {
		return ""
	}
	return ", at " + oneLine(string(loc.Pointer))
}

// sarifRule gives the rule a place is reported under: the rule that matched, else
// the code.
func (d *Document) sarifRule(f *toolmark.Finding, loc *toolmark.Location) sarifRule {
	tags := []string{"security", "mcp", string(f.Code)}
	r, known := d.rule(loc.Rule)
	if !known {
		return sarifRule{
			ID: string(f.Code), Name: camel(f.Code.Title()),
			ShortDescription: sarifText{plainMessage(f.Code.Title())}, FullDescription: sarifText{plainMessage(Explain(f.Code))},
			Help: sarifText{plainMessage(Explain(f.Code) + "\n\n" + Advice(f.Code))}, Default: sarifDefault{level(f.Severity)},
			Properties: map[string]any{"tags": tags, "security-severity": securitySeverity(f.Severity)},
		}
	}
	help := r.Explain
	if r.Fix != "" {
		help += "\n\n" + r.Fix
	}
	if help == "" {
		help = Explain(f.Code)
	}
	return sarifRule{
		ID: oneLine(r.ID), Name: camel(oneLine(r.Title)),
		ShortDescription: sarifText{plainMessage(oneLine(r.Title))}, FullDescription: sarifText{plainMessage(oneLine(strings.TrimSpace(r.Explain)))},
		Help: sarifText{plainMessage(strings.TrimSpace(help))}, Default: sarifDefault{level(r.Severity)},
		Properties: map[string]any{"tags": tags, "security-severity": securitySeverity(r.Severity)},
	}
}

// plainMessage keeps [ and ] from being read as the link of a SARIF message
// (section 3.11.6).
func plainMessage(text string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(text)
}

func level(s toolmark.Severity) string {
	switch s {
	case toolmark.High:
		return "error"
	case toolmark.Medium:
		return "warning"
	}
	return "note"
}

// securitySeverity is the number by which GitHub sorts: 7.0 and above is high.
func securitySeverity(s toolmark.Severity) string {
	switch s {
	case toolmark.High:
		return "8.0"
	case toolmark.Medium:
		return "5.0"
	}
	return "2.0"
}

// camel turns a title into the identifier SARIF asks for as a rule's name.
func camel(title string) string {
	var b strings.Builder
	up := true
	for _, c := range title {
		switch {
		case c >= 'a' && c <= 'z' && up:
			b.WriteRune(c - 'a' + 'A')
			up = false
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			b.WriteRune(c)
			up = false
		default:
			up = true
		}
	}
	return b.String()
}

// artifact gives the relative URI of a source (RFC 3986): its path below the working
// directory, or a name that stays the same from run to run.
func artifact(src *Source) string {
	if src.File != "" {
		parts := strings.Split(src.File, "/")
		for i := range parts {
			parts[i] = url.PathEscape(parts[i])
		}
		// A colon in the first segment would read as a scheme.
		return strings.ReplaceAll(path.Join(parts...), ":", "%3A")
	}
	var slug strings.Builder
	for _, c := range src.Server() {
		if c < 0x80 && (c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			slug.WriteRune(c)
		} else if s := slug.String(); !strings.HasSuffix(s, "-") {
			slug.WriteByte('-')
		}
	}
	name := strings.Trim(slug.String(), "-.")
	if name == "" {
		name = "server"
	}
	return "mcp-servers/" + name[:min(len(name), 100)] + ".json"
}

// fingerprint identifies a result by what it says and not by where in the list it
// stands, so that it stays the same when tools are reordered.
func fingerprint(src *Source, f *toolmark.Finding, loc *toolmark.Location) string {
	text, _, _ := src.place(f, loc)
	h := sha256.New()
	for _, part := range []string{src.Server(), string(f.Code), string(f.Tool), string(loc.Pointer), loc.Rule, text} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
