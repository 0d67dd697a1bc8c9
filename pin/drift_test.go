package pin_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/pin"
)

func text(v *toolmark.Value) string { return string(canonjson.Append(nil, v)) }

// equal is an equality of its own: members in any order, everything else as written.
func equal(a, b *toolmark.Value) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	for i := range a.Items {
		if !equal(&a.Items[i], &b.Items[i]) {
			return false
		}
	}
	used := make([]bool, len(b.Members))
	for i := range a.Members {
		at := -1
		for k := range b.Members {
			if !used[k] && a.Members[i].Name == b.Members[k].Name {
				at = k
				break
			}
		}
		if at < 0 || !equal(&a.Members[i].Value, &b.Members[at].Value) {
			return false
		}
		used[at] = true
	}
	return true
}

// show gives a drift as lines.
func show(d *pin.Drift) string {
	var b strings.Builder
	for i := range d.Changes {
		c := &d.Changes[i]
		fmt.Fprintf(&b, "\n  %s %v %s %s %s %q %q: %s", c.Code, c.Severity, c.Op, c.Kind, c.Effect, c.Tool, c.Pointer, c.Reason)
	}
	return b.String()
}

// lines gives each change that is not neutral in short, sorted.
func lines(d *pin.Drift) []string {
	list := []string{}
	for i := range d.Changes {
		if c := &d.Changes[i]; !c.Neutral() {
			line := fmt.Sprintf("%s %s %s %s %s", c.Code, c.Severity, c.Tool, c.Kind, c.Pointer)
			if c.Effect != "" {
				line += " " + string(c.Effect)
			}
			list = append(list, line)
		}
	}
	slices.Sort(list)
	return list
}
