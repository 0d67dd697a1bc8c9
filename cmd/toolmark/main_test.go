package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"toolmark": main,
		"fakemcp":  fakeMCP,
	})
}

// TestScripts runs every transcript of testdata/script: commands as a person types
// them, and what they answer. Beside testscript's own commands they may use
//
//	json FILE PATH WANT    the value at a dotted path of a JSON file ("stdout" works)
//	count FILE PATH N      the number of elements there
//	ascii FILE…            only 0x20–0x7E and newlines: nothing hostile came through
//	printable FILE…        UTF-8 without control or invisible characters
//	gen KIND N FILE        a large or broken input, see generate
//	serve VAR KIND [FILE]  an HTTP server whose URL is put into $VAR
//	exits N CMD ARG…       exec, with exactly this exit code
//	accept FILE N          runs the command that accepts server number N of a JSON report
//	edit IN OLD NEW OUT    writes IN to OUT with NEW for OLD, which must stand in it once
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) < 20 {
		t.Fatalf("found %d scripts (%v); the folder must have moved", len(scripts), err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "xterm")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"json": jsonCommand, "count": countCommand, "ascii": asciiCommand, "printable": printableCommand,
			"gen": genCommand, "serve": serveCommand, "exits": exitsCommand, "edit": editCommand, "accept": acceptCommandOf,
		},
	})
}

func usageOf(ts *testscript.TestScript, neg, ok bool, text string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", text)
	}
}

// at reads the value at a dotted path: member names and indexes.
func at(ts *testscript.TestScript, file, path string) any {
	var v any
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	dec.UseNumber()
	ts.Check(dec.Decode(&v))
	if dec.More() {
		ts.Fatalf("%s: more than one JSON document", file)
	}
	for part := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			value, ok := x[part]
			if !ok {
				return nil
			}
			v = value
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(x) {
				ts.Fatalf("%s: no element %q in a list of %d", path, part, len(x))
			}
			v = x[i]
		default:
			ts.Fatalf("%s: nothing below %v", path, v)
		}
	}
	return v
}

func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	usageOf(ts, neg, len(args) == 3, "json FILE PATH WANT")
	got := fmt.Sprint(at(ts, args[0], args[1]))
	if got != args[2] {
		ts.Fatalf("%s at %s is %q, not %q", args[0], args[1], got, args[2])
	}
}

func countCommand(ts *testscript.TestScript, neg bool, args []string) {
	usageOf(ts, neg, len(args) == 3, "count FILE PATH N")
	got := -1
	switch v := at(ts, args[0], args[1]).(type) {
	case []any:
		got = len(v)
	case map[string]any:
		got = len(v)
	}
	if strconv.Itoa(got) != args[2] {
		ts.Fatalf("%s at %s has %d elements, not %s", args[0], args[1], got, args[2])
	}
}

func asciiCommand(ts *testscript.TestScript, neg bool, args []string) {
	usageOf(ts, neg, len(args) > 0, "ascii FILE…")
	for _, file := range args {
		text := ts.ReadFile(file)
		for i := range len(text) {
			if c := text[i]; c != '\n' && (c < 0x20 || c > 0x7e) {
				ts.Fatalf("%s: byte 0x%02x at %d", file, c, i)
			}
		}
	}
}

func printableCommand(ts *testscript.TestScript, neg bool, args []string) {
	usageOf(ts, neg, len(args) > 0, "printable FILE…")
	for _, file := range args {
		if i, r, bad := firstUnprintable(ts.ReadFile(file)); bad {
			ts.Fatalf("%s: U+%04X at byte %d", file, r, i)
		}
	}
}

// generate makes inputs that are too large or too broken to stand in a script.
func generate(kind string, n int) (string, error) {
	switch kind {
	case "tools": // a list of n tools
		var b strings.Builder
		b.WriteString(`{"tools":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"name":"tool_%d","description":"Gives number %d."}`, i, i)
		}
		b.WriteString(`]}`)
		return b.String(), nil
	case "deep": // arrays n levels deep
		return `{"tools":[{"name":"a","inputSchema":{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}]}`, nil
	case "bytes": // a list of about n bytes
		return `{"tools":[{"name":"a","description":"` + strings.Repeat("long text. ", n/11) + `"}]}`, nil
	case "name": // a tool whose name has n characters
		return `{"tools":[{"name":"` + strings.Repeat("n", n) + `"}]}`, nil
	case "utf8": // a list with a byte that is not UTF-8
		return "{\"tools\":[{\"name\":\"a\",\"description\":\"\xff\"}]}", nil
	case "control": // a list with a raw control character in a string
		return "{\"tools\":[{\"name\":\"a\",\"description\":\"\x01\"}]}", nil
	case "latin1": // a text that is not UTF-8
		return "first line\nna\xefve\n", nil
	case "spaces": // n spaces
		return strings.Repeat(" ", n), nil
	}
	return "", fmt.Errorf("unknown kind %q", kind)
}

func genCommand(ts *testscript.TestScript, neg bool, args []string) {
	usageOf(ts, neg, len(args) == 3, "gen KIND N FILE")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, err := generate(args[0], n)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o600))
}

func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	usageOf(ts, neg, len(args) >= 2, "exits N CMD ARG…")
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, not %s\n[stdout]\n%s[stderr]\n%s", code, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

func acceptCommandOf(ts *testscript.TestScript, neg bool, args []string) {
	usageOf(ts, neg, len(args) == 2, "accept FILE N")
	command, _ := at(ts, args[0], "servers."+args[1]+".accept").(string)
	words := strings.Fields(command)
	if len(words) < 2 || words[0] != "toolmark" || strings.Contains(command, "'") {
		ts.Fatalf("no plain command: %q", command)
	}
	ts.Check(ts.Exec(words[0], words[1:]...))
}

func editCommand(ts *testscript.TestScript, neg bool, args []string) {
	usageOf(ts, neg, len(args) == 4, "edit IN OLD NEW OUT")
	text := ts.ReadFile(args[0])
	if n := strings.Count(text, args[1]); n != 1 {
		ts.Fatalf("%q stands %d times in %s", args[1], n, args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o600))
}

func serveCommand(ts *testscript.TestScript, neg bool, args []string) {
	usageOf(ts, neg, len(args) >= 2, "serve VAR KIND [FILE]")
	var list string
	if len(args) == 3 {
		list = ts.ReadFile(args[2])
	}
	server := httptest.NewServer(fakeEndpoint(args[1], list))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL+"/mcp")
}

// fakeEndpoint is an MCP endpoint (Streamable HTTP, plain JSON answers) or something
// that is none.
func fakeEndpoint(kind, always string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := always
		switch kind {
		case "auth":
			w.Header().Set("WWW-Authenticate", `Bearer realm="tools"`)
			http.Error(w, "no", http.StatusUnauthorized)
		case "web":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>hello</html>")
		case "keyed", "mcp", "tenant":
			if kind == "tenant" && r.Header.Get("X-Key") == "b" {
				list = strings.ReplaceAll(list, "flow", "seriesId")
			}
			if kind == "keyed" && r.Header.Get("X-Key") != "sesame" {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			if r.Method != http.MethodPost {
				http.Error(w, "no stream", http.StatusMethodNotAllowed)
				return
			}
			var request rpcRequest
			if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			answer := request.answer(list)
			if answer == "" {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, answer)
		}
	})
}
