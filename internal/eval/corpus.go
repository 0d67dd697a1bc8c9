package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

// corpus says what kind of text a case is.
type corpus string

const (
	poisoned   corpus = "poisoned"    // published attacks; each case says what must be found
	benign     corpus = "benign"      // what real servers list; nothing should be found
	history    corpus = "history"     // the same across releases of some servers
	hardBenign corpus = "hard-benign" // honest tools that look like attacks
	ownAttack  corpus = "own-attack"  // testdata/detection, written for this project
	ownHonest  corpus = "own-honest"
)

// honest reports whether nothing should be found in the corpus.
func (c corpus) honest() bool {
	return c == benign || c == history || c == hardBenign || c == ownHonest
}

// server is one list to scan with the names of the other servers' tools.
type server struct {
	manifest *toolmark.Manifest
	others   []toolmark.OtherServer
}

// testCase is one thing that is counted: an attack, or the tools of an honest server.
type testCase struct {
	id, source, kind, tier string
	corpus                 corpus
	expect                 []toolmark.Code
	servers                []server
	tools                  int
}

// Sizes below which a corpus was not read whole. A corpus test that silently reads
// nothing is the oldest mistake of this field.
const (
	leastPoisoned   = 351
	leastTools      = 177 // poisoned cases of tier tool
	leastServers    = 47
	leastBenign     = 1666 // tools of those servers
	leastHardBenign = 213
)

// readCorpora reads everything below shared/corpus, and below own where that is not "".
func readCorpora(shared, own string) ([]testCase, error) {
	var cases []testCase
	if shared != "" {
		for _, read := range []func(string) ([]testCase, error){readPoisoned, readBenign, readHistory, readHardBenign} {
			more, err := read(filepath.Join(shared, "corpus"))
			if err != nil {
				return nil, err
			}
			cases = append(cases, more...)
		}
	}
	if own != "" {
		more, err := readOwn(own)
		if err != nil {
			return nil, err
		}
		cases = append(cases, more...)
	}
	return cases, nil
}

// line is a case as it stands in a corpus file.
type line struct {
	ID, Source, Kind, Tier string
	Act, Lang, Label       string
	Expect                 []toolmark.Code
	Tools                  []json.RawMessage
	Servers                []string
	Server                 json.RawMessage // own cases: what the server says beside its tools
	Peers                  []struct {
		Server string
		Tool   struct{ Name string }
	}
}

func readLines(path string, use func(l *line, raw []byte) error) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read corpus: %w", err)
	}
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, 16<<20)
	for n := 1; scanner.Scan(); n++ {
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if err := use(&l, scanner.Bytes()); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return scanner.Err()
}

func readPoisoned(dir string) ([]testCase, error) {
	files, err := filepath.Glob(filepath.Join(dir, "poisoned", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	var cases []testCase
	for _, file := range files {
		err := readLines(file, func(l *line, raw []byte) error {
			c := testCase{id: l.ID, source: l.Source, kind: l.Kind, tier: l.Tier, corpus: poisoned, expect: l.Expect, tools: len(l.Tools)}
			servers, err := l.lists(raw)
			c.servers = servers
			cases = append(cases, c)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return cases, nil
}

// lists gives the case's lists: one, or one for each tool where every tool is of
// another server.
func (l *line) lists(raw []byte) ([]server, error) {
	if len(l.Servers) == 0 {
		m, err := manifestOf(raw)
		if err != nil {
			return nil, err
		}
		s := server{manifest: m}
		for _, p := range l.Peers {
			s.others = append(s.others, toolmark.OtherServer{Name: p.Server, Tools: []string{p.Tool.Name}})
		}
		return []server{s}, nil
	}
	if len(l.Servers) != len(l.Tools) {
		return nil, fmt.Errorf("%d servers for %d tools", len(l.Servers), len(l.Tools))
	}
	var list []server
	for i := range l.Tools {
		m, err := manifestOf([]byte(`{"tools":[` + string(l.Tools[i]) + `]}`))
		if err != nil {
			return nil, err
		}
		list = append(list, server{manifest: m})
	}
	for i := range list {
		for j := range list {
			if i != j {
				list[i].others = append(list[i].others, toolmark.OtherServer{
					Name: l.Servers[j], Tools: []string{list[j].manifest.Tools[0].Name},
				})
			}
		}
	}
	return list, nil
}

// manifestOf reads the "tools" (and whatever else a manifest has) of a JSON object.
func manifestOf(data []byte) (*toolmark.Manifest, error) {
	v, err := canonjson.Parse(data, canonjson.Options{})
	if err != nil {
		return nil, err
	}
	// Members of the case that are not the manifest's must not be read as such.
	kept := *v
	kept.Members = nil
	for _, m := range v.Members {
		switch m.Name {
		case "tools", "serverInfo", "instructions", "prompts", "resources", "resourceTemplates", "capabilities":
			if !m.Value.Absent() {
				kept.Members = append(kept.Members, m)
			}
		}
	}
	return toolmark.ReadManifest(&kept)
}

func readBenign(dir string) ([]testCase, error) {
	return readSnapshots(benign, filepath.Join(dir, "benign", "*.json"))
}

func readHistory(dir string) ([]testCase, error) {
	return readSnapshots(history, filepath.Join(dir, "history", "*", "*.json"))
}

// readSnapshots reads what servers list, a file a server.
func readSnapshots(of corpus, pattern string) ([]testCase, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	var cases []testCase
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read corpus: %w", err)
		}
		m, err := manifestOf(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if of == history {
			name = filepath.Base(filepath.Dir(file)) + "@" + name
		}
		cases = append(cases, testCase{
			id: name, source: name, kind: "server", tier: "server", corpus: of,
			servers: []server{{manifest: m}}, tools: len(m.Tools),
		})
	}
	return cases, nil
}

func readHardBenign(dir string) ([]testCase, error) {
	var cases []testCase
	for _, name := range []string{"hard-benign.jsonl", "hard-benign-labelled.jsonl"} {
		err := readLines(filepath.Join(dir, name), func(l *line, raw []byte) error {
			m, err := manifestOf(raw)
			if err != nil {
				return err
			}
			cases = append(cases, testCase{
				id: l.ID, source: l.Source, kind: l.Kind, tier: strings.TrimSuffix(name, ".jsonl"), corpus: hardBenign,
				servers: []server{{manifest: m}}, tools: len(m.Tools),
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return cases, nil
}

// parts are the folders of the project's own cases.
var parts = []string{"seen", "unseen", "blind"}

// readOwn reads the project's own cases, {seen,unseen,blind}/{attack,honest}.<language>.jsonl.
// Their tier says in which part they are: who writes rules reads the seen part only.
func readOwn(dir string) ([]testCase, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	var cases []testCase
	for _, file := range files {
		err := readLines(file, func(l *line, raw []byte) error {
			body := raw
			if len(l.Server) > 1 && l.Server[0] == '{' {
				// Its members stand beside the tools, as in a snapshot.
				tools, err := json.Marshal(l.Tools)
				if err != nil {
					return err
				}
				rest := bytes.TrimSpace(l.Server[1:])
				body = slices.Concat([]byte(`{"tools":`), tools, []byte(","), rest)
				if rest[0] == '}' {
					body = slices.Concat([]byte(`{"tools":`), tools, rest)
				}
			}
			m, err := manifestOf(body)
			if err != nil {
				return err
			}
			c := testCase{
				id: l.ID, source: l.Lang, kind: l.Act, tier: filepath.Base(filepath.Dir(file)), corpus: ownHonest,
				servers: []server{{manifest: m}}, tools: len(m.Tools),
			}
			if l.Label == "attack" {
				c.corpus, c.expect = ownAttack, []toolmark.Code{toolmark.CodePoisoning}
			}
			cases = append(cases, c)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return cases, nil
}
