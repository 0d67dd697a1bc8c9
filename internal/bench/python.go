package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// driver is the CPython side. It reads the bodies once, then for every line on its
// standard input does one round and answers with one line of JSON. "recipe" pins as
// the published recipe is written, which writes each tool three times; "lean" writes
// each tool once and puts the list together from that, which is the least that the
// json module can be asked to do.
const driver = `
import hashlib, json, platform, sys, time

way, repeat = sys.argv[1], int(sys.argv[2])
count = int(sys.stdin.buffer.readline())
bodies = [sys.stdin.buffer.read(int(sys.stdin.buffer.readline())) for _ in range(count)]

def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))

def sha256(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()

def entry(tool):
    schema = tool.get("inputSchema")
    if schema is None:
        schema = tool.get("input_schema")
    return {
        "name": tool["name"],
        "description": tool.get("description") or "",
        "input_schema": {} if schema is None else schema,
    }

def recipe(body):
    entries = [entry(tool) for tool in json.loads(body)["tools"]]
    ordered = sorted(entries, key=lambda e: (e["name"], canonical(e)))
    return sha256(canonical(ordered)) + " " + ",".join(sha256(canonical(e)) for e in entries)

encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

def lean(body):
    entries = [(e["name"], encode(e)) for e in map(entry, json.loads(body)["tools"])]
    ordered = "[" + ",".join([text for _, text in sorted(entries)]) + "]"
    return sha256(ordered) + " " + ",".join([sha256(text) for _, text in entries])

work = {"recipe": recipe, "lean": lean}[way]
print(json.dumps("CPython " + platform.python_version()), flush=True)
for _ in sys.stdin.buffer:
    start = time.process_time_ns()
    for _ in range(repeat):
        answers = [work(body) for body in bodies]
    took = time.process_time_ns() - start
    print(json.dumps({"took": took, "answers": answers}), flush=True)
`

type python struct {
	version string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// startPython starts CPython and gives it the bodies. The caller must close it.
func startPython(ctx context.Context, program, way string, bodies [][]byte, repeat int) (*python, error) {
	cmd := exec.CommandContext(ctx, program, "-c", driver, way, fmt.Sprint(repeat))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start CPython: %w", err)
	}
	p := &python{cmd: cmd, in: in, out: bufio.NewReader(out)}
	var input strings.Builder
	fmt.Fprintf(&input, "%d\n", len(bodies))
	for _, b := range bodies {
		fmt.Fprintf(&input, "%d\n%s", len(b), b)
	}
	if _, err := io.WriteString(in, input.String()); err != nil {
		p.close()
		return nil, fmt.Errorf("give CPython the bodies: %w", err)
	}
	if err := p.answer(&p.version); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *python) round() (time.Duration, []string, error) {
	if _, err := io.WriteString(p.in, "go\n"); err != nil {
		return 0, nil, err
	}
	var a struct {
		Took    int64
		Answers []string
	}
	err := p.answer(&a)
	return time.Duration(a.Took), a.Answers, err
}

func (p *python) answer(into any) error {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("CPython gave no answer: %w", err)
	}
	return json.Unmarshal(line, into)
}

// close ends the process: it stops at the end of its input.
func (p *python) close() {
	_ = p.in.Close()
	_ = p.cmd.Wait() // its exit code says nothing that a missing answer has not said
}
