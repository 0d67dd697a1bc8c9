package content_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolmark/toolmark/internal/store/content"
)

func TestUnpackIsTheInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "raw")
		packed, err := content.Pack(raw)
		if err != nil {
			t.Fatal(err)
		}
		back, err := content.Unpack(packed, int64(len(raw)))
		if err != nil || !bytes.Equal(back, raw) {
			t.Fatalf("%q came back as %q (%v)", raw, back, err)
		}
		for _, size := range []int64{int64(len(raw)) - 1, int64(len(raw)) + 1} {
			if got, err := content.Unpack(packed, size); err == nil {
				t.Fatalf("taken for %d bytes: %q", size, got)
			}
		}
	})
}

func TestLimits(t *testing.T) {
	if _, err := content.Pack(make([]byte, content.Max+1)); err == nil {
		t.Error("a content over the limit was packed")
	}
	packed, err := content.Pack(make([]byte, content.Max))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := content.Unpack(packed, content.Max); err != nil {
		t.Error(err)
	}
	for _, size := range []int64{-1, content.Max + 1} {
		if _, err := content.Unpack(packed, size); err == nil {
			t.Errorf("a size of %d was taken", size)
		}
	}
}
