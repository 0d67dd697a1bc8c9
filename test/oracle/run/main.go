// Command run holds `toolmark pin --lines` against CPython on made-up bodies:
//
//	go run ./test/oracle/run -n 200000 -binary bin/toolmark
//
// It prints the seed, the counts, and every difference; it fails if there is one. The
// reference script is found in -oracle, or below $TOOLMARK_SHARED, or in ../shared.
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
	"strings"
	"time"

	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/test/oracle"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Getenv("TOOLMARK_SHARED"), time.Now)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

// batch is how many bodies are held in memory at once.
const batch = 20_000

func run(ctx context.Context, args []string, stdout io.Writer, shared string, now func() time.Time) error {
	if shared == "" {
		shared = filepath.Join("..", "shared")
	}
	flags := flag.NewFlagSet("oracle", flag.ContinueOnError)
	n := flags.Int("n", 200_000, "how many bodies")
	seed := flags.Uint64("seed", uint64(now().UnixNano()), "the seed of the bodies; by default the time, so that each run is fresh")
	binary := flags.String("binary", "", "the built toolmark to drive; without it, the pin package in this process")
	script := flags.String("oracle", filepath.Join(shared, "oracle", "pin_oracle.py"), "the reference script")
	python := flags.String("python", "python3", "the CPython to ask")
	canonical := flags.Bool("canonical", false, "compare the canonical JSON itself and not its hashes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if _, err := os.Stat(*script); err != nil {
		return fmt.Errorf("the reference script is not there; give -oracle or set TOOLMARK_SHARED: %w", err)
	}
	answer, what := pin.Line, "pin.Line"
	ourArgs, theirArgs := []string{"pin", "--lines"}, []string{*script}
	if *canonical {
		answer, what = canonicalLine, "pin.CanonicalLine"
		ourArgs, theirArgs = append(ourArgs, "--canonical"), append(theirArgs, "--canonical")
	}
	if *binary != "" {
		what = strings.Join(append([]string{*binary}, ourArgs...), " ")
	}
	fmt.Fprintf(stdout, "%s against %s %s, seed %d\n", what, *python, strings.Join(theirArgs, " "), *seed)

	g := oracle.New(*seed)
	var tally oracle.Tally
	for left := *n; left > 0; left -= batch {
		bodies := make([][]byte, min(left, batch))
		for i := range bodies {
			bodies[i] = g.Body()
		}
		theirs, err := oracle.Ask(ctx, bodies, *python, theirArgs...)
		if err != nil {
			return err
		}
		ours := make([]string, len(bodies))
		if *binary == "" {
			for i, b := range bodies {
				ours[i] = answer(b)
			}
		} else if ours, err = oracle.Ask(ctx, bodies, *binary, ourArgs...); err != nil {
			return err
		}
		tally.Compare(bodies, ours, theirs)
	}
	for _, d := range tally.Different[:min(len(tally.Different), 20)] {
		fmt.Fprintln(stdout, d)
	}
	fmt.Fprintln(stdout, tally.String())
	if len(tally.Different) > 0 {
		return errors.New("there are differences")
	}
	return nil
}

func canonicalLine(body []byte) string {
	text, err := pin.CanonicalLine(body)
	if err != nil {
		return "invalid " + err.Error()
	}
	return string(text)
}
