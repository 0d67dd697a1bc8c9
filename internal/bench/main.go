// Command bench measures what Toolmark promises of its speed and memory, and writes
// docs/performance.md: each figure with its aim beside it and the command that gives it.
//
//	go run ./internal/bench -write docs/performance.md
//	go run ./internal/bench -only pins,scans
//	go run ./internal/bench -only watch -write docs/performance.md    # this section alone
//
// It wants bin/toolmark (make build), and uses ../shared, CPython, Node, the community
// rules and the PostgreSQL of TOOLMARK_TEST_POSTGRES where they are; what cannot be
// measured without them is said to be so. With -check it fails where ratios that hold on
// any machine are not what is promised: pins beside CPython's json and the growth of their
// cost, community rules beside Node. Other aims that are missed are listed and written.
//
// A section is a function in sections.go; add one there.
//
// Pins: one core is used by either side, GOMAXPROCS is 1, garbage collection included, and
// CPython has one thread. Starting a process and reading the bodies is not counted. Time is
// the processor's, as the system accounts it to each process, and of all rounds the fastest
// counts, for both sides alike. Every round's answers are compared. A second way of using
// CPython's json, which does less than the recipe, shows what is in the recipe and what is
// in the module.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolmark/toolmark/pin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Getenv)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// What -check demands.
const (
	leastRatio = 3.0 // times as fast as the published recipe in CPython
	// mostGrowth is the slowest to the fastest time for a byte, from 16 KiB to 1 MiB.
	// Caches and the collector, which begins at 4 MiB of heap, are worth one half;
	// work that grew with the square of the length would be worth 64.
	mostGrowth = 2.0
)

// contestant is one way to pin all bodies. Its round gives the time it took and the
// answers, one a body in the form of pin.Line.
type contestant struct {
	name  string
	round func() (time.Duration, []string, error)
	best  time.Duration
}

// bench is where and how to measure.
type bench struct {
	corpus, python, binary string
	postgres               string // URL of a server; "" is none
	rounds, repeat, idle   int
	servers                int           // registered ones
	length                 time.Duration // of a run under load
	progress               io.Writer

	unmet []string // of what -check demands
}

func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
	shared := getenv("TOOLMARK_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "shared")
	}
	b := &bench{postgres: getenv("TOOLMARK_TEST_POSTGRES"), progress: io.Discard}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&b.rounds, "rounds", 7, "pins: rounds, each of every contestant in turn")
	flags.IntVar(&b.repeat, "repeat", 5, "pins: times that a round pins all bodies")
	flags.StringVar(&b.python, "python", "python3", "the CPython to measure")
	flags.StringVar(&b.corpus, "corpus", filepath.Join(shared, "corpus", "benign"), "folder of snapshots of real servers; made-up bodies where it is not there")
	flags.StringVar(&b.binary, "binary", filepath.Join("bin", "toolmark"), "the program to start")
	flags.DurationVar(&b.length, "for", 10*time.Second, "how long the service is under load; memory is watched that long (5m shows whether it stays flat)")
	flags.IntVar(&b.idle, "idle", 10_000, "connections that attack by saying nothing")
	flags.IntVar(&b.servers, "servers", 10_000, "registered servers that are watched")
	only := flags.String("only", "", "sections to measure, with commas between: "+strings.Join(ids(sections), ", "))
	page := flags.String("write", "", "file to write the page to, or with -only to put these sections into; standard output where not given")
	check := flags.Bool("check", false, "fail where ratios are below what is promised")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(sections, *only)
	if err != nil {
		return err
	}
	out := stdout
	var text strings.Builder
	if *page != "" {
		out, b.progress = &text, stdout
	}
	missed, err := write(ctx, b, chosen, out)
	if err != nil {
		return err
	}
	if *page != "" {
		whole := text.String()
		if len(chosen) < len(sections) {
			old, err := os.ReadFile(*page)
			if err != nil {
				return fmt.Errorf("-only with -write puts sections into a page that is there: %w", err)
			}
			whole = merge(string(old), whole)
		}
		if err := os.WriteFile(*page, []byte(strings.TrimRight(whole, "\n")+"\n"), 0o644); err != nil {
			return err
		}
		for _, m := range missed {
			fmt.Fprintln(stdout, "not met:", m)
		}
	}
	if *check && len(b.unmet) > 0 {
		return errors.New(strings.Join(b.unmet, "; "))
	}
	return nil
}

// demand notes what -check fails for.
func (b *bench) demand(met bool, format string, args ...any) {
	if !met {
		b.unmet = append(b.unmet, fmt.Sprintf(format, args...))
	}
}

// hasCorpus reports whether captures of real servers are here.
func (b *bench) hasCorpus() bool {
	files, err := filepath.Glob(filepath.Join(b.corpus, "*.json"))
	return err == nil && len(files) > 0
}

func ids(list []section) (names []string) {
	for i := range list {
		names = append(names, list[i].id)
	}
	return names
}

func choose(list []section, only string) (chosen []section, err error) {
	if only == "" {
		return list, nil
	}
	for id := range strings.SplitSeq(only, ",") {
		i := slices.Index(ids(list), id)
		if i < 0 {
			return nil, fmt.Errorf("there is no section %q; there are %s", id, strings.Join(ids(list), ", "))
		}
		chosen = append(chosen, list[i])
	}
	return chosen, nil
}

// beside measures all contestants and gives our lead over the published recipe.
func beside(ctx context.Context, stdout io.Writer, bodies [][]byte, source, python string, rounds, repeat int) (float64, error) {
	recipe, err := startPython(ctx, python, "recipe", bodies, repeat)
	if err != nil {
		return 0, err
	}
	defer recipe.close()
	lean, err := startPython(ctx, python, "lean", bodies, repeat)
	if err != nil {
		return 0, err
	}
	defer lean.close()
	all := []*contestant{
		{name: "toolmark", round: func() (time.Duration, []string, error) { return ours(bodies, repeat) }},
		{name: recipe.version + ", the published recipe", round: recipe.round},
		{name: recipe.version + ", each tool written once", round: lean.round},
	}
	for range rounds {
		var first []string
		for i, c := range all {
			took, answers, err := c.round()
			if err != nil {
				return 0, fmt.Errorf("measure %s: %w", c.name, err)
			}
			if i == 0 {
				first = answers
			} else if !slices.Equal(answers, first) {
				return 0, fmt.Errorf("%s and %s give different pins", all[0].name, c.name)
			}
			if c.best == 0 || took < c.best {
				c.best = took
			}
		}
	}

	size := 0
	for _, b := range bodies {
		size += len(b)
	}
	fmt.Fprintf(stdout, "%d bodies, %.2f MB, %s; processor time, best of %d rounds, one core, %s\n\n", len(bodies), float64(size)/1e6, source, rounds, runtime.Version())
	fmt.Fprintln(stdout, "| | pins/s | MB/s | toolmark is faster by |")
	fmt.Fprintln(stdout, "| --- | ---: | ---: | ---: |")
	lead := 0.0
	for i, c := range all {
		times := "—"
		if i > 0 {
			ratio := float64(c.best) / float64(all[0].best)
			times = fmt.Sprintf("%.1f×", ratio)
			if i == 1 {
				lead = ratio
			}
		}
		seconds := c.best.Seconds() / float64(repeat)
		fmt.Fprintf(stdout, "| %s | %.0f | %.1f | %s |\n", c.name, float64(len(bodies))/seconds, float64(size)/1e6/seconds, times)
	}
	if lead == 0 {
		return 0, errors.New("nothing was measured")
	}
	return lead, nil
}

func ours(bodies [][]byte, repeat int) (time.Duration, []string, error) {
	answers := make([]string, len(bodies))
	runtime.GC() // the rubbish of the round before is not this round's
	start, err := processorTime()
	if err != nil {
		return 0, nil, err
	}
	for range repeat {
		for i, b := range bodies {
			answers[i] = pin.Line(b)
		}
	}
	end, err := processorTime()
	return end - start, answers, err
}

// linearity prints the time for a byte at doubling lengths and gives the ratio of the
// slowest to the fastest.
func linearity(stdout io.Writer, rounds int) (float64, error) {
	fmt.Fprintln(stdout, "\n| body | ns/byte |")
	fmt.Fprintln(stdout, "| ---: | ---: |")
	least, most := 0.0, 0.0
	for size := 16 << 10; size <= 1<<20; size *= 2 {
		body := list(size)
		repeat := 8 << 20 / size
		best := time.Duration(0)
		for range rounds {
			took, _, err := ours([][]byte{body}, repeat)
			if err != nil {
				return 0, err
			}
			if best == 0 || took < best {
				best = took
			}
		}
		perByte := float64(best.Nanoseconds()) / float64(repeat*len(body))
		fmt.Fprintf(stdout, "| %d KiB | %.2f |\n", size>>10, perByte)
		if least == 0 || perByte < least {
			least = perByte
		}
		most = max(most, perByte)
	}
	return most / least, nil
}
