package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/rulepack/atr"
	"github.com/toolmark/toolmark/scan"
)

func (p *program) rulesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List, explain, test and update the rules",
		Example: `  toolmark rules list
  toolmark rules explain E001
  toolmark rules test ./my-rules
  toolmark rules update`,
		Args: p.subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.rulesListCommand(), p.rulesExplainCommand(), p.rulesTestCommand(), p.rulesUpdateCommand())
	return cmd
}

// ruleBase is every rule a scan uses.
type ruleBase struct {
	builtin *rule.Set
	own     *rule.Set // of --rules; nil without
	pack    *atr.Pack // of the community; nil where it is off
	state   report.Community
}

// loadRuleBase loads the built-in rules, those of a folder ("" is none) and the community's.
func (p *program) loadRuleBase(folder string) (*ruleBase, error) {
	builtin, err := p.loadRules()
	if err != nil {
		return nil, err
	}
	base := &ruleBase{builtin: builtin}
	if folder != "" {
		if base.own, err = loadFolder(folder, builtin); err != nil {
			var failure *toolmark.Error
			if !errors.As(err, &failure) {
				err = &toolmark.Error{Code: toolmark.ErrRules, Message: "see: toolmark rules test " + folder, Err: err}
			}
			return nil, err
		}
	}
	base.pack, base.state = p.community()
	return base, nil
}

// scanner makes the scanner; a budget of 0 is no limit.
func (b *ruleBase) scanner(budget time.Duration, now func() time.Time) (*scan.Scanner, error) {
	if budget < 0 {
		return nil, usage("--budget must not be less than 0; 0 is no limit")
	}
	if budget == 0 {
		budget = -1
	}
	return scan.New(scan.Config{Rules: b.builtin, MoreRules: b.own, Community: b.pack, Budget: budget, Now: now})
}

// Rule finds a rule by its opaque reference, or a community rule by its id.
func (b *ruleBase) Rule(reference string) (report.Rule, bool) {
	for _, set := range []*rule.Set{b.builtin, b.own} {
		if set == nil {
			continue
		}
		if r := set.Find(reference); r != nil {
			return asReportRule(r), true
		}
	}
	if b.pack != nil {
		if r, ok := b.pack.Rule(reference); ok {
			return asCommunityRule(b.pack, &r), true
		}
	}
	return report.Rule{}, false
}

// asCommunityRule tells of a community rule what its pack says in a few words.
func asCommunityRule(pack *atr.Pack, r *atr.Rule) report.Rule {
	return report.Rule{
		ID: r.ID, Reference: r.ID, Title: r.Title, Severity: r.Grade(),
		Explain: fmt.Sprintf("A rule of the ATR community pack %s. Its authors rate it %s, its maturity is %s, and the pack's confidence in a match is %.2f.",
			pack.Version(), r.Severity, r.Maturity, r.Confidence),
		Fix:        "Check whether the tool needs what the rule describes. Community rules are advisory: many describe a capability and not its abuse, so alone they fail nothing.",
		References: []string{"Agent Threat Rules, " + r.ID},
	}
}

func asReportRule(r *rule.Rule) report.Rule {
	title := r.Title
	if r.Weight != 0 {
		title += fmt.Sprintf(" (a signal of weight %+d: no finding by itself)", r.Weight)
	}
	return report.Rule{
		ID: r.ID, Reference: r.Reference(), Title: title, Explain: r.Explain, Fix: r.Fix,
		Severity: r.Severity, References: r.References,
	}
}
