// Command load measures the scan service under load, see package service:
//
//	go run ./internal/bench/load -binary bin/toolmark
//
// On a machine that does other things too, the processor time that the service used for
// a scan is the steadiest of the figures. With -url and -key instances that run already
// are measured. With -check the command fails below -least scans a second, where any
// answer was not 200, or where the service's memory still grows in the second half of
// the run.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"github.com/toolmark/toolmark/internal/bench/service"
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

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o service.Options
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.StringVar(&o.Binary, "binary", "bin/toolmark", "the service to start")
	flags.StringVar(&o.Database, "database", "", "its --database; a SQLite file in a temporary folder where not given")
	flags.IntVar(&o.Replicas, "replicas", 1, "how many to start on the one database")
	urls := flags.String("url", "", "measure these instances, with commas between, instead of starting one")
	flags.StringVar(&o.Key, "key", "", "their key")
	flags.IntVar(&o.Connections, "connections", 32, "connections that each wait for an answer before they send again")
	flags.DurationVar(&o.For, "for", 10*time.Second, "how long to measure, after a fifth of it to warm up")
	least := flags.Float64("least", 1000, "scans a second that -check demands")
	check := flags.Bool("check", false, "fail where the figures are below what is promised")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *urls != "" {
		o.URLs = strings.Split(*urls, ",")
	}
	f, err := service.Measure(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d tools, %.1f KB; %d connections, %d instance(s), %d cores shared with the generator, %s\n\n",
		f.Tools, float64(f.Bytes)/1000, o.Connections, max(len(o.URLs), o.Replicas), runtime.NumCPU(), runtime.Version())
	fmt.Fprintln(stdout, "| scans/s | p50 | p99 | max | processor time a scan | other answers | memory before, half way, after |")
	fmt.Fprintln(stdout, "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	fmt.Fprintf(stdout, "| %.0f | %.1f ms | %.1f ms | %.1f ms | %.2f ms | %d | %s, %s, %s |\n", f.Rate,
		ms(f.P50), ms(f.P99), ms(f.Max), ms(f.Processor), f.Others,
		service.Megabytes(f.Before), service.Megabytes(f.Middle), service.Megabytes(f.After))
	if !*check {
		return nil
	}
	switch {
	case f.Others > 0:
		return fmt.Errorf("%d answers were not 200: %s", f.Others, f.Example)
	case f.Rate < *least:
		return fmt.Errorf("%.0f scans a second, not %.0f", f.Rate, *least)
	case f.Middle > 0 && float64(f.After) > 1.2*float64(f.Middle):
		return fmt.Errorf("memory grew from %s to %s in the second half", service.Megabytes(f.Middle), service.Megabytes(f.After))
	}
	return nil
}
