package shadow

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/textcheck"
)

// BenchmarkByText looks for references in real descriptions: alone, and with 50 other
// servers of 20 tools.
func BenchmarkByText(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(shared.Path(b, "corpus", "benign"), "gitlab-zereight.json"))
	if err != nil {
		b.Fatal(err)
	}
	var many []toolmark.OtherServer
	for range 50 {
		many = append(many, server("s", "list_items", "get_item", "create_item", "search", "fetch_page", "read_file", "write_file"))
	}
	readings := textcheck.Readings(string(text))
	for _, c := range []struct {
		name   string
		others []toolmark.OtherServer
	}{{"alone", nil}, {"many", many}} {
		n := NewNames(tools("helper"), c.others)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				n.ByText("helper", 0, []Text{{Pointer: "/description", Readings: readings}})
			}
		})
	}
}
