package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// goBench is a run of go test -bench.
type goBench struct {
	folder, pattern, time string
	count                 int
}

// String gives the command.
func (g goBench) String() string {
	return "GOMAXPROCS=1 " + strings.Join(g.args(true), " ")
}

func (g goBench) args(quoted bool) []string {
	pattern := g.pattern
	if quoted {
		pattern = "'" + pattern + "'"
	}
	return []string{"go", "test", "-run", "xxx", "-bench", pattern, "-benchtime", g.time, "-count", strconv.Itoa(g.count), "./" + g.folder}
}

// results are figures by benchmark (without Benchmark) and unit: of several runs the
// best, which is the most MB/s and the least of all else.
type results map[string]map[string]float64

func (g goBench) run(ctx context.Context) (results, error) {
	args := g.args(false)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", g, err, out)
	}
	return parseBench(string(out)), nil
}

// parseBench reads the output of go test -bench: a name, how often it ran, and pairs of
// value and unit.
func parseBench(out string) results {
	all := results{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "Benchmark")
		if all[name] == nil {
			all[name] = map[string]float64{}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				break
			}
			if old, ok := all[name][fields[i+1]]; !ok || (value < old) != (fields[i+1] == "MB/s") {
				all[name][fields[i+1]] = value
			}
		}
	}
	return all
}

// get gives a figure, and whether there is one.
func (r results) get(name, unit string) (float64, bool) {
	v, ok := r[name][unit]
	return v, ok
}
