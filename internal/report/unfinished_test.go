package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
)

// TestAFailedCheckIsNotFinished: a tool that could not be scanned makes the run
// unfinished, and is named even where only failures are printed.
func TestAFailedCheckIsNotFinished(t *testing.T) {
	rep := &toolmark.Report{
		SHA256: strings.Repeat("0", 64), OK: true, Tools: []toolmark.ToolHash{{Name: "lost", SHA256: strings.Repeat("1", 64)}},
		Findings: []toolmark.Finding{{
			Code: toolmark.CodeUnscannable, Tool: "lost", Severity: toolmark.Info, Reason: "This tool could not be scanned",
			Details: toolmark.UnscannableDetails{Cause: "the check for rules failed on it"},
		}},
	}
	doc := &Document{FailOn: toolmark.High, Sources: []Source{{
		Name: "list.json", Report: rep, Snapshot: &toolmark.Snapshot{Manifest: &toolmark.Manifest{}},
	}}}
	if doc.Failed() || !doc.Unfinished() {
		t.Errorf("failed %v, unfinished %v", doc.Failed(), doc.Unfinished())
	}
	var out bytes.Buffer
	if err := doc.WriteText(&out, TextOptions{Quiet: true, Width: 80}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "lost") || !strings.Contains(out.String(), "E900") {
		t.Errorf("what was not scanned is not named:\n%s", out.String())
	}
}
