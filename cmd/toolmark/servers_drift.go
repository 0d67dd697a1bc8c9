package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/report"
)

func (p *program) serversCheckCommand() *cobra.Command {
	f := &serversFlags{}
	reads := &registryFlags{}
	cmd := &cobra.Command{
		Use:     "check SERVER",
		Short:   "Read a server now, and say whether it serves what was approved",
		Example: `  toolmark servers check mail`,
		Long: `Check reads a server and records what it serves. Exit code 0 is unchanged, 3 is changed,
1 is that the server could not be read.`,
		Args: cobra.ExactArgs(1),
		RunE: p.runs(func(cmd *cobra.Command, args []string) error {
			return p.withRegistry(cmd.Context(), f, reads, func(s *registry.Service, who registry.Caller) error {
				i, err := s.CheckServer(cmd.Context(), who, args[0])
				if err != nil {
					return err
				}
				if f.json {
					err = p.writeJSON(i)
				} else {
					err = p.writeIntegrity(cmd.Context(), s, who, i)
				}
				if err != nil {
					return err
				}
				return verdict(i.Status == registry.Changed, i.Status == registry.Unreachable)
			})
		}),
	}
	reads.add(cmd.Flags())
	f.add(cmd)
	return cmd
}

// writeIntegrity writes what a check found, as toolmark check writes it.
func (p *program) writeIntegrity(ctx context.Context, s *registry.Service, who registry.Caller, i *registry.Integrity) error {
	d := report.DriftServer{Name: string(i.Server.Name), Drift: i.Drift, Findings: i.NewFindings}
	var err error
	if d.Old, err = p.side(ctx, s, who, i.Server.ID, &i.Baseline, i.Approved); err != nil {
		return err
	}
	if i.Status == registry.Unreachable {
		d.Drift = nil
		d.Err = &toolmark.Error{Code: i.Why.Code, Message: string(i.Why.Message)}
	} else if d.New, err = p.side(ctx, s, who, i.Server.ID, &i.Current, false); err != nil {
		return err
	}
	if i.Status == registry.Changed {
		d.Accept = "toolmark servers approve " + i.Server.ID + " --snapshot " + i.Current.ID + " --note '…'"
	}
	if i.Suspicious != "" {
		d.Warnings = append(d.Warnings, i.Suspicious)
	}
	return p.writeDrift(d)
}

// side gives a snapshot as reports show it.
func (p *program) side(ctx context.Context, s *registry.Service, who registry.Caller, server string, r *registry.SnapshotRecord, approved bool) (*report.DriftSide, error) {
	content, err := s.Snapshot(ctx, who, server, r.ID)
	if err != nil {
		return nil, err
	}
	tree, err := canonjson.Parse(content, canonjson.Options{})
	if err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", r.ID, err)
	}
	m, err := toolmark.ReadManifest(tree)
	if err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", r.ID, err)
	}
	side := &report.DriftSide{
		Label: "first seen", Source: r.ID, Manifest: m, Pin: r.Pin, Fingerprint: r.Fingerprint, NoFingerprint: string(r.NoFingerprint),
	}
	if approved && r.Approval != nil {
		side.Label, side.AcceptedBy, side.AcceptedAt = "approved", r.Approval.By, r.Approval.At
	} else if r.Approval == nil {
		side.Label = "read " + r.FirstSeen.Format(time.RFC3339)
	}
	return side, nil
}

func (p *program) writeDrift(d report.DriftServer) error {
	doc := &report.DriftDocument{Title: "servers", Servers: []report.DriftServer{d}, FailOn: toolmark.High}
	var buf bytes.Buffer
	if err := doc.WriteText(&buf, report.TextOptions{Colour: p.colour(p.env.stdout), Width: p.width()}); err != nil {
		return err
	}
	if err := p.write(buf.Bytes()); err != nil {
		return err
	}
	for _, w := range d.Warnings {
		p.complain(withName(d.Name, w))
	}
	if d.Err != nil {
		p.complain(withName(d.Name, d.Err.Error()))
	}
	return nil
}

func (p *program) serversDriftCommand() *cobra.Command {
	f := &serversFlags{}
	var from, to string
	cmd := &cobra.Command{
		Use:     "drift SERVER",
		Short:   "Show the difference of two snapshots: what was approved, and what is served now",
		Example: `  toolmark servers drift mail`,
		Args:    cobra.ExactArgs(1),
		RunE: p.runs(func(cmd *cobra.Command, args []string) error {
			return p.withRegistry(cmd.Context(), f, nil, func(s *registry.Service, who registry.Caller) error {
				d, err := s.Drift(cmd.Context(), who, args[0], from, to)
				if err != nil {
					return err
				}
				if f.json {
					return p.writeJSON(d)
				}
				out := report.DriftServer{Name: string(d.Server.Name), Drift: d.Drift}
				if out.Old, err = p.side(cmd.Context(), s, who, d.Server.ID, &d.From, true); err != nil {
					return err
				}
				if out.New, err = p.side(cmd.Context(), s, who, d.Server.ID, &d.To, true); err != nil {
					return err
				}
				return p.writeDrift(out)
			})
		}),
	}
	cmd.Flags().StringVar(&from, "from", "", "a snapshot's id (default: what it is held against)")
	cmd.Flags().StringVar(&to, "to", "", "a snapshot's id (default: what is served now)")
	f.add(cmd)
	return cmd
}

func (p *program) serversHistoryCommand() *cobra.Command {
	f := &serversFlags{}
	cmd := &cobra.Command{
		Use:     "history SERVER",
		Short:   "Show a server's probes, its snapshots, and who did what",
		Example: `  toolmark servers history mail`,
		Args:    cobra.ExactArgs(1),
		RunE: p.runs(func(cmd *cobra.Command, args []string) error {
			return p.withRegistry(cmd.Context(), f, nil, func(s *registry.Service, who registry.Caller) error {
				runs, err := s.History(cmd.Context(), who, args[0], "", 0)
				if err != nil {
					return err
				}
				snapshots, err := s.Snapshots(cmd.Context(), who, args[0], "", 0)
				if err != nil {
					return err
				}
				deeds, err := s.Deeds(cmd.Context(), who, args[0], "", 0)
				if err != nil {
					return err
				}
				if f.json {
					return p.writeJSON(struct {
						Runs      []registry.ProbeRun       `json:"runs"`
						Snapshots []registry.SnapshotRecord `json:"snapshots"`
						Deeds     []registry.Deed           `json:"deeds"`
					}{runs.Runs, snapshots.Snapshots, deeds.Deeds})
				}
				return p.writeTable(func(w io.Writer) {
					fmt.Fprintln(w, "FROM\tTO\tPROBES\tSTATUS\tSNAPSHOT, OR WHY NOT")
					for _, r := range runs.Runs {
						what := r.Snapshot
						if r.Why != nil {
							what = report.Printable(string(r.Why.Code) + ": " + string(r.Why.Message))
						}
						fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", r.From.Format(time.RFC3339), r.To.Format(time.RFC3339), r.Count, r.Status, what)
					}
					fmt.Fprintln(w, "\nFIRST SEEN\tLAST SEEN\tTOOLS\tVERSION\tSNAPSHOT")
					for i := range snapshots.Snapshots {
						r := &snapshots.Snapshots[i]
						fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", r.FirstSeen.Format(time.RFC3339), r.LastSeen.Format(time.RFC3339), r.Tools,
							dash(report.Printable(string(r.Server.Version))), r.ID)
					}
					fmt.Fprintln(w, "\nWHEN\tWHO\tWHAT\tSNAPSHOT\tNOTE")
					for _, d := range deeds.Deeds {
						fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", d.At.Format(time.RFC3339), report.Printable(d.By), d.What, dash(d.Snapshot), dash(report.Printable(string(d.Note))))
					}
				})
			})
		}),
	}
	f.add(cmd)
	return cmd
}
