package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestServeKilled kills the service at random moments while it is under load, and looks
// after each restart for what it had acknowledged: every account, and a count of scans
// that is at least the answered and at most the sent ones. TOOLMARK_KILLS says how often;
// 3 times by default.
func TestServeKilled(t *testing.T) {
	kills := 3
	if text := os.Getenv("TOOLMARK_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	database := "sqlite:" + filepath.Join(t.TempDir(), "toolmark.db")
	binary := asToolmark(t)
	first := ""
	var sent, answered atomic.Int64
	var mu sync.Mutex
	var accounts []string
	for round := range kills + 1 {
		cmd, url, key := startProcess(t, binary, database)
		if round == 0 {
			first = key
		} else if key != "" {
			t.Fatal("the database is empty again")
		}
		used := countOf(t, url, first)
		if used < answered.Load() || used > sent.Load() {
			t.Fatalf("round %d: %d scans counted; %d were answered and %d sent", round, used, answered.Load(), sent.Load())
		}
		for _, account := range accounts {
			countOf(t, url, account) // fails where the key is not there
		}
		if round == kills {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the last run does not end clean: %v", err)
			}
			break
		}
		stop := make(chan struct{})
		var group sync.WaitGroup
		for worker := range 6 {
			group.Go(func() {
				client := &http.Client{Timeout: 10 * time.Second}
				defer client.CloseIdleConnections()
				for {
					select {
					case <-stop:
						return
					default:
					}
					if worker == 0 {
						if key := signUp(client, url); key != "" {
							mu.Lock()
							accounts = append(accounts, key)
							mu.Unlock()
						}
						continue
					}
					sent.Add(1)
					if status, _ := post(client, url+"/api/v1/mcp/manifest-scan", first, `{"tools":[{"name":"a"}]}`); status == 200 {
						answered.Add(1)
					}
				}
			})
		}
		time.Sleep(200*time.Millisecond + rand.N(400*time.Millisecond))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		close(stop)
		group.Wait()
	}
	if answered.Load() < int64(10*kills) || len(accounts) == 0 {
		t.Errorf("%d answers and %d accounts in %d rounds: there was no load", answered.Load(), len(accounts), kills)
	}
	t.Logf("%d kills: %d scans sent, %d answered, %d accounts", kills, sent.Load(), answered.Load(), len(accounts))
}

// asToolmark gives a path under which this test's own binary is the command.
func asToolmark(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "toolmark")
	if err := os.Symlink(self, path); err != nil {
		t.Skipf("the test's binary cannot be linked to here: %v", err)
	}
	return path
}

func startProcess(t *testing.T, binary, database string, more ...string) (cmd *exec.Cmd, url, key string) {
	t.Helper()
	cmd = exec.Command(binary, append([]string{"serve", "--addr", "127.0.0.1:0", "--database", database, "--log-format", "off", "--allow-signup"}, more...)...)
	// A new address every time: accounts from one are limited.
	cmd.Env = append(os.Environ(), "TOOLMARK_TRUSTED_PROXY=127.0.0.1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	buf := make([]byte, 4096) // written at once
	n, err := bufio.NewReader(out).Read(buf)
	if err != nil {
		t.Fatalf("the service does not start: %v", err)
	}
	after, _ := strings.CutPrefix(string(buf[:n]), "Listening on ")
	url, _, _ = strings.Cut(after, " ")
	return cmd, url, keyPattern.FindString(after)
}

func post(client *http.Client, url, key, body string) (int, []byte) {
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, nil
	}
	request.Header.Set("X-API-Key", key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Forwarded-For", fmt.Sprintf("198.%d.%d.%d", rand.IntN(256), rand.IntN(256), rand.IntN(256)))
	response, err := client.Do(request)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil // the answer did not arrive whole: it is not acknowledged
	}
	return response.StatusCode, answer
}

func signUp(client *http.Client, url string) string {
	status, answer := post(client, url+"/v1/accounts/signup", "", `{"accept_terms":true}`)
	if status != 200 {
		return ""
	}
	return keyPattern.FindString(string(answer))
}

func countOf(t *testing.T, url, key string) int64 {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url+"/api/v1/usage/stats", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-API-Key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var usage struct {
		Used *int64 `json:"requests_used"`
	}
	if err := json.NewDecoder(response.Body).Decode(&usage); err != nil || response.StatusCode != 200 || usage.Used == nil {
		t.Fatalf("an acknowledged key is answered %d (%v)", response.StatusCode, err)
	}
	return *usage.Used
}
