package secret_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/toolmark/toolmark/internal/secret"
)

func newKey(t *testing.T) []byte {
	t.Helper()
	k := make([]byte, secret.KeySize)
	if _, err := rand.Read(k); err != nil {
		t.Fatal(err)
	}
	return k
}

func ring(t *testing.T, keys ...[]byte) *secret.Ring {
	t.Helper()
	var lines []string
	for _, k := range keys {
		lines = append(lines, base64.StdEncoding.EncodeToString(k))
	}
	r, err := secret.Parse("# keys\n\n" + strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRotation(t *testing.T) {
	first, second := newKey(t), newKey(t)
	old := ring(t, first)
	sealed, err := old.Seal(rand.Reader, []byte("Bearer abc"), "srv_1")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("abc")) {
		t.Error("the text stands in what was sealed")
	}
	both := ring(t, second, first)
	for name, r := range map[string]*secret.Ring{"old": old, "both": both} {
		if got, err := r.Open(sealed, "srv_1"); err != nil || string(got) != "Bearer abc" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if secret.KeyID(sealed) != old.ID() || both.ID() == old.ID() {
		t.Errorf("ids %s, %s, %s", secret.KeyID(sealed), old.ID(), both.ID())
	}
	if _, err := ring(t, second).Open(sealed, "srv_1"); !errors.Is(err, secret.ErrUnknownKey) {
		t.Errorf("without the old key: %v", err)
	}
	again, err := old.Seal(rand.Reader, []byte("Bearer abc"), "srv_1")
	if err != nil || bytes.Equal(again, sealed) {
		t.Error("the same text sealed twice is the same")
	}
}

// TestEveryByteCounts: no change of a sealed text opens, nor does another record's.
func TestEveryByteCounts(t *testing.T) {
	r := ring(t, newKey(t))
	sealed, err := r.Seal(rand.Reader, []byte("text"), "srv_1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open(sealed, "srv_2"); !errors.Is(err, secret.ErrDamaged) {
		t.Errorf("another record: %v", err)
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 0x40
		if got, err := r.Open(changed, "srv_1"); err == nil {
			t.Errorf("byte %d changed: %q", i, got)
		}
		if got, err := r.Open(sealed[:i], "srv_1"); err == nil {
			t.Errorf("cut to %d: %q", i, got)
		}
	}
}

func TestParse(t *testing.T) {
	k := newKey(t)
	for _, text := range []string{
		base64.StdEncoding.EncodeToString(k), base64.RawURLEncoding.EncodeToString(k), hex.EncodeToString(k), "\r\n" + hex.EncodeToString(k) + "\r\n",
	} {
		if r, err := secret.Parse(text); err != nil || r.ID() != ring(t, k).ID() {
			t.Errorf("%q: %v", text, err)
		}
	}
	twice := hex.EncodeToString(k) + "\n" + base64.StdEncoding.EncodeToString(k)
	for _, text := range []string{"", "# none", "password", hex.EncodeToString(k[:16]), base64.StdEncoding.EncodeToString(k[:31]), twice, strings.Repeat("x", 64)} {
		if _, err := secret.Parse(text); err == nil {
			t.Errorf("%q was read", text)
		} else if text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("the error repeats the key: %v", err)
		}
	}
}
