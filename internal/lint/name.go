package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolmark/toolmark"
)

// toolName is what the MCP specification asks of a name (2025-11-25, Tools, Tool Names).
var toolName = lazily(`^[A-Za-z0-9_.-]{1,128}$`)

// lazily compiles a regular expression when it is first asked for: a program that lints
// nothing does without.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// clientLength is the most characters that clients leave a name: model interfaces take 64.
const clientLength = 64

// names checks the names of the tools, and which of them clients fold into one (L110).
func (c *collector) names(m *toolmark.Manifest) {
	groups := map[string][]int{}
	for i := range m.Tools {
		name := m.Tools[i].Name
		if !toolName().MatchString(name) {
			kind, what := "characters", "The name has characters outside A-Z a-z 0-9 _ . - and clients refuse or rewrite it"
			if toolmark.CodePoints(name) > 128 {
				kind, what = "length", "The name has more than the 128 characters that the specification allows"
			}
			c.add(m, i, toolmark.CodeAwkwardName, toolmark.Medium, what,
				toolmark.AdviceDetails{Kind: kind, Locations: []toolmark.Location{{Pointer: "/name", Excerpt: excerpt(name)}}})
		}
		folded := clientName(name)
		groups[folded] = append(groups[folded], i)
	}
	for _, group := range groups {
		var names []toolmark.Text
		for _, i := range group {
			if name := toolmark.Text(m.Tools[i].Name); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		// The same name twice is W022; here it is about names that differ as sent.
		if len(names) < 2 {
			continue
		}
		c.add(m, group[0], toolmark.CodeAwkwardName, toolmark.Medium,
			fmt.Sprintf("Clients that fold names make one of these %d", len(names)),
			toolmark.AdviceDetails{Kind: "collision", Names: names, Locations: []toolmark.Location{{Pointer: "/name"}}})
	}
}

// clientName is a name as clients fold it for a model's interface: lower case, what is not
// a letter, digit, _ or - as _, cut at 64 characters.
func clientName(name string) string {
	folded := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, name)
	return folded[:min(len(folded), clientLength)]
}
