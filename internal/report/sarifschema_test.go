package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The OASIS schema of SARIF 2.1.0 (errata 01) is not ours and stays out of the
// repository. A Go module carries it as a string constant; the go command keeps the
// module in the user's module cache, and what is read must hash to schemaSHA256.
const (
	schemaModule = "github.com/owenrumney/go-sarif/v3@v3.3.1"
	schemaFile   = "pkg/report/v210/sarif/schema.go"
	schemaSHA256 = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
)

// errNoSchema is that the module is neither in the cache nor to be had.
var errNoSchema = errors.New("the SARIF schema is not there")

var loadSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	text, err := readSchema()
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256([]byte(text)); hex.EncodeToString(sum[:]) != schemaSHA256 {
		return nil, fmt.Errorf("the schema of %s has the SHA-256 %x, not %s", schemaModule, sum, schemaSHA256)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is fetched
	c.AssertFormat()
	if err := c.AddResource(sarifSchema, doc); err != nil {
		return nil, err
	}
	return c.Compile(sarifSchema)
})

func readSchema() (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", schemaModule)
	cmd.Dir = os.TempDir() // outside of a module: our go.mod does not know this one
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr != nil || err != nil || module.Dir == "" {
		return "", fmt.Errorf("%w: go mod download %s: %v %s", errNoSchema, schemaModule, err, module.Error)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(module.Dir, filepath.FromSlash(schemaFile)), nil, 0)
	if err != nil {
		return "", err
	}
	for _, decl := range file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || len(v.Names) != 1 || v.Names[0].Name != "schema" {
				continue
			}
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				return strconv.Unquote(lit.Value)
			}
		}
	}
	return "", fmt.Errorf("%s of %s has no constant \"schema\"", schemaFile, schemaModule)
}

// sarifValidator gives the schema. Without it a test is skipped on a desk, and fails in
// CI, where "nobody looked" would read as "valid".
func sarifValidator(t testing.TB) *jsonschema.Schema {
	t.Helper()
	s, err := loadSchema()
	switch {
	case errors.Is(err, errNoSchema) && os.Getenv("CI") == "":
		t.Skipf("needs %s in the module cache: %v", schemaModule, err)
	case err != nil:
		t.Fatal(err)
	}
	return s
}

// acceptable holds a log against what GitHub refuses, beside the schema: every result
// has a relative URI and a line, names its rule, and has a fingerprint of its own.
func acceptable(data []byte) error {
	var log sarifLog
	if err := json.Unmarshal(data, &log); err != nil {
		return err
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Results == nil {
		return fmt.Errorf("version %q, %d runs, results %v", log.Version, len(log.Runs), log.Runs)
	}
	run := log.Runs[0]
	for _, r := range run.Tool.Driver.Rules {
		if r.Help.Text == "" || r.Help.Markdown == "" || r.ShortDescription.Text == "" || r.FullDescription.Text == "" {
			return fmt.Errorf("rule %s has no help or description", r.ID)
		}
		if err := printable(r.Help.Markdown); err != nil {
			return fmt.Errorf("help of %s: %w", r.ID, err)
		}
	}
	seen := map[string]bool{}
	for i, r := range run.Results {
		if r.Message.Text == "" || r.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			return fmt.Errorf("result %d: message %q, rule %s at %d", i, r.Message.Text, r.RuleID, r.RuleIndex)
		}
		print := r.PartialFingerprints[fingerprintKey]
		if len(print) != 64 || seen[print] {
			return fmt.Errorf("result %d: fingerprint %q is empty or another result's", i, print)
		}
		seen[print] = true
		if len(r.Locations) == 0 {
			return fmt.Errorf("result %d has no location", i)
		}
		places := []sarifPhysical{}
		for _, l := range r.Locations {
			places = append(places, l.Physical)
		}
		for _, l := range r.Related {
			places = append(places, l.Physical)
		}
		for _, p := range places {
			u, err := url.Parse(p.Artifact.URI)
			if err != nil || u.IsAbs() || u.Host != "" || u.Path == "" || strings.HasPrefix(u.Path, "/") || p.Region.StartLine < 1 {
				return fmt.Errorf("result %d: location %+v", i, p)
			}
		}
	}
	return nil
}

// validSARIF holds a log against the schema and against what readers ask beyond it.
func validSARIF(t testing.TB, data []byte) {
	t.Helper()
	if err := acceptable(data); err != nil {
		t.Error(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := sarifValidator(t).Validate(doc); err != nil {
		t.Errorf("not SARIF 2.1.0: %v", err)
	}
}

func TestSARIFSchema(t *testing.T) {
	schema := sarifValidator(t)
	// The schema must be able to refuse: otherwise the tests that use it hold nothing.
	for name, text := range map[string]string{
		"no runs":        `{"version": "2.1.0"}`,
		"no driver":      `{"version": "2.1.0", "runs": [{"tool": {}, "results": []}]}`,
		"line 0":         `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"message": {"text": "x"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a"}, "region": {"startLine": 0}}}]}]}]}`,
		"unknown level":  `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"level": "high", "message": {"text": "x"}}]}]}`,
		"unknown member": `{"version": "2.1.0", "runs": [], "more": 1}`,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("%s is valid", name)
		}
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"scan":  func(b *bytes.Buffer) error { return sample(t).WriteSARIF(b) },
		"empty": func(b *bytes.Buffer) error { return (&Document{}).WriteSARIF(b) },
		"drift": func(b *bytes.Buffer) error { return driftSample(t).WriteSARIF(b) },
		"no servers": func(b *bytes.Buffer) error {
			return (&DriftDocument{}).WriteSARIF(b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			validSARIF(t, out.Bytes())
		})
	}
}
