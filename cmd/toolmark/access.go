package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/report"
)

func (p *program) accessCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "access",
		Short: "Allow and block addresses, end users and countries",
		Long: `Access administers access lists: that of the whole service, or with --account that of
one account. A request must pass both.

In a list a block wins over every allow, and where anything is allowed, everything else
is blocked. What is changed holds from the next request on.`,
		Example: `  toolmark access block --cidr 203.0.113.0/24 --note "scraper"
  toolmark access allow --account acct_… --ip 192.0.2.10 --country NZ
  toolmark access list
  toolmark access remove --country NZ --account acct_…`,
		Args: p.subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		p.accessAddCommand(access.Allow, "Allow what is named; everything else in the list's reach is blocked then"),
		p.accessAddCommand(access.Block, "Block what is named, whatever else allows it"),
		p.accessListCommand(), p.accessRemoveCommand(),
	)
	return cmd
}

type accessFlags struct {
	databaseFlag
	account                      string
	ips, cidrs, users, countries []string
	note                         string
	json                         bool
}

func (f *accessFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.ips, "ip", nil, "an IPv4 or IPv6 address; may be given several times, as the next three")
	flags.StringArrayVar(&f.cidrs, "cidr", nil, "a network, such as 192.0.2.0/24")
	flags.StringArrayVar(&f.users, "end-user", nil, "an end user, as the X-End-User header names him")
	flags.StringArrayVar(&f.countries, "country", nil, "a country of two letters (ISO 3166-1)")
	flags.StringVar(&f.account, "account", "", "the list of this account (default: of the whole service)")
	flags.BoolVar(&f.json, "json", false, "print one JSON document (docs/cli.md)")
	f.databaseFlag.add(cmd)
}

// rules gives what the flags name.
func (f *accessFlags) rules(action access.Action) ([]access.Rule, error) {
	var rules []access.Rule
	for _, named := range []struct {
		flag   string
		kind   access.Kind
		values []string
	}{
		{"ip", access.KindIP, f.ips},
		{"cidr", access.KindCIDR, f.cidrs},
		{"end-user", access.KindEndUser, f.users},
		{"country", access.KindCountry, f.countries},
	} {
		for _, value := range named.values {
			rule, err := access.ParseRule(string(action), string(named.kind), value)
			if err != nil {
				return nil, usage("--%s: %v", named.flag, err)
			}
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

const nameOne = "name at least one of --ip, --cidr, --end-user, --country"

func (p *program) accessAddCommand(action access.Action, short string) *cobra.Command {
	f := &accessFlags{}
	cmd := &cobra.Command{
		Use:     string(action),
		Short:   short,
		Example: "  toolmark access " + string(action) + " --cidr 203.0.113.0/24",
		Args:    cobra.NoArgs,
		RunE: p.runs(func(cmd *cobra.Command, _ []string) error {
			rules, err := f.rules(action)
			if err != nil {
				return err
			}
			if len(rules) == 0 {
				return usage(nameOne)
			}
			return p.withService(cmd.Context(), f.databaseFlag, func(s *registry.Service) error {
				added := []registry.Rule{}
				for _, rule := range rules {
					r, err := s.AddAccess(cmd.Context(), f.account, rule, f.note)
					switch {
					case errors.Is(err, registry.ErrExists): // as wanted
						p.say(fmt.Sprintf("%s %s %s is in the list already", rule.Action, rule.Kind, rule.Value))
					case err != nil:
						return err
					default:
						added = append(added, r)
					}
				}
				return p.writeRules(added, f.json)
			})
		}),
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.note, "note", "", "why, for those who read the list later")
	return cmd
}

func (p *program) accessListCommand() *cobra.Command {
	f := &accessFlags{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the entries, or those that are named",
		Example: `  toolmark access list
  toolmark access list --account acct_…`,
		Args: cobra.NoArgs,
		RunE: p.runs(func(cmd *cobra.Command, _ []string) error {
			return p.withService(cmd.Context(), f.databaseFlag, func(s *registry.Service) error {
				rules, err := f.matching(cmd.Context(), s)
				if err != nil {
					return err
				}
				return p.writeRules(rules, f.json)
			})
		}),
	}
	f.add(cmd)
	return cmd
}

func (p *program) accessRemoveCommand() *cobra.Command {
	f := &accessFlags{}
	cmd := &cobra.Command{
		Use:     "remove [ID…]",
		Short:   "Remove entries, by their ids or by what they name",
		Example: `  toolmark access remove --country NZ --account acct_…`,
		RunE: p.runs(func(cmd *cobra.Command, ids []string) error {
			named, err := f.rules(access.Block)
			if err != nil {
				return err
			}
			if len(ids) == 0 && len(named) == 0 {
				return usage("give the id of an entry, or " + nameOne)
			}
			return p.withService(cmd.Context(), f.databaseFlag, func(s *registry.Service) error {
				if len(named) > 0 {
					rules, err := f.matching(cmd.Context(), s)
					if err != nil {
						return err
					}
					if len(rules) == 0 && len(ids) == 0 {
						return fmt.Errorf("no such entry in the list: %w", registry.ErrNotFound)
					}
					for _, r := range rules {
						ids = append(ids, r.ID)
					}
				}
				var failed error
				removed := []string{}
				for _, id := range ids {
					if err := s.RemoveAccess(cmd.Context(), id); err != nil {
						failed = errors.Join(failed, fmt.Errorf("%q: %w", id, err))
						continue
					}
					removed = append(removed, id)
					if !f.json {
						p.say("removed " + id)
					}
				}
				if f.json {
					failed = errors.Join(failed, p.writeJSON(struct {
						Removed []string `json:"removed"`
					}{removed}))
				}
				return failed
			})
		}),
	}
	f.add(cmd)
	return cmd
}

// matching gives the list's entries that the flags name, allowing or blocking; all of
// them where the flags name none.
func (f *accessFlags) matching(ctx context.Context, s *registry.Service) ([]registry.Rule, error) {
	named, err := f.rules(access.Block)
	if err != nil {
		return nil, err
	}
	rules, err := s.ListAccess(ctx, f.account)
	if err != nil || len(named) == 0 {
		return rules, err
	}
	var matching []registry.Rule
	for _, r := range rules {
		for _, n := range named {
			if r.Kind == n.Kind && r.Value == n.Value {
				matching = append(matching, r)
				break
			}
		}
	}
	return matching, nil
}

func (p *program) writeRules(rules []registry.Rule, asJSON bool) error {
	if asJSON {
		views := make([]registry.RuleView, 0, len(rules))
		for _, r := range rules {
			views = append(views, r.View())
		}
		return p.writeJSON(struct {
			Rules []registry.RuleView `json:"rules"`
		}{views})
	}
	if len(rules) == 0 {
		return nil
	}
	return p.writeTable(func(w io.Writer) {
		fmt.Fprintln(w, "ID\tACTION\tKIND\tVALUE\tNOTE")
		for _, r := range rules {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Action, r.Kind, report.Printable(r.Value), dash(report.Printable(r.Note)))
		}
	})
}
