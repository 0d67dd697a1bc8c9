package access

import (
	"fmt"
	"slices"
	"strings"
)

// Scope is what a key may be used for.
type Scope string

// The scopes. A key without any is unrestricted.
const (
	ScopeRead  Scope = "read"  // see what is the account's own; every scope includes it
	ScopeProxy Scope = "proxy" // scan and check, as a gateway does in passing
	ScopeWrite Scope = "write" // change what is recorded; includes proxy
	ScopeAdmin Scope = "admin" // keys and access lists of every account; includes only read
)

// Scopes are a key's scopes, sorted, each once. Empty is unrestricted.
type Scopes []Scope

// Allow reports whether a key with these scopes may do what needs the scope. Whatever
// needs no scope ("") is allowed to all; a need that is no scope, to none but the
// unrestricted.
func (s Scopes) Allow(need Scope) bool {
	if len(s) == 0 || need == "" {
		return true
	}
	switch need {
	case ScopeRead:
		return true
	case ScopeProxy:
		return slices.Contains(s, ScopeProxy) || slices.Contains(s, ScopeWrite)
	case ScopeWrite, ScopeAdmin:
		return slices.Contains(s, need)
	}
	return false
}

// String gives the scopes with commas between; unrestricted is "". It is the inverse
// of ParseScopes.
func (s Scopes) String() string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, ",")
}

// ParseScopes reads scopes with commas between, in any order; "" is none. An unknown
// one is an error: a key must not be wider than its maker thought.
func ParseScopes(text string) (Scopes, error) {
	if text == "" {
		return nil, nil
	}
	var scopes Scopes
	for part := range strings.SplitSeq(text, ",") {
		scope := Scope(strings.TrimSpace(part))
		switch scope {
		case ScopeRead, ScopeProxy, ScopeWrite, ScopeAdmin:
			scopes = append(scopes, scope)
		default:
			return nil, fmt.Errorf("unknown scope %q: one of read, proxy, write, admin", string(scope))
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes), nil
}
