package main

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/rule"
)

func (p *program) rulesExplainCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain ID|REFERENCE|CODE",
		Short: "Say what a rule or a code looks for, why, and what to do",
		Long: `Explain takes a rule's id, the opaque reference of a rule as it stands in a finding
(the first 8 hex digits of the SHA-256 of the id), or a finding's code.`,
		Example: `  toolmark rules explain conceal-from-user
  toolmark rules explain ab12cd34
  toolmark rules explain W021`,
		Args: cobra.ExactArgs(1),
		RunE: p.runs(func(_ *cobra.Command, args []string) error {
			set, err := p.loadRules()
			if err != nil {
				return err
			}
			opt := report.TextOptions{Colour: p.colour(p.env.stdout), Width: p.width()}
			var buf bytes.Buffer
			if code, err := toolmark.ParseCode(args[0]); err == nil {
				if asJSON {
					return p.codeJSON(code)
				}
				if err := report.WriteCode(&buf, code, opt); err != nil {
					return err
				}
				return p.write(buf.Bytes())
			}
			r := set.Find(args[0])
			if pack, _ := p.community(); r == nil && pack != nil {
				if c, ok := pack.Rule(args[0]); ok {
					return p.explainCommunity(asCommunityRule(pack, &c), asJSON, opt)
				}
			}
			if r == nil {
				return usage("no rule has the id or reference %q, and it is no code; see: toolmark rules list", args[0])
			}
			explained, err := explanation(r)
			if err != nil {
				return err
			}
			if asJSON {
				return p.ruleJSON(r, explained)
			}
			if err := report.WriteRule(&buf, explained, opt); err != nil {
				return err
			}
			return p.write(buf.Bytes())
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document (docs/cli.md)")
	return cmd
}

// explainCommunity tells of a community rule: its patterns and texts are the pack's own.
func (p *program) explainCommunity(r report.Rule, asJSON bool, opt report.TextOptions) error {
	if asJSON {
		out, err := report.MarshalASCII(r)
		if err != nil {
			return err
		}
		return p.write(out)
	}
	var buf bytes.Buffer
	if err := report.WriteRule(&buf, report.Explanation{Rule: r}, opt); err != nil {
		return err
	}
	return p.write(buf.Bytes())
}

// explanation is all a rule's file says of it.
func explanation(r *rule.Rule) (report.Explanation, error) {
	examples, err := r.Examples()
	if err != nil {
		return report.Explanation{}, &toolmark.Error{Code: toolmark.ErrRules, Message: "the examples of " + r.ID + " cannot be read", Err: err}
	}
	e := report.Explanation{Rule: asReportRule(r), Act: string(r.Act), Surfaces: r.Surfaces}
	e.Match, e.Clean = exampleTexts(examples.Match), exampleTexts(examples.Clean)
	return e, nil
}

// exampleTexts gives the texts of examples; of a whole tool, all of them.
func exampleTexts(list []rule.Example) []string {
	out := make([]string, 0, len(list))
	for i := range list {
		e := &list[i]
		if e.Tool == nil {
			out = append(out, e.Text)
			continue
		}
		var parts []string
		for _, field := range e.Fields() {
			parts = append(parts, field.Text)
		}
		out = append(out, strings.Join(parts, " … "))
	}
	return out
}

func (p *program) ruleJSON(r *rule.Rule, e report.Explanation) error {
	type examples struct {
		Match []toolmark.Text `json:"match"`
		Clean []toolmark.Text `json:"clean"`
	}
	doc := struct {
		jsonRule
		Examples examples `json:"examples"`
	}{asJSONRule(r), examples{[]toolmark.Text{}, []toolmark.Text{}}}
	for _, text := range e.Match {
		doc.Examples.Match = append(doc.Examples.Match, toolmark.Text(text))
	}
	for _, text := range e.Clean {
		doc.Examples.Clean = append(doc.Examples.Clean, toolmark.Text(text))
	}
	out, err := report.MarshalASCII(doc)
	if err != nil {
		return err
	}
	return p.write(out)
}

func (p *program) codeJSON(code toolmark.Code) error {
	out, err := report.MarshalASCII(struct {
		Code    toolmark.Code `json:"code"`
		Title   string        `json:"title"`
		Explain string        `json:"explain"`
		Advice  string        `json:"advice"`
	}{code, code.Title(), report.Explain(code), report.Advice(code)})
	if err != nil {
		return err
	}
	return p.write(out)
}
