// Command gen writes the Unicode tables of package textcheck.
//
// It reads data files of the Unicode Character Database and of Unicode Technical
// Standards #39 and #51 from one folder (flag -data) and writes Go source (flag -out).
// The committed tables were made from Unicode 15.0.0, as packaged by Debian 12:
//
//	package unicode-data 15.0.0-1, everything below /usr/share/unicode
//	source package icu 72.1-3+deb12u1, icu/source/data/unidata/confusables.txt,
//	laid into the same folder
//
// With -check it writes nothing and fails where the file would differ.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const version = "15.0.0"

func main() {
	log.SetFlags(0)
	data := flag.String("data", "", "folder with the Unicode data files")
	out := flag.String("out", "tables_gen.go", "file to write")
	check := flag.Bool("check", false, "compare with the file and write nothing")
	flag.Parse()
	if err := run(*data, *out, *check); err != nil {
		log.Fatalf("gen: %v", err)
	}
}

func run(dir, out string, check bool) error {
	u, err := load(dir)
	if err != nil {
		return err
	}
	src, err := format.Source(u.write())
	if err != nil {
		return fmt.Errorf("format the tables: %w", err)
	}
	if check {
		have, err := os.ReadFile(out)
		if err != nil {
			return fmt.Errorf("read the tables: %w", err)
		}
		if !bytes.Equal(have, src) {
			return fmt.Errorf("%s differs from what the data gives: run go generate", out)
		}
		return nil
	}
	return os.WriteFile(out, src, 0o644)
}

// fields reads a data file: each line without its comment, cut at semicolons.
func fields(dir, name string, each func(f []string) error) error {
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimPrefix(lines.Text(), "\ufeff")
		if name != "UnicodeData.txt" {
			line, _, _ = strings.Cut(line, "#")
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.Split(line, ";")
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		if err := each(f); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	return lines.Err()
}

func hexRunes(s string) ([]rune, error) {
	var out []rune
	for _, f := range strings.Fields(s) {
		n, err := strconv.ParseUint(f, 16, 32)
		if err != nil {
			return nil, err
		}
		out = append(out, rune(n))
	}
	return out, nil
}

func hexRange(s string) (lo, hi rune, err error) {
	a, b, ok := strings.Cut(s, "..")
	if !ok {
		b = a
	}
	x, err := strconv.ParseUint(a, 16, 32)
	if err != nil {
		return 0, 0, err
	}
	y, err := strconv.ParseUint(b, 16, 32)
	return rune(x), rune(y), err
}

// checkVersion fails where a file that states its version states another one.
func checkVersion(dir, name string) error {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	head := string(data[:min(len(data), 600)])
	if !strings.Contains(head, version) {
		return fmt.Errorf("%s is not of Unicode %s", name, version)
	}
	return nil
}

func sorted[V any](m map[rune]V) []rune {
	keys := make([]rune, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
