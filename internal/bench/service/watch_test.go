package service

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestWatch measures a watch for a moment: that what is measured is there.
func TestWatch(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary")
	}
	binary := filepath.Join(t.TempDir(), "toolmark")
	if out, err := exec.Command("go", "build", "-o", binary, "../../../cmd/toolmark").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := MeasureWatch(t.Context(), WatchOptions{Binary: binary, Servers: 12, Tools: 2, Bytes: 500, Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if f.Changed != 12 || f.Noticed <= 0 || f.Rate < 6 || f.Backlog <= 0 || f.Registered <= 0 || f.Longest <= 0 || f.Longest > 20*time.Second {
		t.Errorf("%+v", f)
	}
}

// TestGaps holds the arithmetic that the figures of the watch rest on.
func TestGaps(t *testing.T) {
	at := func(seconds ...int) (list []time.Time) {
		for _, s := range seconds {
			list = append(list, time.Unix(int64(s), 0))
		}
		return list
	}
	f := &fleet{reads: [][]time.Time{at(1, 11, 21), at(5, 6, 28), at(2)}}
	from, to := time.Unix(10, 0), time.Unix(30, 0)
	if reads, none := f.within(from, to); reads != 3 || none != 1 {
		t.Errorf("%d reads, %d servers without", reads, none)
	}
	if longest, doubled := f.gaps(time.Unix(0, 0), to, 2*time.Second); longest != 28*time.Second || doubled != 1 {
		t.Errorf("%v, %d doubled", longest, doubled)
	}
}
