package main

import (
	"bytes"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/rule"
)

func (p *program) rulesListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the rules with their opaque references",
		Example: `  toolmark rules list
  toolmark rules list --json`,
		Args: cobra.NoArgs,
		RunE: p.runs(func(*cobra.Command, []string) error {
			set, err := p.loadRules()
			if err != nil {
				return err
			}
			if asJSON {
				return p.rulesJSON(set.Rules())
			}
			var buf bytes.Buffer
			table := tabwriter.NewWriter(&buf, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "REFERENCE\tSEVERITY\tACT\tID\tTITLE")
			for _, r := range set.Rules() {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.Reference(), weightOf(r), r.Act, report.Printable(r.ID), report.Printable(r.Title))
			}
			if err := table.Flush(); err != nil {
				return fmt.Errorf("write the table: %w", err)
			}
			if _, state := p.community(); state.Off != "" {
				fmt.Fprintln(&buf, report.Printable(state.Off))
			} else {
				fmt.Fprintf(&buf, "and %d community rules (E003), ATR pack %s\n", state.Rules, state.Version)
			}
			return p.write(buf.Bytes())
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document (docs/cli.md)")
	return cmd
}

// weightOf gives a rule's severity, or for a signal its weight.
func weightOf(r *rule.Rule) string {
	if r.Weight != 0 {
		return fmt.Sprintf("signal %+d", r.Weight)
	}
	return r.Severity.String()
}

// jsonRule is a rule as rules list and rules explain give it.
type jsonRule struct {
	ID           string             `json:"id"`
	Reference    string             `json:"reference"`
	Title        string             `json:"title"`
	Act          rule.Act           `json:"act"`
	Severity     toolmark.Severity  `json:"severity"`
	Weight       int                `json:"weight,omitempty"` // of a signal, whose severity says nothing
	Explain      string             `json:"explain"`
	Fix          string             `json:"fix"`
	References   []string           `json:"references"`
	Surfaces     []toolmark.Surface `json:"surfaces"` // empty: every surface
	Alternatives []string           `json:"alternatives"`
}

func asJSONRule(r *rule.Rule) jsonRule {
	j := jsonRule{
		ID: r.ID, Reference: r.Reference(), Title: r.Title, Act: r.Act, Severity: r.Severity, Weight: r.Weight, Explain: r.Explain, Fix: r.Fix,
		References: r.References, Surfaces: r.Surfaces, Alternatives: r.Alternatives(),
	}
	if j.References == nil {
		j.References = []string{}
	}
	if j.Surfaces == nil {
		j.Surfaces = []toolmark.Surface{}
	}
	return j
}

func (p *program) rulesJSON(rules []*rule.Rule) error {
	list := make([]jsonRule, 0, len(rules))
	for _, r := range rules {
		list = append(list, asJSONRule(r))
	}
	out, err := report.MarshalASCII(struct {
		Rules []jsonRule `json:"rules"`
	}{list})
	if err != nil {
		return err
	}
	return p.write(out)
}
