package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/lockfile"
)

// binaries gives the folder with toolmark and fakemcp as testscript runs them: links to
// this test, which is both.
func binaries(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs links")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"toolmark", "fakemcp"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func commandIn(dir, bin string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, "toolmark"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return cmd
}

// TestCheckReadsSideBySide: ten locked servers of half a second each take far less than
// five, and when check is interrupted none of them is left, nor when it ends.
func TestCheckReadsSideBySide(t *testing.T) {
	t.Parallel()
	bin, dir := binaries(t), t.TempDir()
	list := filepath.Join(dir, "list.json")
	if err := os.WriteFile(list, []byte(`{"tools":[{"name":"a","description":"A"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	lock := func(kind string) {
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				out, err := commandIn(dir, bin, "lock", "--name", fmt.Sprintf("%s-%d", kind, i), "--yes", "--", "fakemcp", "slow", list).CombinedOutput()
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
		wg.Wait()
	}
	lock("slow")
	began := time.Now()
	out, err := commandIn(dir, bin, "check").CombinedOutput()
	if err != nil || strings.Count(string(out), "✓") != 10 {
		t.Fatalf("%v\n%s", err, out)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("ten servers of half a second took %v", took)
	}
	if left := children(t, list); len(left) > 0 {
		t.Errorf("left running after check: %v", left)
	}

	// Now they hang, and check is told to stop.
	path := filepath.Join(dir, lockfile.Name)
	file, err := lockfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	hanging := &lockfile.File{}
	for _, e := range file.Entries() {
		src := e.Source
		src.Command = []string{"fakemcp", "hang", list}
		next, err := e.Renew(src, e.Manifest, e.Accepted)
		if err != nil {
			t.Fatal(err)
		}
		hanging.Set(next)
	}
	if err := os.WriteFile(path, hanging.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := commandIn(dir, bin, "check")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); len(children(t, list)) < 10; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %d servers were started side by side", len(children(t, list)))
		}
	}
	for range 2 { // as timeout(1) sends it: to the process, and to its group
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitFailed {
		t.Errorf("interrupted: %v", err)
	}
	if !strings.Contains(errs.String(), "interrupted before the end") {
		t.Errorf("stderr %q", errs.String())
	}
	if left := children(t, list); len(left) > 0 {
		t.Errorf("left running after Ctrl-C: %v", left)
	}
}

// children gives the processes of fakemcp that serve a list.
func children(t *testing.T, list string) (pids []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) == 0 {
		t.Fatalf("no processes (%v)", err)
	}
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte("fakemcp\x00")) && bytes.Contains(data, []byte(list)) {
			pids = append(pids, strings.Split(path, "/")[2])
		}
	}
	return pids
}

// TestHundredLocksAtOnce: a hundred runs of lock into one file lose no entry.
func TestHundredLocksAtOnce(t *testing.T) {
	t.Parallel()
	bin, dir := binaries(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "list.json"), []byte(`{"tools":[{"name":"a","description":"A"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			out, err := commandIn(work, bin, "lock", "../list.json", "--name", "s"+strconv.Itoa(i), "--yes").CombinedOutput()
			if err != nil {
				t.Errorf("%d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	file, err := lockfile.Read(filepath.Join(work, lockfile.Name))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(file.Entries()); n != 100 {
		t.Errorf("%d entries of 100", n)
	}
	left, err := os.ReadDir(work)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
