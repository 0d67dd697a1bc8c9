package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/rulepack/atr"
)

// community opens the pack of community rules. Where it is not there the pack is nil,
// and the state says so and what to type.
func (p *program) community() (*atr.Pack, report.Community) {
	dir := p.packDir()
	if dir == "" {
		return nil, report.Community{Off: atr.ErrMissing.Error() + ": there is no cache directory for the pack"}
	}
	pack, err := atr.Open(dir)
	if err != nil {
		if errors.Is(err, atr.ErrMissing) && errors.Is(err, fs.ErrNotExist) {
			return nil, report.Community{Off: atr.ErrMissing.Error() + ": run `toolmark rules update` to fetch them"}
		}
		return nil, report.Community{Off: err.Error()}
	}
	return pack, report.Community{Version: pack.Version(), Rules: len(pack.Rules())}
}

// packDir gives the folder of fetched packs, in the user's cache directory; "" where the
// environment names none.
func (p *program) packDir() string {
	base := p.env.getenv("XDG_CACHE_HOME")
	home := p.env.getenv("HOME")
	switch {
	case runtime.GOOS == "windows":
		base = p.env.getenv("LocalAppData")
	case runtime.GOOS == "darwin" && home != "":
		base = filepath.Join(home, "Library", "Caches")
	case base == "" && home != "":
		base = filepath.Join(home, ".cache")
	}
	if !filepath.IsAbs(base) {
		return ""
	}
	return filepath.Join(base, "toolmark", "atr")
}

func (p *program) rulesUpdateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "update",
		Short: "Fetch the ATR community rules this version of Toolmark is pinned to",
		Long: `Update fetches the community rules from the npm registry, verifies them against the
hash that is part of this program, and keeps them in the user's cache directory. Where
they are there and whole, nothing is fetched. A newer pack comes with a newer Toolmark.

The registry is that of npm_config_registry or ~/.npmrc, where one is named there. It
need not be trusted: what it sends has to have the right hash.`,
		Example: `  toolmark rules update`,
		Args:    cobra.NoArgs,
		RunE:    p.runs(func(cmd *cobra.Command, _ []string) error { return p.rulesUpdate(cmd.Context()) }),
	}
}

func (p *program) rulesUpdate(ctx context.Context) error {
	pack, err := p.fetchCommunity(ctx)
	if err != nil {
		return err
	}
	return p.write(fmt.Appendf(nil, "community rules %s: %d rules that read tool definitions, of %d in the pack\n", pack.Version(), len(pack.Rules()), pack.Total()))
}

// fetchCommunity fetches the pack where it is not in the cache, and opens it.
func (p *program) fetchCommunity(ctx context.Context) (*atr.Pack, error) {
	dir := p.packDir()
	if dir == "" {
		return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: "no cache directory: set HOME or XDG_CACHE_HOME"}
	}
	var npmrc []byte
	if home := p.env.getenv("HOME"); home != "" {
		var err error
		if npmrc, err = os.ReadFile(filepath.Join(home, ".npmrc")); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: "~/.npmrc cannot be read", Err: err}
		}
	}
	wait := startProgress(p.stderr, p.env.stderr)
	defer wait.stop()
	pack, err := atr.Fetch(ctx, atr.Options{
		CacheDir: dir, Registry: atr.RegistryFrom(p.env.getenv, string(npmrc)),
		Progress: func(done, total int64) {
			stage := fmt.Sprintf("%d KiB", done>>10)
			if total > 0 {
				stage = fmt.Sprintf("%d of %d KiB", done>>10, total>>10)
			}
			wait.show("fetching the community rules", stage)
		},
	})
	if err != nil {
		return nil, &toolmark.Error{Code: toolmark.ErrCannotConnect, Message: "the community rules were not fetched, and scans go on without them", Err: err}
	}
	return pack, nil
}
