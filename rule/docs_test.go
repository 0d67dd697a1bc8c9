package rule

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestDocumentedRuleWorks loads the rule and the words that docs/rule-format.md shows.
func TestDocumentedRuleWorks(t *testing.T) {
	page, err := os.ReadFile("../docs/rule-format.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for i, part := range strings.Split(string(page), "```") {
		if text, ok := strings.CutPrefix(part, "yaml\n"); ok && i%2 == 1 {
			blocks = append(blocks, text)
		}
	}
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of YAML, want a rule, its words, and the members of a signal", len(blocks))
	}
	s, err := Load(fstest.MapFS{"rules/conceal-lookup.yaml": file(blocks[0]), "words/en.yaml": file(blocks[1])})
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(s); err != nil {
		t.Error(err)
	}
	signal := strings.Replace(blocks[0], "severity: high\n", blocks[2], 1)
	if s, err := Load(fstest.MapFS{"rules/conceal-lookup.yaml": file(signal), "words/en.yaml": file(blocks[1])}); err != nil {
		t.Error(err)
	} else if got := s.Rules()[0]; got.Weight == 0 {
		t.Errorf("a signal without weight: %+v", got)
	}
	if _, ok := plainLists([]byte(blocks[1])); !ok {
		t.Error("the words shown as the plain form are not read as such")
	}
}

// TestEveryKeyIsDocumented: what the decoder knows, both descriptions name.
func TestEveryKeyIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/rule-format.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"id", "extends", "title", "act", "severity", "explain", "fix", "references", "surfaces", "readings", "any", "unless", "downgrade", "examples", "span", "all", "quoted", "around"}
	for key := range (&ruleReader{}).newCondition().decoders() {
		keys = append(keys, key)
	}
	for _, key := range keys {
		if !strings.Contains(string(doc), key+":") {
			t.Errorf("doc.go says nothing of %q", key)
		}
		if key != "readings" && key != "references" && !strings.Contains(string(page), key) {
			t.Errorf("docs/rule-format.md says nothing of %q", key)
		}
	}
}
