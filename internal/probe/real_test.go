package probe

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/shared"
)

// The real servers, all published together on npm under one version.
const realVersion = "2026.8.31"

var realServers = []struct {
	name  string
	args  []string
	tools int
}{
	{"everything", nil, 13},
	{"filesystem", []string{"/tmp"}, 14},
	{"memory", nil, 9},
	{"sequential-thinking", nil, 1},
}

// TestRealServers probes the reference servers of MCP from npm. It needs Node and the
// npm registry, so it runs only with TOOLMARK_REAL=1. The packages are kept in the
// user's cache directory; their install scripts are not run.
func TestRealServers(t *testing.T) {
	dir := installReal(t)
	for _, server := range realServers {
		t.Run(server.name, func(t *testing.T) {
			src := Source{Command: append([]string{"node", entry(dir, server.name)}, server.args...), Dir: t.TempDir()}
			s := mustProbe(t, src, Options{})
			if len(s.Manifest.Tools) != server.tools {
				t.Errorf("%d tools, want %d", len(s.Manifest.Tools), server.tools)
			}
			if !s.Manifest.Server.Given || len(s.Warnings) > 0 {
				t.Errorf("server %+v, warnings %q", s.Manifest.Server, s.Warnings)
			}
			t.Logf("%d tools, %d bytes, revision %s", len(s.Manifest.Tools), len(s.Bytes), s.Manifest.ProtocolVersion)
		})
	}
	for _, tr := range []struct{ mode, path string }{{"streamableHttp", "/mcp"}, {"sse", "/sse"}} {
		t.Run("everything over "+tr.mode, func(t *testing.T) {
			src := Source{URL: startReal(t, dir, tr.mode) + tr.path}
			s := mustProbe(t, src, Options{})
			if len(s.Manifest.Tools) != 13 || s.Manifest.Prompts == nil || s.Manifest.Resources == nil {
				t.Errorf("%d tools, prompts %v", len(s.Manifest.Tools), s.Manifest.Prompts)
			}
		})
	}
}

// What we read is byte for byte what another client captured of the same versions.
func TestRealServersAgainstCaptures(t *testing.T) {
	dir := installReal(t)
	for _, server := range realServers[1:] {
		t.Run(server.name, func(t *testing.T) {
			data := shared.Read(t, "corpus", "benign", server.name+".json")
			want, err := canonjson.Parse(data, canonjson.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if v := want.Get("version").Text; v != realVersion {
				t.Skipf("the capture is of version %s", v)
			}
			src := Source{Command: append([]string{"node", entry(dir, server.name)}, server.args...), Dir: t.TempDir()}
			s := mustProbe(t, src, Options{ProtocolVersion: "2025-06-18"})
			for _, member := range []string{"protocolVersion", "serverInfo", "capabilities", "tools", "resources"} {
				w, g := want.Get(member), s.Manifest.Tree.Get(member)
				if g.Kind == toolmark.KindAbsent && len(w.Items) == 0 {
					continue // the capture writes [] for what was not declared
				}
				if got := s.Bytes[g.Start:g.End]; !bytes.Equal(got, data[w.Start:w.End]) {
					t.Errorf("%s: %d bytes\n%s\nwant %d bytes\n%s", member, len(got), got, w.End-w.Start, data[w.Start:w.End])
				}
			}
		})
	}
}

func entry(dir, name string) string {
	return filepath.Join(dir, "node_modules", "@modelcontextprotocol", "server-"+name, "dist", "index.js")
}

func installReal(t *testing.T) string {
	t.Helper()
	if os.Getenv("TOOLMARK_REAL") == "" {
		t.Skip("set TOOLMARK_REAL=1 to probe real servers from npm")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "toolmark-test", "servers-"+realVersion)
	args := []string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"}
	ready := true
	for _, s := range realServers {
		args = append(args, fmt.Sprintf("@modelcontextprotocol/server-%s@%s", s.name, realVersion))
		if _, err := os.Stat(entry(dir, s.name)); err != nil {
			ready = false
		}
	}
	if ready {
		return dir
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		t.Fatal(err)
	}
	npm := exec.Command("npm", args...)
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
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
	cmd := exec.CommandContext(ctx, "node", entry(dir, "everything"), mode)
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
