// Command compile writes the compiled form of the built-in rules (see rule.Compile):
//
//	go run ./internal/compile -out compiled.rules
//
// It is run by go generate in package rulepack. The rules are those embedded in this
// program, which the go command builds anew where a file of theirs has changed.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/rulepack"
)

func main() {
	out := flag.String("out", "compiled.rules", "file to write")
	flag.Parse()
	if err := write(*out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(name string) error {
	data, err := rule.Compile(rulepack.Files())
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}
