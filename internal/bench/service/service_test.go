package service

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestAgainstTheBinary measures a service for a moment: that what is measured is there.
func TestAgainstTheBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary")
	}
	binary := filepath.Join(t.TempDir(), "toolmark")
	if out, err := exec.Command("go", "build", "-o", binary, "../../../cmd/toolmark").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o := Options{Binary: binary, Connections: 2, For: 500 * time.Millisecond}
	f, err := Measure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if f.Others > 0 || f.Rate <= 0 || f.Answers == 0 || f.P50 > f.P99 || f.P99 > f.Max {
		t.Errorf("%+v", f)
	}
	refusals, err := Refusals(t.Context(), o, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range refusals {
		if r.Median <= 0 {
			t.Errorf("%s: %v", r.Key, r.Median)
		}
	}
	if len(refusals) < 8 {
		t.Errorf("only %d kinds of keys", len(refusals))
	}
	w, err := MeasureWatch(t.Context(), WatchOptions{Binary: binary, Servers: 12, Tools: 2, Bytes: 500, Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if w.Changed != 12 || w.Noticed <= 0 || w.Rate < 6 || w.Backlog <= 0 || w.Registered <= 0 || w.Longest <= 0 || w.Longest > 20*time.Second {
		t.Errorf("%+v", w)
	}
	a, err := Attacked(t.Context(), o, 50, 6)
	if err != nil || !a.Answered || a.Idle != 50 || a.Bombs != 6 || a.Peak > 200<<20 {
		t.Errorf("%+v, %v", a, err)
	}
}
