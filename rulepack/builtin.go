package rulepack

import (
	"embed"
	"fmt"
	"io/fs"
	"sync"

	"github.com/toolmark/toolmark/rule"
)

// Version is the version of the built-in rules. It goes up with every release in
// which a rule, an alternative or a word changes what is found.
const Version = "2026.1"

//go:embed rules words retired.yaml
var files embed.FS

//go:generate go run ./internal/compile -out compiled.rules

// compiled is the rules in the form that loads fastest. Where it was not made anew
// after a change of the files, the files count: they are then read at each start.
//
//go:embed compiled.rules
var compiled string

// Files gives the built-in rules as they are embedded: rules/*.yaml, with folders for
// languages, words/*.yaml and retired.yaml.
func Files() fs.FS { return files }

var builtin = sync.OnceValues(func() (*rule.Set, error) {
	// What is deferred here is done by the tests of this package, for the same bytes.
	set, err := rule.Options{Deferred: true, Compiled: compiled}.Load(files)
	if err != nil {
		return nil, fmt.Errorf("built-in rules: %w", err)
	}
	return set, nil
})

// Builtin gives the built-in rules, decoded once for the whole process. The set does
// not change and may be used from several goroutines. An error means that the
// binary was built from a damaged checkout.
func Builtin() (*rule.Set, error) { return builtin() }

// Explain gives the built-in rule with that id or opaque reference (the first 8 hex
// digits of the SHA-256 of the id, as findings name it). An unknown one is an error
// that says so.
func Explain(idOrReference string) (*rule.Rule, error) {
	set, err := Builtin()
	if err != nil {
		return nil, err
	}
	if r := set.Find(idOrReference); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("no built-in rule has the id or reference %q", idOrReference)
}
