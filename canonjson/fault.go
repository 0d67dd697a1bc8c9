package canonjson

import (
	"strconv"

	"github.com/toolmark/toolmark"
)

// Fault is one thing in a value that JSON's grammar allows and its readers do not
// agree on.
type Fault struct {
	// Code is CodeDuplicateKey, CodeLoneSurrogate or CodeInexactNumber.
	Code toolmark.Code
	// Pointer is the JSON Pointer (RFC 6901) of the value, or of the member whose
	// name is at fault. Hostile, WTF-8.
	Pointer string
	// Start and End are the code points of a lone surrogate in its string; both are
	// 0 for the other faults, which are about a value as a whole.
	Start, End int
	// Name tells a fault in the member's name from one in its value.
	Name bool
}

// Bounds of what Faults returns. A hostile megabyte could hold a fault every three
// bytes behind a pointer of half a megabyte.
const (
	// MaxFaults is the most faults.
	MaxFaults = 1000
	// MaxFaultBytes is the most bytes of all pointers together; the fault that
	// passes it is the last.
	MaxFaultBytes = 1 << 20
)

// Faults lists every duplicate key (once for each key and object), lone surrogate (in
// names too) and number whose value RFC 8785 cannot print (see AppendJCS), in the
// order of the input, up to MaxFaults and MaxFaultBytes. It is empty if and only if
// AppendJCS accepts v.
func Faults(v *toolmark.Value) []Fault {
	var w faultWalk
	w.value(v)
	return w.faults
}

type faultWalk struct {
	faults []Fault
	path   []byte // the pointer of the value being looked at
	bytes  int
}

func (w *faultWalk) full() bool {
	return len(w.faults) >= MaxFaults || w.bytes > MaxFaultBytes
}

func (w *faultWalk) add(f Fault) {
	if w.full() {
		return
	}
	if n := len(w.faults); n > 0 && w.faults[n-1].Pointer == string(w.path) {
		f.Pointer = w.faults[n-1].Pointer
	} else {
		f.Pointer = string(w.path)
		w.bytes += len(w.path)
	}
	w.faults = append(w.faults, f)
}

func (w *faultWalk) value(v *toolmark.Value) {
	if w.full() {
		return
	}
	switch v.Kind {
	case toolmark.KindString:
		w.surrogates(v.Text, false)
	case toolmark.KindNumber:
		if _, ok := survives(v.Text); !ok {
			w.add(Fault{Code: toolmark.CodeInexactNumber})
		}
	case toolmark.KindArray:
		base := len(w.path)
		for i := range v.Items {
			w.path = strconv.AppendInt(append(w.path[:base], '/'), int64(i), 10)
			w.value(&v.Items[i])
		}
		w.path = w.path[:base]
	case toolmark.KindObject:
		base := len(w.path)
		seen := names{members: v.Members}
		for i := range v.Members {
			m := &v.Members[i]
			w.path = append(append(w.path[:base], '/'), toolmark.EscapePointer(m.Name)...)
			switch seen.times(i) {
			case 0:
				w.surrogates(m.Name, true)
			case 1:
				w.add(Fault{Code: toolmark.CodeDuplicateKey, Name: true})
			}
			w.value(&m.Value)
		}
		w.path = w.path[:base]
	}
}

func (w *faultWalk) surrogates(s string, name bool) {
	if !hasSurrogate(s) {
		return
	}
	for i, n := 0, 0; i < len(s) && !w.full(); n++ {
		r, size := toolmark.DecodeRune(s[i:])
		if toolmark.IsSurrogate(r) {
			w.add(Fault{Code: toolmark.CodeLoneSurrogate, Start: n, End: n + 1, Name: name})
		}
		i += size
	}
}

// names counts how often the names of one object have stood before.
type names struct {
	members []toolmark.Member
	counts  map[string]int // only for many members
}

// times gives how often the name of member i stands among those before it. It must be
// asked for each i in turn.
func (n *names) times(i int) int {
	name := n.members[i].Name
	if len(n.members) > 16 {
		if n.counts == nil {
			n.counts = make(map[string]int, len(n.members))
		}
		n.counts[name]++
		return n.counts[name] - 1
	}
	times := 0
	for k := range i {
		if n.members[k].Name == name {
			times++
		}
	}
	return times
}

// FirstDuplicate gives the first member name of an object that has stood before in the
// same object, and whether there is one.
func FirstDuplicate(v *toolmark.Value) (name string, found bool) {
	seen := names{members: v.Members}
	for i := range v.Members {
		if seen.times(i) > 0 {
			return v.Members[i].Name, true
		}
	}
	return "", false
}
