package license

import (
	"slices"
	"strings"
	"testing"

	"github.com/github/go-spdx/v2/spdxexp"
	"pgregory.net/rapid"
)

// TestAgainstSatisfies holds Check against another implementation: an expression permits
// a use if and only if it is satisfied by the licences that permit it by themselves.
func TestAgainstSatisfies(t *testing.T) {
	var allowed []string
	for _, id := range leaves {
		if mustCheck(t, id, CommercialUse).Verdict == Permitted {
			allowed = append(allowed, id)
		}
	}
	if len(allowed) < 4 || len(allowed) == len(leaves) {
		t.Fatalf("%d of %d licences permit commercial use by themselves", len(allowed), len(leaves))
	}
	rapid.Check(t, func(t *rapid.T) {
		e := expressions(4).Draw(t, "expression")
		want, err := spdxexp.Satisfies(e, allowed)
		if err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		a, err := Check(e, []Use{CommercialUse})
		if err != nil || (a.Verdict == Permitted) != want {
			t.Errorf("%s: %+v, %v; the oracle says %v", e, a, err, want)
		}
	})
}

// TestIdentifiersAgainstOracle: what is on our list is a licence for it too. It may have
// an older list, so it need not know all; it must know nearly all.
func TestIdentifiersAgainstOracle(t *testing.T) {
	table, err := facts()
	if err != nil {
		t.Fatal(err)
	}
	var unknown []string
	for _, e := range table.licenses {
		if ok, _ := spdxexp.ValidateLicenses([]string{e.id}); !ok {
			unknown = append(unknown, e.id)
		}
	}
	slices.Sort(unknown)
	if len(unknown) > 20 {
		t.Errorf("the oracle does not know %d of %d: %s", len(unknown), len(table.licenses), strings.Join(unknown, " "))
	}
	for _, text := range []string{"MIT OR", "MIT)", "(MIT", "MIT WITH", "OR MIT", "AND", ""} {
		_, err := spdxexp.ExtractLicenses(text)
		if _, ours := Check(text, nil); (err == nil) != (ours == nil) {
			t.Errorf("%q: the oracle says %v, Check %v", text, err, ours)
		}
	}
}
