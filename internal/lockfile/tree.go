package lockfile

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

// object puts an object together.
type object struct{ members []toolmark.Member }

func (o *object) add(name string, v toolmark.Value) {
	o.members = append(o.members, toolmark.Member{Name: name, Value: v})
}

func (o *object) value() toolmark.Value {
	return toolmark.Value{Kind: toolmark.KindObject, Members: o.members}
}

func str(s string) toolmark.Value { return toolmark.Value{Kind: toolmark.KindString, Text: s} }

// sorted gives v with the members of every object in code point order. Members of one
// name keep their order, because which of them counts depends on it.
func sorted(v toolmark.Value) toolmark.Value {
	switch v.Kind {
	case toolmark.KindArray:
		items := make([]toolmark.Value, len(v.Items))
		for i := range v.Items {
			items[i] = sorted(v.Items[i])
		}
		v.Items = items
	case toolmark.KindObject:
		members := make([]toolmark.Member, len(v.Members))
		for i, m := range v.Members {
			m.Value = sorted(m.Value)
			members[i] = m
		}
		// WTF-8 sorts by code point as bytes do.
		slices.SortStableFunc(members, func(a, b toolmark.Member) int { return strings.Compare(a.Name, b.Name) })
		v.Members = members
	}
	return v
}

// hash is the SHA-256, in hex, of a value's lossless compact form with sorted members.
func hash(v toolmark.Value) string {
	s := sorted(v)
	sum := sha256.Sum256(canonjson.Append(nil, &s))
	return hex.EncodeToString(sum[:])
}

// without gives an object without the members of that name.
func without(v toolmark.Value, name string) toolmark.Value {
	v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(m toolmark.Member) bool { return m.Name == name })
	return v
}

// with gives an object whose member of that name has another value.
func with(v toolmark.Value, name string, value toolmark.Value) toolmark.Value {
	v.Members = slices.Clone(v.Members)
	for i := range v.Members {
		if v.Members[i].Name == name {
			v.Members[i].Value = value
		}
	}
	return v
}

// repeated gives the first member of v that stands twice, nil where none does.
func repeated(v *toolmark.Value) *toolmark.Member {
	seen := make(map[string]bool, len(v.Members))
	for i := range v.Members {
		if m := &v.Members[i]; seen[m.Name] {
			return m
		}
		seen[v.Members[i].Name] = true
	}
	return nil
}

// nearest follows a JSON Pointer (RFC 6901) as far as it goes. Whole reports whether that
// was to its end. Of members of one name the last counts.
func nearest(v *toolmark.Value, pointer string) (at *toolmark.Value, whole bool) {
	if pointer == "" {
		return v, true
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		var next *toolmark.Value
		switch v.Kind {
		case toolmark.KindObject:
			next = v.Get(token)
		case toolmark.KindArray:
			if i, ok := index(token); ok && i < len(v.Items) {
				next = &v.Items[i]
			}
		}
		if next == nil || next.Kind == toolmark.KindAbsent {
			return v, false
		}
		v = next
	}
	return v, true
}

// index reads a reference token as an array's index.
func index(token string) (n int, ok bool) {
	if token == "" || len(token) > 9 || len(token) > 1 && token[0] == '0' {
		return 0, false
	}
	for _, c := range []byte(token) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
