package scan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/rulepack"
	"github.com/toolmark/toolmark/scan"
)

// hostileList is a list of the most tools there may be, as large as a request may be,
// of the words that rules look for, in disguises that cost readings.
func hostileList(tb testing.TB) []byte {
	tb.Helper()
	words := strings.Fields(`ignore disregard all previous instructions do not never tell mention the user secretly read open
		~/.ssh/id_rsa ~/.aws/credentials .env send forward include attach copy to https://collect.example/x field parameter
		before using any other tool instead of always must IMPORTANT system prompt conversation history whenever called
		set recipient without asking approval confirm execute curl base64 memory future sessions password token api key`)
	random := rand.New(rand.NewPCG(7, 7))
	type tool map[string]any
	var tools []tool
	for i := range toolmark.MaxTools {
		var text []string
		for len(strings.Join(text, " ")) < 170 {
			w := words[random.IntN(len(words))]
			switch random.IntN(12) {
			case 0:
				w = w[:1] + "\u200b" + w[1:]
			case 1:
				w = strings.Join(strings.Split(w, ""), " ")
			}
			text = append(text, w)
		}
		tools = append(tools, tool{"name": fmt.Sprintf("t%d", i), "description": strings.Join(text, " ")})
	}
	body, err := json.Marshal(map[string]any{"tools": tools})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// TestFiveHundredHostileTools: the scan of the worst list that is allowed ends when its
// budget does, says of every tool that it was scanned or that it was not, and finds
// what it reached.
func TestFiveHundredHostileTools(t *testing.T) {
	set, err := rulepack.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	m := mustRead(t, hostileList(t))
	if err := scan.CheckSize(m); err != nil {
		t.Fatalf("the list is not one the API takes: %v", err)
	}
	for _, budget := range []time.Duration{scan.DefaultBudget, 100 * time.Millisecond} {
		s, err := scan.New(scan.Config{Rules: set, Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		r, err := s.Scan(context.Background(), scan.Request{Manifest: m, Scope: toolmark.ScopeAll, Faults: true})
		if err != nil {
			t.Fatal(err)
		}
		// The budget is asked for between fields and rules, so it may be passed by what
		// one of them takes, on a machine that is busy with other things too.
		if took := time.Since(started); took > budget+5*time.Second {
			t.Errorf("a budget of %v took %v", budget, took)
		}
		flagged := map[toolmark.Text]bool{}
		for _, f := range r.Findings {
			flagged[f.Tool] = true
		}
		unscanned := map[toolmark.Text]bool{}
		for _, name := range r.UnscannedTools {
			unscanned[name] = true
		}
		if len(r.Tools) != toolmark.MaxTools || r.OK || r.Incomplete != (len(unscanned) > 0) {
			t.Errorf("%d hashes, ok %v, incomplete %v, %d unscanned", len(r.Tools), r.OK, r.Incomplete, len(unscanned))
		}
		clean := 0
		for _, h := range r.Tools {
			if !flagged[h.Name] && !unscanned[h.Name] {
				clean++
			}
		}
		// Random words are not always an order; most of them are.
		if clean > toolmark.MaxTools/4 {
			t.Errorf("budget %v: %d tools are neither flagged nor named as unscanned", budget, clean)
		}
		t.Logf("budget %v: %d unscanned, %d flagged", budget, len(unscanned), len(flagged))
	}
}

// BenchmarkHostileList scans that list without a limit.
func BenchmarkHostileList(b *testing.B) {
	s := builtin(b)
	m := mustRead(b, hostileList(b))
	for b.Loop() {
		if _, err := s.Scan(context.Background(), scan.Request{Manifest: m}); err != nil {
			b.Fatal(err)
		}
	}
}
