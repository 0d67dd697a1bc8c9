package license

import (
	"slices"
	"strings"
)

// Disclaimer is what every answer says.
const Disclaimer = "Not legal advice. The answer compares identifiers with two public tables (SPDX's list of licences, " +
	"the permissions table of choosealicense.com); it reads no licence text and knows nothing of your case."

// Verdict is what the tables say of a use.
type Verdict string

// The verdicts. Only Permitted says that something is permitted.
const (
	Permitted    Verdict = "permitted"
	NotPermitted Verdict = "not_permitted" // the table says that the licence does not grant it
	Unknown      Verdict = "unknown"       // the tables do not say
)

// rank orders verdicts from the worst.
func (v Verdict) rank() int {
	switch v {
	case Permitted:
		return 2
	case Unknown:
		return 1
	}
	return 0
}

func worse(a, b Verdict) Verdict {
	if a.rank() < b.rank() {
		return a
	}
	return b
}

// Use is something one may intend to do with licensed work.
type Use string

// The uses, in the order in which answers have them.
const (
	CommercialUse Use = "commercial_use"
	Modifications Use = "modifications"
	Distribution  Use = "distribution"
	PrivateUse    Use = "private_use"
	PatentUse     Use = "patent_use"
)

// Uses are all uses there are.
var Uses = []Use{CommercialUse, Modifications, Distribution, PrivateUse, PatentUse}

// UseVerdict is the verdict on one use.
type UseVerdict struct {
	Use     Use     `json:"use"`
	Verdict Verdict `json:"verdict"`
}

// Terms are what the tables say of an expression or a part of it.
type Terms struct {
	// License is the expression with the identifiers as SPDX writes them.
	License string `json:"license"`
	// Verdict is the worst of Uses.
	Verdict Verdict      `json:"verdict"`
	Uses    []UseVerdict `json:"uses"`
	// Conditions and Limitations are those of every licence that must be kept, by name:
	// words of choosealicense.com such as include-copyright, liability. They are not
	// complete where ConditionsKnown is false.
	Conditions      []string `json:"conditions"`
	Limitations     []string `json:"limitations"`
	ConditionsKnown bool     `json:"conditions_known"`
}

// Status says what is known of a licence.
type Status string

// The statuses.
const (
	StatusKnown     Status = "known"      // both tables have it
	StatusUnlisted  Status = "unlisted"   // on SPDX's list, not in the permissions table
	StatusUnknown   Status = "unknown_id" // not on SPDX's list
	StatusReference Status = "reference"  // LicenseRef-: only its author knows the text
)

// Licence is one licence of an expression.
type Licence struct {
	// ID is as SPDX writes it, or as it was sent where SPDX does not have it.
	ID     string `json:"id"`
	Status Status `json:"status"`
	// OrLater says that a later version may be chosen.
	OrLater    bool   `json:"or_later"`
	Deprecated bool   `json:"deprecated"`
	ReplacedBy string `json:"replaced_by,omitempty"`
	// Exception is that behind WITH; ExceptionKnown says that SPDX has it.
	Exception      string `json:"exception,omitempty"`
	ExceptionKnown bool   `json:"exception_known,omitempty"`
}

// Answer is what the tables say of an expression and the uses that are intended.
type Answer struct {
	// Terms are those of Choice where the expression leaves a choice.
	Terms
	// Choice is the expression with the best alternative chosen everywhere, "" where
	// there is nothing to choose.
	Choice string `json:"choice,omitempty"`
	// Alternatives are those between which the expression as a whole lets one choose.
	Alternatives []Terms `json:"alternatives"`
	// Licenses are the licences of the expression, in its order.
	Licenses   []Licence `json:"licenses"`
	Notes      []string  `json:"notes"`
	Disclaimer string    `json:"disclaimer"`
}

// Check answers for an expression and the uses that are intended; none means all. The
// error is a *SyntaxError, or says that the table cannot be read.
func Check(expression string, intended []Use) (*Answer, error) {
	t, err := facts()
	if err != nil {
		return nil, err
	}
	root, err := parse(expression)
	if err != nil {
		return nil, err
	}
	c := &check{table: t, noted: map[string]bool{}}
	for _, use := range Uses {
		if len(intended) == 0 || slices.Contains(intended, use) {
			c.uses = append(c.uses, use)
		}
	}
	chosen, alternatives, choice := c.node(root)
	a := &Answer{
		Terms: chosen, Alternatives: []Terms{}, Licenses: c.licences, Notes: c.notes, Disclaimer: Disclaimer,
	}
	a.License = c.write(root, false)
	if choice {
		a.Choice = chosen.License
	}
	if root.op == or {
		a.Alternatives = alternatives
	}
	if a.Notes == nil {
		a.Notes = []string{}
	}
	return a, nil
}

type check struct {
	table    *table
	uses     []Use
	licences []Licence
	notes    []string
	noted    map[string]bool
}

func (c *check) note(text string) {
	if !c.noted[text] {
		c.noted[text] = true
		c.notes = append(c.notes, text)
	}
}

// node gives the terms of a part with the best alternatives chosen, those of its own
// alternatives, and whether anything was chosen. Choosing in each OR by itself finds the
// best verdict of the whole: AND takes the worst of its parts, use by use, so a better
// part never makes the whole worse.
func (c *check) node(n *node) (best Terms, parts []Terms, choice bool) {
	if n.op == leaf {
		return c.leaf(n), nil, false
	}
	for _, part := range n.parts {
		terms, _, chosen := c.node(part)
		parts, choice = append(parts, terms), choice || chosen
	}
	if n.op == or {
		best = parts[0]
		for _, p := range parts[1:] {
			if better(&p, &best) {
				best = p
			}
		}
		return best, parts, true
	}
	return c.all(parts), parts, choice
}

// better reports whether a is the better choice: a better verdict, then more that is
// permitted, then conditions that are known, then fewer of them. Else the first stays.
func better(a, b *Terms) bool {
	if a.Verdict != b.Verdict {
		return a.Verdict.rank() > b.Verdict.rank()
	}
	if x, y := permitted(a), permitted(b); x != y {
		return x > y
	}
	if a.ConditionsKnown != b.ConditionsKnown {
		return a.ConditionsKnown
	}
	return len(a.Conditions) < len(b.Conditions)
}

func permitted(t *Terms) (n int) {
	for _, u := range t.Uses {
		if u.Verdict == Permitted {
			n++
		}
	}
	return n
}

// all gives the terms of parts that must all be kept.
func (c *check) all(parts []Terms) Terms {
	t := Terms{Verdict: Permitted, Conditions: []string{}, Limitations: []string{}, ConditionsKnown: true}
	for _, use := range c.uses {
		t.Uses = append(t.Uses, UseVerdict{use, Permitted})
	}
	var names []string
	for i := range parts {
		p := &parts[i]
		for j := range t.Uses {
			t.Uses[j].Verdict = worse(t.Uses[j].Verdict, p.Uses[j].Verdict)
		}
		t.Verdict = worse(t.Verdict, p.Verdict)
		t.Conditions = append(t.Conditions, p.Conditions...)
		t.Limitations = append(t.Limitations, p.Limitations...)
		t.ConditionsKnown = t.ConditionsKnown && p.ConditionsKnown
		names = append(names, p.License)
	}
	t.Conditions, t.Limitations = set(t.Conditions), set(t.Limitations)
	t.License = strings.Join(names, " AND ")
	return t
}

func set(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// leaf gives the terms of one licence.
func (c *check) leaf(n *node) Terms {
	l := Licence{ID: n.id, OrLater: n.plus, Exception: n.exception}
	e := c.table.licenses[strings.ToLower(n.id)]
	var flags *entry
	switch {
	case reference(n.id):
		l.Status = StatusReference
		c.note("What a LicenseRef stands for is known only to who wrote it; nothing is taken for permitted.")
	case e == nil:
		l.Status = StatusUnknown
		c.note("An identifier that is not on SPDX's list; nothing is taken for permitted.")
	default:
		l.ID, l.Deprecated, l.ReplacedBy = e.id, e.deprecated, replacements[e.id]
		l.OrLater = n.plus || strings.HasSuffix(e.id, "-or-later")
		if family, only := strings.CutSuffix(l.ReplacedBy, "-only"); only && n.plus {
			l.ReplacedBy = family + "-or-later"
		}
		if flags = c.table.flags(e); flags == nil && l.ReplacedBy != "" {
			flags = c.replacement(&l)
		}
		if flags == nil {
			l.Status = StatusUnlisted
			c.note("The permissions table of choosealicense.com does not have every licence of this expression; nothing is taken for permitted of those that it lacks.")
		} else {
			l.Status = StatusKnown
		}
		if e.deprecated {
			c.note("SPDX has deprecated an identifier of this expression; replaced_by says what to write instead, where it is one thing.")
		}
		if n.plus {
			c.note("The plus lets you choose a later version; the answer is for the version that is named.")
		}
	}
	if n.exception != "" {
		x := c.table.exceptions[strings.ToLower(n.exception)]
		if x == nil {
			flags = nil
			c.note("An exception that is not on SPDX's list may change anything; nothing is taken for permitted.")
		} else {
			l.Exception, l.ExceptionKnown = x.id, true
			c.note("An exception adds permissions to its licence; conditions are those of the licence without it.")
		}
	}
	c.licences = append(c.licences, l)
	return c.terms(c.write(n, true), flags)
}

// replacement gives the flags of the licence that replaces a deprecated one. An
// exception that the old identifier implies is noted like one that is written.
func (c *check) replacement(l *Licence) *entry {
	id, _, with := strings.Cut(l.ReplacedBy, " WITH ")
	if with {
		c.note("An exception adds permissions to its licence; conditions are those of the licence without it.")
	}
	if e := c.table.licenses[strings.ToLower(id)]; e != nil {
		return c.table.flags(e)
	}
	return nil
}

// flagOf are the uses as choosealicense.com names them.
var flagOf = map[Use]string{
	CommercialUse: "commercial-use", Modifications: "modifications", Distribution: "distribution",
	PrivateUse: "private-use", PatentUse: "patent-use",
}

func (c *check) terms(expression string, flags *entry) Terms {
	t := Terms{License: expression, Verdict: Permitted, Conditions: []string{}, Limitations: []string{}, ConditionsKnown: flags != nil}
	for _, use := range c.uses {
		verdict := Unknown
		if flags != nil {
			switch flag := flagOf[use]; {
			case has(flags.limitations, flag):
				verdict = NotPermitted
			case has(flags.permissions, flag):
				verdict = Permitted
			}
		}
		t.Uses = append(t.Uses, UseVerdict{use, verdict})
		t.Verdict = worse(t.Verdict, verdict)
	}
	if flags != nil {
		t.Conditions, t.Limitations = append(t.Conditions, flags.conditions...), append(t.Limitations, flags.limitations...)
	}
	return t
}

// write gives a part as SPDX writes it, with no more parentheses than it needs: around
// an OR inside an AND.
func (c *check) write(n *node, inAnd bool) string {
	if n.op == leaf {
		id := n.id
		if e := c.table.licenses[strings.ToLower(id)]; e != nil {
			id = e.id
		}
		if n.plus {
			id += "+"
		}
		if n.exception != "" {
			x := n.exception
			if e := c.table.exceptions[strings.ToLower(x)]; e != nil {
				x = e.id
			}
			id += " WITH " + x
		}
		return id
	}
	word := " AND "
	if n.op == or {
		word = " OR "
	}
	parts := make([]string, 0, len(n.parts))
	for _, p := range n.parts {
		parts = append(parts, c.write(p, n.op == and))
	}
	out := strings.Join(parts, word)
	if inAnd && n.op == or {
		return "(" + out + ")"
	}
	return out
}
