package shadow

import (
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/textcheck"
)

// How two names are alike, from the strongest to the weakest.
const (
	MatchExact      = "exact"      // the same code points
	MatchCase       = "case"       // the same, ignoring case
	MatchNormalized = "normalized" // the same after NFKC, case folding and unifying separators
	MatchConfusable = "confusable" // the same UTS #39 skeleton
	MatchNear       = "near"       // one slip of the pen apart
	MatchReference  = "reference"  // named in another tool's text
)

// Names knows the names of one server's tools and of the other servers'. It remembers
// what it looked for, so it is for one scan and not for several goroutines.
type Names struct {
	own      map[string]bool  // normalised names of this server's tools
	tools    []toolmark.Tool  // this server's
	members  map[string]bool  // names of the members in them: parameters, fields; nil until asked for
	others   []other          // in the order given
	byNorm   map[string][]int // normalised name → others
	bySkel   map[string][]int // skeleton → others
	byLength map[int][]int    // bytes of the normalised name → others
	near     map[string][]int // nearKeys → others
	server   map[string]bool  // normalised names of the other servers
	slips    map[slipKey]int  // words that were looked for before → others, -1 for none
	clean    map[string]bool  // sentences in which nothing was found before
}

type other struct {
	server, tool string
	norm         string
}

// NewNames indexes names; matching a tool afterwards costs no more with 50 other
// servers than with one.
func NewNames(tools []toolmark.Tool, others []toolmark.OtherServer) *Names {
	n := &Names{
		own: make(map[string]bool, len(tools)), tools: tools,
		byNorm: map[string][]int{}, bySkel: map[string][]int{}, byLength: map[int][]int{}, near: map[string][]int{},
		server: map[string]bool{}, slips: map[slipKey]int{}, clean: map[string]bool{},
	}
	for i := range tools {
		n.own[textcheck.NormalName(tools[i].Name)] = true
	}
	for _, server := range others {
		n.server[textcheck.NormalName(server.Name)] = true
		for _, tool := range server.Tools {
			at := len(n.others)
			o := other{server: server.Name, tool: tool, norm: textcheck.NormalName(tool)}
			n.others = append(n.others, o)
			n.byNorm[o.norm] = append(n.byNorm[o.norm], at)
			skeleton := textcheck.NameSkeleton(tool)
			n.bySkel[skeleton] = append(n.bySkel[skeleton], at)
			if len(n.byNorm[o.norm]) == 1 { // each name once is enough
				n.byLength[len(o.norm)] = append(n.byLength[len(o.norm)], at)
			}
			for _, key := range nearKeys(o.norm) {
				n.near[key] = append(n.near[key], at)
			}
		}
	}
	return n
}

// member reports whether a token, or its normalised form, is the name of a member of
// this server's tools. Not every list has a text in which it matters, so they are read
// when first asked for.
func (n *Names) member(token, norm string) bool {
	if n.members == nil {
		n.members = map[string]bool{}
		for i := range n.tools {
			n.addMembers(n.tools[i].Tree)
		}
	}
	return n.members[token] || n.members[norm]
}

// addMembers notes the names of parameters and fields, and the values that they may
// take: a text that speaks of one speaks of no tool.
func (n *Names) addMembers(v *toolmark.Value) {
	if v.Kind == toolmark.KindString && len(v.Text) <= longestNear && !strings.ContainsAny(v.Text, " \n") {
		n.members[v.Text] = true
	}
	for i := range v.Items {
		n.addMembers(&v.Items[i])
	}
	for i := range v.Members {
		n.members[v.Members[i].Name] = true
		n.addMembers(&v.Members[i].Value)
	}
}

// ByName reports each tool of another server whose name this one has, or seems to
// have: one finding for each, high; a near miss is medium, since it may be chance.
func (n *Names) ByName(tool string, index int) []toolmark.Finding {
	if len(n.others) == 0 {
		return nil
	}
	norm := textcheck.NormalName(tool)
	matched := map[int]string{}
	for _, at := range n.byNorm[norm] {
		switch o := n.others[at]; {
		case o.tool == tool:
			matched[at] = MatchExact
		case strings.EqualFold(o.tool, tool):
			matched[at] = MatchCase
		default:
			matched[at] = MatchNormalized
		}
	}
	for _, at := range n.bySkel[textcheck.NameSkeleton(tool)] {
		if matched[at] == "" {
			matched[at] = MatchConfusable
		}
	}
	if len(matched) == 0 {
		for _, key := range nearKeys(norm) {
			for _, at := range n.near[key] {
				if slip(norm, n.others[at].norm) && !n.own[n.others[at].norm] {
					matched[at] = MatchNear
				}
			}
		}
	}
	var findings []toolmark.Finding
	for at := range n.others {
		match, ok := matched[at]
		if !ok {
			continue
		}
		severity, reason := toolmark.High, "The tool has the same name as a tool of another server"
		switch match {
		case MatchCase:
			reason = "The tool's name differs only in case from that of another server's tool"
		case MatchNormalized:
			reason = "The tool's name becomes the same as that of another server's tool once a client normalises it"
		case MatchConfusable:
			reason = "The tool's name looks the same as that of another server's tool"
		case MatchNear:
			severity, reason = toolmark.Medium, "The tool's name is one slip of the pen away from that of another server's tool"
		}
		findings = append(findings, toolmark.Finding{
			Code: toolmark.CodeShadowing, Tool: toolmark.Text(tool), Index: index, Severity: severity, Reason: reason,
			Details: toolmark.ShadowDetails{
				ShadowedServerName: toolmark.Text(n.others[at].server),
				ShadowedToolName:   toolmark.Text(n.others[at].tool),
				Match:              match,
			},
		})
	}
	return findings
}

// Names of other lengths have no near misses: many honest short ones are that close.
const shortestNear, longestNear = 6, 64

// nearKeys gives keys of which two names one slip apart share at least one.
func nearKeys(norm string) []string {
	if len(norm) < shortestNear || len(norm) > longestNear {
		return nil
	}
	sorted := []byte(norm)
	slices.Sort(sorted)
	return []string{"single " + undouble(norm), "letters " + string(sorted)}
}

// slip reports whether b is a with one letter doubled or left single, or with two
// neighbouring letters exchanged: what a typo-squatter does and a vendor's plural
// (get_role, get_roles) is not.
func slip(a, b string) bool {
	if a == b {
		return false
	}
	if len(a) == len(b) {
		for i := 0; i+1 < len(a); i++ {
			if a[i] != b[i] {
				return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
			}
		}
		return false
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) != 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i > 0 && b[i] == b[i-1] && letter(b[i]) && a[i:] == b[i+1:]
}

func undouble(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if i == 0 || s[i] != s[i-1] {
			out = append(out, s[i])
		}
	}
	return string(out)
}

func letter(b byte) bool { return b >= 'a' && b <= 'z' }
