package mcpserver

import (
	"testing"

	"github.com/toolmark/toolmark/internal/lockfile"
	"github.com/toolmark/toolmark/internal/probe"
	"github.com/toolmark/toolmark/pin"
)

// TestOwnDefinitionsAreLocked: what we serve is what toolmark.lock.json says was reviewed,
// member for member, and a change of it comes with a new Version.
func TestOwnDefinitionsAreLocked(t *testing.T) {
	file, err := lockfile.Read("../../" + lockfile.Name)
	if err != nil {
		t.Fatal(err)
	}
	entry := file.Entry("toolmark")
	if entry == nil || len(entry.Manifest.Tools) != 4 {
		t.Fatal("toolmark.lock.json has no entry toolmark with four tools")
	}
	snap, err := probe.Probe(t.Context(), probe.Source{URL: listen(t)}, probe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	served, err := lockfile.Normal(snap.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	drift := pin.Diff(entry.Manifest, served, pin.Options{})
	for i := range drift.Changes {
		c := &drift.Changes[i]
		t.Errorf("%s %s: %s", c.Tool, c.Pointer, c.Reason)
	}
	if !drift.Empty() {
		t.Error("review the change, bump Version, and run: make build && bin/toolmark lock --name toolmark -- bin/toolmark mcp")
		if served.Server.Version == entry.Manifest.Server.Version {
			t.Error("Version is the one that was locked")
		}
	}
}
