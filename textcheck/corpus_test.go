package textcheck

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolmark/toolmark/internal/shared"
)

// corpusString is a string of a corpus file and where it stands.
type corpusString struct {
	file, pointer, text string
}

func corpusStrings(t *testing.T, files []string) []corpusString {
	t.Helper()
	var out []corpusString
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs := [][]byte{data}
		if strings.HasSuffix(file, ".jsonl") {
			docs = bytes.Split(bytes.TrimSpace(data), []byte("\n"))
		}
		for _, doc := range docs {
			var v any
			if err := json.Unmarshal(doc, &v); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			eachString(v, "", func(pointer, text string) {
				out = append(out, corpusString{filepath.Base(file), pointer, text})
			})
		}
	}
	return out
}

func eachString(v any, pointer string, f func(pointer, text string)) {
	switch v := v.(type) {
	case string:
		f(pointer, v)
	case []any:
		for _, item := range v {
			eachString(item, pointer+"/-", f)
		}
	case map[string]any:
		for name, item := range v {
			f(pointer+"/{name}", name)
			eachString(item, pointer+"/"+name, f)
		}
	}
}

// Honest servers and honest tools that look like attacks have nothing hidden in
// them. Every exception here was looked at by hand; at present there is none.
func TestHonestCorpusHasNothingHidden(t *testing.T) {
	servers, err := filepath.Glob(filepath.Join(shared.Path(t, "corpus", "benign"), "*.json"))
	if err != nil || len(servers) < 47 {
		t.Fatalf("%d captures of servers, %v; want at least 47", len(servers), err)
	}
	hard, err := filepath.Glob(filepath.Join(shared.Path(t, "corpus"), "hard-benign*.jsonl"))
	if err != nil || len(hard) < 2 {
		t.Fatalf("%d files of hard cases, %v; want at least 2", len(hard), err)
	}
	all := corpusStrings(t, append(servers, hard...))
	if len(all) < 120_000 {
		t.Fatalf("read %d strings; want at least 120,000", len(all))
	}
	size, read := 0, 0
	for _, s := range all {
		name := strings.HasSuffix(s.pointer, "/name") || strings.HasSuffix(s.pointer, "/{name}")
		in := Inspect(s.text, Options{Name: name, Data: strings.HasSuffix(s.pointer, "/src")})
		for _, h := range in.Hits {
			if h.Kind.Hidden() {
				t.Errorf("%s%s: %s at %d–%d (%s) in %.120q", s.file, s.pointer, h.Kind, h.Start, h.End, h.Name, s.text)
			}
		}
		if !in.Hidden() && !strings.Contains(s.text, "<!--") && in.Sanitized != s.text {
			t.Errorf("%s%s: sanitized to %.120q", s.file, s.pointer, in.Sanitized)
		}
		size += len(s.text)
		for _, r := range Readings(s.text) {
			read += len(r.Text)
			if slices.Contains([]string{readingRot13, readingHex, readingBits, readingVariation, readingSpaced, readingLeet}, r.Name) {
				t.Errorf("%s%s: reading %s gives %.120q", s.file, s.pointer, r.Name, r.Text)
			}
		}
	}
	if read > 2*size {
		t.Errorf("readings are %d bytes of %d sent; want at most twice", read, size)
	}
	t.Logf("%d strings, %d bytes, %d bytes of readings", len(all), size, read)
}

// What others published as hidden text is found.
func TestPoisonedCorpusHidden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "corpus", "poisoned"), "*.jsonl"))
	if err != nil || len(files) < 18 {
		t.Fatalf("%d files, %v; want at least 18", len(files), err)
	}
	n := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
			var c struct {
				ID     string
				Tools  any
				Expect []string
			}
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if !slices.Contains(c.Expect, "W021") {
				continue
			}
			n++
			hidden := false
			eachString(c.Tools, "", func(_, text string) {
				in := Inspect(text, Options{})
				hidden = hidden || in.Hidden()
				if clean := Inspect(in.Sanitized, Options{}); clean.Hidden() {
					t.Errorf("%s: sanitized to %q, which still hides something", c.ID, in.Sanitized)
				}
			})
			if !hidden {
				t.Errorf("%s: nothing hidden found", c.ID)
			}
		}
	}
	if n < 35 {
		t.Fatalf("read %d cases that expect W021; want at least 35", n)
	}
}
