package atr

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// Limits of a package. They are far above what the real one has (2 MB packed, 12 MB
// unpacked, 785 rules).
const (
	maxPackage  = 16 << 20 // bytes, packed
	maxUnpacked = 96 << 20 // bytes, all entries together
	maxRuleFile = 1 << 20  // bytes of one rule, as the package's own loader has it
	maxRules    = 5000
	maxEntries  = 50_000
)

// ruleText is one rule file of a package.
type ruleText struct {
	name string
	data []byte
}

// unpack reads the rule files, package/rules/**/*.yaml, of an npm package into memory,
// in order of their names. Nothing is written anywhere, so no name, link or device in
// the archive can lead out of a folder; names that try are an error all the same.
func unpack(data []byte) ([]ruleText, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	limited := &io.LimitedReader{R: zipped, N: maxUnpacked + 1}
	archive := tar.NewReader(limited)
	var list []ruleText
	for entries := 0; ; entries++ {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) && limited.N > 0 {
			break
		}
		if limited.N <= 0 {
			return nil, fmt.Errorf("unpack: more than %d bytes", maxUnpacked)
		}
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		if entries >= maxEntries {
			return nil, fmt.Errorf("unpack: more than %d entries", maxEntries)
		}
		name := header.Name
		if path.IsAbs(name) || strings.Contains(name, `\`) || slices.Contains(strings.Split(name, "/"), "..") {
			return nil, fmt.Errorf("unpack: the name %q leads out of the package", name)
		}
		ext := path.Ext(name)
		if !strings.HasPrefix(name, "package/rules/") || ext != ".yaml" && ext != ".yml" {
			continue
		}
		if header.Typeflag != tar.TypeReg {
			return nil, fmt.Errorf("unpack: %s is not a file", name)
		}
		if header.Size > maxRuleFile {
			return nil, fmt.Errorf("unpack: %s has %d bytes: the limit is %d", name, header.Size, maxRuleFile)
		}
		if len(list) == maxRules {
			return nil, fmt.Errorf("unpack: more than %d rules", maxRules)
		}
		text, err := io.ReadAll(io.LimitReader(archive, maxRuleFile))
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", name, err)
		}
		list = append(list, ruleText{name, text})
	}
	if len(list) == 0 {
		return nil, errors.New("unpack: no rules in the package")
	}
	slices.SortFunc(list, func(a, b ruleText) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// fieldsRead are the fields of an event that the text of a tool stands for.
var fieldsRead = []string{"content", "tool_description"}

// compilePackage makes a pack out of the bytes of a package.
func compilePackage(version string, data []byte, fields ...string) (*Pack, error) {
	texts, err := unpack(data)
	if err != nil {
		return nil, err
	}
	var rules []*ruleFile
	for _, t := range texts {
		r, err := readRule(t.data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		rules = append(rules, r)
	}
	return compile(version, rules, fields...)
}
