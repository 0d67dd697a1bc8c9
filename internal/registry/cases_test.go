package registry_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/storetest"
)

// wrongKeys are keys of every length and form around a right one.
func wrongKeys(right string) []string {
	keys := []string{
		"", "a", " ", "\x00", "\xff\xfe", "éééééééééé", "鍵鍵鍵鍵", "tm_", "Bearer " + right,
		right + "1", right + "\x00", right + " ", " " + right, right[1:], right[:len(right)-1],
		right + right, strings.ToUpper(right), strings.Repeat("é", 26),
		strings.Repeat("k", access.KeyLength), strings.Repeat("k", 100_000),
	}
	for _, at := range []int{0, 3, 20, len(right) - 1} { // one character differs
		other := []byte(right)
		other[at]++
		keys = append(keys, string(other))
	}
	return keys
}

// TestCaseG10_KeysOfAnyLength: every wrong key is a plain refusal, whatever its length
// and its bytes, and takes the same time.
func TestCaseG10_KeysOfAnyLength(t *testing.T) {
	s := service(t, registry.Config{Store: storetest.SQLite(t)(t)})
	right := makeKey(t, s, registry.NewKey{}).Plain
	times := map[int][]time.Duration{}
	keys := []string{"a", "éééééééééé", right + "1", strings.Repeat("k", access.KeyLength), strings.Repeat("k", 100_000)}
	for range 400 { // by turns, so that a busy machine is busy for all of them
		for _, key := range keys {
			start := time.Now()
			_, err := s.Admit(t.Context(), registry.Call{Key: key})
			times[len(key)] = append(times[len(key)], time.Since(start))
			denied(t, err, access.InvalidKey)
		}
	}
	_, err := s.Admit(t.Context(), registry.Call{Key: ""})
	denied(t, err, access.MissingKey)
	// Medians differ by noise. A length that was looked at would show: hashing 100,000
	// bytes alone takes several times a lookup, and refusing without one no time at all.
	var medians []time.Duration
	for _, d := range times {
		slices.Sort(d)
		medians = append(medians, d[len(d)/2])
	}
	if fastest, slowest := slices.Min(medians), slices.Max(medians); slowest > 3*fastest {
		t.Errorf("medians of the time for wrong keys from %v to %v", fastest, slowest)
	}
}

// TestCaseG11_ScopesAreChecked: a key for reading may do nothing else, and no scope
// opens what is the administrator's but admin.
func TestCaseG11_ScopesAreChecked(t *testing.T) {
	s := service(t, registry.Config{Store: storetest.SQLite(t)(t)})
	all := []access.Scope{access.ScopeRead, access.ScopeProxy, access.ScopeWrite, access.ScopeAdmin}
	for scopes, allowed := range map[string][]access.Scope{
		"":           all,
		"read":       {access.ScopeRead},
		"proxy":      {access.ScopeRead, access.ScopeProxy},
		"write":      {access.ScopeRead, access.ScopeProxy, access.ScopeWrite},
		"admin":      {access.ScopeRead, access.ScopeAdmin},
		"read,proxy": {access.ScopeRead, access.ScopeProxy},
		"admin,read": {access.ScopeRead, access.ScopeAdmin},
	} {
		parsed, err := access.ParseScopes(scopes)
		if err != nil {
			t.Fatal(err)
		}
		key := makeKey(t, s, registry.NewKey{Scopes: parsed}).Plain
		if _, err := s.Admit(t.Context(), registry.Call{Key: key}); err != nil {
			t.Errorf("scopes %q: refused where no scope is needed: %v", scopes, err)
		}
		for _, need := range append(all, "rotate") {
			_, err := s.Admit(t.Context(), registry.Call{Key: key, Scope: need})
			if want := slices.Contains(allowed, need) || scopes == ""; want != (err == nil) {
				t.Errorf("scopes %q, needed %q: %v", scopes, need, err)
			}
			if err != nil && denied(t, err, access.ScopeDenied).Status() != 403 {
				t.Errorf("scopes %q, needed %q: status", scopes, need)
			}
		}
	}
}
