package httpapi

import (
	"slices"
	"strconv"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
)

// The members of small bodies. Other than a tool list these are written by hand for
// us, so a member that is not known is a fault: a mistyped limit is no limit.

// optional reads a string; absent or null is "".
func (f *faults) optional(v *toolmark.Value, name string) string {
	if m := v.Get(name); !m.Absent() && f.text(m, name, name) {
		return m.Text
	}
	return ""
}

// required reads a string that must be there.
func (f *faults) required(v *toolmark.Value, name string) string {
	if m := v.Get(name); f.text(m, name, name) {
		return m.Text
	}
	return ""
}

// limit reads a whole number from 0 to access.MaxLimit; absent or null is nil.
func (f *faults) limit(v *toolmark.Value, name string) *int64 {
	m := v.Get(name)
	if m.Absent() {
		return nil
	}
	n, err := strconv.ParseInt(m.Text, 10, 64)
	if m.Kind != toolmark.KindNumber || err != nil || n < 0 || n > access.MaxLimit {
		f.add(faultInt, name+" must be a whole number from 0 to "+strconv.FormatInt(access.MaxLimit, 10), name)
		return nil
	}
	return &n
}

// scopes reads an array of scopes.
func (f *faults) scopes(v *toolmark.Value) access.Scopes {
	if v.Absent() {
		return nil
	}
	if v.Kind != toolmark.KindArray {
		f.add(faultList, "scopes must be an array, not "+article(v), "scopes")
		return nil
	}
	var scopes access.Scopes
	for i := range v.Items {
		s, err := access.ParseScopes(v.Items[i].Text)
		if v.Items[i].Kind != toolmark.KindString || err != nil || len(s) != 1 {
			f.add(faultEnum, "a scope is read, proxy, write or admin", "scopes", i)
			continue
		}
		scopes = append(scopes, s[0])
	}
	return scopes
}

// only refuses members that are not known. Their names are the client's text, so the
// place is the body and the message does not repeat them.
func (f *faults) only(v *toolmark.Value, names ...string) {
	for i := range v.Members {
		if !slices.Contains(names, v.Members[i].Name) {
			f.add("extra_forbidden", "member number "+strconv.Itoa(i+1)+" of the body is not known here")
		}
	}
}
