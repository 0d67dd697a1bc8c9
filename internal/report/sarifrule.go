package report

import (
	"strings"

	"github.com/toolmark/toolmark"
)

// codeRule gives the rule of a code that no rule of a pack stands behind.
func codeRule(c toolmark.Code, severity toolmark.Severity) sarifRule {
	explain, advice := Explain(c), Advice(c)
	return sarifRule{
		ID: string(c), Name: camel(c.Title()),
		ShortDescription: sarifText{plainMessage(c.Title())}, FullDescription: sarifText{plainMessage(explain)},
		Help: help(explain, advice, nil), Default: sarifDefault{level(severity)}, Properties: ruleProperties(c, severity),
	}
}

// sarifRule gives the rule a place is reported under: the rule that matched, else
// the code.
func (d *Document) sarifRule(f *toolmark.Finding, loc *toolmark.Location) sarifRule {
	r, known := d.rule(loc.Rule)
	if !known {
		return codeRule(f.Code, f.Severity)
	}
	explain := strings.TrimSpace(r.Explain)
	if explain == "" {
		explain = Explain(f.Code)
	}
	advice := strings.TrimSpace(r.Fix)
	if advice == "" {
		advice = Advice(f.Code)
	}
	return sarifRule{
		ID: oneLine(r.ID), Name: camel(oneLine(r.Title)),
		ShortDescription: sarifText{plainMessage(oneLine(r.Title))}, FullDescription: sarifText{plainMessage(oneLine(explain))},
		Help: help(explain, advice, r.References), Default: sarifDefault{level(r.Severity)}, Properties: ruleProperties(f.Code, r.Severity),
	}
}

func ruleProperties(c toolmark.Code, severity toolmark.Severity) map[string]any {
	return map[string]any{
		"tags": []string{"security", "mcp", string(c)}, "precision": "high", "security-severity": securitySeverity(severity),
	}
}

// help says why a rule matters, what to do, and where to read on.
func help(explain, advice string, references []string) sarifHelp {
	text := oneLine(strings.Join(strings.Fields(explain), " ")) + "\n\nWhat to do: " + oneLine(strings.Join(strings.Fields(advice), " "))
	markdown := prose(explain) + "\n\n**What to do.** " + prose(advice)
	if len(references) > 0 {
		text += "\n\nReferences: " + oneLine(strings.Join(references, ", "))
		markdown += "\n\n**References.** " + prose(strings.Join(references, ", "))
	}
	return sarifHelp{Text: plainMessage(text), Markdown: markdown}
}

// prose gives a text of a rule as Markdown that shows it as it is. Code spans stay.
func prose(text string) string {
	text = oneLine(strings.Join(strings.Fields(text), " "))
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 {
		return markup.Replace(text) // a backtick that nothing closes
	}
	for i := range parts {
		if i%2 == 0 {
			parts[i] = markup.Replace(parts[i])
		} else {
			parts[i] = "`" + parts[i] + "`"
		}
	}
	return strings.Join(parts, "")
}

// markup escapes what means something in Markdown (CommonMark 0.31, section 2.4).
var markup = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `<`, `&lt;`, `>`, `&gt;`, `&`, `&amp;`, `~`, `\~`, `|`, `\|`, `!`, `\!`, `#`, `\#`,
)

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
