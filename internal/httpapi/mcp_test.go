package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

// A batch (MCP 2025-03-26) is no way around a rate: each call beyond the first is
// admitted by itself, with a key and without.
func TestBatchIsRated(t *testing.T) {
	var calls []string
	for i := range 70 {
		calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"scan_text","arguments":{"text":"a"}}}`, i))
	}
	body := "[" + strings.Join(calls, ",") + "]"
	for name, want := range map[string]int{"key": 3, "public": 60} { // 60 is what registry gives an address
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, fixtureConfig{public: true})
			key, rate := "", int64(3)
			if name == "key" {
				key = f.key(t, registry.NewKey{Limits: access.Limits{PerMinute: &rate}})
			}
			r := httptest.NewRequest(http.MethodPost, pathMCP, strings.NewReader(body))
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("X-API-Key", key)
			w := httptest.NewRecorder()
			f.api.ServeHTTP(w, r)
			var answers []struct {
				Result struct {
					IsError bool
					Content []struct{ Text string }
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &answers); err != nil || len(answers) != len(calls) {
				t.Fatalf("%d answers, %v: %s", len(answers), err, w.Body)
			}
			let := 0
			for _, a := range answers {
				switch {
				case !a.Result.IsError:
					let++
				case !strings.HasPrefix(a.Result.Content[0].Text, "rate_limit_exceeded"):
					t.Errorf("refused with %s", a.Result.Content[0].Text)
				}
			}
			if let != want {
				t.Errorf("%d calls of %d were let in, want %d", let, len(calls), want)
			}
		})
	}
}

// What nests deeply, or is long, or is cut short, is refused and nothing more.
func TestMCPBodiesThatAreNone(t *testing.T) {
	l := serveLive(t, fixtureConfig{public: true}, Listen{})
	deep := func(n int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"scan_text","arguments":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}`
	}
	for name, body := range map[string]string{
		"deep arguments": deep(500_000), "deep": strings.Repeat("[", 1_000_000), "deep objects": strings.Repeat(`{"a":`, 200_000),
		"deep arrays of params": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.Repeat("[", 900_000), "nothing": "", "null": "null", "a number": "1", "an array": "[]", "invalid UTF-8": "{\"a\":\"\xff\"}",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.addr+pathMCP, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		answer, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode >= 500 || response.StatusCode == 200 && !strings.Contains(string(answer), `"isError":true`) {
			t.Errorf("%s: %d %.300s", name, response.StatusCode, answer)
		}
	}
	if l.used(t) != 0 {
		t.Error("something was counted")
	}
}

// A scan that fails is not counted over MCP either, and the caller is told nothing of why.
func TestMCPScanThatFailsIsNotCounted(t *testing.T) {
	for name, scanner := range map[string]Scanner{"panic": panicking{}, "error": failing{}} {
		f := newFixture(t, fixtureConfig{scanner: scanner})
		key := f.key(t, registry.NewKey{})
		r := httptest.NewRequest(http.MethodPost, pathMCP, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"scan_manifest","arguments":{"tools":[{"name":"a"}]}}}`))
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("X-API-Key", key)
		w := httptest.NewRecorder()
		f.api.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), `"text":"internal_error: Internal error."`) {
			t.Errorf("%s: %s", name, w.Body)
		}
		keys, err := f.service.ListKeys(t.Context(), "", "", 0)
		if err != nil || len(keys) != 1 || keys[0].Meter.MonthUsed != 0 {
			t.Errorf("%s: %+v, %v", name, keys, err)
		}
	}
}
