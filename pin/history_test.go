package pin_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/pin"
)

var update = flag.Bool("update", false, "rewrite the table in docs/drift.md")

// capture are the members of a capture that say what was captured.
var capture = pin.Options{Ignore: []string{"package", "version", "license", "args", "toolPages", "notes"}}

type release struct {
	server, version string
	manifest        *toolmark.Manifest
}

func read(tb testing.TB, path string) *toolmark.Manifest {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	tree, err := canonjson.Parse(data, canonjson.Options{})
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	m, err := toolmark.ReadManifest(tree)
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return m
}

// history gives the pairs of consecutive releases.
func history(tb testing.TB) [][2]release {
	tb.Helper()
	folders, err := filepath.Glob(filepath.Join(shared.Path(tb, "corpus", "history"), "*"))
	if err != nil {
		tb.Fatal(err)
	}
	var pairs [][2]release
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.json"))
		if err != nil {
			tb.Fatal(err)
		}
		var releases []release
		for _, f := range files {
			releases = append(releases, release{filepath.Base(folder), strings.TrimSuffix(filepath.Base(f), ".json"), read(tb, f)})
		}
		sort.Slice(releases, func(i, k int) bool {
			return slices.Compare(numbers(releases[i].version), numbers(releases[k].version)) < 0
		})
		for i := 1; i < len(releases); i++ {
			pairs = append(pairs, [2]release{releases[i-1], releases[i]})
		}
	}
	return pairs
}

func numbers(version string) []int {
	var list []int
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part)
		list = append(list, n)
	}
	return list
}

// TestHistory holds Diff against an independent check, one comparison of canonical JSON
// a tool, on real releases of real servers.
func TestHistory(t *testing.T) {
	pairs := history(t)
	if len(pairs) != 23 {
		t.Fatalf("read %d pairs of releases, want 23", len(pairs))
	}
	var table bytes.Buffer
	table.WriteString("| server | from | to | tools | added | removed | renamed | changed | equivalent only | changes by kind |\n|---|---|---|---|---|---|---|---|---|---|\n")
	total := map[pin.Status]int{}
	kinds := map[string]int{}
	unchanged := 0
	for _, p := range pairs {
		old, new := p[0].manifest, p[1].manifest
		name := fmt.Sprintf("%s %s to %s", p[0].server, p[0].version, p[1].version)
		d := pin.Diff(old, new, capture)
		checkTools(t, name, old, new, d)
		made, err := pin.Apply(pin.Comparable(old, capture), d)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !equal(made, pin.Comparable(new, capture)) {
			t.Errorf("%s: the drift does not give the new manifest", name)
		}
		if back := pin.Diff(new, new, capture); !back.Empty() {
			t.Errorf("%s: a manifest differs from itself", name)
		}
		counts := map[pin.Status]int{}
		for i := range d.Tools {
			counts[d.Tools[i].Status]++
			total[d.Tools[i].Status]++
			for _, c := range d.Of(&d.Tools[i]) {
				if d.Tools[i].Status == pin.StatusEquivalent && c.Fails(toolmark.Info) {
					t.Errorf("%s: %s of an equivalent tool fails a check", name, c.Pointer)
				}
			}
		}
		if d.Empty() {
			unchanged++
		}
		here := map[string]int{}
		for i := range d.Changes {
			c := &d.Changes[i]
			kind := string(c.Kind)
			if c.Effect != "" && c.Kind != pin.KindTool {
				kind += ": " + string(c.Effect)
			}
			here[kind]++
			kinds[kind]++
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %d | %d | %d | %d | %d | %d | %s |\n", p[0].server, p[0].version, p[1].version, len(new.Tools),
			counts[pin.StatusAdded], counts[pin.StatusRemoved], counts[pin.StatusRenamed], counts[pin.StatusChanged], counts[pin.StatusEquivalent], byCount(here))
	}
	fmt.Fprintf(&table, "\nAll %d pairs: %d tools added, %d removed, %d renamed, %d changed, %d with equivalent changes only; %d pairs without any difference.\n",
		len(pairs), total[pin.StatusAdded], total[pin.StatusRemoved], total[pin.StatusRenamed], total[pin.StatusChanged], total[pin.StatusEquivalent], unchanged)
	table.WriteString("\n| kind of change | changes |\n|---|---|\n")
	for _, k := range slices.Sorted(func(yield func(string) bool) {
		for k := range kinds {
			if !yield(k) {
				return
			}
		}
	}) {
		fmt.Fprintf(&table, "| %s | %d |\n", k, kinds[k])
	}
	checkTable(t, table.String())
}

func byCount(counts map[string]int) string {
	var list []string
	for k := range counts {
		list = append(list, k)
	}
	sort.Slice(list, func(i, j int) bool {
		if counts[list[i]] != counts[list[j]] {
			return counts[list[i]] > counts[list[j]]
		}
		return list[i] < list[j]
	})
	for i, k := range list {
		list[i] = fmt.Sprintf("%s %d", k, counts[k])
	}
	if list == nil {
		return "none"
	}
	return strings.Join(list, ", ")
}

const begin, end = "<!-- history: begin -->\n", "<!-- history: end -->"

// checkTable holds the table against the one in docs/drift.md, or writes it there.
func checkTable(t *testing.T, table string) {
	t.Helper()
	path := filepath.Join("..", "docs", "drift.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	have, tail, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatalf("%s has no marks %q and %q", path, begin, end)
	}
	if *update {
		if err := os.WriteFile(path, []byte(head+begin+table+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != table {
		t.Errorf("the table in docs/drift.md is not what the releases give; go test ./pin -run TestHistory -update\n%s", table)
	}
}

// checkTools compares which tools a drift names with what comparing canonical JSON by
// name gives. In these releases no list has a name twice.
func checkTools(t *testing.T, name string, old, new *toolmark.Manifest, d *pin.Drift) {
	t.Helper()
	forms := func(m *toolmark.Manifest) (byName map[string]string, byContent map[string]bool) {
		byName, byContent = map[string]string{}, map[string]bool{}
		for i := range m.Tools {
			form := canonjson.AppendPython(nil, m.Tools[i].Tree)
			if _, twice := byName[m.Tools[i].Name]; twice {
				t.Fatalf("%s: %q stands twice", name, m.Tools[i].Name)
			}
			byName[m.Tools[i].Name] = string(form)
		}
		return byName, byContent
	}
	a, _ := forms(old)
	b, _ := forms(new)
	want := map[string]string{}
	for n, form := range b {
		switch before, ok := a[n]; {
		case !ok:
			want[n] = "added"
		case before != form:
			want[n] = "changed"
		}
	}
	for n := range a {
		if _, ok := b[n]; !ok {
			want[n] = "removed"
		}
	}
	got := map[string]string{}
	for i := range d.Tools {
		switch x := &d.Tools[i]; x.Status {
		case pin.StatusRenamed:
			got[string(x.Name)], got[string(x.OldName)] = "added", "removed"
		case pin.StatusEquivalent, pin.StatusChanged:
			// What canonical JSON cannot see is the order of members alone.
			if slices.ContainsFunc(d.Of(x), func(c *pin.Change) bool { return c.Kind != pin.KindOrder }) {
				got[string(x.Name)] = "changed"
			}
		default:
			got[string(x.Name)] = string(x.Status)
		}
	}
	for n, w := range want {
		if got[n] != w {
			t.Errorf("%s: %q is %s, the drift says %q", name, n, w, got[n])
		}
	}
	for n, g := range got {
		if want[n] != g {
			t.Errorf("%s: the drift says that %q is %s", name, n, g)
		}
	}
}
