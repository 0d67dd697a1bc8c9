package httpapi

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

var update = flag.Bool("update", false, "write the responses of testdata/*.txtar anew")

// TestGolden sends the requests of every archive and compares the responses byte for
// byte. An archive begins with prose; then come, in any order but each request before
// its response,
//
//	setup       lines of: key NAME [scopes=a,b] [monthly=N] [per_minute=N] [credits=N]
//	            [spend=N] [expired] · access ACTION KIND VALUE · signup · public (tools without a key) · commands (servers may be) · exhausted (no
//	            time to scan) · answer CODE (a scanner that reports such a finding)
//	request N   an HTTP request; ${NAME} is the key of that name; <<x N>> is N letters,
//	            <<tools N>> N tools. Content-Length is added where it is missing.
//	response N  what it gives, with the header in the order of the alphabet
//	serve URL   what the server at the URL serves from here on: members of a snapshot, or
//	            "down CODE MESSAGE"
//	later TIME  the time moves on
//	deliver N   what waits for webhooks is sent, and each receiver answers with status N
//
// Where a request is answered 422 though the OpenAPI document cannot say why, its name
// ends with "(schema allows)".
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 15 {
		t.Fatalf("found %d archives (%v); the folder must have moved", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runArchive(t, file) })
	}
}

func runArchive(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(bytes.TrimSpace(archive.Comment)) == 0 {
		t.Error("the archive says nothing about what it shows")
	}
	s := newStage(t, archive)
	exchanges := 0
	responses := map[string]int{}
	for i, f := range archive.Files {
		if n, ok := strings.CutPrefix(f.Name, "response "); ok {
			responses[n] = i
		}
	}
	var out []txtar.File
	for _, f := range archive.Files {
		n, isRequest := strings.CutPrefix(f.Name, "request ")
		if where, ok := strings.CutPrefix(f.Name, "serve "); ok {
			s.f.world.serve(where, string(f.Data))
		} else if d, err := time.ParseDuration(strings.TrimPrefix(f.Name, "later ")); err == nil {
			s.f.world.pass(d)
		} else if status, err := strconv.Atoi(strings.TrimPrefix(f.Name, "deliver ")); err == nil {
			s.f.deliver(t, status)
		}
		switch {
		case isRequest:
			exchanges++
			n, schemaAllows := strings.CutSuffix(n, " (schema allows)")
			got := s.exchange(t, string(f.Data), schemaAllows)
			out = append(out, f, txtar.File{Name: "response " + n, Data: got})
			i, known := responses[n]
			if *update {
				continue
			}
			if !known {
				t.Errorf("request %s has no response: run with -update and read what comes", n)
			} else if want := archive.Files[i].Data; !bytes.Equal(got, want) {
				t.Errorf("request %s\n--- got\n%s--- want\n%s", n, got, want)
			}
		case !strings.HasPrefix(f.Name, "response "):
			out = append(out, f)
		}
	}
	if exchanges == 0 {
		t.Error("the archive holds no request")
	}
	if *update {
		archive.Files = out
		writeFile(t, file, txtar.Format(archive))
	}
}

// stage is the service of one archive and the names in it.
type stage struct {
	f    *fixture
	keys map[string]string
}

func newStage(t *testing.T, archive *txtar.Archive) *stage {
	t.Helper()
	var cfg fixtureConfig
	var lines [][]string
	for _, f := range archive.Files {
		if f.Name != "setup" {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			switch words[0] {
			case "signup":
				cfg.signup = true
			case "public":
				cfg.public = true
			case "commands":
				cfg.commands = true
			case "exhausted":
				now := testTime
				cfg.budget = time.Nanosecond
				cfg.now = func() time.Time { now = now.Add(time.Microsecond); return now }
			case "answer":
				cfg.scanner = answering{exampleReport(t, toolmark.Code(words[1]))}
			case "key", "access":
				lines = append(lines, words)
			default:
				t.Fatalf("setup: %q is not known", words[0])
			}
		}
	}
	s := &stage{f: newFixture(t, cfg), keys: map[string]string{}}
	for _, words := range lines {
		if words[0] == "access" {
			s.f.block(t, access.Rule{Action: access.Action(words[1]), Kind: access.Kind(words[2]), Value: words[3]})
			continue
		}
		s.keys[words[1]] = s.f.key(t, newKey(t, words[2:]))
	}
	return s
}

func newKey(t *testing.T, words []string) registry.NewKey {
	t.Helper()
	k := registry.NewKey{}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		n := func() *int64 {
			v, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return &v
		}
		var err error
		switch name {
		case "scopes":
			k.Scopes, err = access.ParseScopes(value)
		case "monthly":
			k.Limits.PerMonth = n()
		case "per_minute":
			k.Limits.PerMinute = n()
		case "spend":
			k.Limits.Spend = n()
		case "credits":
			k.Credits = n()
		case "plan":
			k.Plan = value
		default:
			t.Fatalf("setup: %q is not known", name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// exampleReport is what a scan gives that finds what the built-in checks alone do not.
func exampleReport(t *testing.T, code toolmark.Code) toolmark.Report {
	t.Helper()
	r := toolmark.Report{
		SHA256: strings.Repeat("0a", 32), OK: true,
		Tools: []toolmark.ToolHash{{Name: "a", SHA256: strings.Repeat("0b", 32)}}, UnscannedTools: []toolmark.Text{},
	}
	f := toolmark.Finding{Code: code, Tool: "a", Severity: toolmark.Info}
	switch code {
	case toolmark.CodeCommunity:
		f.Severity, f.Reason = toolmark.Medium, "A community rule matched"
		f.Details = toolmark.CommunityDetails{
			RuleID: "ATR-0000-00001", Title: "Grüße — a title that is not ASCII", ATRSeverity: "medium", Maturity: "stable",
			Confidence: 0.5, PackVersion: "1.0.0",
		}
	case toolmark.CodeUnscannable:
		f.Reason = "This tool could not be scanned; the rest of the list was"
		f.Details = toolmark.UnscannableDetails{Cause: "the check for rules failed on it"}
	default:
		t.Fatalf("setup: no example of %s", code)
	}
	r.Findings = []toolmark.Finding{f}
	return r
}

// exchange sends one request and gives the response's bytes. Request and response are
// held against the OpenAPI document.
func (s *stage) exchange(t *testing.T, raw string, schemaAllows bool) []byte {
	t.Helper()
	request := s.request(t, raw)
	body := requestBody(t, request)
	w := httptest.NewRecorder()
	s.f.api.ServeHTTP(w, request)
	checkContract(t, request, body, w, schemaAllows)
	if request.Method == http.MethodHead {
		w.Body.Reset() // which net/http does not send
	}
	return dump(w)
}

func (s *stage) request(t *testing.T, raw string) *http.Request {
	t.Helper()
	head, body, _ := strings.Cut(raw, "\n\n")
	body = expand(t, strings.TrimSuffix(body, "\n"))
	head = expandKeys(t, head, s.keys)
	lines := strings.Split(strings.TrimSpace(head), "\n")
	if body != "" && !strings.Contains(head, "Content-Length:") && !strings.Contains(head, "Transfer-Encoding:") {
		lines = append(lines, "Content-Length: "+strconv.Itoa(len(body)))
	}
	if !strings.Contains(head, "Host:") {
		lines = append(lines, "Host: localhost:8080")
	}
	text := strings.Join(lines, "\r\n") + "\r\n\r\n" + body
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		t.Fatalf("%v in request\n%s", err, head)
	}
	request.RemoteAddr = "192.0.2.1:50000"
	return request
}

// expand writes out what would be too long for an archive.
func expand(t *testing.T, text string) string {
	t.Helper()
	for {
		before, rest, found := strings.Cut(text, "<<")
		if !found {
			return text
		}
		macro, after, _ := strings.Cut(rest, ">>")
		kind, count, _ := strings.Cut(macro, " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatalf("macro %q: %v", macro, err)
		}
		var long string
		switch kind {
		case "x":
			long = strings.Repeat("x", n)
		case "tools":
			long = manyTools(n)
		case "servers":
			var all []string
			for i := range n {
				all = append(all, fmt.Sprintf(`{"name":"server_%d"}`, i))
			}
			long = strings.Join(all, ",")
		default:
			t.Fatalf("macro %q is not known", kind)
		}
		text = before + long + after
	}
}

func manyTools(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d"}`, i)
	}
	return b.String()
}

func expandKeys(t *testing.T, text string, keys map[string]string) string {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		text = strings.ReplaceAll(text, "${"+name+"}", keys[name])
	}
	if strings.Contains(text, "${") {
		t.Fatalf("a key that setup does not make: %s", text)
	}
	return text
}

// dump writes a response as it goes over the wire, but with its header sorted and
// without Date.
func dump(w *httptest.ResponseRecorder) []byte {
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
