package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/scan"
)

func (p *program) rulesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List, explain and test the rules",
		Example: `  toolmark rules list
  toolmark rules explain E001
  toolmark rules test ./my-rules`,
		Args: p.subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.rulesListCommand(), p.rulesExplainCommand(), p.rulesTestCommand())
	return cmd
}

// newScanner makes the scanner; a budget of 0 is no limit.
func (p *program) newScanner(rules *rule.Set, budget time.Duration) (*scan.Scanner, error) {
	if budget < 0 {
		return nil, usage("--budget must not be less than 0; 0 is no limit")
	}
	if budget == 0 {
		budget = -1
	}
	return scan.New(scan.Config{Rules: rules, Budget: budget, Now: p.env.now})
}

// catalogue finds rules for reports.
type catalogue struct{ set *rule.Set }

// Rule finds a rule by its opaque reference.
func (c catalogue) Rule(reference string) (report.Rule, bool) {
	r := c.set.Find(reference)
	if r == nil {
		return report.Rule{}, false
	}
	return asReportRule(r), true
}

func asReportRule(r *rule.Rule) report.Rule {
	return report.Rule{
		ID: r.ID, Reference: r.Reference(), Title: r.Title, Explain: r.Explain, Fix: r.Fix,
		Severity: r.Severity, References: r.References,
	}
}
