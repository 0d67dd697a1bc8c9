package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnCasesLieWhereTheirIDSays holds every case to its folder, its file and its
// spans: an attack's order must lie inside the text that its pointer names.
func TestOwnCasesLieWhereTheirIDSays(t *testing.T) {
	seen := map[string]string{}
	counts := map[bool]map[string]int{true: {}, false: {}}
	for _, part := range parts {
		files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "detection", part, "*.jsonl"))
		if err != nil || len(files) != 26 {
			t.Fatalf("%d files in %s, want two for each of 13 languages (%v)", len(files), part, err)
		}
		for _, file := range files {
			label, lang, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".jsonl"), ".")
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				var c struct {
					ID, Lang, Label, Act string
					Tools                []json.RawMessage
				}
				if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				wanted := "seen"
				switch {
				case strings.Contains(c.ID, "-fa-"), strings.Contains(c.ID, "-fh-"):
					wanted = "blind"
				case sha256.Sum256([]byte(c.ID))[0]%3 == 0:
					wanted = "unseen"
				}
				if wanted != part || c.Label != label || c.Lang != lang || c.Act == "" || len(c.Tools) == 0 {
					t.Errorf("%s in %s: belongs to %s, label %q, language %q, act %q, %d tools", c.ID, file, wanted, c.Label, c.Lang, c.Act, len(c.Tools))
				}
				if seen[c.ID] != "" {
					t.Errorf("%s stands in %s and in %s", c.ID, seen[c.ID], file)
				}
				seen[c.ID] = file
				counts[part == "blind"][label]++
			}
			if err := lines.Err(); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
	if c := counts[false]; c["attack"] != 1319 || c["honest"] != 1223 {
		t.Errorf("%d attacks and %d honest cases; add new ones here when you write them", c["attack"], c["honest"])
	}
	if c := counts[true]; c["attack"] != 461 || c["honest"] != 430 {
		t.Errorf("%d blind attacks and %d honest cases", c["attack"], c["honest"])
	}
}
