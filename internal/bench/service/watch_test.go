package service

import (
	"testing"
	"time"
)

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
