package pin_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/pin"
)

// vectors is how many answers of CPython the file of published vectors holds.
const vectors = 1501

func TestVectors(t *testing.T) {
	data := shared.Read(t, "vectors", "pin.jsonl")
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	n := 0
	for ; lines.Scan(); n++ {
		var v struct {
			Body, Canonical, SHA256 string
			Tools                   []string
		}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("vector %d: %v", n, err)
		}
		if got, want := pin.Line([]byte(v.Body)), v.SHA256+" "+strings.Join(v.Tools, ","); got != want {
			t.Errorf("vector %d: Line(%.200q)\n got %s\nwant %s", n, v.Body, got, want)
		}
		tree, err := canonjson.Parse([]byte(v.Body), canonjson.Options{})
		if err != nil {
			t.Fatalf("vector %d: %v", n, err)
		}
		m, err := toolmark.ReadManifest(tree)
		if err != nil {
			t.Fatalf("vector %d: %v", n, err)
		}
		if got := string(pin.Canonical(m.Tools)); got != v.Canonical {
			t.Errorf("vector %d: Canonical\n got %.500s\nwant %.500s", n, got, v.Canonical)
		}
		if got := pin.Size(m.Tools); got != len(v.Canonical) {
			t.Errorf("vector %d: Size = %d, want %d", n, got, len(v.Canonical))
		}
		p := pin.Compute(m.Tools)
		if p.SHA256 != v.SHA256 {
			t.Errorf("vector %d: pin %s, want %s", n, p.SHA256, v.SHA256)
		}
		if len(p.Tools) != len(v.Tools) {
			t.Fatalf("vector %d: %d tool hashes, want %d", n, len(p.Tools), len(v.Tools))
		}
		for i, h := range p.Tools {
			if h.SHA256 != v.Tools[i] || string(h.Name) != m.Tools[i].Name {
				t.Errorf("vector %d: tool %d: %s %s, want %s", n, i, h.Name, h.SHA256, v.Tools[i])
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if n != vectors {
		t.Errorf("read %d vectors, want %d", n, vectors)
	}
}
