package atr

import (
	"cmp"
	"sync"
	"time"

	"github.com/toolmark/toolmark"
)

// Pack is the rules of one version of the package, ready to match. It does not change
// and may be used from several goroutines.
type Pack struct {
	version  string
	total    int // rules in the package
	idle     int // rules that run, but only on fields that a tool's text is not
	rules    []Rule
	patterns []*pattern
	index    index
	sets     int

	// Found from the above.
	triggered [][]trigger // per set: patterns that are looked at when it is hit
	always    []int32     // patterns that are always looked at
	usedBy    [][]int32   // per pattern: rules
	allOf     []int32     // rules of which all conditions must hold

	mu       sync.Mutex // guards interner, while patterns are parsed
	interner interner
	branches map[string][]*node // of patterns that are split

	// patience is how long one pattern with back-references may look at one stretch of one
	// text.
	patience time.Duration

	pool sync.Pool // of *matcher
}

// Rule is a rule that can match the text of a tool.
type Rule struct {
	ID       string
	Title    string
	Severity string // as the author rates it: critical, high, medium, low, informational
	Maturity string // stable, test, experimental or draft
	// Confidence is what the engine of the package says of a match, from 0 to 1.
	Confidence float64

	all        bool
	conditions []int32 // patterns; -1: a field that is not read
}

// Grade is the severity of a finding of the rule: medium where its maturity is stable
// or test and its confidence at least 0.8, else info. Never more.
func (r *Rule) Grade() toolmark.Severity {
	if (r.Maturity == "stable" || r.Maturity == "test") && r.Confidence >= 0.8 {
		return toolmark.Medium
	}
	return toolmark.Info
}

// Version is the version of the package, such as "4.0.0".
func (p *Pack) Version() string { return p.version }

// Total is the number of rules in the package, those included that do not run here.
func (p *Pack) Total() int { return p.total }

// Rules gives the rules that can match the text of a tool, by id.
func (p *Pack) Rules() []Rule { return p.rules }

// Rule gives the rule of that id.
func (p *Pack) Rule(id string) (Rule, bool) {
	for i := range p.rules {
		if p.rules[i].ID == id {
			return p.rules[i], true
		}
	}
	return Rule{}, false
}

// pattern is one expression and what is known of it without reading it.
type pattern struct {
	source   string
	branch   int32 // only this one of branchesOf; -1: all of it
	unicode  bool  // the u flag
	other    bool  // each match holds a character above ASCII
	suppress bool
	backrefs bool
	needs    []patternNeed // the rarest first
	must     []mask        // sets of characters of which each match holds one
	head     []mask        // none, or the set in which a text's first character must be
	width    span
	sight    int32

	once sync.Once
	root *node
	slow *backtracker
	err  error
}

// trigger is a pattern with the sets of its other needs, so that most patterns are done
// with before they are looked at.
type trigger struct {
	pattern int32
	others  [maxNeeds - 1]int32 // its own first set again where it has fewer
}

type patternNeed struct {
	set    int32
	before span
}

// link makes what is found from the rules and patterns.
func (p *Pack) link() {
	p.index.build(p.sets)
	p.patience = cmp.Or(p.patience, backtrackTime)
	p.triggered = make([][]trigger, p.sets)
	p.usedBy = make([][]int32, len(p.patterns))
	for i, pat := range p.patterns {
		if len(pat.needs) == 0 {
			p.always = append(p.always, int32(i))
			continue
		}
		set := pat.needs[0].set
		t := trigger{pattern: int32(i)}
		for k := range t.others {
			t.others[k] = set
			if k+1 < len(pat.needs) {
				t.others[k] = pat.needs[k+1].set
			}
		}
		p.triggered[set] = append(p.triggered[set], t)
	}
	for i := range p.rules {
		if p.rules[i].all {
			p.allOf = append(p.allOf, int32(i))
		}
		for _, n := range p.rules[i].conditions {
			if n >= 0 {
				p.usedBy[n] = append(p.usedBy[n], int32(i))
			}
		}
	}
}

// tree gives the expression of a pattern, read when it is first needed. It was read
// once when the pack was made, so an error means a pack of another build.
func (p *Pack) tree(pat *pattern) (*node, error) {
	pat.once.Do(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		branches := p.branches[pat.source]
		if branches == nil {
			root, _, err := parse(pat.source, pat.unicode, &p.interner)
			if pat.err = err; err != nil {
				return
			}
			branches = []*node{root}
			if pat.branch >= 0 {
				branches = branchesOf(root)
				if p.branches == nil {
					p.branches = map[string][]*node{}
				}
				p.branches[pat.source] = branches
			}
		}
		root := branches[max(pat.branch, 0)]
		pat.root = root
		if pat.backrefs {
			pat.slow, pat.err = backtracking(pat)
		}
	})
	return pat.root, pat.err
}
