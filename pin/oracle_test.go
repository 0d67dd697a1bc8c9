package pin_test

import (
	"os/exec"
	"testing"

	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/test/oracle"
)

// TestAgainstCPython holds Line against CPython on a few thousand bodies; the command
// test/oracle/run does the same with many more, through the built binary.
func TestAgainstCPython(t *testing.T) {
	script := shared.Path(t, "oracle", "pin_oracle.py")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("needs python3: %v", err)
	}
	const seed, n = 20261130, 4000
	g := oracle.New(seed)
	bodies := make([][]byte, n)
	ours := make([]string, n)
	for i := range bodies {
		bodies[i] = g.Body()
		ours[i] = pin.Line(bodies[i])
	}
	theirs, err := oracle.Ask(t.Context(), bodies, python, script)
	if err != nil {
		t.Fatal(err)
	}
	var tally oracle.Tally
	tally.Compare(bodies, ours, theirs)
	t.Logf("seed %d: %s", seed, &tally)
	for _, d := range tally.Different {
		t.Error(d)
	}
	if tally.Equal < n*3/4 || tally.Invalid < n/20 || tally.Digits == 0 || len(tally.Stricter) < 3 {
		t.Errorf("the bodies are not of every kind: %s", &tally)
	}
}
