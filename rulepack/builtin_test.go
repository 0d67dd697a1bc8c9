package rulepack_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/rulepack"
)

var update = flag.Bool("update", false, "write testdata/matrix.golden anew")

// TestVerify loads the rules with nothing deferred and runs every example: each
// alternative is the only one of its rule that matches some example.
func TestVerify(t *testing.T) {
	set, err := rule.Load(rulepack.Files())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range set.Verify() {
		t.Error(err)
	}
	if n := len(set.Rules()); n < 20 {
		t.Errorf("only %d rules", n)
	}
}

// TestCompiled: the compiled form is that of the files.
func TestCompiled(t *testing.T) {
	want, err := rule.Compile(rulepack.Files())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("compiled.rules")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("rulepack/compiled.rules is not made of these rules; run: go generate ./rulepack")
	}
}

func TestBuiltinIsLoadedOnce(t *testing.T) {
	a, err := rulepack.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := rulepack.Builtin(); a != b {
		t.Error("two sets for one process")
	}
}

func TestExplain(t *testing.T) {
	set, err := rulepack.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range set.Rules() {
		for _, name := range []string{r.ID, r.Reference()} {
			got, err := rulepack.Explain(name)
			if err != nil || got != r {
				t.Errorf("Explain(%q) = %v, %v", name, got, err)
			}
		}
		if r.Explain == "" || r.Fix == "" || len(r.References) == 0 {
			t.Errorf("rule %s lacks a reason, a remedy or a reference", r.ID)
		}
	}
	if _, err := rulepack.Explain("no-such-rule"); err == nil {
		t.Error("an unknown rule is explained")
	}
}

// TestMatrix holds all rules against all examples of all rules: what an example
// matches beside its own rule is written down, so that a change that makes rules fire
// on each other's texts is seen in review.
func TestMatrix(t *testing.T) {
	set, err := rulepack.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	fmt.Fprintln(&got, "# Each example and the rules that match it. Written by go test ./rulepack -update.")
	for _, r := range set.Rules() {
		examples, err := r.Examples()
		if err != nil {
			t.Fatal(err)
		}
		for _, side := range []struct {
			name string
			list []rule.Example
		}{{"match", examples.Match}, {"clean", examples.Clean}} {
			for i := range side.list {
				matches, complete := set.Match(side.list[i].Fields(), nil)
				if !complete {
					t.Fatalf("%s: matching stopped", r.ID)
				}
				var names []string
				for _, m := range matches {
					names = append(names, fmt.Sprintf("%s:%v", m.Rule.ID, m.Severity))
				}
				slices.Sort(names)
				fmt.Fprintf(&got, "%s %s %d %v\n", r.ID, side.name, i+1, slices.Compact(names))
			}
		}
	}
	golden := filepath.Join("testdata", "matrix.golden")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got.Bytes()) {
		t.Errorf("the matrix changed; look at the difference after go test ./rulepack -run TestMatrix -update\n%s", firstDifference(want, got.Bytes()))
	}
}

// BenchmarkBuiltin loads the rules as a program does that starts.
func BenchmarkBuiltin(b *testing.B) {
	compiled, err := os.ReadFile("compiled.rules")
	if err != nil {
		b.Fatal(err)
	}
	for name, o := range map[string]rule.Options{
		"compiled": {Deferred: true, Compiled: string(compiled)},
		"files":    {Deferred: true},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := o.Load(rulepack.Files()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func firstDifference(want, got []byte) string {
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range min(len(w), len(g)) {
		if !bytes.Equal(w[i], g[i]) {
			return fmt.Sprintf("line %d:\n- %s\n+ %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d lines in place of %d", len(g), len(w))
}
