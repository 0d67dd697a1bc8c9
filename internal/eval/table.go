package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/rule"
)

// printTables prints the figures for a terminal.
func printTables(out io.Writer, results []result, set *rule.Set) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, tier := range []string{"tool", "snippet"} {
		fmt.Fprintf(w, "poisoned, tier %s\tcases\texpect met\tE001\tE001 high\n", tier)
		for _, by := range []struct {
			name string
			of   func(*result) string
		}{{"source", func(r *result) string { return r.source }}, {"kind", func(r *result) string { return r.kind }}} {
			for _, key := range keysOf(results, inTier(poisoned, tier), by.of) {
				want := func(r *result) bool { return inTier(poisoned, tier)(r) && by.of(r) == key }
				printRecall(w, "  "+by.name+" "+key, results, want)
			}
		}
		printRecall(w, "  all", results, inTier(poisoned, tier))
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "honest\ttools\thigh\tmedium")
	printAlarms(w, "  benign", results, in(benign))
	printAlarms(w, "  history", results, in(history))
	printAlarms(w, "  hard-benign", results, inTier(hardBenign, "hard-benign"))
	printAlarms(w, "  hard-benign-labelled", results, inTier(hardBenign, "hard-benign-labelled"))
	fmt.Fprintln(w)
	for _, part := range parts {
		fmt.Fprintf(w, "own cases, %s\tattacks\tE001\tE001 high\thonest tools\thigh\tmedium\n", part)
		for _, lang := range append(keysOf(results, inOwn(part, ""), func(r *result) string { return r.source }), "") {
			want := inOwn(part, lang)
			if lang == "" {
				lang = "all"
			}
			medium, high := poisonings(results, toolmark.Medium, want), alarms(results, toolmark.High, want)
			fmt.Fprintf(w, "  %s\t%d\t%s\t%s\t%d\t%s\t%s\n", lang, medium.of, percent(medium), percent(poisonings(results, toolmark.High, want)),
				high.of, numbers(high), numbers(alarms(results, toolmark.Medium, want)))
		}
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "rule\tseverity\tattacks\tsources\tkinds\talone\thonest high\tmedium\tinfo")
	for _, u := range usage(results, set) {
		fmt.Fprintf(w, "  %s\t%v\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", u.id, u.label, u.cases, len(u.sources), len(u.kinds), u.alone, u.honest[toolmark.High], u.honest[toolmark.Medium], u.honest[toolmark.Info])
	}
	w.Flush()
}

func printRecall(w io.Writer, name string, results []result, want func(*result) bool) {
	all, e001, high := recall(results, want), poisonings(results, toolmark.Medium, want), poisonings(results, toolmark.High, want)
	fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", name, all.of, percent(all), percent(e001), percent(high))
}

func printAlarms(w io.Writer, name string, results []result, want func(*result) bool) {
	high, medium := alarms(results, toolmark.High, want), alarms(results, toolmark.Medium, want)
	fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", name, high.of, numbers(high), numbers(medium))
}

func percent(c count) string {
	if c.of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%% (%d/%d)", 100*c.share(), c.n, c.of)
}

func numbers(c count) string { return fmt.Sprintf("%d (%.2f%%)", c.n, 100*c.share()) }

func keysOf(results []result, want func(*result) bool, of func(*result) string) []string {
	keys := map[string]bool{}
	for i := range results {
		if want(&results[i]) {
			keys[of(&results[i])] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// ruleUse says what one rule gives and costs.
type ruleUse struct {
	id             string
	severity       toolmark.Severity
	label          string // the severity, or a signal's weight
	signal         bool
	cases, alone   int // attacks it matched; attacks no other rule matched at medium or above
	sources, kinds map[string]bool
	honest         map[toolmark.Severity]int // honest tools by severity of the match
}

func usage(results []result, set *rule.Set) []ruleUse {
	uses := map[string]*ruleUse{}
	for _, r := range set.Rules() {
		uses[r.ID] = &ruleUse{id: r.ID, severity: r.Severity, label: severityOf(r), signal: r.Weight != 0, sources: map[string]bool{}, kinds: map[string]bool{}, honest: map[toolmark.Severity]int{}}
	}
	for i := range results {
		r := &results[i]
		matched := map[string]bool{}
		for j := range r.hits {
			h := &r.hits[j]
			for _, id := range h.rules {
				// A finding is as severe as the worst rule in it.
				severity := min(h.severity, uses[id].severity)
				if uses[id].signal {
					severity = h.severity // it stands there because it counted
				}
				switch {
				case r.corpus.honest():
					uses[id].honest[severity]++
				case r.corpus == poisoned && severity >= toolmark.Medium:
					matched[id] = true
				}
			}
		}
		for id := range matched {
			uses[id].cases++
			uses[id].sources[r.source] = true
			uses[id].kinds[r.kind] = true
			if len(matched) == 1 {
				uses[id].alone++
			}
		}
	}
	list := make([]ruleUse, 0, len(uses))
	for _, u := range uses {
		list = append(list, *u)
	}
	slices.SortFunc(list, func(a, b ruleUse) int { return cmp.Or(cmp.Compare(b.cases, a.cases), cmp.Compare(a.id, b.id)) })
	return list
}

// showCases prints single cases: the missed ones, the alarms, or those whose id
// holds a text; none of the unseen and the blind part.
func showCases(out io.Writer, results []result, which string) {
	for i := range results {
		r := &results[i]
		if r.tier == "unseen" || r.tier == "blind" {
			continue // nobody who writes rules is to read these
		}
		switch which {
		case "missed":
			if r.met {
				continue
			}
		case "alarms":
			if !r.corpus.honest() || !slices.ContainsFunc(r.hits, func(h hit) bool { return h.severity >= toolmark.Medium }) {
				continue
			}
		default:
			if !strings.Contains(r.id, which) {
				continue
			}
		}
		fmt.Fprintf(out, "%s %s %s %s expects %v\n", r.corpus, r.tier, r.id, r.kind, r.expect)
		for j := range r.hits {
			h := &r.hits[j]
			if which == "alarms" && h.severity < toolmark.Medium {
				continue
			}
			fmt.Fprintf(out, "   %s %v %q %v\n", h.code, h.severity, h.tool, h.rules)
			for _, e := range h.excerpts {
				fmt.Fprintf(out, "      %+q\n", e)
			}
		}
	}
}
