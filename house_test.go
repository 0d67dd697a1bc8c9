package toolmark_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/toolmark/toolmark"

// house says which packages of this module each package may import beside the root.
// Imports run downward only; a package that is not listed here does not exist.
var house = map[string][]string{
	"":             {},
	"canonjson":    {},
	"textcheck":    {"textcheck/*"},
	"rule":         {"textcheck"},
	"rulepack":     {"rule"},
	"shadow":       {"textcheck"},
	"rulepack/atr": {},
	"pin":          {"canonjson"},
	"scan":         {"canonjson", "pin", "rule", "rulepack/atr", "shadow", "textcheck"},

	"internal/outward":     {},
	"internal/lockfile":    {"canonjson", "pin"},
	"internal/probe":       {"canonjson", "textcheck", "internal/outward"},
	"internal/report":      {"canonjson", "pin", "rule", "textcheck"},
	"internal/suppression": {},
	"docs":                 {},
	"internal/license":     {},

	"internal/lint":           {"pin", "textcheck"},
	"internal/alert":          {"internal/registry"},
	"internal/access":         {},
	"internal/secret":         {},
	"internal/registry":       {"canonjson", "pin", "scan", "shadow", "textcheck", "internal/access", "internal/secret"},
	"internal/store":          {"internal/access", "internal/registry", "internal/store/*"},
	"internal/store/sqlite":   {"internal/access", "internal/registry", "internal/store/*"},
	"internal/store/postgres": {"internal/access", "internal/registry", "internal/store/*"},
	"internal/httpapi":        {"canonjson", "pin", "rule", "rulepack", "rulepack/*", "scan", "textcheck", "docs", "internal/access", "internal/license", "internal/registry"},

	"internal/mcpserver": {"canonjson", "pin", "scan", "textcheck", "internal/access", "internal/registry", "internal/report"},

	"internal/watch": {"internal/registry"},

	"internal/store/content":   {},
	"internal/store/migration": {"internal/registry"},
	"internal/store/storetest": {"internal/access", "internal/registry", "internal/store/*"},

	// Programs and helpers of tests: not part of what is shipped.
	"internal/shared":           {},
	"internal/eval":             {"*"},
	"internal/bench/load":       {"*"},
	"internal/bench/service":    {"internal/access"},
	"internal/bench":            {"*"},
	"examples/webhook-receiver": {},
	"test/oracle":               {"*"},
	"test/oracle/run":           {"*"},

	// The only wiring.
	"cmd/toolmark": {"*"},
}

// testOnly are packages that nothing which is shipped may import.
var testOnly = []string{"internal/shared", "internal/store/storetest", "internal/eval", "internal/bench", "test/oracle", "test/oracle/run"}

func TestImportsRunDownward(t *testing.T) {
	packages := list(t)
	if len(packages) < 10 {
		t.Fatalf("go list gave %d packages: the test would hold nothing", len(packages))
	}
	for _, p := range packages {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if strings.Contains(name, "/internal/") && !strings.HasPrefix(name, "internal/") {
			continue // generators below a package of their own
		}
		allowed, known := house[name]
		if !known {
			t.Errorf("package %q is not in the house: add it to the list, with what it may import", name)
			continue
		}
		for _, imported := range p.Imports {
			if !strings.HasPrefix(imported, module) {
				continue
			}
			inner := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
			if inner == "" {
				continue // everything may import the root
			}
			if slices.Contains(testOnly, inner) && !slices.Contains(testOnly, name) {
				t.Errorf("%s imports %s, which is for tests only", p.ImportPath, imported)
			}
			if !permits(allowed, inner) {
				t.Errorf("%s imports %s: the house allows it %v", p.ImportPath, imported, allowed)
			}
		}
	}
}

// TestRootStandsAlone holds the root to plain types: no import of ours, and of the
// standard library only what text needs.
func TestRootStandsAlone(t *testing.T) {
	for _, p := range list(t) {
		if p.ImportPath != module {
			continue
		}
		for _, imported := range p.Imports {
			if strings.Contains(imported, ".") || slices.Contains([]string{"os", "net", "net/http", "encoding/json"}, imported) {
				t.Errorf("the root package imports %s", imported)
			}
		}
		return
	}
	t.Fatal("go list did not give the root package")
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var packages []goPackage
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func permits(allowed []string, name string) bool {
	for _, a := range allowed {
		if a == "*" || a == name || strings.HasSuffix(a, "/*") && strings.HasPrefix(name, strings.TrimSuffix(a, "*")) {
			return true
		}
	}
	return false
}
