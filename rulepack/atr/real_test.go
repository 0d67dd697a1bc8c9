package atr

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// real opens the pinned pack, which it fetches if need be. Without a registry the
// test is skipped, except in CI.
func real(tb testing.TB) *Pack {
	tb.Helper()
	home, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".npmrc"))
	if err != nil {
		home = nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := Fetch(ctx, Options{Registry: RegistryFrom(os.Getenv, string(home))})
	if err != nil {
		if os.Getenv("CI") != "" {
			tb.Fatal(err)
		}
		tb.Skipf("needs the ATR pack, which cannot be fetched: %v", err)
	}
	return p
}

// realTexts gives every text of the pack's own test cases.
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
	for _, f := range files {
		var doc struct {
			TestCases map[string][]map[string]any `yaml:"test_cases"`
			Evasion   []map[string]any            `yaml:"evasion_tests"`
		}
		if err := yaml.Unmarshal(f.data, &doc); err != nil {
			tb.Fatal(f.name, err)
		}
		add := func(list []map[string]any) {
			for _, c := range list {
				for _, key := range []string{"input", "content", "tool_description", "tool_response", "tool_args", "user_input", "agent_output", "tool_name"} {
					if s, ok := c[key].(string); ok && s != "" {
						texts = append(texts, s)
					}
				}
			}
		}
		for _, k := range []string{"true_positives", "true_negatives", "evasion_tests"} {
			add(doc.TestCases[k])
		}
		add(doc.Evasion)
	}
	return texts
}

// oracle runs the package's own engine over texts.
func oracle(tb testing.TB, texts []string) []map[string]bool {
	tb.Helper()
	root := os.Getenv("ATR_ROOT")
	if root == "" {
		tb.Skip("needs ATR_ROOT")
	}
	var in strings.Builder
	for _, t := range texts {
		b, _ := json.Marshal(map[string]any{"type": "mcp_exchange", "content": t, "fields": map[string]string{"tool_description": t}})
		in.Write(b)
		in.WriteByte('\n')
	}
	cmd := exec.Command("node", os.Getenv("ATR_ORACLE"))
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		tb.Fatal(err)
	}
	var list []map[string]bool
	sc := bufio.NewScanner(strings.NewReader(string(out)))
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		if !strings.HasPrefix(sc.Text(), "[") || strings.HasPrefix(sc.Text(), "[ATR") {
			continue
		}
		var ms []struct{ ID string }
		if err := json.Unmarshal(sc.Bytes(), &ms); err != nil {
			tb.Fatal(err, sc.Text())
		}
		set := map[string]bool{}
		for _, m := range ms {
			set[m.ID] = true
		}
		list = append(list, set)
	}
	return list
}

func TestOracle(t *testing.T) {
	p := real(t)
	texts := realTexts(t)
	start := time.Now()
	want := oracle(t, texts)
	node := time.Since(start)
	if len(want) != len(texts) {
		t.Fatal(len(want), len(texts))
	}
	start = time.Now()
	bad, hits := 0, 0
	for i, text := range texts {
		r := p.Match([]string{text}, nil)
		got := map[string]bool{}
		for _, m := range r.Matches {
			got[m.Rule.ID] = true
			hits++
			if !want[i][m.Rule.ID] {
				bad++
				if bad < 30 {
					t.Errorf("%d: we match %s, the engine does not: %.200q", i, m.Rule.ID, text)
				}
			}
		}
		for id := range want[i] {
			if !got[id] {
				bad++
				if bad < 30 {
					t.Errorf("%d: the engine matches %s, we do not: %.200q", i, id, text)
				}
			}
		}
		if len(r.Unfinished) > 0 {
			t.Errorf("%d unfinished %v", i, r.Unfinished)
		}
	}
	t.Logf("%d texts, %d hits, %d differences; node %v, ours %v", len(texts), hits, bad, node, time.Since(start))
}
