package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/toolmark/toolmark/pin"
)

func TestMadeUpBodies(t *testing.T) {
	bodies, source, err := load(t.TempDir())
	if err != nil || source != "made-up tool lists" || len(bodies) != 32 {
		t.Fatalf("%d bodies, %s, %v", len(bodies), source, err)
	}
	for _, b := range bodies {
		if answer := pin.Line(b); strings.HasPrefix(answer, "invalid") {
			t.Errorf("%.100s: %s", b, answer)
		}
	}
	if n := len(list(1 << 20)); n < 1<<20 || n > 1<<20+4096 {
		t.Errorf("a list of a megabyte has %d bytes", n)
	}
}

// TestBeside runs the comparison once, on few bodies: that CPython answers and agrees.
func TestBeside(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("needs python3: %v", err)
	}
	var out strings.Builder
	ratio, err := beside(t.Context(), &out, [][]byte{list(2000), list(9000)}, "made up", "python3", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(out.String(), "\n|"); rows != 5 || ratio <= 0 {
		t.Errorf("ratio %f, %d rows in\n%s", ratio, rows, &out)
	}
}
