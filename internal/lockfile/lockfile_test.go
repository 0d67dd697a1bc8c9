package lockfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/pin"
)

var noon = time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC)

func manifest(tb testing.TB, text string) *toolmark.Manifest {
	tb.Helper()
	v, err := canonjson.Parse([]byte(text), canonjson.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	m, err := toolmark.ReadManifest(v)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func entry(tb testing.TB, name, text string) *Entry {
	tb.Helper()
	e, err := New(name, Source{File: name + ".json"}, manifest(tb, text), Acceptance{At: noon, By: "ana"})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func file(tb testing.TB, entries ...*Entry) []byte {
	tb.Helper()
	var f File
	for _, e := range entries {
		f.Set(e)
	}
	return f.Bytes()
}

func parse(tb testing.TB, data []byte) *File {
	tb.Helper()
	f, err := Parse(data, Name)
	if err != nil {
		tb.Fatalf("%v\n%s", err, data)
	}
	return f
}

// hard has of everything that JSON's readers lose.
const hard = `{"serverInfo":{"name":"h","version":"1"},"instructions":null,"x-new":[1,1.0,-0,1e400,12345678901234567890],
"tools":[
 {"name":"b","description":"\ud800 half, \u200b hidden, ünï","description":"twice","_meta":{"n":1.50,"__proto__":{"constructor":[]},"":{}}},
 {"name":"a\u0000","inputSchema":{"properties":{"__proto__":{"type":"string"},"toString":{"default":1E2}},"required":["z","y"]}},
 {"name":"b","title":"second"}],
"prompts":[{"name":"p","description":"\u202e"}],"resources":[{"uri":"file:///x","size":10}],"resourceTemplates":[]}`

func TestRoundTrip(t *testing.T) {
	m := manifest(t, hard)
	data := file(t, entry(t, "hard", hard), entry(t, "empty", `{"tools":[]}`))
	for i, c := range data {
		if c != '\n' && (c < ' ' || c > '~') {
			t.Fatalf("byte 0x%02x at %d", c, i)
		}
	}
	f := parse(t, data)
	if got := f.Bytes(); !bytes.Equal(got, data) {
		t.Errorf("written again it differs:\n%s\n%s", data, got)
	}
	e := f.Entry("hard")
	if e == nil || f.Entry("nobody") != nil || len(f.Entries()) != 2 || f.Entries()[0].Name != "empty" {
		t.Fatalf("%v", f.Entries())
	}
	normal, err := Normal(m)
	if err != nil {
		t.Fatal(err)
	}
	if d := pin.Diff(normal, e.Manifest, pin.Options{}); !d.Empty() {
		t.Errorf("lost: %+v", d.Changes)
	}
	// Against the manifest as sent only the order differs. Where a member stands twice the
	// order counts, which is why both sides are to be made normal.
	once := strings.Replace(hard, `,"description":"twice"`, "", 1)
	if d := pin.Diff(manifest(t, once), entry(t, "once", once).Manifest, pin.Options{}); d.Changed() || d.Empty() {
		t.Errorf("%+v", d.Changes)
	}
	if e.Pin.SHA256 != pin.Compute(m.Tools).SHA256 || e.Fingerprint != "" || e.NoFingerprint == "" {
		t.Errorf("%+v %q %q", e.Pin, e.Fingerprint, e.NoFingerprint)
	}
	if got := e.Manifest.Tools[1].Tree.Get("title"); got.Kind != toolmark.KindAbsent {
		t.Error("tools of one name changed places")
	}
	if !e.Accepted.At.Equal(noon) || e.Accepted.By != "ana" || e.Source.File != "hard.json" {
		t.Errorf("%+v", e)
	}
}

// TestOneWord holds the promise to reviewers: one changed word of the largest real server
// at hand changes fewer than ten lines, removed and added ones together.
func TestOneWord(t *testing.T) {
	check := func(name string, before []byte) {
		t.Run(name, func(t *testing.T) {
			m := manifest(t, string(before))
			last := m.Tools[len(m.Tools)/2].Tree.Get("description")
			after := bytes.Clone(before[:last.Start+1])
			after = append(append(after, "Carefully "...), before[last.Start+1:]...)
			was, err := New("s", Source{Command: []string{"npx"}}, m, Acceptance{At: noon, By: "ana"})
			if err != nil {
				t.Fatal(err)
			}
			is, err := was.Renew(was.Source, manifest(t, string(after)), Acceptance{At: noon.Add(time.Hour), By: "bob"})
			if err != nil {
				t.Fatal(err)
			}
			removed, added := lineDiff(string(file(t, was)), string(file(t, is)))
			if removed != 4 || added != 4 {
				t.Errorf("%d lines removed and %d added: not the word, the tool's hashes, the entry's and the acceptance", removed, added)
			}
			t.Logf("%d tools, %d KiB", len(m.Tools), len(file(t, was))>>10)
		})
	}
	check("made", madeList(401))
	largest, tools := "", 0
	folder := shared.Path(t, "corpus", "benign")
	all, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(all) < 40 {
		t.Fatalf("%d lists (%v)", len(all), err)
	}
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(manifest(t, string(data)).Tools); n > tools {
			largest, tools = path, n
		}
	}
	data, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	check(filepath.Base(largest), data)
}

// madeList is a list of n tools as a large server has them.
func madeList(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"serverInfo":{"name":"large","version":"3.1.0"},"tools":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"domain_%03d","description":"Lists the records of zone %d, newest first.","inputSchema":{"type":"object","properties":{"zone":{"type":"string","description":"The zone's name"},"limit":{"type":"integer","minimum":1,"maximum":%d},"kinds":{"type":"array","items":{"enum":["A","AAAA","MX"]}}},"required":["zone"]},"annotations":{"readOnlyHint":true}}`, i, i, 100+i)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// lineDiff counts the lines that git would show, for texts whose equal lines are few
// enough to pair from both ends in hunks: it walks in step and looks ahead.
func lineDiff(a, b string) (removed, added int) {
	left, right := map[string]int{}, map[string]int{}
	for line := range strings.SplitSeq(a, "\n") {
		left[line]++
	}
	for line := range strings.SplitSeq(b, "\n") {
		right[line]++
	}
	for line, n := range left {
		removed += max(0, n-right[line])
	}
	for line, n := range right {
		added += max(0, n-left[line])
	}
	return removed, added
}

// Every byte of a file that a person could change is held by a hash or by the format.
func TestEditedFileIsRefused(t *testing.T) {
	e := entry(t, "files", `{"serverInfo":{"name":"f","version":"1.0.0"},"instructions":"Be kind.","tools":[{"name":"get","description":"Gets.","annotations":{"readOnlyHint":true}},{"name":"put","description":"Puts."}]}`)
	data := string(file(t, e))
	for _, in := range []struct{ old, new, want string }{
		{`"description": "Gets."`, `"description": "Takes."`, `at /servers/files/tools/0/definition: the definition of "get"`},
		{`"readOnlyHint": true`, `"readOnlyHint": false`, "at /servers/files/tools/0/definition:"},
		{`"name": "put",
          "hashes"`, `"name": "putt",
          "hashes"`, "at /servers/files/tools/1/name:"},
		{`"by": "ana"`, `"by": "eve"`, "at /servers/files: something of this entry outside of its tools"},
		{`"file": "files.json"`, `"file": "other.json"`, "at /servers/files: something"},
		{`"Be kind."`, `"Be cruel."`, "at /servers/files: something"},
		{`"version": "1.0.0"`, `"version": "1.0.1"`, "at /servers/files/hashes: the fingerprint"},
		{`"fingerprint": "tmfp1:`, `"fingerprint": "tmfp1:0`, "at /servers/files/hashes: the fingerprint"},
		{`"pin": "`, `"pin": "0`, "at /servers/files/hashes: the pin"},
		{`"sha256": "`, `"sha256": "0`, "at /servers/files/tools/0/hashes:"},
		{`"files": {`, `"files": 1, "files": {`, "at /servers/files: the server stands twice"},
		{`"files": {`, `"fi les#": {`, "a locked server's name"},
		{`"tools": [`, `"tools": 3, "was": [`, "at /servers/files/tools: an entry has an array"},
		{`"source": {`, `"was": {`, "at /servers/files/source: an entry has an object"},
		{`"file": "files.json"`, `"command": ["rm"], "file": "files.json"`, "at /servers/files/source: a source is exactly one"},
		{`"at": "2026`, `"at": "soon`, "at /servers/files/accepted/at: this is a time"},
		{`"toolmarkLock": 1`, `"toolmarkLock": 2`, "at /toolmarkLock: the format is version 2 and this Toolmark reads up to 1: update Toolmark"},
		{`"toolmarkLock": 1`, `"toolmarkLock": "1"`, "at /toolmarkLock: the version"},
		{`"toolmarkLock": 1`, `"lock": 1`, "this is no lockfile"},
		{`"servers": {`, `"hosts": {`, "at /servers: a lockfile has an object"},
		{`    "files": {`, "<<<<<<< HEAD\n    \"files\": {", "this is a conflict of a merge"},
	} {
		if !strings.Contains(data, in.old) {
			t.Fatalf("%q is not in the file:\n%s", in.old, data)
		}
		bad := strings.Replace(data, in.old, in.new, 1)
		_, err := Parse([]byte(bad), Name)
		var failure *toolmark.Error
		if !errors.As(err, &failure) || !strings.Contains(failure.Message, in.want) {
			t.Errorf("%q for %q: %v", in.new, in.old, err)
			continue
		}
		line := 1 + strings.Count(bad[:strings.Index(bad, in.new)], "\n")
		rest, ok := strings.CutPrefix(failure.Message, Name+":")
		got, _ := strconv.Atoi(rest[:strings.IndexAny(rest+":", ":")])
		if !ok || got < 1 || got > line+2 {
			t.Errorf("%q for %q stands in line %d: %v", in.new, in.old, line, err)
		}
	}
	for cut := range len(data) - 1 {
		if _, err := Parse([]byte(data[:cut]), Name); err == nil {
			t.Fatalf("the first %d bytes alone are accepted", cut)
		}
	}
	// White space and the order of members are no edit.
	if _, err := Parse(bytes.ReplaceAll([]byte(data), []byte("\n"), []byte("\r\n\t")), Name); err != nil {
		t.Error(err)
	}
}

func TestUnknownMembersAreKept(t *testing.T) {
	old := entry(t, "files", `{"tools":[{"name":"get"}]}`)
	// As a newer version of the same format would write it.
	old.tree.Members = append(old.tree.Members, toolmark.Member{Name: "signature", Value: str("abc")})
	old.tree = with(old.tree, "hashes", old.hashes(integrity(old.tree)))
	data := strings.Replace(string(file(t, old)), `"toolmarkLock": 1`, `"toolmarkLock": 1, "policy": {"b": 1.0, "a": []}`, 1)
	f := parse(t, []byte(data))
	next, err := f.Entry("files").Renew(Source{Stdin: true}, manifest(t, `{"tools":[{"name":"get","title":"Get"}]}`), Acceptance{At: noon, By: "bob", Note: "a title"})
	if err != nil {
		t.Fatal(err)
	}
	f.Set(next)
	f.Set(entry(t, "another", `{"tools":[{"name":"x"}]}`))
	again := parse(t, f.Bytes())
	text := string(again.Bytes())
	for _, want := range []string{`"signature": "abc"`, "\"policy\": {\n    \"a\": [],\n    \"b\": 1.0\n  }", `"note": "a title"`, `"stdin": true`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

func TestLineOfPointer(t *testing.T) {
	data := file(t, entry(t, "a/b", `{"serverInfo":{"name":"n","version":"1"},"tools":[{"name":"get","inputSchema":{"properties":{"x":{"description":"An x"}}}},{"name":"put"}]}`))
	f := parse(t, data)
	e := f.Entry("a/b")
	lines := strings.Split(string(data), "\n")
	for _, in := range []struct{ place, want string }{
		{"", `"a/b": {`},
		{"/tools", `"tools": [`},
		{"/tools/0", `"definition": {`},
		{"/tools/0/inputSchema/properties/x/description", `"description": "An x"`},
		{"/tools/1/name", `"name": "put"`},
		{"/serverInfo/version", `"version": "1"`},
	} {
		line, whole := f.Line(e.Pointer(in.place))
		if !whole || strings.TrimSuffix(strings.TrimSpace(lines[line-1]), ",") != in.want {
			t.Errorf("%q is line %d: %s", in.place, line, lines[line-1])
		}
	}
	if line, whole := f.Line(e.Pointer("/tools/0/title")); whole || !strings.Contains(lines[line-1], "definition") {
		t.Errorf("what is not there is line %d", line)
	}
	// The values of the manifest have the same places.
	if at := e.Manifest.Tools[1].Tree.Get("name").Start; string(f.Data()[at:at+5]) != `"put"` {
		t.Errorf("%q", f.Data()[at:at+5])
	}
}

func TestSecretsAreNotRecorded(t *testing.T) {
	for _, in := range []struct {
		name, value string
		recorded    bool
	}{
		{"Authorization", "Bearer ${TOKEN}", true},
		{"X-Key", "${KEY}", true},
		{"Authorization", "Bearer abc", false},
		{"X-Key", "${A}s3cret${B}", false},
		{"X-Key", "$KEY", false},
		{"LANG", "de_DE.UTF-8", true},
		{"accept-language", "de", true},
		{"DEBUG", "1", false},
	} {
		s := Record(in.name, in.value)
		if s.Recorded != in.recorded || s.Recorded && s.Value != in.value || !s.Recorded && s.Value != "" {
			t.Errorf("%s: %s is recorded as %+v", in.name, in.value, s)
		}
	}
	src := Source{URL: "https://example.com/mcp", Headers: []Setting{Record("X-Key", "secret"), Record("Authorization", "Bearer ${TOKEN}"), Record("A", "${GONE}")}}
	e, err := New("web", src, manifest(t, `{"tools":[{"name":"x"}]}`), Acceptance{At: noon})
	if err != nil {
		t.Fatal(err)
	}
	data := file(t, e)
	if bytes.Contains(data, []byte("secret")) {
		t.Errorf("%s", data)
	}
	back := parse(t, data).Entry("web").Source
	h, missing, unrecorded := back.Header(func(name string) string { return map[string]string{"TOKEN": "t0"}[name] })
	if h.Get("Authorization") != "Bearer t0" || fmt.Sprint(missing, unrecorded) != "[GONE] [X-Key]" {
		t.Errorf("%v %v %v", h, missing, unrecorded)
	}
	if _, err := New("web", Source{URL: "https://user:pass@example.com/mcp"}, manifest(t, `{"tools":[]}`), Acceptance{}); err == nil {
		t.Error("a password is recorded")
	}
}

func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, Name)
	set := func(name string) func(*File) error {
		return func(f *File) error { f.Set(entry(t, name, `{"tools":[{"name":"x"}]}`)); return nil }
	}
	if wrote, err := Update(context.Background(), path, set("a")); err != nil || !wrote {
		t.Fatal(wrote, err)
	}
	if wrote, err := Update(context.Background(), path, set("a")); err != nil || wrote {
		t.Errorf("the same again is written: %v %v", wrote, err)
	}
	before, _ := os.ReadFile(path)
	refusal := errors.New("no")
	if _, err := Update(context.Background(), path, func(f *File) error { f.Remove("a"); return refusal }); !errors.Is(err, refusal) {
		t.Error(err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("a refused change is written")
	}
	damaged := append(bytes.Clone(before[:len(before)/2]), "…"...)
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Update(context.Background(), path, set("b")); err == nil {
		t.Error("a damaged file is written over")
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(damaged, after) {
		t.Error("a damaged file did not stay as it was")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Update(context.Background(), path, set("b")); err == nil || !strings.Contains(err.Error(), "the file is empty") {
		t.Error(err)
	}
	if names := list(t, dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
	if _, err := Read(filepath.Join(dir, "gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

func TestPermissionsAndLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions and links are others there")
	}
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, Name)
	change := func(name string) error {
		_, err := Update(context.Background(), link, func(f *File) error { f.Set(entry(t, name, `{"tools":[{"name":"x"}]}`)); return nil })
		return err
	}
	if err := os.Symlink("real.json", link); err != nil {
		t.Fatal(err)
	}
	if err := change("a"); err == nil || !strings.Contains(err.Error(), "link to a file that does not exist") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(real, (&File{}).Bytes(), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(real, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := change("a"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced", err)
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Error(info.Mode(), err)
	}
	if f, err := Read(link); err != nil || f.Entry("a") == nil {
		t.Error(err)
	}
	if err := os.Chmod(real, 0o440); err != nil {
		t.Fatal(err)
	}
	if err := change("b"); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Error(err)
	}
	fresh := filepath.Join(dir, "fresh.json")
	if _, err := Update(context.Background(), fresh, func(f *File) error { f.Set(entry(t, "a", `{"tools":[]}`)); return nil }); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	a, _ := os.Stat(fresh)
	b, _ := os.Stat(plain)
	if a.Mode() != b.Mode() {
		t.Errorf("a new file has %v, any other %v", a.Mode(), b.Mode())
	}
}

func TestUpdateEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	inside, done := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = Update(context.Background(), path, func(*File) error { close(inside); <-done; return errors.New("never mind") })
	})
	<-inside
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := Update(ctx, path, func(*File) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	close(done)
	wg.Wait()
}

// TestCaseC26_ManyWritersAtOnce: eight processes of twelve writers each lock other servers
// into one file. Every one is in it, and no other file is left.
func TestCaseC26_ManyWritersAtOnce(t *testing.T) {
	if dir := os.Getenv("LOCKFILE_WRITER_DIR"); dir != "" {
		writers(t, dir, os.Getenv("LOCKFILE_WRITER_NAME"))
		return
	}
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestCaseC26_ManyWritersAtOnce$")
			cmd.Env = append(os.Environ(), "LOCKFILE_WRITER_DIR="+dir, "LOCKFILE_WRITER_NAME=p"+strconv.Itoa(i))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	f, err := Read(filepath.Join(dir, Name))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.Entries()); n != 96 {
		t.Errorf("%d entries of 96", n)
	}
	if names := list(t, dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func writers(t *testing.T, dir, name string) {
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			_, err := Update(context.Background(), filepath.Join(dir, Name), func(f *File) error {
				f.Set(entry(t, name+"-"+strconv.Itoa(i), `{"tools":[{"name":"x"}]}`))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "a", "b")
	for _, in := range []struct{ lock, path, want string }{
		{dir, filepath.Join(sub, "x.json"), "a/b/x.json"},
		{sub, filepath.Join(dir, "x.json"), "../../x.json"},
		{dir, dir, "."},
	} {
		rel := Relative(in.lock, in.path)
		if rel != in.want || Path(in.lock, rel) != in.path {
			t.Errorf("from %s %s is %s, and back %s", in.lock, in.path, rel, Path(in.lock, rel))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(f, entry(f, "hard", hard)))
	f.Add([]byte(`{"toolmarkLock":1,"servers":{}}`))
	f.Add([]byte(`{"toolmarkLock":1,"servers":{"a":{"accepted":{"at":"2026-05-02T12:00:00Z"},"hashes":{},"manifest":{},"source":{"stdin":true},"tools":[]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Parse(data, Name)
		if err != nil {
			return
		}
		again, err := Parse(got.Bytes(), Name)
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if !bytes.Equal(again.Bytes(), got.Bytes()) {
			t.Fatal("written twice it differs")
		}
		for i, e := range got.Entries() {
			if !e.Equal(again.Entries()[i]) {
				t.Fatal("an entry differs")
			}
		}
	})
}

func BenchmarkParse401(b *testing.B) {
	e, err := New("large", Source{Stdin: true}, manifest(b, string(madeList(401))), Acceptance{At: noon})
	if err != nil {
		b.Fatal(err)
	}
	data := file(b, e)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		parse(b, data)
	}
}

// TestDocumentedExample: the example in docs/formats.md is a lockfile, and whole.
func TestDocumentedExample(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "```json\n{\n  \"toolmarkLock\"")
	example, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("docs/formats.md has no example")
	}
	f := parse(t, []byte("{\n  \"toolmarkLock\""+example))
	if string(f.Bytes()) != string(f.Data()) {
		t.Errorf("it is not as it would be written:\n%s", f.Bytes())
	}
	if f.Entry("mail").Accepted.Note != "first review" {
		t.Errorf("%+v", f.Entry("mail").Accepted)
	}
}

// TestCaseC29_GoldenLockfile: the same manifest gives the same bytes in every build.
func TestCaseC29_GoldenLockfile(t *testing.T) {
	f := &File{}
	f.Set(entry(t, "hard", hard))
	const want = "96c597d2accfb5aa73e790eb281e814767bbd113bd2d3457e7b0083de847d3f9"
	if got := hash(str(string(f.Bytes()))); got != want {
		t.Errorf("the file's hash is %s, not %s:\n%s", got, want, f.Bytes())
	}
}
