package access

import (
	"bytes"
	"crypto/rand"
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func newKey(tb testing.TB) (string, Hash) {
	tb.Helper()
	key, hash, err := NewKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key, hash
}

func TestNewKey(t *testing.T) {
	form := regexp.MustCompile(`^tm_[0-9A-Za-z]{49}$`) // as secret scanners are told
	seen := map[string]bool{}
	for range 1000 {
		key, hash := newKey(t)
		if !form.MatchString(key) || len(key) != KeyLength || seen[key] {
			t.Fatalf("key %q", key)
		}
		seen[key] = true
		parsed, err := ParseKey(key)
		if err != nil || !parsed.Equal(hash) || !HashKey(key).Equal(hash) {
			t.Fatalf("key %q does not come back: %v", key, err)
		}
		if hint := Hint(key); !strings.HasPrefix(key, hint) || len(hint) != 7 {
			t.Fatalf("hint %q", hint)
		}
	}
	if _, _, err := NewKey(bytes.NewReader(make([]byte, 63))); err == nil {
		t.Error("a key from a source that ran dry")
	}
}

// TestKeyCharactersAreEquallyLikely draws so many that a bias by the remainder of 256
// by 62, 24% for eight of the characters, would be seen with certainty.
func TestKeyCharactersAreEquallyLikely(t *testing.T) {
	var counts [256]int
	const draws = 200_000
	text, err := randomText(rand.Reader, draws)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []byte(text) {
		counts[c]++
	}
	for _, c := range []byte(base62) {
		if want := draws / 62; counts[c] < want*9/10 || counts[c] > want*11/10 {
			t.Errorf("%c was drawn %d times, want about %d", c, counts[c], want)
		}
	}
}

// TestKeyFormIsFixed holds the form of keys that are in people's hands.
func TestKeyFormIsFixed(t *testing.T) {
	key, hash, err := NewKey(bytes.NewReader(bytes.Repeat([]byte{0, 61, 62, 247, 248, 255, 10, 36}, 64)))
	if err != nil {
		t.Fatal(err)
	}
	const want = "tm_0z0zAa0z0zAa0z0zAa0z0zAa0z0zAa0z0zAa0z0zAa01symhp"
	if key != want {
		t.Errorf("key %q, want %q", key, want)
	}
	if hash != HashKey(want) {
		t.Error("hash")
	}
}

func TestParseKeyRefusesOtherText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, _, err := NewKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		// One character differs: a CRC-32 finds every such typo.
		at := rapid.IntRange(0, KeyLength-1).Draw(t, "at")
		c := rapid.Byte().Draw(t, "c")
		if c == key[at] {
			t.Skip("the same key")
		}
		typo := key[:at] + string([]byte{c}) + key[at+1:]
		if _, err := ParseKey(typo); !errors.Is(err, ErrKey) {
			t.Fatalf("%q is taken for a key", typo)
		}
	})
	key, _ := newKey(t)
	for _, text := range []string{"", "tm_", "a", "éééééééééé", key + "1", key[1:], " " + key, key + "\n", strings.Repeat("a", KeyLength)} {
		if _, err := ParseKey(text); !errors.Is(err, ErrKey) {
			t.Errorf("%q is taken for a key", text)
		}
	}
}

// TestHashKeyOfAnyText: no text but the key has its hash, however long.
func TestHashKeyOfAnyText(t *testing.T) {
	key, hash := newKey(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.String(), func(s string) string { return key + s })).Draw(t, "text")
		if HashKey(text).Equal(hash) != (text == key) {
			t.Fatalf("%q", text)
		}
	})
	if HashKey("").Equal(Hash{}) {
		t.Error("no key has the hash that stands for none")
	}
}
