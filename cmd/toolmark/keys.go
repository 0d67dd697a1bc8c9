package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/report"
)

func (p *program) keysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke the API keys of the service",
		Long: `Keys administers the API keys in the service's database. It works whether the service
runs or not, and what it changes holds from the next request on.

Only a hash of a key is stored, so a key is shown once, when it is created.`,
		Example: `  toolmark keys create --name ci --scope proxy --monthly 10000
  toolmark keys list
  toolmark keys revoke key_…`,
		Args: p.subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.keysCreateCommand(), p.keysListCommand(), p.keysShowCommand(), p.keysRevokeCommand())
	return cmd
}

type keysCreateFlags struct {
	databaseFlag
	json                                  bool
	name, account, plan, expires          string
	scopes                                []string
	perMinute, monthly, credits, spending int64
}

func (p *program) keysCreateCommand() *cobra.Command {
	f := &keysCreateFlags{}
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create an API key and print it, once",
		Long: `Create makes an API key. Standard output gets the key alone on one line, or with --json
one document with everything about it; the key is not shown again.

Without --scope the key is unrestricted. write includes proxy; every scope includes read;
admin is for the admin API and includes no scanning.

Limits that are not given do not exist. Months and minutes are those of UTC.
  --monthly      scans in a month; hard, unless --spend-limit is given
  --spend-limit  scans in a month beyond --monthly (beyond 0 without it)
  --credits      scans in all
  --per-minute   requests in a minute`,
		Example: `  toolmark keys create --name laptop
  toolmark keys create --name gateway --scope proxy --per-minute 600 --monthly 100000 --json
  toolmark keys create --name contractor --expires 30d`,
		Args: cobra.NoArgs,
		RunE: p.runs(func(cmd *cobra.Command, _ []string) error { return p.keysCreate(cmd, f) }),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.name, "name", "", "a name to recognise it by")
	flags.StringSliceVar(&f.scopes, "scope", nil, "read, proxy, write or admin; may be given several times (default: unrestricted)")
	flags.Int64Var(&f.monthly, "monthly", 0, "scans in a month")
	flags.Int64Var(&f.perMinute, "per-minute", 0, "requests in a minute")
	flags.Int64Var(&f.credits, "credits", 0, "scans in all")
	flags.Int64Var(&f.spending, "spend-limit", 0, "scans in a month beyond --monthly")
	flags.StringVar(&f.expires, "expires", "", "when it ends: 30d, 12h, 2027-01-31 (UTC) or an RFC 3339 time")
	flags.StringVar(&f.account, "account", "", "the account it belongs to, made if there is none (default \""+registry.DefaultAccount+"\")")
	flags.StringVar(&f.plan, "plan", "", "the plan's name, as errors tell it (default \"custom\")")
	flags.BoolVar(&f.json, "json", false, "print one JSON document (docs/cli.md)")
	f.databaseFlag.add(cmd)
	return cmd
}

func (p *program) keysCreate(cmd *cobra.Command, f *keysCreateFlags) error {
	scopes, err := access.ParseScopes(strings.Join(f.scopes, ","))
	if err != nil {
		return usage("--scope: %v", err)
	}
	expires, err := parseExpiry(f.expires, p.env.now())
	if err != nil {
		return usage("--expires: %v", err)
	}
	limit := func(flag string, n *int64) *int64 {
		if !cmd.Flags().Changed(flag) {
			return nil
		}
		return n
	}
	n := registry.NewKey{
		Account: f.account, Name: f.name, Plan: f.plan, Scopes: scopes, Expires: expires,
		Limits: access.Limits{
			PerMinute: limit("per-minute", &f.perMinute), PerMonth: limit("monthly", &f.monthly), Spend: limit("spend-limit", &f.spending),
		},
		Credits: limit("credits", &f.credits),
	}
	return p.withService(cmd.Context(), f.databaseFlag, func(s *registry.Service) error {
		made, err := s.CreateKey(cmd.Context(), n)
		if err != nil {
			return err
		}
		if f.json {
			return p.writeJSON(made.View(p.env.now()))
		}
		p.say("key " + made.ID + " of account " + made.Account + "; it is not shown again:")
		return p.write([]byte(made.Plain + "\n"))
	})
}

// parseExpiry reads a time span from now, a day or a time; "" is never.
func parseExpiry(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	const longest = 100 * 365 * 24 * time.Hour
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= int(longest/(24*time.Hour)) {
			return now.Add(time.Duration(n) * 24 * time.Hour), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 && d <= longest {
		return now.Add(d), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is none of 30d, 12h, 2027-01-31, 2027-01-31T12:00:00Z", text)
}

func (p *program) keysListCommand() *cobra.Command {
	var f databaseFlag
	var account string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the API keys, never the keys themselves",
		Example: `  toolmark keys list
  toolmark keys list --json`,
		Args: cobra.NoArgs,
		RunE: p.runs(func(cmd *cobra.Command, _ []string) error {
			return p.withService(cmd.Context(), f, func(s *registry.Service) error {
				views, err := p.allKeys(cmd.Context(), s, account)
				if err != nil {
					return err
				}
				if asJSON {
					return p.writeJSON(struct {
						Keys []registry.KeyView `json:"keys"`
					}{views})
				}
				return p.writeTable(func(w io.Writer) {
					fmt.Fprintln(w, "ID\tACCOUNT\tKEY\tNAME\tSCOPES\tUSED\tMONTHLY\tSTATUS")
					for _, k := range views {
						fmt.Fprintf(w, "%s\t%s\t%s…\t%s\t%s\t%d\t%s\t%s\n", k.ID, k.Account, k.Hint, dash(report.Printable(k.Name)),
							scopeText(k.Scopes), k.Used, limitText(k.PerMonth), k.Status)
					}
				})
			})
		}),
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&account, "account", "", "only the keys of this account")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document (docs/cli.md)")
	f.add(cmd)
	return cmd
}

func (p *program) allKeys(ctx context.Context, s *registry.Service, account string) ([]registry.KeyView, error) {
	views := []registry.KeyView{}
	after := ""
	for {
		page, err := s.ListKeys(ctx, account, after, registry.MaxPage)
		if err != nil {
			return nil, err
		}
		for _, k := range page {
			views = append(views, k.View(p.env.now()))
		}
		if len(page) < registry.MaxPage {
			return views, nil
		}
		after = page[len(page)-1].ID
	}
}

func (p *program) keysShowCommand() *cobra.Command {
	return p.keyCommand("show", "Show one API key: limits, use and state", cobra.ExactArgs(1), (*registry.Service).ShowKey)
}

func (p *program) keysRevokeCommand() *cobra.Command {
	return p.keyCommand("revoke", "Revoke API keys: they are refused from the next request on", cobra.MinimumNArgs(1), (*registry.Service).RevokeKey)
}

// keyCommand is a command on keys that are named by their ids or by themselves.
func (p *program) keyCommand(verb, short string, args cobra.PositionalArgs, do func(*registry.Service, context.Context, string) (registry.KeyState, error)) *cobra.Command {
	var f databaseFlag
	var asJSON bool
	cmd := &cobra.Command{
		Use:     verb + " ID",
		Short:   short,
		Example: "  toolmark keys " + verb + " key_…",
		Long: short + `.

ID is the key's id (key_…) or the key itself (tm_…). A key on the command line is in
your shell's history.`,
		Args: args,
		RunE: p.runs(func(cmd *cobra.Command, ids []string) error {
			return p.withService(cmd.Context(), f, func(s *registry.Service) error {
				var failed error
				for _, id := range ids {
					state, err := do(s, cmd.Context(), id)
					if err != nil {
						failed = errors.Join(failed, fmt.Errorf("%s: %w", keyName(id), err))
						continue
					}
					view := state.View(p.env.now())
					if asJSON {
						err = p.writeJSON(view)
					} else {
						err = p.writeTable(func(w io.Writer) { keyText(w, view) })
					}
					if err != nil {
						return err
					}
				}
				return failed
			})
		}),
	}
	if verb == "revoke" {
		cmd.Use += "…"
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document for each key (docs/cli.md)")
	f.add(cmd)
	return cmd
}

// keyName names a key in a message. What may be a key, mistyped or not, is cut short.
func keyName(id string) string {
	if !strings.HasPrefix(id, "key_") && len(id) >= access.KeyLength/2 {
		return strconv.Quote(access.Hint(id) + "…")
	}
	return strconv.Quote(id)
}

func keyText(w io.Writer, k registry.KeyView) {
	date := func(t *time.Time) string {
		if t == nil {
			return "never"
		}
		return t.Format(time.RFC3339)
	}
	fmt.Fprintf(w, "id\t%s\n", k.ID)
	fmt.Fprintf(w, "account\t%s\n", k.Account)
	fmt.Fprintf(w, "key\t%s…\n", k.Hint)
	fmt.Fprintf(w, "name\t%s\n", dash(report.Printable(k.Name)))
	fmt.Fprintf(w, "plan\t%s\n", report.Printable(k.Plan))
	fmt.Fprintf(w, "status\t%s\n", k.Status)
	fmt.Fprintf(w, "scopes\t%s\n", scopeText(k.Scopes))
	fmt.Fprintf(w, "per minute\t%s\n", limitText(k.PerMinute))
	fmt.Fprintf(w, "monthly\t%s\n", limitText(k.PerMonth))
	fmt.Fprintf(w, "spend limit\t%s\n", limitText(k.Spend))
	fmt.Fprintf(w, "credits left\t%s\n", limitText(k.Credits))
	fmt.Fprintf(w, "used\t%d this month, until %s\n", k.Used, k.ResetAt.Format(time.RFC3339))
	fmt.Fprintf(w, "created\t%s\n", k.Created.Format(time.RFC3339))
	fmt.Fprintf(w, "expires\t%s\n", date(k.Expires))
	fmt.Fprintf(w, "revoked\t%s\n", date(k.Revoked))
	fmt.Fprintf(w, "last scan\t%s\n", date(k.LastScanned))
}

func scopeText(scopes []string) string {
	if len(scopes) == 0 {
		return "unrestricted"
	}
	return strings.Join(scopes, ",")
}

func limitText(n *int64) string {
	if n == nil {
		return "no limit"
	}
	return strconv.FormatInt(*n, 10)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// writeTable writes lines whose cells are parted by tabs, in columns.
func (p *program) writeTable(fill func(io.Writer)) error {
	var buf bytes.Buffer
	table := tabwriter.NewWriter(&buf, 0, 0, 2, ' ', 0)
	fill(table)
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return p.write(buf.Bytes())
}

func (p *program) writeJSON(v any) error {
	out, err := report.MarshalASCII(v)
	if err != nil {
		return err
	}
	return p.write(out)
}
