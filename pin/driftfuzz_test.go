package pin_test

import (
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/pin"
)

// FuzzDiff holds that a drift is empty only for the same trees and makes the new manifest
// from the old one, whatever the two are.
func FuzzDiff(f *testing.F) {
	f.Add(`{"tools":[{"name":"a"}]}`, `{"tools":[{"name":"b"}]}`)
	read := func(body string) (*toolmark.Manifest, bool) {
		tree, err := canonjson.Parse([]byte(body), canonjson.Options{MaxBytes: 1 << 16, MaxDepth: 64})
		if err != nil {
			return nil, false
		}
		m, err := toolmark.ReadManifest(tree)
		return m, err == nil
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		old, ok := read(a)
		new, fine := read(b)
		if !ok || !fine {
			t.Skip()
		}
		d := pin.Diff(old, new, pin.Options{})
		mustApply(t, old, new, d)
		x, y := pin.Comparable(old, pin.Options{}), pin.Comparable(new, pin.Options{})
		if (text(x) == text(y)) != d.Empty() {
			t.Errorf("%s\n%s\nhave the drift%s", text(x), text(y), show(d))
		}
		if !equal(x, y) && len(d.Changes) == 0 {
			t.Errorf("nothing is shown")
		}
	})
}
