package rule

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"github.com/toolmark/toolmark"
)

// Act says what the text that a rule looks for does.
type Act string

// The acts. The list is closed: a rule that fits none needs a new one here first.
const (
	ActOrder         Act = "order"           // gives the model an order, under a tag or a heading
	ActConcealment   Act = "concealment"     // hides something from the user
	ActExfiltration  Act = "exfiltration"    // takes a secret or a file to a sink
	ActCollection    Act = "collection"      // demands files, environment, conversation or system prompt
	ActPrecedence    Act = "precedence"      // claims to come before other tools
	ActRedirection   Act = "redirection"     // changes what another tool gets or does
	ActDisabling     Act = "disabling"       // keeps another tool or a safeguard from being used
	ActOverride      Act = "override"        // revokes earlier instructions
	ActAuthority     Act = "false-authority" // claims to speak for the system, the vendor or the user
	ActConsentBypass Act = "consent"         // acts without asking, or says that consent was given
	ActPersistence   Act = "persistence"     // makes an order last beyond this call
	ActExecution     Act = "execution"       // orders a shell command, a download or code to run
	ActEvasion       Act = "evasion"         // hides the text itself or switches off a check
	ActSteering      Act = "steering"        // bends what the user is told: hides, invents, advertises
)

// Acts lists every act in the order above.
func Acts() []Act {
	return []Act{
		ActOrder, ActConcealment, ActExfiltration, ActCollection, ActPrecedence, ActRedirection, ActDisabling,
		ActOverride, ActAuthority, ActConsentBypass, ActPersistence, ActExecution, ActEvasion, ActSteering,
	}
}

// ParseAct reads an act; an unknown one is an error.
func ParseAct(text string) (Act, error) {
	if slices.Contains(Acts(), Act(text)) {
		return Act(text), nil
	}
	return "", fmt.Errorf("unknown act %q: one of %v", text, Acts())
}

// Span is the stretch of text in which an alternative must hold.
type Span string

// The spans.
const (
	SpanSentence Span = "sentence" // one sentence
	SpanPair     Span = "pair"     // a sentence and the next
	SpanField    Span = "field"    // the whole text of a field
	SpanTool     Span = "tool"     // all texts of a tool, joined in order
)

// Rule is one rule: what it looks for, why, and what to do about it. It is not to
// be changed after Load.
type Rule struct {
	// ID is permanent: suppressions, lockfiles and reports name it.
	ID string
	// Title, Explain and Fix are plain English: what the text does, why that matters,
	// and what the author of an honest tool writes instead.
	Title, Explain, Fix string
	Act                 Act
	// Severity is that of a match; for a signal it is toolmark.Info.
	Severity toolmark.Severity
	// Weight is not 0 for a signal: a rule that says nothing by itself and counts in a
	// score together with others. Below 0 it speaks against an attack.
	Weight     int
	References []string
	// Surfaces are the surfaces the rule reads; none means every surface.
	Surfaces []toolmark.Surface
	// Readings are the names of the readings it looks at; none means every reading.
	Readings []string
	// File is the path of the file it was loaded from. Those that extend it add to its
	// alternatives and examples.
	File string

	alternatives []*alternative
	unless       []*excuse
	downgrade    []*excuse
	surfaces     surfaceMask
	index        int

	sources []exampleSource // one for each file
}

// Reference gives the opaque reference of the rule with that id, as it stands in
// findings: the first 8 hex digits of the SHA-256 of the id.
func Reference(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:4])
}

// Reference gives the rule's opaque reference.
func (r *Rule) Reference() string { return Reference(r.ID) }

// Alternatives gives the ids of the rule's alternatives in order.
func (r *Rule) Alternatives() []string {
	ids := make([]string, len(r.alternatives))
	for i, a := range r.alternatives {
		ids[i] = a.id
	}
	return ids
}

// surfaceMask is a set of surfaces; zero means all.
type surfaceMask uint32

func maskOf(surfaces []toolmark.Surface) surfaceMask {
	var mask surfaceMask
	for _, s := range surfaces {
		mask |= surfaceBit(s)
	}
	return mask
}

var surfaceNumbers = sync.OnceValue(func() map[toolmark.Surface]int {
	numbers := map[toolmark.Surface]int{}
	for i, s := range toolmark.Surfaces() {
		numbers[s] = i
	}
	return numbers
})

func surfaceBit(s toolmark.Surface) surfaceMask {
	n, ok := surfaceNumbers()[s]
	if !ok {
		n = 31
	}
	return 1 << n
}

func (m surfaceMask) has(bit surfaceMask) bool { return m == 0 || m&bit != 0 }

// alternative is one way in which a rule can match: conditions that hold together
// inside one span. All but those written with `all` have a single condition.
type alternative struct {
	rule       *Rule
	id         string
	span       Span
	conditions []*condition
	unless     []*excuse
	downgrade  []*excuse
	file       string
	line       int
	order      int // place in the whole set
}

// condition is one thing to find: a regular expression or words near each other.
type condition struct {
	regex *pattern
	near  *near
}

// excuse takes back or weakens a match by what stands around it.
type excuse struct {
	condition        // neither regex nor near: only quoted counts
	quoted    bool   // the match stands inside quotation marks
	scope     string // sentence, clause
	around    int    // code points on both sides, in place of scope
	number    int    // place among the excuses of the set, plus one
}

// near asks for words of some families, close together.
type near struct {
	families []*family
	orders   [][]int // the orders in which the families may stand
	within   int     // words
	without  []*family
	opens    []*family // the words that may stand before the first family in its clause
	opening  bool
	clause   bool // all in one clause
	negated  bool // skip where a negation governs the first family
	not      *family
	omit     *family
	notAfter *family
}
