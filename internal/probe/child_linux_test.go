package probe

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Every process that a child starts is gone when Probe returns, however it was
// started and however the probe ended.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, tt := range []struct {
		fake   string
		fails  bool
		cancel bool
	}{
		{fake: "child-in-group"},
		{fake: "child-holds-pipes", fails: true},
		{fake: "stubborn"},
		{fake: "child-in-own-session"},
		{fake: "daemon"},
		{fake: "child-in-group", cancel: true},
		{fake: "daemon", cancel: true},
	} {
		name := tt.fake
		if tt.cancel {
			name += " cancelled"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pids")
			opts := Options{Timeout: 20 * time.Second}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.cancel {
				opts.Progress = func(stage string) {
					if stage == "tools/list" {
						cancel()
					}
				}
			}
			start := time.Now()
			_, err := Probe(ctx, fakeSource(t, tt.fake, "FAKE_PIDS="+file), opts)
			if (err != nil) != (tt.fails || tt.cancel) {
				t.Fatalf("error %v", err)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
			noneRuns(t, file)
		})
	}
}

// noneRuns checks the processes whose ids are in the file.
func noneRuns(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pids := strings.Fields(string(data))
	if len(pids) == 0 {
		t.Fatal("the fake started nothing")
	}
	for _, pid := range pids {
		if n, _ := strconv.Atoi(pid); running(n) {
			t.Errorf("process %s still runs", pid)
		}
	}
}

// So it is where a held connection ends, at whichever moment.
func TestWatchLeavesNothingBehind(t *testing.T) {
	for _, fake := range []string{"child-in-group", "stubborn", "daemon"} {
		for _, lists := range []bool{true, false} {
			t.Run(fmt.Sprint(fake, " ", lists), func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "pids")
				opts := quick()
				reading := make(chan struct{}, 16)
				opts.Progress = func(stage string) {
					if stage == "tools/list" {
						reading <- struct{}{}
					}
				}
				w := startWatch(t, fakeSource(t, fake, "FAKE_PIDS="+file), opts)
				<-reading
				if lists {
					w.next(Connected)
				}
				if err := w.end(); err != nil {
					t.Error(err)
				}
				noneRuns(t, file)
			})
		}
	}
}

// A child does not outlive us even where nothing of ours can run any more.
func TestChildDiesWithUs(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	prober := exec.Command(exe)
	prober.Env = append(os.Environ(), "FAKE_SERVER=prober", "FAKE_PIDS="+file)
	if err := prober.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for range 500 {
		if data, err := os.ReadFile(file); err == nil && len(data) > 0 {
			pid, _ = strconv.Atoi(string(data))
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	prober.Process.Kill()
	prober.Wait()
	if pid == 0 {
		t.Fatal("the child did not start")
	}
	if running(pid) {
		t.Errorf("process %d still runs", pid)
	}
}

// running reports whether a process runs; one that waits to be reaped does not. A
// killed process may need a moment to get there.
func running(pid int) bool {
	for range 50 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return false
		}
		if state := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:]))[0]; state == "Z" || state == "X" {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}
