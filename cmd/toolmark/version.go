package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  toolmark version",
		Args:    cobra.NoArgs,
		RunE: p.runs(func(*cobra.Command, []string) error {
			return p.write(fmt.Appendf(nil, "toolmark %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH))
		}),
	}
}

// version gives what the build knows of itself: the module's version, else the
// commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "dev-" + s.Value[:12]
		}
	}
	return "dev"
}
