package scan

import (
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/textcheck"
)

// maxLocations is the most places one finding lists. More say nothing new, and a
// text of nothing but hidden characters must not make a report many times its size.
const maxLocations = 20

// surfaceNouns say in a reason where a text stands.
var surfaceNouns = map[toolmark.Surface]string{
	toolmark.SurfaceDescription:   "Tool description",
	toolmark.SurfaceParameter:     "Parameter description",
	toolmark.SurfaceParameterName: "Parameter name",
	toolmark.SurfaceEnum:          "Enum value",
	toolmark.SurfaceDefault:       "Default value",
	toolmark.SurfaceExample:       "Example value",
	toolmark.SurfaceSchema:        "Input schema",
	toolmark.SurfaceName:          "Tool name",
	toolmark.SurfaceTitle:         "Tool title",
	toolmark.SurfaceAnnotation:    "Tool annotation",
	toolmark.SurfaceOutput:        "Output schema",
	toolmark.SurfaceMeta:          "Tool metadata",
	toolmark.SurfaceInstructions:  "Server instructions",
	toolmark.SurfacePrompt:        "Prompt",
	toolmark.SurfaceResource:      "Resource",
	toolmark.SurfaceServer:        "Server info",
}

// checkText reports hidden and look-alike characters (W021).
func checkText(_ *Scanner, sub *subject, stop func() bool) bool {
	finished := sub.prepare(stop)
	var d toolmark.HiddenTextDetails
	var tags, payloads []string
	first := -1
	for i := range sub.hidden {
		in := &sub.hidden[i]
		found := false
		for _, hit := range in.Hits {
			if !hit.Kind.Hidden() {
				continue
			}
			found = true
			addOnce(&d.Kinds, hit.Kind.String())
			if len(d.Locations) < maxLocations {
				d.Locations = append(d.Locations, toolmark.Location{
					Pointer: toolmark.Text(sub.collected[i].pointer), Start: hit.Start, End: hit.End,
					Kind: hit.Kind.String(), Reading: textcheck.Raw,
					Excerpt: toolmark.Text(excerpt(sub.collected[i].text, hit.Start, hit.End)),
				})
			}
		}
		if found && first < 0 {
			first = i
		}
		if found && in.TagPayload != "" {
			tags = append(tags, in.TagPayload)
		}
		if found && in.Payload != "" {
			payloads = append(payloads, in.Payload)
		}
	}
	if first >= 0 {
		d.DecodedTagPayload = toolmark.Text(strings.Join(tags, "\n"))
		d.DecodedPayload = toolmark.Text(strings.Join(payloads, "\n"))
		sub.findings = append(sub.findings, sub.finding(toolmark.CodeHiddenText, toolmark.Medium,
			surfaceNouns[sub.collected[first].surface]+" contains invisible or look-alike characters: "+strings.Join(d.Kinds, ", "), d))
	}
	return finished
}

// checkRules reports instructions to the model (E001): one finding a subject, as
// severe as the worst rule that matched, with the rules in order of severity.
func checkRules(s *Scanner, sub *subject, stop func() bool) bool {
	if len(sub.fields) < len(sub.collected) {
		return false // checkText did not get that far, and said so
	}
	matches, finished := sub.memory.Match(sub.fields, stop)
	if s.more != nil && finished {
		var own []rule.Match
		own, finished = s.more.Match(sub.fields, stop)
		matches = append(matches, own...)
	}
	matches, signals := split(matches)
	slices.SortStableFunc(matches, func(a, b rule.Match) int { return int(b.Severity) - int(a.Severity) })
	var score *toolmark.Score
	if len(matches) == 0 || matches[0].Severity < toolmark.High { // no sum says more than that
		score, signals = sub.weigh(matches, signals)
	}
	if score != nil {
		matches = append(matches, signals...)
	}
	if len(matches) > 0 {
		sub.poisoning(matches, score)
	}
	return finished
}

// least is the least sum of signals that matters.
func (s *Scanner) least() int {
	if s.more != nil {
		return 0 // signals of both count together
	}
	return MediumScore
}

// poisoning makes the finding of matches, the worst first, signals last.
func (sub *subject) poisoning(matches []rule.Match, score *toolmark.Score) {
	d := toolmark.PoisonDetails{MatchedRules: []string{}, Locations: []toolmark.Location{}, Score: score}
	var encoded []rule.Match
	for _, match := range matches {
		ref := rule.Reference(match.Rule.ID)
		addOnce(&d.MatchedRules, ref)
		if match.Reading == textcheck.Tag {
			d.TagPayloadDecoded = true
		}
		if (match.Severity > toolmark.Info || match.Rule.Weight > 0) && textcheck.Encoded(match.Reading) {
			encoded = append(encoded, match)
		}
		for _, place := range match.Places {
			if len(d.Locations) < maxLocations {
				d.Locations = append(d.Locations, toolmark.Location{
					Pointer: toolmark.Text(sub.fields[place.Field].Pointer), Start: place.Start, End: place.End,
					Reading: match.Reading, Rule: ref, Excerpt: toolmark.Text(match.Excerpt),
				})
			}
		}
	}
	worst := &matches[0]
	severity := worst.Severity
	if score != nil {
		severity = max(severity, toolmark.Medium)
		if score.Total >= HighScore {
			severity = toolmark.High
		}
		if i := slices.IndexFunc(matches, func(m rule.Match) bool { return m.Rule.Weight > 0 }); severity > worst.Severity && i >= 0 {
			worst = &matches[i]
		}
	}
	var says string
	switch severity {
	case toolmark.High:
		says = " contains injected instructions (tool-poisoning signature)"
	case toolmark.Medium:
		says = " contains wording that is close to an instruction to the model"
	default:
		says = " mentions instructions to a model without giving one"
	}
	sub.findings = append(sub.findings, sub.finding(toolmark.CodePoisoning, severity,
		surfaceNouns[sub.fields[worst.Field].Surface]+says, d))
	sub.reportEncoded(encoded)
}

// reportEncoded adds to the hidden-text finding what was an instruction only once it
// was decoded: a payload in an encoding is hidden text as well as an instruction.
func (sub *subject) reportEncoded(matches []rule.Match) {
	if len(matches) == 0 {
		return
	}
	at := slices.IndexFunc(sub.findings, func(f toolmark.Finding) bool { return f.Code == toolmark.CodeHiddenText })
	if at < 0 {
		noun := surfaceNouns[sub.fields[matches[0].Field].Surface]
		sub.findings = append(sub.findings, sub.finding(toolmark.CodeHiddenText, toolmark.Medium,
			noun+" hides an instruction in an encoding", toolmark.HiddenTextDetails{}))
		at = len(sub.findings) - 1
	}
	d := sub.findings[at].Details.(toolmark.HiddenTextDetails)
	for _, match := range matches {
		f := &sub.fields[match.Field]
		kind := strings.TrimPrefix(match.Reading, textcheck.DecodedPrefix)
		addOnce(&d.Kinds, kind)
		if d.DecodedPayload == "" && match.Reading != textcheck.Tag {
			d.DecodedPayload = toolmark.Text(match.Excerpt)
		}
		if len(d.Locations) < maxLocations {
			d.Locations = append(d.Locations, toolmark.Location{
				Pointer: toolmark.Text(f.Pointer), Start: match.Start, End: match.End,
				Kind: kind, Reading: match.Reading, Excerpt: toolmark.Text(match.Excerpt),
			})
		}
	}
	sub.findings[at].Details = d
}

// checkFaults reports what is wrong with the JSON itself (the J codes).
func checkFaults(_ *Scanner, sub *subject, _ func() bool) bool {
	if !sub.asked || sub.tree == nil {
		return true
	}
	found := map[toolmark.Code][]toolmark.Location{}
	for _, fault := range canonjson.Faults(sub.tree) {
		if at := found[fault.Code]; len(at) < maxLocations {
			found[fault.Code] = append(at, toolmark.Location{Pointer: toolmark.Text(fault.Pointer)})
		}
	}
	for code, reason := range map[toolmark.Code]string{
		toolmark.CodeDuplicateKey:  "An object of the tool has the same key twice: two JSON readers may see two different tools",
		toolmark.CodeLoneSurrogate: "A string of the tool holds half a surrogate pair, which is not Unicode text",
		toolmark.CodeInexactNumber: "A number of the tool is not exactly a double: JSON readers disagree on its value",
	} {
		if at := found[code]; len(at) > 0 {
			sub.findings = append(sub.findings, sub.finding(code, toolmark.Medium, reason, toolmark.FaultDetails{Locations: at}))
		}
	}
	return true
}

func addOnce(list *[]string, s string) {
	if !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
}

// excerpt gives a place with some text around it, for a person to recognise it.
func excerpt(text string, start, end int) string {
	const around, most = 40, 160
	from := toolmark.ByteOffset(text, max(0, start-around))
	length := min(end-start, most-2*around) + min(start, around) + around
	return text[from : from+toolmark.ByteOffset(text[from:], length)]
}
