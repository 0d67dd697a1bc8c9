package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/scan"
)

// serversFlags are what every command on servers takes.
type serversFlags struct {
	databaseFlag
	account string
	json    bool
}

func (f *serversFlags) add(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&f.account, "account", registry.DefaultAccount, "the account whose servers these are; those of \""+registry.PublicAccount+"\" answer everybody")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document (docs/cli.md)")
	f.databaseFlag.add(cmd)
}

func (p *program) serversCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "servers",
		Short: "Register servers with the service, and approve what they serve",
		Long: `Servers administers the registry in the service's database: servers that it reads again
and again, and holds against what somebody approved. It works whether the service runs
or not.

A SERVER is named by its id (srv_…), its name or its URL.`,
		Example: `  toolmark servers add https://mcp.example.com/mcp --name mail
  toolmark servers check mail
  toolmark servers drift mail
  toolmark servers approve mail --snapshot snap_… --note 'release 1.4, read the changelog'`,
		Args: p.subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.serversAddCommand(), p.serversListCommand(), p.serversShowCommand(), p.serversCheckCommand(),
		p.serversDriftCommand(), p.serversApproveCommand(), p.serversHistoryCommand(), p.serversRemoveCommand())
	return cmd
}

// actor says in the record who used the command line.
func (p *program) actor(f *serversFlags) registry.Caller {
	who := "command line"
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if user := p.env.getenv(name); user != "" && len(user) <= 64 {
			who += " (" + report.Printable(user) + ")"
			break
		}
	}
	return registry.Caller{Account: f.account, Actor: who}
}

// withRegistry runs do with the service over the database. Commands that read servers
// give the flags for it, others nil.
func (p *program) withRegistry(ctx context.Context, f *serversFlags, reads *registryFlags, do func(*registry.Service, registry.Caller) error) (err error) {
	cfg := registry.Config{Now: p.env.now}
	if reads != nil {
		var prober *prober
		if cfg, prober, err = p.registryConfig(reads); err != nil {
			return err
		}
		defer prober.Close()
	}
	rules, err := p.loadRuleBase("")
	if err != nil {
		return err
	}
	scanner, err := rules.scanner(scan.DefaultBudget, p.env.now)
	if err != nil {
		return err
	}
	db, err := p.openStore(ctx, f.databaseFlag)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	cfg.Store, cfg.Scanner = db, scanner
	service, err := registry.New(cfg)
	if err != nil {
		return err
	}
	defer service.Close()
	err = do(service, p.actor(f))
	var unread *registry.UnreadError
	if errors.As(err, &unread) {
		return &toolmark.Error{Code: unread.Why.Code, Message: "the server could not be read, and is not registered: " + report.Printable(string(unread.Why.Message))}
	}
	return asFailure(err)
}

func (p *program) serversAddCommand() *cobra.Command {
	f := &serversFlags{}
	reads := &registryFlags{}
	var name string
	var headers []string
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "add URL | -- COMMAND…",
		Short: "Read a server and register it",
		Long: `Add reads a server and records what it serves. From then on it is held against that,
until somebody approves something else; look at it before you approve.

Headers, and a query in the URL, are stored encrypted with the keys of --secret-key-file
(or $TOOLMARK_SECRET_KEY) and never shown again. A command needs --allow-commands here
and with serve.`,
		Example: `  toolmark servers add https://mcp.example.com/mcp --name mail
  toolmark servers add https://mcp.example.com/mcp --header 'Authorization: Bearer …' --secret-key-file keys
  toolmark servers add --allow-commands --name files -- npx -y @modelcontextprotocol/server-filesystem /srv`,
		Args: cobra.MinimumNArgs(1),
		RunE: p.runs(func(cmd *cobra.Command, args []string) error {
			n := registry.NewServer{Name: name, Interval: every}
			if cmd.ArgsLenAtDash() == 0 {
				n.Command = args
			} else if len(args) == 1 {
				n.URL = args[0]
			} else {
				return usage("one URL, or -- and a command")
			}
			header, err := parseHeaders(headers, "--header")
			if err != nil {
				return err
			}
			for name, values := range header {
				for _, v := range values {
					n.Headers = append(n.Headers, registry.Header{Name: name, Value: v})
				}
			}
			return p.withRegistry(cmd.Context(), f, reads, func(s *registry.Service, who registry.Caller) error {
				made, err := s.RegisterServer(cmd.Context(), who, n)
				if err != nil {
					return err
				}
				return p.showServer(made, f.json)
			})
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "what to call it (default: the URL)")
	cmd.Flags().StringArrayVar(&headers, "header", nil, "send this `K:V` header to it; may be repeated")
	cmd.Flags().DurationVar(&every, "every", 0, "time between two probes (default: the service's --interval)")
	reads.add(cmd.Flags())
	f.add(cmd)
	return cmd
}

func (p *program) serversListCommand() *cobra.Command {
	f := &serversFlags{}
	cmd := &cobra.Command{
		Use: "list", Short: "List the registered servers and their states", Args: cobra.NoArgs,
		Example: `  toolmark servers list
  toolmark servers list --json`,
		RunE: p.runs(func(cmd *cobra.Command, _ []string) error {
			return p.withRegistry(cmd.Context(), f, nil, func(s *registry.Service, who registry.Caller) error {
				all, err := allServers(cmd.Context(), s, who)
				if err != nil {
					return err
				}
				if f.json {
					return p.writeJSON(struct {
						Servers []registry.Server `json:"servers"`
					}{all})
				}
				return p.writeTable(func(w io.Writer) {
					fmt.Fprintln(w, "ID\tNAME\tSTATUS\tSINCE\tAPPROVED\tTOOLS\tPROBED")
					for i := range all {
						v := &all[i]
						fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", v.ID, report.Printable(string(v.Name)), v.Status, v.Since.Format(time.RFC3339),
							yesNo(v.Approved), v.Current.Tools, v.ProbedAt.Format(time.RFC3339))
					}
				})
			})
		}),
	}
	f.add(cmd)
	return cmd
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func allServers(ctx context.Context, s *registry.Service, who registry.Caller) ([]registry.Server, error) {
	all := []registry.Server{}
	after := ""
	for {
		page, err := s.Servers(ctx, who, after, 0)
		if err != nil {
			return nil, err
		}
		if all = append(all, page.Servers...); page.Next == nil {
			return all, nil
		}
		after = *page.Next
	}
}

func (p *program) serversShowCommand() *cobra.Command {
	f := &serversFlags{}
	var content bool
	cmd := &cobra.Command{
		Use: "show SERVER", Short: "Show a server and its state, or what it serves", Args: cobra.ExactArgs(1),
		Example: `  toolmark servers show mail
  toolmark servers show mail --content | toolmark scan -`,
		RunE: p.runs(func(cmd *cobra.Command, args []string) error {
			return p.withRegistry(cmd.Context(), f, nil, func(s *registry.Service, who registry.Caller) error {
				v, err := s.Server(cmd.Context(), who, args[0])
				if err != nil {
					return err
				}
				if content {
					document, err := s.Snapshot(cmd.Context(), who, v.ID, v.Current.ID)
					if err != nil {
						return err
					}
					return p.write(append(document, '\n'))
				}
				return p.showServer(v, f.json)
			})
		}),
	}
	cmd.Flags().BoolVar(&content, "content", false, "print what the server serves, as it was read, and nothing else")
	f.add(cmd)
	return cmd
}

func (p *program) showServer(v *registry.Server, asJSON bool) error {
	if asJSON {
		return p.writeJSON(v)
	}
	return p.writeTable(func(w io.Writer) {
		line := func(what, text string) {
			if text != "" {
				fmt.Fprintf(w, "%s\t%s\n", what, report.Printable(text))
			}
		}
		line("id", v.ID)
		line("account", v.Account)
		line("name", string(v.Name))
		line("url", string(v.URL))
		var command []string
		for _, part := range v.Command {
			command = append(command, string(part))
		}
		line("command", strings.Join(command, " "))
		line("headers", strings.Join(v.Headers, ", "))
		line("status", string(v.Status)+" since "+v.Since.Format(time.RFC3339))
		if v.Why != nil {
			line("why", string(v.Why.Code)+": "+string(v.Why.Message))
			line("last known", string(v.LastKnown)+", read "+v.ReadAt.Format(time.RFC3339))
		}
		line("suspicious", v.Suspicious)
		line("probed", v.ProbedAt.Format(time.RFC3339))
		if v.Approval != nil {
			line("approved", v.Baseline.ID+" by "+v.Approval.By+" on "+v.Approval.At.Format(time.RFC3339))
			line("note", string(v.Approval.Note))
		} else {
			line("approved", "nothing yet; it is held against the first snapshot, "+v.Baseline.ID)
		}
		line("served now", fmt.Sprintf("%s, %s, version %q", v.Current.ID, report.Plural(v.Current.Tools, "tool"), string(v.Current.Server.Version)))
		line("pin", v.Current.Pin)
		line("fingerprint", string(v.Current.Fingerprint))
		line("no fingerprint", string(v.Current.NoFingerprint))
		line("registered", "by "+v.Registered.By+" on "+v.Registered.At.Format(time.RFC3339))
		switch {
		case v.Status == registry.Changed:
			line("look at it", "toolmark servers drift "+v.ID)
		case v.Approval == nil:
			line("look at it", "toolmark servers show "+v.ID+" --content | toolmark scan -")
		}
		if v.Status == registry.Changed || v.Approval == nil {
			line("approve it", "toolmark servers approve "+v.ID+" --snapshot "+v.Current.ID+" --note '…'")
		}
	})
}

func (p *program) serversApproveCommand() *cobra.Command {
	f := &serversFlags{}
	var n registry.NewApproval
	cmd := &cobra.Command{
		Use:     "approve SERVER",
		Short:   "Make a snapshot the one that a server is held against",
		Example: `  toolmark servers approve mail --snapshot snap_… --note 'release 1.4, read the changelog'`,
		Long: `Approve records that you looked at a snapshot. It takes the snapshot's id, or a
fingerprint where only one snapshot has it, so that you approve what you saw and not
what came since.`,
		Args: cobra.ExactArgs(1),
		RunE: p.runs(func(cmd *cobra.Command, args []string) error {
			return p.withRegistry(cmd.Context(), f, nil, func(s *registry.Service, who registry.Caller) error {
				v, err := s.Approve(cmd.Context(), who, args[0], n)
				if err != nil {
					return err
				}
				return p.showServer(v, f.json)
			})
		}),
	}
	cmd.Flags().StringVar(&n.Snapshot, "snapshot", "", "the snapshot's id")
	cmd.Flags().StringVar(&n.Fingerprint, "fingerprint", "", "the snapshot's fingerprint")
	cmd.Flags().StringVar(&n.Note, "note", "", "why")
	f.add(cmd)
	return cmd
}

func (p *program) serversRemoveCommand() *cobra.Command {
	f := &serversFlags{}
	cmd := &cobra.Command{
		Use: "remove SERVER", Short: "Forget a server; who did what stays in the record", Args: cobra.ExactArgs(1),
		Example: `  toolmark servers remove mail`,
		RunE: p.runs(func(cmd *cobra.Command, args []string) error {
			return p.withRegistry(cmd.Context(), f, nil, func(s *registry.Service, who registry.Caller) error {
				v, err := s.Server(cmd.Context(), who, args[0])
				if err != nil {
					return err
				}
				if err := s.DeleteServer(cmd.Context(), who, v.ID); err != nil {
					return err
				}
				if f.json {
					return p.writeJSON(v)
				}
				return p.write([]byte("removed " + v.ID + "\n"))
			})
		}),
	}
	f.add(cmd)
	return cmd
}
