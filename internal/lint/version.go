package lint

import (
	"strings"

	"github.com/toolmark/toolmark"
)

// Package is a file that names the version that is published.
type Package struct {
	// File is its name, as reports call it: "server.json", "package.json".
	File string
	// Version is what it says.
	Version string
}

// versions holds the version that is served against those that are published (L102).
func (c *collector) versions(m *toolmark.Manifest, packages []Package) {
	for _, p := range packages {
		if p.Version == "" || strings.TrimPrefix(p.Version, "v") == strings.TrimPrefix(m.Server.Version, "v") {
			continue
		}
		reason := "The server reports another version than the one that is published, so a change clients see matches no release"
		if m.Server.Version == "" {
			reason = "The server reports no version, and a version is published"
		}
		c.add(m, whole, toolmark.CodeVersionDiffers, toolmark.Medium, reason,
			toolmark.AdviceDetails{File: p.File, Old: toolmark.Text(p.Version), New: toolmark.Text(m.Server.Version)})
	}
}
