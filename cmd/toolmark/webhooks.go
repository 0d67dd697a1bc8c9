package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/report"
)

func (p *program) webhooksCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "webhooks",
		Short: "Have the service tell other programs what its watch finds",
		Long: `Webhooks administers where the service posts its events: drift.detected, finding.high,
server.unreachable, server.recovered. What is posted is signed as Standard Webhooks 1.0.0
says; docs/webhooks.md has a receiver that verifies it.

Addresses and secrets are stored encrypted with the keys of --secret-key-file (or
$TOOLMARK_SECRET_KEY), which serve needs too.`,
		Example: `  toolmark webhooks add https://hooks.example.com/toolmark --event drift.detected --secret-key-file keys
  toolmark webhooks list
  toolmark webhooks deliveries hook_… --state dead
  toolmark webhooks replay hook_… dlv_…`,
		Args: p.subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.webhooksAddCommand(), p.webhooksListCommand(), p.webhooksDeliveriesCommand(), p.webhooksReplayCommand(), p.webhooksRemoveCommand())
	return cmd
}

func (p *program) webhooksAddCommand() *cobra.Command {
	f, reads := &serversFlags{}, &registryFlags{}
	var events []string
	cmd := &cobra.Command{
		Use:   "add URL",
		Short: "Have events posted to an address, and print the signing secret, once",
		Long: `Add makes a webhook. Standard output gets its id and its signing secret, which is not
shown again, or with --json one document.`,
		Example: `  toolmark webhooks add https://hooks.example.com/toolmark --secret-key-file keys
  toolmark webhooks add https://hooks.example.com/toolmark --event drift.detected --event finding.high --json`,
		Args: cobra.ExactArgs(1),
		RunE: p.runs(func(cmd *cobra.Command, args []string) error {
			n := registry.NewWebhook{URL: args[0]}
			for _, event := range events {
				n.Events = append(n.Events, registry.EventKind(event))
			}
			return p.withRegistry(cmd.Context(), f, reads, func(s *registry.Service, who registry.Caller) error {
				made, err := s.CreateWebhook(cmd.Context(), who, n)
				if err != nil {
					return err
				}
				if f.json {
					return p.writeJSON(made)
				}
				return p.write([]byte(made.ID + "\n" + made.Secret + "\n"))
			})
		}),
	}
	cmd.Flags().StringSliceVar(&events, "event", nil, "an event to send; may be repeated (default: every one)")
	reads.add(cmd.Flags())
	f.add(cmd)
	return cmd
}

// everyPage calls get for page after page until there is no more.
func everyPage(get func(after string) (next *string, err error)) error {
	for after := ""; ; {
		next, err := get(after)
		if err != nil || next == nil {
			return err
		}
		after = *next
	}
}

func (p *program) webhooksListCommand() *cobra.Command {
	f := &serversFlags{}
	cmd := &cobra.Command{
		Use: "list", Short: "List the webhooks, without paths and secrets", Args: cobra.NoArgs,
		Example: `  toolmark webhooks list
  toolmark webhooks list --json`,
		RunE: p.runs(func(cmd *cobra.Command, _ []string) error {
			return p.withRegistry(cmd.Context(), f, nil, func(s *registry.Service, who registry.Caller) error {
				all := []registry.Webhook{}
				if err := everyPage(func(after string) (*string, error) {
					page, err := s.Webhooks(cmd.Context(), who, after, registry.MaxPage)
					if err != nil {
						return nil, err
					}
					all = append(all, page.Webhooks...)
					return page.Next, nil
				}); err != nil {
					return err
				}
				if f.json {
					return p.writeJSON(struct {
						Webhooks []registry.Webhook `json:"webhooks"`
					}{all})
				}
				if len(all) == 0 {
					p.say("no webhooks; make one with: toolmark webhooks add URL")
					return nil
				}
				return p.writeTable(func(w io.Writer) {
					fmt.Fprintln(w, "ID\tADDRESS\tEVENTS\tMADE")
					for _, h := range all {
						kinds := make([]string, len(h.Events))
						for i, kind := range h.Events {
							kinds[i] = string(kind)
						}
						fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", h.ID, report.Printable(h.URL), strings.Join(kinds, " "), h.Created.Format(time.RFC3339))
					}
				})
			})
		}),
	}
	f.add(cmd)
	return cmd
}

func (p *program) webhooksDeliveriesCommand() *cobra.Command {
	f := &serversFlags{}
	var state string
	cmd := &cobra.Command{
		Use:   "deliveries HOOK",
		Short: "List what was sent to a webhook, the newest first; --state dead is what was given up",
		Example: `  toolmark webhooks deliveries hook_…
  toolmark webhooks deliveries hook_… --state dead`,
		Args: cobra.ExactArgs(1),
		RunE: p.runs(func(cmd *cobra.Command, args []string) error {
			var wanted registry.DeliveryState
			if state != "" {
				var err error
				if wanted, err = registry.ParseDeliveryState(state); err != nil {
					return usage("--state is pending, delivered or dead, not %q", state)
				}
			}
			return p.withRegistry(cmd.Context(), f, nil, func(s *registry.Service, who registry.Caller) error {
				all := []registry.DeliveryRecord{}
				if err := everyPage(func(after string) (*string, error) {
					page, err := s.Deliveries(cmd.Context(), who, args[0], wanted, after, registry.MaxPage)
					if err != nil {
						return nil, err
					}
					all = append(all, page.Deliveries...)
					return page.Next, nil
				}); err != nil {
					return err
				}
				if f.json {
					return p.writeJSON(struct {
						Deliveries []registry.DeliveryRecord `json:"deliveries"`
					}{all})
				}
				if len(all) == 0 {
					p.say("nothing was sent")
					return nil
				}
				return p.writeTable(func(w io.Writer) {
					fmt.Fprintln(w, "ID\tEVENT\tSTATE\tATTEMPTS\tLAST\tFAULT")
					for _, d := range all {
						fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", d.ID, d.Kind, d.State, d.Attempts, d.Changed.Format(time.RFC3339), dash(report.Printable(d.Fault)))
					}
				})
			})
		}),
	}
	cmd.Flags().StringVar(&state, "state", "", "only those that are pending, delivered or dead")
	f.add(cmd)
	return cmd
}

func (p *program) webhooksReplayCommand() *cobra.Command {
	f := &serversFlags{}
	cmd := &cobra.Command{
		Use:     "replay HOOK DELIVERY…",
		Short:   "Send deliveries anew that were given up or delivered; the service sends them",
		Example: `  toolmark webhooks replay hook_… dlv_…`,
		Args:    cobra.MinimumNArgs(2),
		RunE: p.runs(func(cmd *cobra.Command, args []string) error {
			return p.withRegistry(cmd.Context(), f, nil, func(s *registry.Service, who registry.Caller) error {
				var failed error
				replayed := []string{}
				for _, delivery := range args[1:] {
					if err := s.Replay(cmd.Context(), who, args[0], delivery); err != nil {
						failed = errors.Join(failed, fmt.Errorf("%q: %w", delivery, err))
						continue
					}
					replayed = append(replayed, delivery)
				}
				return errors.Join(failed, p.told(f.json, "replayed", replayed))
			})
		}),
	}
	f.add(cmd)
	return cmd
}

func (p *program) webhooksRemoveCommand() *cobra.Command {
	f := &serversFlags{}
	cmd := &cobra.Command{
		Use: "remove HOOK…", Short: "Send nothing more to webhooks", Args: cobra.MinimumNArgs(1),
		Example: `  toolmark webhooks remove hook_…`,
		RunE: p.runs(func(cmd *cobra.Command, args []string) error {
			return p.withRegistry(cmd.Context(), f, nil, func(s *registry.Service, who registry.Caller) error {
				var failed error
				removed := []string{}
				for _, id := range args {
					if err := s.DeleteWebhook(cmd.Context(), who, id); err != nil {
						failed = errors.Join(failed, fmt.Errorf("%q: %w", id, err))
						continue
					}
					removed = append(removed, id)
				}
				return errors.Join(failed, p.told(f.json, "removed", removed))
			})
		}),
	}
	f.add(cmd)
	return cmd
}

// told says what was done to which, one a line or as a document.
func (p *program) told(asJSON bool, done string, ids []string) error {
	if asJSON {
		return p.writeJSON(map[string][]string{done: ids})
	}
	text := ""
	for _, id := range ids {
		text += done + " " + id + "\n"
	}
	return p.write([]byte(text))
}
