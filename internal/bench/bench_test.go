package main

import (
	"context"
	"errors"
	"io"
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

func TestParseBench(t *testing.T) {
	r := parseBench(`goos: linux
BenchmarkTypical/made-up/all 	 100	 2000000 ns/op	 3.55 MB/s	 1.459 cpu-ms/op
BenchmarkTypical/made-up/all 	 120	 1900000 ns/op	 4.55 MB/s	 1.5 cpu-ms/op
PASS
`)
	for unit, want := range map[string]float64{"ns/op": 1.9e6, "MB/s": 4.55, "cpu-ms/op": 1.459} {
		if got, ok := r.get("Typical/made-up/all", unit); !ok || got != want {
			t.Errorf("%s: %v, want %v", unit, got, want)
		}
	}
	if _, ok := r.get("Typical/none", "ns/op"); ok {
		t.Error("a figure of a benchmark that did not run")
	}
}

// TestPage: a figure that misses its aim, one that cannot be had and one that fails.
func TestPage(t *testing.T) {
	var page strings.Builder
	missed, err := write(t.Context(), &bench{progress: io.Discard}, []section{
		{"a", "First", func(_ context.Context, _ *bench, s *sheet) error {
			s.figures("run it", below("quick", 2, 3, "ms"), above("often", 7, 10, "×"), plain("some", 1.234, "MB"))
			return nil
		}},
		{"b", "Second", func(context.Context, *bench, *sheet) error { return notHere("there is no %s", "Node") }},
	}, &page)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"## First", "| quick | 2 ms | at most 3 ms | met |", "| often | 7× | at least 10× | not met |", "| some | 1.23 MB |  |  |", "`run it`",
		"## Second", "Not measured here: there is no Node.",
	} {
		if !strings.Contains(page.String(), part) {
			t.Errorf("no %q in\n%s", part, &page)
		}
	}
	if len(missed) != 1 || !strings.Contains(missed[0], "often") {
		t.Errorf("%q", missed)
	}
	broken := []section{{"c", "Third", func(context.Context, *bench, *sheet) error { return errors.New("broken") }}}
	if _, err := write(t.Context(), &bench{progress: io.Discard}, broken, io.Discard); err == nil || !strings.Contains(err.Error(), "Third: broken") {
		t.Errorf("%v", err)
	}
	if _, err := choose(sections, "pins,none"); err == nil {
		t.Error("a section that is not there was chosen")
	}
}

// TestMerge: sections that were measured apart take the place of the old ones.
func TestMerge(t *testing.T) {
	old := "# Performance\n\nThis run: slow.\n\n## One\n\nold one\n\n## Two\n\nold two\n"
	part := "# Performance\n\nThis run: quick.\n\n## Two\n\nnew two\n\n## Three\n\nnew three\n\n"
	want := "# Performance\n\nThis run: slow.\n\n## One\n\nold one\n\n## Two\n\nMeasured apart from the rest: quick.\n\nnew two\n\n" +
		"## Three\n\nMeasured apart from the rest: quick.\n\nnew three\n\n"
	got := merge(old, part)
	if got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	if again := merge(got, part); again != got {
		t.Errorf("merged again it is\n%q", again)
	}
}
