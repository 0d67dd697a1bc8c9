package shadow

import (
	"fmt"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/textcheck"
)

// Duplicates reports tools of one server that share a name (W022): one finding for
// each group of names that are the same exactly, but for case, after a client's
// normalisation, or to the eye. The finding stands at the group's first tool.
func Duplicates(tools []toolmark.Tool) []toolmark.Finding {
	groups := make([]int, len(tools)) // tool → first tool of its group
	first := map[string]int{}
	find := func(i int) int {
		for groups[i] != i {
			groups[i] = groups[groups[i]]
			i = groups[i]
		}
		return i
	}
	for i := range tools {
		groups[i] = i
		norm := textcheck.NormalName(tools[i].Name)
		for _, key := range [...]string{"name " + norm, "look " + textcheck.NameSkeleton(tools[i].Name)} {
			j, seen := first[key]
			if !seen {
				first[key] = i
				continue
			}
			if a, b := find(i), find(j); a != b {
				groups[max(a, b)] = min(a, b)
			}
		}
	}
	members := make([][]int, len(tools))
	for i := range tools {
		members[find(i)] = append(members[find(i)], i)
	}
	var findings []toolmark.Finding
	for _, group := range members {
		if len(group) > 1 {
			findings = append(findings, duplicate(tools, group))
		}
	}
	return findings
}

func duplicate(tools []toolmark.Tool, group []int) toolmark.Finding {
	one := tools[group[0]].Name
	names := make([]toolmark.Text, len(group))
	match := MatchExact
	for i, at := range group {
		name := tools[at].Name
		names[i] = toolmark.Text(name)
		match = weaker(match, alike(one, name))
	}
	how := map[string]string{
		MatchExact:      "have the same name",
		MatchCase:       "have the same name, ignoring case",
		MatchNormalized: "have the same name once a client normalises it",
		MatchConfusable: "have names that look the same",
	}[match]
	return toolmark.Finding{
		Code: toolmark.CodeDuplicateName, Tool: toolmark.Text(one), Index: group[0], Severity: toolmark.Medium,
		Reason:  fmt.Sprintf("%d tools of this server %s; which one an agent calls is up to its client", len(group), how),
		Details: toolmark.DuplicateNameDetails{Count: len(group), Names: names, Match: match},
	}
}

func alike(a, b string) string {
	switch {
	case a == b:
		return MatchExact
	case strings.EqualFold(a, b):
		return MatchCase
	case textcheck.NormalName(a) == textcheck.NormalName(b):
		return MatchNormalized
	}
	return MatchConfusable
}

func weaker(a, b string) string {
	order := map[string]int{MatchExact: 0, MatchCase: 1, MatchNormalized: 2, MatchConfusable: 3}
	if order[b] > order[a] {
		return b
	}
	return a
}
