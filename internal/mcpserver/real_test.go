package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/registry"
)

// What the real tests install from npm, each pinned.
const (
	nodeVersion        = "22.23.3" // the suite needs Node 22; the npm package brings it
	conformanceVersion = "0.2.0-alpha.12"
	inspectorVersion   = "2.12.0"
)

// scenarios are those of the official conformance suite that apply to a server with
// tools only, by the revision they are run as. Left out are scenarios of features that
// this server does not have (prompts, resources, completion, logging, sampling,
// elicitation, tasks, skills, sessions), and those that call tools of the suite's own example
// server by name (tools-call-*, json-schema-2020-12, input-required-result-*,
// http-custom-header-server-validation, server-sse-*).
var scenarios = map[string][]string{
	"2025-06-18": {"server-initialize", "ping", "tools-list"},
	"2025-11-25": {"server-initialize", "ping", "tools-list", "dns-rebinding-protection"},
	"2026-07-28": {"server-stateless", "tools-list", "dns-rebinding-protection", "caching", "http-header-validation"},
}

// TestRealConformance runs the official suite against the server on a loopback socket.
func TestRealConformance(t *testing.T) {
	dir := install(t, "conformance-"+conformanceVersion, "node@"+nodeVersion, "@modelcontextprotocol/conformance@"+conformanceVersion)
	url := listen(t)
	for revision, names := range scenarios {
		for _, name := range names {
			t.Run(revision+"/"+name, func(t *testing.T) {
				results := t.TempDir()
				// It exits with 1 where anything fails; what counts is read from the results.
				_, err := node(t, dir, filepath.Join("@modelcontextprotocol", "conformance", "dist", "index.js"),
					"server", "--url", url, "--scenario", name, "--spec-version", revision, "--output-dir", results)
				checkResults(t, results, err)
			})
		}
	}
}

// notOffered are checks of features that a server with tools only does not have: it must
// answer those methods with "method not found", which server-stateless checks.
var notOffered = []string{
	"sep-2549-prompts-list-caching-hints", "sep-2549-resources-list-caching-hints", "sep-2549-resources-templates-list-caching-hints",
}

// checkResults reads the results of one scenario. server-stateless also wants tools of
// the suite's example server, and says of what it cannot try without them that it is not
// testable; every other failure but of notOffered is one.
func checkResults(t *testing.T, dir string, exit error) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d results (%v); the suite: %v", len(files), err, exit)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct{ ID, Status, ErrorMessage string }
	if err := json.Unmarshal(data, &checks); err != nil || len(checks) == 0 {
		t.Fatalf("%d checks, %v", len(checks), err)
	}
	passed, untestable := 0, 0
	for _, c := range checks {
		switch {
		case c.Status == "SUCCESS":
			passed++
		case c.Status == "INFO", c.Status == "SKIPPED":
			t.Logf("%s: %s", c.ID, c.Status)
		case strings.HasPrefix(c.ErrorMessage, "Not testable: server does not list the diagnostic tool"),
			slices.Contains(notOffered, c.ID) && strings.Contains(c.ErrorMessage, "JSON-RPC error -32601"):
			untestable++
		default:
			t.Errorf("%s: %s: %s", c.ID, c.Status, c.ErrorMessage)
		}
	}
	t.Logf("%d of %d checks pass, %d cannot be tried on this server", passed, len(checks), untestable)
	if passed == 0 {
		t.Error("no check passes: the scenario does not apply")
	}
	if exit != nil && untestable == 0 && !t.Failed() {
		t.Errorf("the suite fails and no check says why: %v", exit)
	}
}

// TestRealInspector asks with the inspector's command line, as a person would.
func TestRealInspector(t *testing.T) {
	dir := install(t, "inspector-"+inspectorVersion, "node@"+nodeVersion, "@modelcontextprotocol/inspector@"+inspectorVersion)
	url := listen(t)
	entry := filepath.Join("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	ask := func(args ...string) string {
		out, err := node(t, dir, entry, append([]string{"--cli", url, "--transport", "http"}, args...)...)
		if err != nil {
			t.Errorf("%v: %v", args, err)
		}
		return out
	}
	list := ask("--method", "tools/list")
	var tools struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(list), &tools); err != nil || len(tools.Tools) != 4 {
		t.Errorf("%d tools, %v: %.300s", len(tools.Tools), err, list)
	}
	call := ask("--method", "tools/call", "--tool-name", "scan_text", "--tool-arg", "text=a\u200bb")
	var result struct {
		StructuredContent struct {
			Hidden    bool
			Sanitized string
		}
	}
	if err := json.Unmarshal([]byte(call), &result); err != nil || !result.StructuredContent.Hidden || result.StructuredContent.Sanitized != "ab" {
		t.Errorf("%v: %.500s", err, call)
	}
}

// listen serves the tools without a key on a loopback socket.
func listen(t *testing.T) string {
	t.Helper()
	s := newServer(t, nil)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeMCP(w, r, registry.Call{}, nil)
	}))
	t.Cleanup(h.Close)
	return h.URL + "/mcp"
}

// install puts packages into a folder of their own in the user's cache, once.
func install(t *testing.T, name string, packages ...string) string {
	t.Helper()
	if os.Getenv("TOOLMARK_REAL") == "" {
		t.Skip("set TOOLMARK_REAL=1 to test with programs from npm")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "toolmark-test", name)
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	// The package node fetches the build of this machine in its install script.
	npm := exec.Command("npm", append([]string{"install", "--no-audit", "--no-fund", "--loglevel=error"}, packages...)...)
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// node runs a program of the packages with the Node they came with, in an empty home, and
// gives what it says. The error has what it complained of.
func node(t *testing.T, dir, script string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	modules := filepath.Join(dir, "node_modules")
	cmd := exec.CommandContext(ctx, filepath.Join(modules, "node", "bin", "node"), append([]string{filepath.Join(modules, script)}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%w: %.2000s", err, faults.String())
	}
	return out.String(), nil
}
