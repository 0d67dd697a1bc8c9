package probe

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func readEvents(stream []byte) ([]event, error) {
	r := newEventReader(bytes.NewReader(stream))
	var all []event
	for {
		e, err := r.next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
}

// Whatever data is written as events, with whichever line end and in between whatever
// comments and other fields, comes back.
func TestEventsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
		line := rapid.StringMatching(`[ -~é😀:]{0,20}`)
		var want []event
		var b strings.Builder
		for range rapid.IntRange(0, 5).Draw(t, "events") {
			name := rapid.SampledFrom([]string{"", "message", "endpoint"}).Draw(t, "name")
			if name != "" {
				b.WriteString("event: " + name + end)
			}
			lines := rapid.SliceOfN(line, 1, 4).Draw(t, "lines")
			for _, l := range lines {
				b.WriteString(rapid.SampledFrom([]string{"", ": note" + end, "id: 5" + end, "retry: 1" + end, "x" + end}).Draw(t, "between"))
				b.WriteString("data: " + l + end)
			}
			b.WriteString(end)
			want = append(want, event{name: name, data: []byte(strings.Join(lines, "\n"))})
		}
		got, err := readEvents([]byte(b.String()))
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d events, want %d, error %v, from %q", len(got), len(want), err, b.String())
		}
		for i := range want {
			if got[i].name != want[i].name || !bytes.Equal(got[i].data, want[i].data) {
				t.Fatalf("event %d: %q, want %q, from %q", i, got[i], want[i], b.String())
			}
		}
	})
}

// FuzzEvents: no stream makes more data than it has bytes, and a prefix that ends
// after a blank line gives a prefix of the events.
func FuzzEvents(f *testing.F) {
	f.Fuzz(func(t *testing.T, stream []byte) {
		all, err := readEvents(stream)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range all {
			n += len(e.data)
		}
		if n > len(stream) {
			t.Fatalf("%d bytes of data from %d", n, len(stream))
		}
		if i := bytes.Index(stream, []byte("\n\n")); i >= 0 {
			part, err := readEvents(stream[:i+2])
			if err != nil || len(part) > len(all) {
				t.Fatalf("%d events of a part, %d of all, error %v", len(part), len(all), err)
			}
			for j := range part {
				if !bytes.Equal(part[j].data, all[j].data) {
					t.Fatalf("event %d differs", j)
				}
			}
		}
	})
}
