package textcheck

import (
	"testing"

	"pgregory.net/rapid"
)

// TestNormalNamesStayAsTheyAre holds the test for names that need no work against the
// work: what passes it comes out unchanged, and what comes out is its own normal form.
func TestNormalNamesStayAsTheyAre(t *testing.T) {
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-z0-9_\-. A-Z]{0,12}`).Draw(t, "name")
		normal := NormalName(s)
		// A character that counts for nothing keeps the short cut from being taken.
		if slow := NormalName(s + "\u200b"); slow != normal {
			t.Fatalf("%q becomes %q, and %q the long way", s, normal, slow)
		}
		if again := NormalName(normal); again != normal {
			t.Fatalf("%q becomes %q, then %q", s, normal, again)
		}
	})
	for _, s := range []string{"a", "read_file", "a1_b2", "x_y_z", "list"} {
		// With a character that changes nothing but keeps the short cut from being taken.
		if slow := NormalName(s + "\u200b"); isNormalName(s) && slow == s {
			passed++
		} else {
			t.Errorf("%q: %q", s, slow)
		}
	}
	for _, s := range []string{"_a", "a_", "a__b", "A", "a-b", "\u00e9", "a b"} {
		if isNormalName(s) && NormalName(s+"\u200b") != s {
			t.Errorf("%q passes and is not normal", s)
		}
	}
	if passed == 0 {
		t.Error("no name passed")
	}
}
