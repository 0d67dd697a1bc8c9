package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/rulepack"
)

func (p *program) rulesTestCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test [DIR]",
		Short: "Run the examples of the rules in a folder",
		Long: `Test loads the rules of a folder, which may use the built-in word families, and runs
their examples: each that must match is matched by the alternative it names, a clean
one by none, and no alternative is without an example that it alone matches. What
fails is printed with file and line. Without DIR it tests the built-in rules.

Exit codes: 0 all examples behave; 1 a rule does not load or an example does not
behave; 2 wrong use.`,
		Example: `  toolmark rules test ./my-rules`,
		Args:    cobra.MaximumNArgs(1),
		RunE: p.runs(func(_ *cobra.Command, args []string) error {
			set, err := p.loadRules()
			if err != nil {
				return err
			}
			folder := ""
			if len(args) == 1 {
				folder = args[0]
				if set, err = loadFolder(folder, set); err != nil {
					return p.rulesFailed(folder, err)
				}
			}
			if failures := set.Verify(); len(failures) > 0 {
				return p.rulesFailed(folder, errors.Join(failures...))
			}
			examples := 0
			for _, r := range set.Rules() {
				list, err := r.Examples()
				if err != nil {
					return p.rulesFailed(folder, err)
				}
				examples += len(list.Match) + len(list.Clean)
			}
			return p.write(fmt.Appendf(nil, "%s, %d examples: all behave\n", report.Plural(len(set.Rules()), "rule"), examples))
		}),
	}
}

// loadRules gives the built-in rules.
func (p *program) loadRules() (*rule.Set, error) {
	set, err := rulepack.Builtin()
	if err != nil {
		return nil, &toolmark.Error{Code: toolmark.ErrRules, Message: "the built-in rules do not load", Err: err}
	}
	return set, nil
}

// loadFolder loads the rules of a folder with the word families of base.
func loadFolder(folder string, base *rule.Set) (*rule.Set, error) {
	info, err := os.Stat(folder)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: folder + ": no such folder"}
		}
		return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: folder + ": cannot be opened", Err: err}
	}
	if !info.IsDir() {
		return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: folder + ": is a file; name the folder it is in"}
	}
	set, err := rule.Options{Base: base}.Load(os.DirFS(folder))
	if err != nil {
		return nil, err
	}
	if len(set.Rules()) == 0 {
		return nil, &toolmark.Error{Code: toolmark.ErrRules, Message: folder + ": holds no rules; a rule is a .yaml file named after its id"}
	}
	return set, nil
}

// rulesFailed prints the faults of a folder, a line each, and ends the run.
func (p *program) rulesFailed(folder string, err error) error {
	var failure *toolmark.Error
	if errors.As(err, &failure) {
		return err
	}
	var buf bytes.Buffer
	list := faults(err)
	for _, fault := range list {
		line := strings.TrimPrefix(fault.Error(), "load rules: ")
		if folder != "" {
			line = filepath.Join(folder, ".") + "/" + line
		}
		fmt.Fprintln(&buf, report.Printable(line))
	}
	fmt.Fprintln(&buf, report.Plural(len(list), "fault"))
	if err := p.write(buf.Bytes()); err != nil {
		return err
	}
	return exit(exitFailed)
}

// faults takes a joined error apart.
func faults(err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, faults(e)...)
	}
	return out
}
