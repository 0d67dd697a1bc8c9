package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// examplePin is the pin that the API's documentation gives for its example list.
const examplePin = "8e57aaded62f29a173373af0f95ec6bec010471e9f8c5b2d5353765b7123fb5d"

type clientAnswer struct {
	SHA256   string
	OK       bool
	Findings []struct{ Code, Tool, Severity string }
	Tools    []struct{ Name, SHA256 string }
}

func (a clientAnswer) codes() string {
	var codes []string
	for _, f := range a.Findings {
		codes = append(codes, f.Code+":"+f.Tool)
	}
	return strings.Join(codes, " ")
}

// clientWant is what one answer must be.
type clientWant struct {
	pin   string // "": any
	ok    bool
	codes string
}

// TestClients runs the programs of test/clients, which are written as users of the API
// write them, against a service that was just started for the first time.
func TestClients(t *testing.T) {
	s := startServe(t, nil, "--addr", "127.0.0.1:0", "--database", "sqlite:"+filepath.Join(t.TempDir(), "toolmark.db"),
		"--budget", "30s") // a busy machine is not what is tested
	poisoned := clientWant{ok: false, codes: "E001:add E301:*"}
	good := clientWant{pin: examplePin, ok: true}
	for _, c := range []struct {
		program, script string
		args            []string
		want            []clientWant
	}{
		{"curl", "scan.sh", []string{"sh", "scan.sh"}, []clientWant{poisoned}},
		{"python3", "scan.py", []string{"python3", "scan.py"}, []clientWant{good, good, {ok: false, codes: "E301:*"}}},
		{"node", "scan.mjs", []string{"node", "scan.mjs"}, []clientWant{poisoned, good, good}},
	} {
		t.Run(c.program, func(t *testing.T) {
			if _, err := exec.LookPath(c.program); err != nil {
				t.Skipf("%s is not installed: the client %s was not tried", c.program, c.script)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
			cmd.Env = append(os.Environ(), "API_HOST="+s.url, "API_KEY="+s.key)
			cmd.Dir = "../../test/clients"
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %v\n%s", c.args, err, out)
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("%d answers, not %d:\n%s", len(lines), len(c.want), out)
			}
			for i, w := range c.want {
				var a clientAnswer
				if err := json.Unmarshal([]byte(lines[i]), &a); err != nil {
					t.Fatalf("answer %d: %v: %s", i, err, lines[i])
				}
				if a.OK != w.ok || a.codes() != w.codes || w.pin != "" && a.SHA256 != w.pin || len(a.Tools) == 0 {
					t.Errorf("answer %d is not %+v: %s", i, w, lines[i])
				}
				if i > 0 && w == good && !slices.ContainsFunc(a.Tools, func(x struct{ Name, SHA256 string }) bool { return x.Name == "echo" }) {
					t.Errorf("answer %d has no hash of echo: %s", i, lines[i])
				}
			}
		})
	}
}
