package scan

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/bench/service"
	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/rulepack"
)

// TestMemoryOnLists: the built-in rules find the same in the tools of a list whether fields
// that stood in tools before are looked at again or not.
func TestMemoryOnLists(t *testing.T) {
	set, err := rulepack.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	lists := [][]byte{service.Typical(25, 20_000)}
	add := func(pattern string) {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lists = append(lists, data)
		}
	}
	add("../examples/*.json")
	t.Run("made up", func(t *testing.T) { sameWithMemory(t, set, lists) })
	t.Run("real", func(t *testing.T) {
		lists = nil
		add(filepath.Join(shared.Path(t, "corpus", "benign"), "*.json"))
		sameWithMemory(t, set, lists)
	})
}

func sameWithMemory(t *testing.T, set *rule.Set, lists [][]byte) {
	t.Helper()
	fields, matches := 0, 0
	for _, data := range lists {
		var list struct{ Tools []json.RawMessage }
		if json.Unmarshal(data, &list) != nil {
			continue
		}
		memory := set.Memory(MediumScore)
		for _, tool := range list.Tools[:min(len(list.Tools), 60)] {
			tree, err := canonjson.Parse(tool, canonjson.Options{})
			if err != nil {
				t.Fatal(err)
			}
			sub := &subject{tree: tree, scope: toolmark.ScopeAll, texts: newTexts()}
			sub.prepare(func() bool { return false })
			got, _ := memory.Match(sub.fields, nil)
			want, _ := set.MatchScored(sub.fields, MediumScore, nil)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: %+v, without a memory %+v", tool, got, want)
			}
			fields += len(sub.fields)
			matches += len(got)
		}
	}
	if fields < 200 {
		t.Errorf("only %d fields", fields)
	}
	t.Logf("%d fields, %d matches", fields, matches)
}
