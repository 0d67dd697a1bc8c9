package probe

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
)

// fakeSource is a source that starts the test binary as the fake of that name.
func fakeSource(t *testing.T, name string, env ...string) Source {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Source{Command: []string{exe}, Env: append(env, "FAKE_SERVER="+name)}
}

var fixedClock = func() time.Time { return time.Date(2026, 8, 1, 12, 0, 0, 0, time.FixedZone("", 7200)) }

func mustProbe(t *testing.T, src Source, opts Options) *toolmark.Snapshot {
	t.Helper()
	s, err := Probe(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wantError checks the code and that the message holds every part, and nothing that
// a terminal would obey.
func wantError(t *testing.T, err error, code toolmark.ErrorCode, parts ...string) {
	t.Helper()
	var e *toolmark.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is not a *toolmark.Error", err)
	}
	if e.Code != code {
		t.Errorf("code %s, want %s: %v", e.Code, code, err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("message %q does not say %q", err, p)
		}
	}
	if i := strings.IndexFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' && r != '…' }); i >= 0 {
		t.Errorf("message %q is not safe to print at byte %d", err, i)
	}
	if len(err.Error()) > 3000 {
		t.Errorf("message has %d bytes", len(err.Error()))
	}
}

func TestStdioFailures(t *testing.T) {
	for _, tt := range []struct {
		fake string
		opts Options
		code toolmark.ErrorCode
		says []string
	}{
		{fake: "exits", code: toolmark.ErrCannotStart, says: []string{"exit status 7", `"line before"`, `API key \u001b[31mmissing`}},
		{fake: "silent", opts: Options{Timeout: time.Second}, code: toolmark.ErrTimeout, says: []string{"initialize", "1s", `"waiting for the database"`}},
		{fake: "deaf", opts: Options{Timeout: time.Second}, code: toolmark.ErrTimeout, says: []string{"initialize"}},
		{fake: "no-list", opts: Options{Timeout: time.Second}, code: toolmark.ErrTimeout, says: []string{"tools/list"}},
		{fake: "rubbish", code: toolmark.ErrTooLarge, says: []string{"16 MiB", `12% \u001b[2K`}},
		{fake: "rubbish", opts: Options{MaxBytes: 1000}, code: toolmark.ErrTooLarge, says: []string{"1000 bytes"}},
		{fake: "rubbish-without-lines", code: toolmark.ErrTooLarge, says: []string{"16 MiB", "####"}},
		{fake: "closes-stdout", code: toolmark.ErrCannotStart, says: []string{"closed its stdout"}},
		{fake: "pages-forever", code: toolmark.ErrUnreadableList, says: []string{"more than 1000 pages"}},
		{fake: "pages-forever", opts: Options{MaxPages: 3}, code: toolmark.ErrUnreadableList, says: []string{"more than 3 pages"}},
		{fake: "repeats-cursor", code: toolmark.ErrUnreadableList, says: []string{"page 2", `"again\u200b"`}},
		{fake: "wrong-cursor", code: toolmark.ErrUnreadableList, says: []string{"nextCursor", "number"}},
		{fake: "no-tools", code: toolmark.ErrUnreadableList, says: []string{`no array "tools"`}},
		{fake: "tools-object", code: toolmark.ErrUnreadableList, says: []string{`no array "tools"`}},
		{fake: "bad-tool", code: toolmark.ErrInvalidManifest, says: []string{"/tools/1/name"}},
		{fake: "result-string", code: toolmark.ErrProtocol, says: []string{"tools/list", "result"}},
		{fake: "list-error", code: toolmark.ErrUnreadableList, says: []string{"tools/list", "-32000", `no \u001b[2Jlicence`}},
		{fake: "501-tools", code: toolmark.ErrTooLarge, says: []string{"500"}},
		{fake: "tools-forever", code: toolmark.ErrTooLarge, says: []string{"lists more than 500 tools"}},
		{fake: "long-name", code: toolmark.ErrInvalidManifest, says: []string{"257"}},
		{fake: "deep", code: toolmark.ErrInvalidJSON, says: []string{"tools/list", "512"}},
		{fake: "invalid-utf8", code: toolmark.ErrInvalidJSON, says: []string{"tools/list", "UTF-8"}},
		{fake: "too-long-answer", code: toolmark.ErrTooLarge, says: []string{"16 MiB"}},
		{fake: "null-id-error", code: toolmark.ErrUnreadableList, says: []string{"-32700"}},
		{fake: "version-unknown", code: toolmark.ErrProtocol, says: []string{`"1999-01-01\u001b"`, "2025-11-25"}},
		{fake: "version-missing", code: toolmark.ErrProtocol, says: []string{"protocolVersion"}},
		{fake: "refuses-all-versions", code: toolmark.ErrProtocol, says: []string{"Unsupported protocol version", "2025-11-25"}},
		{fake: "child-holds-pipes", code: toolmark.ErrCannotStart, says: []string{"exit status 3", "wrapper is done"}},
	} {
		t.Run(tt.fake, func(t *testing.T) {
			t.Parallel()
			src := fakeSource(t, tt.fake, "FAKE_PIDS="+t.TempDir()+"/pids")
			_, err := Probe(t.Context(), src, tt.opts)
			wantError(t, err, tt.code, tt.says...)
		})
	}
}

func TestStdioWhatDoesNotStart(t *testing.T) {
	plain := t.TempDir() + "/plain"
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		src  Source
		code toolmark.ErrorCode
		says string
	}{
		{"no source", Source{}, toolmark.ErrUsage, "needs a command or a URL"},
		{"empty command", Source{Command: []string{""}}, toolmark.ErrUsage, "needs a command or a URL"},
		{"two sources", Source{Command: []string{"x"}, URL: "http://x"}, toolmark.ErrUsage, "not both"},
		{"not found", Source{Command: []string{"toolmark-no-such-program"}}, toolmark.ErrCannotStart, "was not found"},
		{"no such file", Source{Command: []string{"/no/such/program"}}, toolmark.ErrCannotStart, "does not exist"},
		{"not executable", Source{Command: []string{plain}}, toolmark.ErrCannotStart, "may not be executed"},
		{"no such directory", Source{Command: []string{"/bin/sh"}, Dir: "/no/such/dir"}, toolmark.ErrCannotStart, "/no/such/dir"},
		{"bad variable", Source{Command: []string{"x"}, Env: []string{"NOVALUE"}}, toolmark.ErrUsage, "NAME=value"},
		{"nul in argument", Source{Command: []string{"/bin/sh", "a\x00b"}}, toolmark.ErrCannotStart, "does not start"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Probe(t.Context(), tt.src, Options{})
			wantError(t, err, tt.code, tt.says)
		})
	}
	_, err := Probe(t.Context(), fakeSource(t, "good"), Options{ProtocolVersion: "2030-01-01"})
	wantError(t, err, toolmark.ErrUsage, "2030-01-01", "2026-07-28")
}

func TestStdioSuccesses(t *testing.T) {
	for _, tt := range []struct {
		fake    string
		opts    Options
		tools   string // names, joined by a space
		version string
		warns   []string
	}{
		{fake: "good", tools: "echo", version: "2025-06-18"},
		{fake: "talkative", tools: "echo", version: "2025-06-18"},
		{fake: "string-ids", tools: "echo", version: "2025-06-18"},
		{fake: "float-ids", tools: "echo", version: "2025-06-18"},
		{fake: "batches", tools: "echo", version: "2025-06-18"},
		{fake: "empty-cursor", tools: "a b c", version: "2025-06-18"},
		{fake: "long-log-line", tools: "echo", version: "2025-06-18", warns: []string{`skipped 1 line that is not a JSON-RPC message: "0123456789`}},
		{fake: "long-answer", tools: "a", version: "2025-06-18"},
		{fake: "stderr-flood", tools: "echo", version: "2025-06-18"},
		{fake: "only-initialize", tools: "echo", version: "2025-06-18"},
		{fake: "ignores-discover", opts: Options{Timeout: 4 * time.Second}, tools: "echo", version: "2025-06-18"},
		{fake: "modern", tools: "m", version: "2026-07-28"},
		{fake: "slow-modern", opts: Options{Timeout: 2 * time.Second}, tools: "m", version: "2026-07-28"},
		{fake: "good", opts: Options{ProtocolVersion: "2024-11-05"}, tools: "echo", version: "2025-06-18"},
		{fake: "undeclared-tools", tools: "echo", version: "2025-11-25"},
		{fake: "prompts-only", tools: "", version: "2025-11-25", warns: []string{"declares no tools"}},
		{fake: "optional-lists-fail", tools: "echo", version: "2025-11-25", warns: []string{`prompts/list was declared but cannot be read`, `disk \u001b[5mfull`}},
		{fake: "optional-list-hangs", opts: Options{Timeout: 3 * time.Second}, tools: "echo", version: "2025-11-25", warns: []string{"prompts/list was declared but not answered in time"}},
	} {
		t.Run(tt.fake, func(t *testing.T) {
			t.Parallel()
			s := mustProbe(t, fakeSource(t, tt.fake), tt.opts)
			if got := toolNames(s); got != tt.tools {
				t.Errorf("tools %q, want %q", got, tt.tools)
			}
			if s.Manifest.ProtocolVersion != tt.version {
				t.Errorf("version %q, want %q", s.Manifest.ProtocolVersion, tt.version)
			}
			all := strings.Join(s.Warnings, "\n")
			if declared := strings.Contains(all, "prompts/list was declared"); declared != slices.Contains(s.LeftOut, "prompts/list") {
				t.Errorf("left out %q, warnings %q", s.LeftOut, s.Warnings)
			}
			for _, w := range tt.warns {
				if !strings.Contains(all, w) {
					t.Errorf("warnings %q do not say %q", s.Warnings, w)
				}
			}
			if len(tt.warns) == 0 && len(s.Warnings) > 0 {
				t.Errorf("unexpected warnings %q", s.Warnings)
			}
		})
	}
}

func toolNames(s *toolmark.Snapshot) string {
	var names []string
	for _, tool := range s.Manifest.Tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

// Nothing of what the server sent may be written in another way: numbers, escapes,
// the order of members, duplicates and what no revision defines.
func TestSnapshotKeepsTheBytes(t *testing.T) {
	src := fakeSource(t, "exact-bytes")
	s := mustProbe(t, src, Options{Now: fixedClock})
	want := `{"toolmarkSnapshot":1,"source":` + string(toolmark.AppendQuoted(nil, src.Name())) +
		`,"readAt":"2026-08-01T10:00:00Z","protocolVersion":"2025-11-25",` + exactInfo + exactWant
	if string(s.Bytes) != want {
		t.Errorf("snapshot\n%s\nwant\n%s", s.Bytes, want)
	}
	m := s.Manifest
	if m.Server.Name != "cafÉ" || m.Instructions != "tab\tand 😀 and \xed\xa0\x80" || m.Pin != "" || len(m.Tools) != 2 {
		t.Errorf("manifest %+v", m)
	}
	if m.Prompts == nil || m.Resources != nil || m.ResourceTemplates != nil || m.Capabilities == nil {
		t.Error("a part that was not sent is there, or one that was is not")
	}
	if !s.ReadAt.Equal(fixedClock()) || s.Source != src.Name() {
		t.Errorf("read at %v from %q", s.ReadAt, s.Source)
	}
}

func TestModernServer(t *testing.T) {
	s := mustProbe(t, fakeSource(t, "modern"), Options{})
	if s.Manifest.Server != (toolmark.ServerInfo{Name: "modern", Version: "9", Given: true}) {
		t.Errorf("server %+v", s.Manifest.Server)
	}
	if bytes.Contains(s.Bytes, []byte("ttlMs")) || !bytes.Contains(s.Bytes, []byte(`"instructions":"Read \u00e9 first."`)) {
		t.Errorf("snapshot %s", s.Bytes)
	}
}

func TestCaseE07_LogLinesOnStdout(t *testing.T) {
	s := mustProbe(t, fakeSource(t, "banner"), Options{})
	if toolNames(s) != "echo" {
		t.Errorf("tools %q", toolNames(s))
	}
	want := `skipped 5 lines that are not JSON-RPC messages, the first: "Loaded 3 plugins \u001b[32mok\u001b[0m"`
	if len(s.Warnings) != 1 || s.Warnings[0] != want {
		t.Errorf("warnings %q, want one: %q", s.Warnings, want)
	}
}

func TestCaseE12_VersionNegotiation(t *testing.T) {
	for _, tt := range []struct{ fake, version string }{
		{"version-2024", "2024-11-05"},           // offered newer, answered older
		{"good", "2025-06-18"},                   // server/discover: method not found
		{"discover-names-older", "2025-03-26"},   // server/discover: -32022 with a list
		{"initialize-names-older", "2024-11-05"}, // initialize: error with a list
		{"modern", "2026-07-28"},
	} {
		t.Run(tt.fake, func(t *testing.T) {
			s := mustProbe(t, fakeSource(t, tt.fake), Options{})
			if s.Manifest.ProtocolVersion != tt.version || len(s.Manifest.Tools) != 1 {
				t.Errorf("version %q, %d tools", s.Manifest.ProtocolVersion, len(s.Manifest.Tools))
			}
		})
	}
}

func TestCaseE17_RecursiveSchema(t *testing.T) {
	s := mustProbe(t, fakeSource(t, "recursive"), Options{})
	if toolNames(s) != "tree" || s.Manifest.Tools[0].Tree.Get("outputSchema").Get("$defs").Get("Node").Kind != toolmark.KindObject {
		t.Errorf("snapshot %s", s.Bytes)
	}
	_, err := Probe(t.Context(), fakeSource(t, "deep"), Options{})
	wantError(t, err, toolmark.ErrInvalidJSON, "tools/list", "512")
}

func TestChildEnvironment(t *testing.T) {
	t.Setenv("MY_API_TOKEN", "secret")
	s := mustProbe(t, fakeSource(t, "environment", "GIVEN=1"), Options{})
	names := strings.Fields(s.Manifest.Tools[0].Description())
	has := map[string]bool{}
	for _, n := range names {
		has[n] = true
	}
	if has["MY_API_TOKEN"] || !has["GIVEN"] || !has[markName] {
		t.Errorf("the child got %q", names)
	}
}

func TestStderrAndProgress(t *testing.T) {
	var stderr bytes.Buffer
	var stages []string
	mustProbe(t, fakeSource(t, "stderr-flood"), Options{Stderr: &stderr, Progress: func(s string) { stages = append(stages, s) }})
	if stderr.Len() != 1<<20 {
		t.Errorf("%d bytes of stderr", stderr.Len())
	}
	if got := strings.Join(stages[1:], ", "); got != "server/discover, initialize, tools/list" {
		t.Errorf("stages %s", got)
	}
}

func TestCancelledProbe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	start := time.Now()
	_, err := Probe(ctx, fakeSource(t, "silent"), Options{})
	wantError(t, err, toolmark.ErrTimeout, "stopped during")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not wrap the context's error", err)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("took %s", took)
	}
}

// A server that starts slowly, as npx does that fetches a package, is read as the one that
// starts fast: both speak the newest revision, and the two snapshots are the same.
func TestSlowStartReadsTheSame(t *testing.T) {
	src := fakeSource(t, "modern-slow-first", "FAKE_MARK="+filepath.Join(t.TempDir(), "mark"))
	var got [2]string
	for i := range got {
		s := mustProbe(t, src, Options{Timeout: 4 * time.Second, Now: fixedClock})
		if s.Manifest.ProtocolVersion != discoverVersion {
			t.Errorf("run %d speaks %s", i+1, s.Manifest.ProtocolVersion)
		}
		got[i] = string(s.Bytes)
	}
	if got[0] != got[1] {
		t.Errorf("first\n%s\nthen\n%s", got[0], got[1])
	}
}
