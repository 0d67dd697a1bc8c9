// Command load measures the scan service as a client sees it: it starts the binary on a
// database of its own, sends a typical list over many connections at once, and prints
// how many scans a second were answered and how long they took:
//
//	go run ./internal/bench/load -binary bin/toolmark
//
// Service and generator share the machine's cores; the generator does little for a
// request, but what it does is part of the figures. On a machine that does other things
// too, the processor time that the service used for a scan is the steadiest of them. With -url and -key an instance that
// runs already is measured. With -check the command fails below -least scans a second,
// or where any answer was not 200, or where the service's memory still grows in the
// second half of the run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	binary := flags.String("binary", "bin/toolmark", "the service to start")
	database := flags.String("database", "", "its --database; a SQLite file in a temporary folder where not given")
	replicas := flags.Int("replicas", 1, "how many to start on the one database")
	urls := flags.String("url", "", "measure these instances, with commas between, instead of starting one")
	key := flags.String("key", "", "their key")
	connections := flags.Int("connections", 32, "connections that each wait for an answer before they send again")
	length := flags.Duration("for", 10*time.Second, "how long to measure, after a fifth of it to warm up")
	least := flags.Float64("least", 1000, "scans a second that -check demands")
	check := flags.Bool("check", false, "fail where the figures are below what is promised")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var bases []string
	var watched []*process
	if *urls != "" {
		bases = strings.Split(*urls, ",")
	} else {
		folder, err := os.MkdirTemp("", "toolmark-load-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(folder) }()
		if *database == "" {
			*database = "sqlite:" + folder + "/toolmark.db"
		}
		for i := range *replicas {
			p, err := start(ctx, *binary, *database)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.stop()) }()
			if i == 0 && *key == "" {
				*key = p.key
			}
			bases = append(bases, p.url)
			watched = append(watched, p)
		}
	}
	if *key == "" {
		return errors.New("the database has keys already: name one with -key")
	}

	body := typical(25, 20_000)
	load := &load{bases: bases, key: *key, body: body, connections: *connections}
	if _, err := load.run(ctx, *length/5); err != nil {
		return err
	}
	memory, busy := sample(watched), processor(watched)
	first, err := load.run(ctx, *length/2)
	if err != nil {
		return err
	}
	half := sample(watched)
	second, err := load.run(ctx, *length-*length/2)
	if err != nil {
		return err
	}
	end := sample(watched)
	busy = processor(watched) - busy
	all := first.add(second)
	fmt.Fprintf(stdout, "25 tools, %.1f KB; %d connections, %d instance(s), %d cores shared with the generator, %s\n\n",
		float64(len(body))/1000, *connections, len(bases), runtime.NumCPU(), runtime.Version())
	fmt.Fprintln(stdout, "| scans/s | p50 | p99 | max | processor time a scan | other answers | memory before, half way, after |")
	fmt.Fprintln(stdout, "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	fmt.Fprintf(stdout, "| %.0f | %.1f ms | %.1f ms | %.1f ms | %.2f ms | %d | %s, %s, %s |\n", all.rate(),
		all.quantile(0.5), all.quantile(0.99), all.quantile(1), busy.Seconds()*1000/float64(len(all.answers)), all.others, megabytes(memory), megabytes(half), megabytes(end))
	if !*check {
		return nil
	}
	switch {
	case all.others > 0:
		return fmt.Errorf("%d answers were not 200: %s", all.others, all.example)
	case all.rate() < *least:
		return fmt.Errorf("%.0f scans a second, not %.0f", all.rate(), *least)
	case half > 0 && float64(end) > 1.2*float64(half):
		return fmt.Errorf("memory grew from %s to %s in the second half", megabytes(half), megabytes(end))
	}
	return nil
}

func megabytes(n int64) string {
	if n == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}
