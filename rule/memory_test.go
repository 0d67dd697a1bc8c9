package rule

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/toolmark/toolmark"
)

// TestMemoryForgetsNothing matches lists of tools that share fields, with a memory and
// without one.
func TestMemoryForgetsNothing(t *testing.T) {
	s := diverse(t)
	random := rand.New(rand.NewPCG(11, 12))
	surfaces := []toolmark.Surface{toolmark.SurfaceDescription, toolmark.SurfaceParameter, toolmark.SurfaceParameterName, toolmark.SurfaceEnum}
	idle, joined, found := 0, 0, 0
	for range 400 {
		var shared []Field
		for range 12 {
			text := compose(random.IntN, 5)
			if random.IntN(2) == 0 {
				text = pieces[random.IntN(len(pieces))]
			}
			if text != "" {
				shared = append(shared, raw(surfaces[random.IntN(len(surfaces))], text))
			}
		}
		least := random.IntN(2) * 3
		memory := s.Memory(least)
		for range 12 {
			fields := make([]Field, 1+random.IntN(5))
			for i := range fields {
				fields[i] = shared[random.IntN(len(shared))]
			}
			got, done := memory.Match(fields, nil)
			want, _ := s.MatchScored(fields, least, nil)
			if !done || !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v\nwith a memory %s\nwithout %s", fields, show(got), show(want))
			}
			found += len(got)
			for _, m := range got {
				if len(m.Places) > 1 {
					joined++
				}
			}
		}
		idle += len(memory.idle)
	}
	if idle < 500 || joined < 10 || found < 500 {
		t.Errorf("%d fields remembered, %d matches, %d of them over several fields", idle, found, joined)
	}
}

// TestMemoryOfAStoppedCall: a field that was not read to its end is read again.
func TestMemoryOfAStoppedCall(t *testing.T) {
	s := diverse(t)
	memory := s.Memory(0)
	fields := []Field{raw(toolmark.SurfaceDescription, "It is so.")}
	if _, complete := memory.Match(fields, func() bool { return true }); complete || len(memory.idle) > 0 {
		t.Errorf("complete %v, remembered %d", complete, len(memory.idle))
	}
	if _, complete := memory.Match(fields, nil); !complete || len(memory.idle) != 1 {
		t.Errorf("complete %v, remembered %d", complete, len(memory.idle))
	}
}
