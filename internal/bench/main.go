// Command bench measures pins beside CPython's json module doing the same work on the
// same bodies, in turns within one run, and prints a Markdown table:
//
//	go run ./internal/bench
//
// One core is used by either side: GOMAXPROCS is 1, garbage collection included, and
// CPython has one thread. Starting a process and reading the bodies is not counted.
// Time is the processor's, as the system accounts it to each process, and of all rounds
// the fastest counts, for both sides alike: what else the machine does should show as
// little as it can. Every round's answers are compared.
//
// With -check the command fails where we are not at least three times as fast as the
// published recipe in CPython, or where the time for a byte grows with the length of a
// body. A second way of using CPython's json, which does less than the recipe, is
// printed to show what is in the recipe and what is in the module.
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
	"time"

	"github.com/toolmark/toolmark/pin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Getenv("TOOLMARK_SHARED"))
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

func run(ctx context.Context, args []string, stdout io.Writer, shared string) error {
	if shared == "" {
		shared = filepath.Join("..", "shared")
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := flags.Int("rounds", 7, "rounds, each of every contestant in turn")
	repeat := flags.Int("repeat", 5, "times that a round pins all bodies")
	python := flags.String("python", "python3", "the CPython to measure")
	corpus := flags.String("corpus", filepath.Join(shared, "corpus", "benign"), "folder of snapshots of real servers; made-up bodies where it is not there")
	check := flags.Bool("check", false, "fail where the figures are below what is promised")
	if err := flags.Parse(args); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)

	bodies, source, err := load(*corpus)
	if err != nil {
		return err
	}
	ratio, err := beside(ctx, stdout, bodies, source, *python, *rounds, *repeat)
	if err != nil {
		return err
	}
	growth, err := linearity(stdout, *rounds)
	if err != nil {
		return err
	}
	if *check && ratio < leastRatio {
		return fmt.Errorf("pins are %.1f times as fast as CPython's, not %.0f", ratio, leastRatio)
	}
	if *check && growth > mostGrowth {
		return fmt.Errorf("the time for a byte grows %.2f times from short to long bodies", growth)
	}
	return nil
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
