package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"

	"github.com/toolmark/toolmark/internal/registry"
)

var update = flag.Bool("update", false, "write the responses of testdata/*.txtar anew")

// TestGolden sends the requests of every archive and compares the responses byte for
// byte. An archive begins with prose, names its revision with a line "revision: …", and
// holds, each request before its response,
//
//	request N   an HTTP request to /mcp; Host and Content-Length are added
//	response N  what it gives, with the header in the order of the alphabet
//	input       what a client writes to standard input
//	output      what it gets
//
// Every structured content is held against the outputSchema of its tool.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 8 {
		t.Fatalf("found %d archives (%v); the folder must have moved", len(files), err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			archive := txtar.Parse(data)
			if _, rest, found := strings.Cut(string(archive.Comment), "revision: "); found {
				revision, _, _ := strings.Cut(rest, "\n")
				seen[revision] = true
			}
			runArchive(t, archive)
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if got := txtar.Format(archive); !bytes.Equal(got, data) {
				t.Errorf("run with -update and read what comes\n--- got\n%s--- want\n%s", got, data)
			}
		})
	}
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		if !seen[revision] {
			t.Errorf("no archive is of revision %s", revision)
		}
	}
}

// runArchive replaces the responses of an archive by those that come.
func runArchive(t *testing.T, archive *txtar.Archive) {
	s := newServer(t, nil)
	var out []txtar.File
	for _, f := range archive.Files {
		kind, n, _ := strings.Cut(f.Name, " ")
		switch kind {
		case "request":
			out = append(out, f, txtar.File{Name: "response " + n, Data: exchange(t, s, string(f.Data))})
		case "input":
			out = append(out, f, txtar.File{Name: "output", Data: stdio(t, s, f.Data)})
		case "response", "output":
		default:
			t.Fatalf("%q is neither request nor input", f.Name)
		}
	}
	if len(out) == 0 {
		t.Fatal("the archive holds no exchange")
	}
	archive.Files = out
}

// exchange sends one HTTP request as it comes over a loopback listener.
func exchange(t *testing.T, s *Server, raw string) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeMCP(w, httpRequest(t, raw), registry.Call{}, nil)
	holdToSchemas(t, w.Body.Bytes())
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\n", w.Code, http.StatusText(w.Code))
	for _, name := range slices.Sorted(maps.Keys(w.Header())) {
		for _, value := range w.Header()[name] {
			fmt.Fprintf(&out, "%s: %s\n", name, value)
		}
	}
	out.WriteByte('\n')
	out.Write(w.Body.Bytes())
	if b := out.Bytes(); b[len(b)-1] != '\n' {
		out.WriteByte('\n')
	}
	return out.Bytes()
}

func httpRequest(t *testing.T, raw string) *http.Request {
	t.Helper()
	head, body, _ := strings.Cut(raw, "\n\n")
	body = strings.TrimSuffix(body, "\n")
	lines := append(strings.Split(strings.TrimSpace(head), "\n"), "Content-Length: "+strconv.Itoa(len(body)))
	if !strings.Contains(head, "\nHost:") {
		lines = append(lines, "Host: localhost:8080")
	}
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.Join(lines, "\r\n") + "\r\n\r\n" + body)))
	if err != nil {
		t.Fatalf("%v in request\n%s", err, head)
	}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}))
}

// stdio writes lines one by one, each after the answer to the one before, since answers
// to calls that run at once come in any order.
func stdio(t *testing.T, s *Server, input []byte) []byte {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(context.Background(), inR, outW); _ = outW.Close() }()
	answers := bufio.NewReader(outR)
	var out bytes.Buffer
	for line := range bytes.Lines(input) {
		if _, err := inW.Write(line); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(line, []byte(`"id"`)) {
			continue
		}
		answer, err := answers.ReadBytes('\n')
		if err != nil {
			t.Fatalf("no answer to %s: %v", line, err)
		}
		holdToSchemas(t, answer)
		out.Write(answer)
	}
	_ = inW.Close()
	if rest, _ := io.ReadAll(answers); len(rest) > 0 {
		t.Errorf("nobody asked for %s", rest)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	return out.Bytes()
}

// schemas are the compiled outputSchemas.
func schemas(t testing.TB) map[string]*jsonschema.Schema {
	t.Helper()
	tools, err := readDefinitions()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*jsonschema.Schema{}
	for _, tool := range tools {
		for kind, raw := range map[string]any{"input": tool.InputSchema, "output": tool.OutputSchema} {
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw.(json.RawMessage)))
			if err != nil {
				t.Fatal(err)
			}
			c := jsonschema.NewCompiler()
			c.DefaultDraft(jsonschema.Draft2020)
			if err := c.AddResource("mem:///"+kind, doc); err != nil {
				t.Fatal(err)
			}
			schema, err := c.Compile("mem:///" + kind)
			if err != nil {
				t.Fatalf("%s, %s schema: %v", tool.Name, kind, err)
			}
			out[tool.Name+" "+kind] = schema
		}
	}
	return out
}

// holdToSchemas holds the structured content of a response against the schema that fits
// it: exactly one of the four must.
func holdToSchemas(t *testing.T, response []byte) {
	t.Helper()
	var message struct {
		Result struct {
			IsError           bool
			StructuredContent json.RawMessage
		}
	}
	if json.Unmarshal(response, &message) != nil || message.Result.StructuredContent == nil {
		return
	}
	if message.Result.IsError {
		t.Error("an error has structured content")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(message.Result.StructuredContent))
	if err != nil {
		t.Fatal(err)
	}
	fits := 0
	var faults []error
	for name, schema := range schemas(t) {
		if !strings.HasSuffix(name, " output") {
			continue
		}
		if err := schema.Validate(doc); err == nil {
			fits++
		} else {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		}
	}
	if fits != 1 {
		t.Errorf("the structured content fits %d schemas: %v", fits, faults)
	}
	for _, c := range message.Result.StructuredContent {
		if c >= 0x7f || c < 0x20 && c != '\n' {
			t.Errorf("the structured content has a byte 0x%02x", c)
			break
		}
	}
}
