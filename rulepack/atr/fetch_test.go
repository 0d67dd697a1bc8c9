package atr

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// entry is a member of a package that is made for a test.
type entry struct {
	name string
	body string
	kind byte
}

const ruleOne = `
id: T-1
title: A made-up rule
status: experimental
maturity: stable
severity: high
tags: {confidence: high}
detection:
  condition: any
  conditions:
    - {field: content, operator: regex, value: '(?i)sing\s+the\s+blue\s+song'}
    - {field: tool_args, operator: regex, value: 'never read'}
test_cases:
  true_negatives: [{input: 'a plain song'}]
`

func archived(tb testing.TB, entries ...entry) []byte {
	tb.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.body)), Typeflag: e.kind}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if e.kind == tar.TypeSymlink {
			h.Linkname, h.Size = e.body, 0
			e.body = ""
		}
		if err := archive.WriteHeader(h); err != nil {
			tb.Fatal(err)
		}
		if _, err := archive.Write([]byte(e.body)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func lockFor(data []byte) Lock {
	sum := sha512.Sum512(data)
	return Lock{"made-up-rules", "1.2.3", "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
}

// registry serves a package under the path that npm registries use, and counts.
func registry(tb testing.TB, handler http.HandlerFunc) (url string, asked *atomic.Int32) {
	tb.Helper()
	asked = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		handler(w, r)
	}))
	tb.Cleanup(server.Close)
	return server.URL + "/npm", asked
}

func TestFetchOnceThenFromCache(t *testing.T) {
	data := archived(t, entry{name: "package/rules/a/one.yaml", body: ruleOne}, entry{name: "package/dist/x.js", body: "no rule"})
	url, asked := registry(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/npm/made-up-rules/-/made-up-rules-1.2.3.tgz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.Write(data)
	})
	var last int64
	o := Options{Registry: url, CacheDir: t.TempDir(), Lock: lockFor(data), Progress: func(done, _ int64) { last = done }}
	if _, err := open(o.CacheDir, o.Lock); !errors.Is(err, ErrMissing) || !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "toolmark rules update") {
		t.Fatalf("before: %v", err)
	}
	p, err := Fetch(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Match([]string{"Sing  the blue SONG!"}, nil).Matches) != 1 || last != int64(len(data)) {
		t.Errorf("progress %d of %d; %+v", last, len(data), p.Rules())
	}
	if _, err := Fetch(context.Background(), o); err != nil || asked.Load() != 1 {
		t.Errorf("second fetch: %v, asked %d times", err, asked.Load())
	}
	// A damaged index is told, and made again from the package without a request.
	damage(t, indexPath(o.CacheDir, o.Lock))
	if _, err := open(o.CacheDir, o.Lock); !errors.Is(err, ErrMissing) || !errors.Is(err, errDamaged) {
		t.Errorf("damaged index: %v", err)
	}
	if _, err := Fetch(context.Background(), o); err != nil || asked.Load() != 1 {
		t.Errorf("after damage: %v, asked %d times", err, asked.Load())
	}
	// Both damaged: fetched again.
	damage(t, indexPath(o.CacheDir, o.Lock))
	damage(t, packagePath(o.CacheDir, o.Lock))
	if _, err = Fetch(context.Background(), o); err != nil || asked.Load() != 2 {
		t.Fatalf("after both: %v, asked %d times", err, asked.Load())
	}
	if p, err = open(o.CacheDir, o.Lock); err != nil || p.Version() != "1.2.3" || p.Total() != 1 {
		t.Errorf("open: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.CacheDir, "*", "*tmp*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func damage(tb testing.TB, name string) {
	tb.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	data[len(data)-3] ^= 1
	if err := os.WriteFile(name, data, 0o600); err != nil {
		tb.Fatal(err)
	}
}

func TestFetchRefuses(t *testing.T) {
	good := archived(t, entry{name: "package/rules/one.yaml", body: ruleOne})
	other := archived(t, entry{name: "package/rules/one.yaml", body: ruleOne + "# changed\n"})
	tests := map[string]struct {
		lock    Lock
		handler http.HandlerFunc
		says    string
	}{
		"another package": {lockFor(good), func(w http.ResponseWriter, _ *http.Request) { w.Write(other) }, "another SHA-512"},
		"cut off, and its length hidden": {lockFor(good), func(w http.ResponseWriter, _ *http.Request) {
			w.Write(good[:len(good)/2])
		}, "another SHA-512"},
		"cut off": {lockFor(good), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			w.Write(good)
		}, "unexpected EOF"},
		"too large by its own word": {lockFor(good), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "999999999")
		}, "the limit is"},
		"without end": {lockFor(good), func(w http.ResponseWriter, _ *http.Request) {
			block := make([]byte, 1<<20)
			for range maxPackage>>20 + 4 {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, "more than"},
		"not there": {lockFor(good), http.NotFound, "404"},
		"redirected in a circle": {lockFor(good), func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, "redirects"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			url, _ := registry(t, test.handler)
			dir := t.TempDir()
			_, err := Fetch(context.Background(), Options{Registry: url, CacheDir: dir, Lock: test.lock})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want it to say %q", err, test.says)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
				t.Errorf("kept %v", left)
			}
		})
	}
	if _, err := Fetch(context.Background(), Options{Registry: "ftp://x", CacheDir: t.TempDir()}); err == nil {
		t.Error("a registry that is no http URL was taken")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	url, _ := registry(t, http.NotFound)
	if _, err := Fetch(ctx, Options{Registry: url, CacheDir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFetchFollowsRedirectAndDocument(t *testing.T) {
	data := archived(t, entry{name: "package/rules/one.yaml", body: ruleOne})
	url, _ := registry(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/npm/made-up-rules/1.2.3":
			w.Write([]byte(`{"dist":{"tarball":"/files/first"}}`))
		case "/files/first":
			http.Redirect(w, r, "/files/second", http.StatusFound)
		case "/files/second":
			w.Write(data)
		default:
			http.NotFound(w, r)
		}
	})
	if _, err := Fetch(context.Background(), Options{Registry: url, CacheDir: t.TempDir(), Lock: lockFor(data)}); err != nil {
		t.Error(err)
	}
}

func TestFetchTriesAgain(t *testing.T) {
	data := archived(t, entry{name: "package/rules/one.yaml", body: ruleOne})
	failed := atomic.Bool{}
	url, asked := registry(t, func(w http.ResponseWriter, _ *http.Request) {
		if failed.CompareAndSwap(false, true) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Write(data)
	})
	if _, err := Fetch(context.Background(), Options{Registry: url, CacheDir: t.TempDir(), Lock: lockFor(data)}); err != nil || asked.Load() != 2 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

func TestFetchSideBySide(t *testing.T) {
	data := archived(t, entry{name: "package/rules/one.yaml", body: ruleOne})
	url, _ := registry(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(data) })
	o := Options{Registry: url, CacheDir: t.TempDir(), Lock: lockFor(data)}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if _, err := Fetch(context.Background(), o); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if _, err := open(o.CacheDir, o.Lock); err != nil {
		t.Error(err)
	}
}

func TestUnpackRefuses(t *testing.T) {
	one := entry{name: "package/rules/one.yaml", body: ruleOne}
	tests := map[string]struct {
		data []byte
		says string
	}{
		"a way up":    {archived(t, one, entry{name: "package/rules/../../../evil.yaml", body: "x"}), "leads out"},
		"absolute":    {archived(t, one, entry{name: "/etc/evil.yaml", body: "x"}), "leads out"},
		"backslashes": {archived(t, one, entry{name: `package\..\..\evil.yaml`, body: "x"}), "leads out"},
		"a link":      {archived(t, one, entry{name: "package/rules/l.yaml", body: "/etc/passwd", kind: tar.TypeSymlink}), "not a file"},
		"a huge rule": {archived(t, one, entry{name: "package/rules/h.yaml", body: strings.Repeat("x", maxRuleFile+1)}), "the limit"},
		"a bomb":      {archived(t, one, entry{name: "package/zeros", body: strings.Repeat("\x00", maxUnpacked+1)}), "more than"},
		"no rules":    {archived(t, entry{name: "package/readme.md", body: "x"}), "no rules"},
		"cut off":     {archived(t, one)[:60], "unpack"},
		"no archive":  {[]byte("hello"), "unpack"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := unpack(test.data); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want it to say %q", err, test.says)
			}
		})
	}
}

func TestRuleFilesThatAreNotKnown(t *testing.T) {
	for name, change := range map[string][2]string{
		"another condition": {"condition: any", "condition: most"},
		"another operator":  {"operator: regex", "operator: contains"},
		"a bad pattern":     {`sing\s+the`, `sing(\s+the`},
		"no id":             {"id: T-1", "name: x"},
	} {
		body := strings.Replace(ruleOne, change[0], change[1], 1)
		if body == ruleOne {
			t.Fatalf("%s: nothing changed", name)
		}
		data := archived(t, entry{name: "package/rules/one.yaml", body: body})
		if p, err := compilePackage("1", data, fieldsRead...); err == nil {
			t.Errorf("%s: taken, %d rules", name, len(p.rules))
		}
	}
}

func TestLock(t *testing.T) {
	l := Pinned()
	if l.Package == "" || !strings.HasPrefix(l.folder(), l.Version+"-") {
		t.Errorf("%+v", l)
	}
	for _, bad := range []string{
		`{}`, `{"package":"a","version":"^1.0.0","integrity":"` + l.Integrity + `"}`,
		`{"package":"../a","version":"1.0.0","integrity":"` + l.Integrity + `"}`,
		`{"package":"a","version":"1.0.0","integrity":"sha1-AAAA"}`,
		`{"package":"a","version":"1.0.0","integrity":"sha512-AAAA"}`,
		`{"package":"a","version":"1.0.0","integrity":"` + l.Integrity + `","more":1}`,
	} {
		if _, err := parseLock([]byte(bad)); err == nil {
			t.Errorf("taken: %s", bad)
		}
	}
}

func TestRegistryFrom(t *testing.T) {
	none := func(string) string { return "" }
	env := func(name string) string {
		if name == "NPM_CONFIG_REGISTRY" {
			return "https://npm.example/"
		}
		return ""
	}
	for _, test := range []struct {
		getenv func(string) string
		npmrc  string
		want   string
	}{
		{none, "", DefaultRegistry},
		{none, "fund=false\nregistry = \"http://mirror.example/npm/\"\n", "http://mirror.example/npm/"},
		{none, "@scope:registry=http://other.example/\n", DefaultRegistry},
		{env, "registry=http://mirror.example/npm/", "https://npm.example/"},
	} {
		if got := RegistryFrom(test.getenv, test.npmrc); got != test.want {
			t.Errorf("%q: %s, want %s", test.npmrc, got, test.want)
		}
	}
}
