package probe

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/shared"
)

// The real servers, from npm, that list what they have without credentials. tools is
// what each had when its version was pinned; capture is where another client's reading
// of the same version is kept, if there is one.
var realServers = []struct {
	name, version string
	entry         string // below the package
	args          []string
	tools         int
	capture       []string
}{
	{"@modelcontextprotocol/server-everything", "2026.8.31", "dist/index.js", nil, 13, nil},
	{"@modelcontextprotocol/server-filesystem", "2026.8.31", "dist/index.js", []string{"/tmp"}, 14, []string{"benign", "filesystem.json"}},
	{"@modelcontextprotocol/server-memory", "2026.8.31", "dist/index.js", nil, 9, []string{"benign", "memory.json"}},
	{"@modelcontextprotocol/server-sequential-thinking", "2026.8.31", "dist/index.js", nil, 1, []string{"benign", "sequential-thinking.json"}},
	{"@playwright/mcp", "0.0.83", "cli.js", nil, 25, []string{"history", "playwright", "0.0.83.json"}},
	{"@upstash/context7-mcp", "4.1.1", "dist/index.js", nil, 2, []string{"history", "context7", "4.1.1.json"}},
	{"@drawio/mcp", "1.6.1", "src/index.js", nil, 7, []string{"benign", "drawio.json"}},
	{"@eslint/mcp", "0.3.13", "src/mcp-cli.js", nil, 1, []string{"benign", "eslint.json"}},
	{"howtocook-mcp", "0.2.2", "build/index.js", nil, 5, []string{"benign", "howtocook.json"}},
	{"next-devtools-mcp", "0.4.0", "dist/index.js", nil, 4, []string{"benign", "next-devtools.json"}},
	{"@antv/mcp-server-chart", "0.9.10", "build/index.js", nil, 27, []string{"benign", "antv-chart.json"}},
	{"agentaudit", "3.14.0", "index.mjs", nil, 5, []string{"benign", "agentaudit.json"}},
	{"exa-mcp-server", "3.4.1", "dist/stdio.cjs", nil, 2, []string{"benign", "exa.json"}},
	{"mcp-ssh-manager", "3.8.5", "src/index.js", nil, 37, []string{"benign", "ssh-manager.json"}},
	// The longest list of a server that is public, more than 400 tools.
	{"hostinger-api-mcp", "1.63.2", "src/servers/all.js", nil, 401, nil},
}

// TestRealServers probes real servers. It needs Node and, the first time, the npm
// registry, so it runs only with TOOLMARK_REAL=1. The packages are kept in the user's
// cache directory; their install scripts are not run. Each server gets a home of its own
// and, where the system lets us, no network.
func TestRealServers(t *testing.T) {
	if len(realServers) < 12 {
		t.Fatalf("only %d servers", len(realServers))
	}
	dir := installReal(t)
	for _, server := range realServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			s := mustProbe(t, realSource(t, dir, server.name, server.entry, server.args), Options{Timeout: time.Minute})
			if len(s.Manifest.Tools) != server.tools {
				t.Errorf("%d tools, want %d", len(s.Manifest.Tools), server.tools)
			}
			if !s.Manifest.Server.Given || len(s.LeftOut) > 0 {
				t.Errorf("server %+v, left out %q", s.Manifest.Server, s.LeftOut)
			}
			t.Logf("%d tools, %d bytes, revision %s, warnings %q", len(s.Manifest.Tools), len(s.Bytes), s.Manifest.ProtocolVersion, s.Warnings)
		})
	}
}

// What we read is byte for byte what another client captured of the same versions.
func TestRealServersAgainstCaptures(t *testing.T) {
	dir := installReal(t)
	for _, server := range realServers {
		if server.capture == nil {
			continue
		}
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			data := shared.Read(t, append([]string{"corpus"}, server.capture...)...)
			want, err := canonjson.Parse(data, canonjson.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if v := want.Get("version").Text; v != server.version {
				t.Fatalf("the capture is of version %s", v)
			}
			s := mustProbe(t, realSource(t, dir, server.name, server.entry, server.args), Options{Timeout: time.Minute, ProtocolVersion: "2025-06-18"})
			for _, member := range []string{"protocolVersion", "serverInfo", "capabilities", "instructions", "tools", "prompts", "resources", "resourceTemplates"} {
				w, g := want.Get(member), s.Manifest.Tree.Get(member)
				if g.Kind == toolmark.KindAbsent && (w.Kind == toolmark.KindNull || w.Kind == toolmark.KindArray && len(w.Items) == 0) {
					continue // the capture writes null and [] for what was not declared
				}
				// It puts a line feed between the pages of a list; all of these have one.
				if got := s.Bytes[g.Start:g.End]; !bytes.Equal(got, data[w.Start:w.End]) {
					t.Errorf("%s: %d bytes\n%s\nwant %d bytes\n%s", member, len(got), cut(string(got), 3000), w.End-w.Start, cut(string(data[w.Start:w.End]), 3000))
				}
			}
		})
	}
}

// One server over the other two transports, read and held.
func TestRealServersOverHTTP(t *testing.T) {
	dir := installReal(t)
	want := mustProbe(t, realSource(t, dir, realServers[0].name, realServers[0].entry, []string{"stdio"}), Options{})
	for _, tr := range []struct{ mode, path string }{{"streamableHttp", "/mcp"}, {"sse", "/sse"}} {
		t.Run(tr.mode, func(t *testing.T) {
			src := Source{URL: startReal(t, dir, tr.mode) + tr.path}
			s := mustProbe(t, src, Options{})
			for _, member := range []string{"serverInfo", "capabilities", "instructions", "tools", "prompts", "resources", "resourceTemplates"} {
				w, g := want.Manifest.Tree.Get(member), s.Manifest.Tree.Get(member)
				if got, want := s.Bytes[g.Start:g.End], want.Bytes[w.Start:w.End]; !bytes.Equal(got, want) {
					t.Errorf("%s: %d bytes\n%s\nover stdio %d bytes\n%s", member, len(got), cut(string(got), 3000), len(want), cut(string(want), 3000))
				}
			}
			w := startWatch(t, src, WatchOptions{})
			if e := w.next(Connected); len(e.Snapshot.Manifest.Tools) != realServers[0].tools || len(e.Declared) == 0 {
				t.Errorf("%d tools, declared %q", len(e.Snapshot.Manifest.Tools), e.Declared)
			}
			select {
			case e, open := <-w.events:
				if !open {
					t.Errorf("the watch ended: %v", <-w.ended)
				} else if e.Kind != Changed {
					t.Errorf("event %s: %v", e.Kind, e.Err)
				}
			case <-time.After(2 * time.Second):
			}
		})
	}
}

// realSource is a server from npm with a home of its own and, where that can be had,
// without network.
func realSource(t *testing.T, dir, name, entry string, args []string) Source {
	home := t.TempDir()
	command := append(offline(), "node", filepath.Join(dir, "node_modules", name, entry))
	env := []string{"HOME=" + home, "NODE_ENV=production", "NO_COLOR=1", "DO_NOT_TRACK=1", "NO_UPDATE_NOTIFIER=1"}
	for _, d := range []string{"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR"} {
		env = append(env, d+"="+home)
	}
	return Source{Command: append(command, args...), Env: env, Dir: home}
}

// offline gives what to put before a command to give it a network with nothing but
// loopback (unshare(1)); nothing where the system does not let us.
var offline = sync.OnceValue(func() []string {
	if exec.Command("unshare", "--map-root-user", "--net", "true").Run() != nil {
		return nil
	}
	return []string{"unshare", "--map-root-user", "--net", "sh", "-c", `ip link set lo up 2>/dev/null; exec "$@"`, "sh"}
})

// installReal gives the folder with the packages, which it makes where it is missing.
func installReal(t *testing.T) string {
	t.Helper()
	if os.Getenv("TOOLMARK_REAL") == "" {
		t.Skip("set TOOLMARK_REAL=1 to probe real servers from npm")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"install", "--save-exact", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=dev", "--loglevel=error"}
	var packages []string
	for _, s := range realServers {
		packages = append(packages, s.name+"@"+s.version)
	}
	name := fmt.Sprintf("npm-%x", sha256.Sum256([]byte(strings.Join(packages, " "))))[:16]
	dir := filepath.Join(cache, "toolmark-test", name)
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		t.Fatal(err)
	}
	npm := exec.Command("npm", append(args, packages...)...)
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// startReal starts server-everything in an HTTP mode and gives its address.
func startReal(t *testing.T, dir, mode string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "node", filepath.Join(dir, "node_modules", realServers[0].name, realServers[0].entry), mode)
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		cmd.Wait()
	})
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for range 100 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return "http://localhost:" + fmt.Sprint(port)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the server does not listen")
	return ""
}
