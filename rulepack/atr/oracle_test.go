package atr

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/toolmark/toolmark/internal/shared"
)

// The verdicts of the package's own engine on the package's own test texts. A line is
// the first 16 hex digits of the SHA-256 of a text and the ids of the rules that match
// it, without "ATR-". The texts themselves are not in the repository.
const verdicts = "testdata/verdicts-4.0.0.txt"

// differences are the verdicts in which we differ from the engine on purpose, by the
// hash of the text and the id of the rule, with the reason. At most five.
var differences = map[string]string{}

// real opens the pinned pack, which it fetches if need be. Without a registry the
// test is skipped, except in CI.
func real(tb testing.TB) *Pack {
	tb.Helper()
	var npmrc []byte
	if home, err := os.UserHomeDir(); err == nil {
		npmrc, _ = os.ReadFile(filepath.Join(home, ".npmrc")) // none is fine
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	p, err := Fetch(ctx, Options{Registry: RegistryFrom(os.Getenv, string(npmrc))})
	if err != nil {
		if os.Getenv("CI") != "" {
			tb.Fatal(err)
		}
		tb.Skipf("needs the ATR pack, which could not be fetched: %v", err)
	}
	// What a test asks is whether a pattern matches, not whether other work on the machine
	// kept it waiting; TestTimeoutIsReported has the usual limit.
	p.patience = 30 * time.Second
	return p
}

// realTexts gives every text of the package's own test cases and evasion tests, in
// order, each once.
func realTexts(tb testing.TB) []string {
	tb.Helper()
	real(tb)
	dir, err := DefaultCacheDir()
	if err != nil {
		tb.Fatal(err)
	}
	data, err := cachedPackage(dir, Pinned())
	if err != nil {
		tb.Fatal(err)
	}
	files, err := unpack(data)
	if err != nil {
		tb.Fatal(err)
	}
	var texts []string
	seen := map[string]bool{}
	add := func(cases []map[string]any) {
		for _, c := range cases {
			for _, key := range []string{
				"input", "content", "tool_description", "tool_response", "tool_args", "user_input", "agent_output", "tool_name",
			} {
				if s, ok := c[key].(string); ok && s != "" && !seen[s] {
					seen[s] = true
					texts = append(texts, s)
				}
			}
		}
	}
	for _, f := range files {
		var doc struct {
			TestCases map[string][]map[string]any `yaml:"test_cases"`
			Evasion   []map[string]any            `yaml:"evasion_tests"`
		}
		if err := yaml.Unmarshal(f.data, &doc); err != nil {
			tb.Fatal(f.name, err)
		}
		for _, k := range []string{"true_positives", "true_negatives", "evasion_tests"} {
			add(doc.TestCases[k])
		}
		add(doc.Evasion)
	}
	if len(texts) < 7970 {
		tb.Fatalf("%d texts: fewer than the package's 7,970 test cases", len(texts))
	}
	return texts
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// TestVerdicts holds every rule on every text of the package's own tests against the
// recorded verdicts of its engine.
func TestVerdicts(t *testing.T) {
	p := real(t)
	texts := realTexts(t)
	want := map[string][]string{}
	data, err := os.ReadFile(verdicts)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		want[fields[0]] = fields[1:]
	}
	if len(want) != len(texts) {
		t.Fatalf("%d verdicts for %d texts", len(want), len(texts))
	}
	if len(differences) > 5 {
		t.Errorf("%d known differences: five are the most", len(differences))
	}
	matches, used := 0, map[string]bool{}
	for i, text := range texts {
		hash := hashOf(text)
		r := p.Match([]string{text}, nil)
		if !r.Complete || len(r.Unfinished) > 0 {
			t.Errorf("text %d: complete %v, unfinished %v", i, r.Complete, r.Unfinished)
		}
		var got []string
		for _, m := range r.Matches {
			got = append(got, strings.TrimPrefix(m.Rule.ID, "ATR-"))
		}
		matches += len(got)
		for _, id := range append(slices.Clone(got), want[hash]...) {
			if slices.Contains(got, id) == slices.Contains(want[hash], id) {
				continue
			}
			if _, known := differences[hash+" "+id]; known {
				used[hash+" "+id] = true
				continue
			}
			t.Errorf("text %d %s: rule %s: we match: %v, the engine: %v: %.200q",
				i, hash, id, slices.Contains(got, id), slices.Contains(want[hash], id), text)
		}
	}
	for key, reason := range differences {
		if !used[key] {
			t.Errorf("the known difference %s is none any more (%s)", key, reason)
		}
	}
	if matches < 1000 {
		t.Errorf("%d matches in all: the test holds next to nothing", matches)
	}
	t.Logf("%d texts, %d matches", len(texts), matches)
}

// engine runs the package's own engine, which it installs with npm in a folder of the
// test, on texts, and says how long the engine took without its start.
func engine(tb testing.TB, texts []string) ([][]string, time.Duration) {
	tb.Helper()
	script := shared.Path(tb, "oracle", "atr_oracle.mjs")
	root := os.Getenv("ATR_ROOT")
	if root == "" {
		dir := tb.TempDir()
		lock := Pinned()
		install := exec.Command("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", lock.Package+"@"+lock.Version)
		install.Dir = dir
		if out, err := install.CombinedOutput(); err != nil {
			tb.Skipf("needs npm and Node: %v\n%s", err, out)
		}
		root = filepath.Join(dir, "node_modules", lock.Package)
	}
	run := func(texts []string) ([][]string, time.Duration) {
		var in bytes.Buffer
		enc := json.NewEncoder(&in)
		for _, t := range texts {
			event := map[string]any{"type": "mcp_exchange", "content": t, "fields": map[string]string{"tool_description": t}}
			if err := enc.Encode(event); err != nil {
				tb.Fatal(err)
			}
		}
		command := exec.Command("node", script)
		command.Env = append(os.Environ(), "ATR_ROOT="+root)
		command.Stdin = &in
		start := time.Now()
		out, err := command.Output()
		if err != nil {
			tb.Fatal(err)
		}
		took := time.Since(start)
		var list [][]string
		lines := bufio.NewScanner(bytes.NewReader(out))
		lines.Buffer(nil, 1<<26)
		for lines.Scan() {
			var matches []struct{ ID string }
			if err := json.Unmarshal(lines.Bytes(), &matches); err != nil {
				tb.Fatalf("the engine wrote %.200q: %v", lines.Text(), err)
			}
			var ids []string
			for _, m := range matches {
				ids = append(ids, strings.TrimPrefix(m.ID, "ATR-"))
			}
			slices.Sort(ids)
			list = append(list, ids)
		}
		if len(list) != len(texts) {
			tb.Fatalf("the engine answered %d of %d texts", len(list), len(texts))
		}
		return list, took
	}
	_, idle := run([]string{"x"})
	list, took := run(texts)
	return list, took - idle
}

// TestRecordVerdicts writes the verdicts anew. It takes minutes and Node:
//
//	TOOLMARK_ATR_RECORD=1 go test -run TestRecordVerdicts -timeout 60m ./rulepack/atr/
func TestRecordVerdicts(t *testing.T) {
	if os.Getenv("TOOLMARK_ATR_RECORD") == "" {
		t.Skip("set TOOLMARK_ATR_RECORD=1 to ask the engine on Node anew")
	}
	texts := realTexts(t)
	list, took := engine(t, texts)
	var out bytes.Buffer
	for i, ids := range list {
		fmt.Fprintln(&out, strings.TrimSpace(hashOf(texts[i])+" "+strings.Join(ids, " ")))
	}
	if err := os.WriteFile(verdicts, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d texts in %v", len(texts), took)
}

// TestEngineSpeed compares the time of both on the same texts in one run.
//
//	TOOLMARK_ATR_SPEED=1 go test -v -run TestEngineSpeed ./rulepack/atr/
func TestEngineSpeed(t *testing.T) {
	if os.Getenv("TOOLMARK_ATR_SPEED") == "" {
		t.Skip("set TOOLMARK_ATR_SPEED=1 to run the engine on Node beside ours")
	}
	p := real(t)
	var texts []string
	for i, tool := range benign(t) {
		if i%8 == 0 {
			texts = append(texts, strings.Join(tool.texts, separator))
		}
	}
	_, node := engine(t, texts)
	best := time.Hour
	for range 3 {
		start := time.Now()
		for _, text := range texts {
			p.Match([]string{text}, nil)
		}
		best = min(best, time.Since(start))
	}
	ratio := node.Seconds() / best.Seconds()
	t.Logf("%d texts: Node %v, ours %v, %.0f times as fast", len(texts), node, best, ratio)
	if ratio < 50 {
		t.Errorf("%.0f times as fast as the engine on Node: less than 50", ratio)
	}
}
