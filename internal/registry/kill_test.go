package registry_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store"
	"github.com/toolmark/toolmark/internal/store/storetest"
)

// childEnv tells the test binary to be the process that TestKilled kills: it names the
// database.
const childEnv = "TOOLMARK_TEST_KILLED"

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		fmt.Fprintln(os.Stderr, "child:", child(name, os.Getenv(childEnv+"_KEY")))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// child counts scans and makes keys until it is killed. A line says "s" before a scan
// is asked for, "a" after it was acknowledged, and the id of each key that was made.
func child(database, key string) error {
	db, err := store.Open(context.Background(), database, os.Getenv)
	if err != nil {
		return err
	}
	s, err := registry.New(registry.Config{Store: db, AllowSignup: true, SignupsPerHour: access.MaxLimit})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for i := range 8 {
		go func() {
			for {
				if err := step(s, key, i == 0); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

func step(s *registry.Service, key string, signup bool) error {
	ctx := context.Background()
	if signup {
		made, _, _, err := s.Signup(ctx, access.Client{})
		if err == nil {
			_, err = fmt.Println(made)
		}
		return err
	}
	grant, err := s.Admit(ctx, registry.Call{Key: key})
	if err != nil {
		return err
	}
	if _, err := fmt.Println("s"); err != nil {
		return err
	}
	if _, err = s.Reserve(ctx, grant); err == nil {
		_, err = fmt.Println("a")
	}
	return err
}

// TestKilled kills a process that counts, again and again: what it acknowledged is
// there, and nothing that it was not asked for.
func TestKilled(t *testing.T) {
	for kind, database := range map[string]string{
		"sqlite":   "sqlite:" + filepath.Join(t.TempDir(), "toolmark.db"),
		"postgres": "",
	} {
		t.Run(kind, func(t *testing.T) {
			if database == "" {
				database = storetest.PostgresURL(t)
			}
			const rounds = 20
			var key registry.MadeKey
			withService(t, database, func(s *registry.Service) { key = makeKey(t, s, registry.NewKey{}) })
			var sent, acknowledged int64
			var signups []string
			for range rounds {
				s, a, made := runAndKill(t, database, key.Plain)
				sent, acknowledged, signups = sent+s, acknowledged+a, append(signups, made...)
			}
			withService(t, database, func(s *registry.Service) {
				state, err := s.ShowKey(t.Context(), key.ID)
				if err != nil {
					t.Fatal(err)
				}
				if used := state.Meter.MonthUsed; used < acknowledged || used > sent {
					t.Errorf("%d scans are counted; %d were acknowledged, %d asked for", used, acknowledged, sent)
				}
				for _, k := range signups {
					admit(t, s, k)
				}
				t.Logf("%d rounds: %d asked for, %d counted, %d acknowledged, %d accounts", rounds, sent, state.Meter.MonthUsed, acknowledged, len(signups))
			})
			if acknowledged < rounds || len(signups) == 0 {
				t.Errorf("only %d scans and %d accounts: the test shows nothing", acknowledged, len(signups))
			}
		})
	}
}

func withService(t *testing.T, database string, do func(*registry.Service)) {
	t.Helper()
	db, err := store.Open(t.Context(), database, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := registry.New(registry.Config{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	do(s)
}

func runAndKill(t *testing.T, database, key string) (sent, acknowledged int64, signups []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+database, childEnv+"_KEY="+key)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The clock runs from the first line on, so that every round does some work.
	first := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		select {
		case <-first:
			time.Sleep(time.Duration(20+rand.IntN(120)) * time.Millisecond)
		case <-time.After(time.Minute):
		}
		_ = cmd.Process.Kill() // it may have failed by itself: said tells
	})
	lines := bufio.NewReader(out)
	begun := false
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			break
		} else if err != nil {
			t.Error(err)
			break
		}
		if !begun {
			close(first)
			begun = true
		}
		switch line = strings.TrimSpace(line); line {
		case "s":
			sent++
		case "a":
			acknowledged++
		default:
			signups = append(signups, line)
		}
	}
	killer.Wait()
	_ = cmd.Wait() // it was killed
	if said.Len() > 0 || !begun {
		t.Fatalf("the process said %q", said.String())
	}
	return sent, acknowledged, signups
}
