package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/toolmark/toolmark/canonjson"
)

// load gives the tool lists of all snapshots in a folder, each as a request body with
// the bytes that the server sent, or made-up lists where there is no such folder.
func load(folder string) (bodies [][]byte, source string, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, "", err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, "", err
		}
		tree, err := canonjson.Parse(data, canonjson.Options{})
		if err != nil {
			return nil, "", fmt.Errorf("read %s: %w", file, err)
		}
		if tools := tree.Get("tools"); tools.End > tools.Start {
			bodies = append(bodies, fmt.Appendf(nil, `{"tools":%s}`, data[tools.Start:tools.End]))
		}
	}
	if len(bodies) > 0 {
		return bodies, "tool lists of real servers", nil
	}
	for size := 2 << 10; size <= 256<<10; size *= 2 {
		for range 4 {
			bodies = append(bodies, list(size))
		}
	}
	return bodies, "made-up tool lists", nil
}

var sentences = []string{
	"Lists the open tickets of a board, newest first.", "Returns one page of results; pass the cursor to get the next.",
	"The folder to look in.\nRelative paths start at the workspace.", "How many entries to return, at most 100.",
	"Use \"all\" to include archived entries.", "Gibt die Größe in Bytes zurück.", "The time zone, such as Europe/Berlin.",
	"Writes a file and returns its new version — an older one is kept.", "返回搜索结果。",
}

// list makes up a request body of about size bytes that reads like a usual tool list.
func list(size int) []byte {
	rng := rand.New(rand.NewPCG(uint64(size), 1))
	sentence := func() string { return sentences[rng.IntN(len(sentences))] }
	body := []byte(`{"tools":[`)
	for n := 0; len(body) < size; n++ {
		if n > 0 {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"name":"tool_%d_%d","title":"Tool %d","description":`, rng.IntN(1000), n, n)
		body = quote(body, sentence()+" "+sentence())
		body = append(body, `,"inputSchema":{"type":"object","properties":{`...)
		parameters := 1 + rng.IntN(6)
		for i := range parameters {
			if i > 0 {
				body = append(body, ',')
			}
			body = fmt.Appendf(body, `"parameter%c":{"type":"string","minLength":%d,"description":`, 'z'-i, rng.IntN(10))
			body = quote(body, sentence())
			if rng.IntN(3) == 0 {
				body = fmt.Appendf(body, `,"enum":["open","closed","all"],"default":%.2f`, rng.Float64())
			}
			body = append(body, '}')
		}
		body = append(body, `},"required":["parameterz"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`...)
	}
	return append(body, "]}"...)
}

// quote writes text as servers do: not ASCII left as it is.
func quote(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for _, r := range text {
		switch r {
		case '"', '\\':
			dst = append(dst, '\\', byte(r))
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}
