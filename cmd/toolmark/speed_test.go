package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// largeList is a list of n tools of which the changed ones have another text and bound.
func largeList(n, changed int) string {
	var b strings.Builder
	b.WriteString(`{"serverInfo":{"name":"large","version":"1.0.0"},"tools":[`)
	for i := range n {
		word, bound := "newest", 100
		if i < changed {
			word, bound = "oldest", 200
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"zone_%03d","description":"Lists the records of zone %d, %s first, with the owner of each and the time of its last change.","inputSchema":{"type":"object","properties":{"zone":{"type":"string","description":"The zone's name"},"limit":{"type":"integer","minimum":1,"maximum":%d},"kinds":{"type":"array","items":{"enum":["A","AAAA","MX"]}}},"required":["zone"]},"annotations":{"readOnlyHint":true}}`, i, i, word, bound)
	}
	return b.String() + `]}`
}

func writeLists(tb testing.TB, changed int) (old, now string) {
	tb.Helper()
	dir := tb.TempDir()
	old, now = filepath.Join(dir, "old.json"), filepath.Join(dir, "new.json")
	for path, list := range map[string]string{old: largeList(400, 0), now: largeList(400, changed)} {
		if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return old, now
}

func mustRun(tb testing.TB, want int, args ...string) string {
	tb.Helper()
	var out, errs bytes.Buffer
	if code := run(context.Background(), args, strings.NewReader(""), &out, &errs, testEnvironment()); code != want {
		tb.Fatalf("%q: exit %d, not %d\n%s\n%s", args, code, want, out.String(), errs.String())
	}
	return out.String()
}

// BenchmarkDiff400Command is the whole command on two lists of 400 tools: reading, rules,
// comparing, scanning what is new, report.
func BenchmarkDiff400Command(b *testing.B) {
	for _, changed := range []int{0, 1, 400} {
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			old, now := writeLists(b, changed)
			for b.Loop() {
				mustRun(b, exitClean, "diff", "--fail-on", "never", "--budget", "0", old, now)
			}
		})
	}
}

// BenchmarkCheck400Command is the whole command on a lockfile with one server of 400 tools
// that is read from a file.
func BenchmarkCheck400Command(b *testing.B) {
	old, _ := writeLists(b, 0)
	lock := filepath.Join(filepath.Dir(old), "lock.json")
	mustRun(b, exitClean, "lock", old, "--name", "large", "--yes", "--lockfile", lock)
	for b.Loop() {
		mustRun(b, exitClean, "check", "--lockfile", lock)
	}
}
