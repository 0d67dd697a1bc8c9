package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark/internal/mcpserver"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store"
	"github.com/toolmark/toolmark/internal/store/sqlite"
	"github.com/toolmark/toolmark/scan"
)

type mcpFlags struct {
	database databaseFlag
	registry registryFlags
	rules    string
	budget   time.Duration
}

func (p *program) mcpCommand() *cobra.Command {
	f := &mcpFlags{}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Answer an agent on standard input and output, as an MCP server",
		Long: `Mcp gives an agent four tools: precall_check, check_tool_integrity, scan_text and
scan_manifest. It is started by the agent's MCP client (docs/mcp.md says how to add it)
and needs no key. Where there is a registry on this machine (--database, or the one that
serve makes) its servers are known; else precall_check answers without one.

It connects to public addresses only; --allow-net names others, such as 127.0.0.1.`,
		Example: `  toolmark mcp
  claude mcp add toolmark -- toolmark mcp
  toolmark mcp --database sqlite:/var/lib/toolmark/toolmark.db --allow-net 127.0.0.1`,
		Args: cobra.NoArgs,
		RunE: p.runs(func(cmd *cobra.Command, _ []string) error { return p.mcp(cmd.Context(), f) }),
	}
	cmd.Flags().SortFlags = false
	f.database.add(cmd)
	f.registry.add(cmd.Flags())
	cmd.Flags().StringVar(&f.rules, "rules", "", "folder of rules of your own, used beside the built-in ones")
	cmd.Flags().DurationVar(&f.budget, "budget", scan.DefaultBudget, "time one scan may take; 0 is no limit")
	return cmd
}

// mcp serves one client until it closes standard input.
func (p *program) mcp(ctx context.Context, f *mcpFlags) (err error) {
	rules, err := p.loadRuleBase(f.rules)
	if err != nil {
		return err
	}
	scanner, err := rules.scanner(f.budget, p.env.now)
	if err != nil {
		return err
	}
	cfg, prober, err := p.registryConfig(&f.registry)
	if err != nil {
		return err
	}
	defer prober.Close()
	log, err := p.logger("text")
	if err != nil {
		return err
	}
	db, err := p.localStore(ctx, f.database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	cfg.Store, cfg.Logger, cfg.Scanner = db, log, scanner
	service, err := registry.New(cfg)
	if err != nil {
		return err
	}
	defer service.Close()
	server, err := mcpserver.New(mcpserver.Config{Questions: service, Scanner: scanner, Log: log})
	if err != nil {
		return err
	}
	if p.env.stdin.terminal {
		p.say("toolmark mcp speaks MCP on standard input and output: an agent's client starts it. See docs/mcp.md; Ctrl-C ends it.")
	}
	if rules.state.Off != "" {
		p.say(rules.state.Off)
	}
	p.env.steady()
	return server.ServeStdio(ctx, io.NopCloser(p.stdin), nopCloser{p.stdout})
}

// localStore opens the database that is named, or the one of this machine where there is
// one. Else it makes an empty one that is gone afterwards: a registry without servers.
func (p *program) localStore(ctx context.Context, f databaseFlag) (registry.Store, error) {
	if f.name != "" || p.env.getenv("TOOLMARK_DATABASE") != "" {
		return p.openStore(ctx, f)
	}
	if path, err := sqlite.DefaultPath(p.env.getenv); err == nil {
		if _, err := os.Stat(path); err == nil {
			return p.openStore(ctx, f)
		}
	}
	dir, err := os.MkdirTemp("", "toolmark-mcp-")
	if err != nil {
		return nil, fmt.Errorf("make a place for an empty registry: %w", err)
	}
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "empty.db"), p.env.getenv)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &passingStore{Store: db, dir: dir}, nil
}

// passingStore is a store whose folder goes when it is closed.
type passingStore struct {
	registry.Store
	dir string
}

// Close may be called twice.
func (s *passingStore) Close() error { return errors.Join(s.Store.Close(), os.RemoveAll(s.dir)) }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
