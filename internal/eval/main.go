// Command eval measures detection: it scans the corpora beside the checkout and the
// project's own cases with the built-in rules, prints what was found by source, kind
// and tier, and writes docs/detection.md. With -rules-doc it writes docs/rules.md
// from the built-in rules instead, for which no corpus is needed.
//
// It states figures and never changes a rule. The texts it reads are hostile: it
// prints of them only names and, with -show, escaped excerpts, and writes none of
// them to a document.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/toolmark/toolmark/rulepack"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("eval", flag.ContinueOnError)
	shared := flags.String("shared", "../shared", "folder that holds corpus/")
	own := flags.String("own", "testdata/detection", "folder of the project's own cases")
	doc := flags.String("doc", "docs/detection.md", "where the figures are written; empty for nowhere")
	rulesDoc := flags.Bool("rules-doc", false, "write docs/rules.md and measure nothing")
	show := flags.String("show", "", "print cases one by one: missed, alarms, or a part of a case's id")
	if err := flags.Parse(args); err != nil {
		return err
	}
	set, err := rulepack.Builtin()
	if err != nil {
		return err
	}
	if *rulesDoc {
		text, err := rulesDocument(set)
		if err != nil {
			return err
		}
		return os.WriteFile("docs/rules.md", text, 0o644)
	}
	cases, err := readCorpora(*shared, *own)
	if err != nil {
		return err
	}
	results, err := measure(cases, set)
	if err != nil {
		return err
	}
	if *show != "" {
		showCases(out, results, *show)
		return nil
	}
	printTables(out, results, set)
	if *doc == "" {
		return nil
	}
	return os.WriteFile(*doc, detectionDocument(results, set), 0o644)
}
