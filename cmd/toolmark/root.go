package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const rootLong = `Toolmark reads what an MCP server tells an agent about its tools, finds what is
hidden in it, and locks it so that no later change goes unseen.

A SOURCE is
  a file         a tools/list result, a JSON-RPC response, a request body or a snapshot
  -              the same on standard input
  http(s)://…    an MCP endpoint (Streamable HTTP)
  -- command …   a command that speaks MCP on standard input and output`

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "toolmark",
		Short: "Scan, pin and inspect the tools of MCP servers",
		Long:  rootLong,
		Example: `  toolmark scan tools.json
  toolmark scan -- npx -y @modelcontextprotocol/server-everything
  toolmark lock --name files -- npx -y @modelcontextprotocol/server-filesystem /data
  toolmark check
  toolmark pin https://example.com/mcp
  toolmark text README.md

  # before a release of a server of yours, and after it is deployed (docs/cli.md, A release)
  toolmark check notes
  toolmark lint --against toolmark.lock.json#notes --sessions 2 --vary locale,home -- node dist/index.js
  toolmark changelog toolmark.lock.json#notes -- node dist/index.js
  toolmark diff toolmark.lock.json#notes https://example.com/mcp`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          p.subcommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.PersistentFlags().BoolVar(&p.noColor, "no-color", false, "write no colours (NO_COLOR does the same)")
	root.AddCommand(p.scanCommand(), p.pinCommand(), p.textCommand(), p.rulesCommand(), p.serveCommand(), p.mcpCommand(), p.versionCommand())
	root.AddCommand(p.lintCommand())
	root.AddCommand(p.lockCommand(), p.checkCommand(), p.diffCommand(), p.changelogCommand())
	root.AddCommand(p.keysCommand(), p.accessCommand(), p.serversCommand(), p.webhooksCommand())
	return root
}

// subcommand refuses a word that is no subcommand, and names the nearest.
func (p *program) subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		message += "; did you mean " + cmd.CommandPath() + " " + strings.Join(near, ", ") + "?"
	}
	return fmt.Errorf("%s", message)
}

// runs wraps a command's code: from here on an error is no longer wrong use by itself.
func (p *program) runs(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p.started = true
		return f(cmd, args)
	}
}
