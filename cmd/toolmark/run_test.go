package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// testEnvironment is a system without terminals whose clock goes 12 ms a look.
func testEnvironment() environment {
	now := time.Date(2026, 5, 2, 0, 0, 0, 0, time.UTC)
	return environment{
		getenv:   func(string) string { return "" },
		steady:   func() {},
		username: func() string { return "tester" },
		now: func() time.Time {
			now = now.Add(12 * time.Millisecond)
			return now
		},
	}
}

// The program is a function: no stream, clock or variable of the process is touched.
func TestRunUsesOnlyWhatItIsGiven(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.json")
	const list = `{"tools":[{"name":"a","description":"Adds."},{"name":"A","description":"Adds too."}]}`
	if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, in := range []struct {
		args []string
		code int
		out  string
		err  string
	}{
		{[]string{"scan", "--fail-on", "medium", path}, exitFindings, "W022", ""},
		{[]string{"scan", "--budget", "0", "-"}, exitClean, "2 tools scanned in ", ""},
		{[]string{"pin", "-"}, exitClean, "fingerprint  tmfp1:", ""},
		{[]string{"scan", path + ".gone"}, exitFailed, "", "no such file"},
		{[]string{"scan"}, exitUsage, "", "no source given"},
		{[]string{"nonsense"}, exitUsage, "", "unknown command"},
	} {
		var out, errs bytes.Buffer
		code := run(context.Background(), in.args, strings.NewReader(list), &out, &errs, testEnvironment())
		if code != in.code || !strings.Contains(out.String(), in.out) || !strings.Contains(errs.String(), in.err) ||
			(in.out == "") != (out.Len() == 0) || (in.err == "") != (errs.Len() == 0) {
			t.Errorf("%q: exit %d\nstdout: %s\nstderr: %s", in.args, code, out.String(), errs.String())
		}
	}
}

// An output that cannot be written is not a clean run.
func TestRunReportsABrokenOutput(t *testing.T) {
	old, _ := writeLists(t, 0)
	lock := filepath.Join(filepath.Dir(old), "lock.json")
	mustRun(t, exitClean, "lock", old, "--name", "a", "--yes", "--lockfile", lock)
	for _, args := range [][]string{
		{"pin", "-"},
		{"pin", "--json", "-"},
		{"pin", "--canonical", "-"},
		{"pin", "--lines"},
		{"scan", "-"},
		{"scan", "--json", "-"},
		{"scan", "--lines"},
		{"text"},
		{"text", "--sanitize"},
		{"rules", "list"},
		{"version"},
		{"check", "--lockfile", lock},
		{"check", "--json", "--lockfile", lock},
		{"diff", lock, "-"},
		{"changelog", lock, "-"},
		{"lock", "-", "--name", "a", "--yes", "--lockfile", lock},
		{"lock", "-", "--name", "b", "--yes", "--json", "--lockfile", lock},
	} {
		var errs bytes.Buffer
		code := run(context.Background(), args, strings.NewReader(`{"tools":[{"name":"a"}]}`), &brokenWriter{}, &errs, testEnvironment())
		if code != exitFailed || !strings.Contains(errs.String(), "write the output: the pipe is closed") {
			t.Errorf("%q: exit %d, %s", args, code, errs.String())
		}
	}
}

// Every command that does something says how it is typed.
func TestEveryCommandHasAnExample(t *testing.T) {
	n := 0
	var look func(*cobra.Command)
	look = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Name() != "completion" && sub.Name() != "help" {
				look(sub)
			}
		}
		n++
		if !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%q has the example %q", c.CommandPath(), c.Example)
		}
	}
	look((&program{env: testEnvironment()}).root())
	if n < 30 {
		t.Errorf("only %d commands", n)
	}
}

// Ctrl-C ends a run that waits for its input.
func TestRunInterrupted(t *testing.T) {
	old, _ := writeLists(t, 0)
	for _, args := range [][]string{
		{"scan", "-"},
		{"pin", "-"},
		{"pin", "--lines"},
		{"scan", "--lines"},
		{"text"},
		{"lock", "-", "--name", "a", "--yes"},
		{"diff", "-", old},
		{"changelog", old, "-"},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		r, w := io.Pipe()
		time.AfterFunc(20*time.Millisecond, cancel)
		var out, errs bytes.Buffer
		code := run(ctx, args, &interruptible{ctx: ctx, in: r}, &out, &errs, testEnvironment())
		w.Close()
		if code != exitFailed || out.Len() > 0 || errs.String() != "toolmark: interrupted before the end\n" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, out.String(), errs.String())
		}
	}
}
