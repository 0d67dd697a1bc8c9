package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/toolmark/toolmark/internal/bench/service"
)

// watched measures one service that watches many servers, on SQLite.
func watched(ctx context.Context, b *bench, s *sheet) error {
	s.text("Servers of our own on loopback (25 tools, 20 KB, a session of four requests a probe) share the cores with the service. It starts when all of them are due, reads them, and goes on at the interval; then a hundred of them get another list.")
	o := b.watch()
	f, err := service.MeasureWatch(ctx, o)
	if err != nil {
		return err
	}
	s.text("SQLite, %d servers at an interval of %v:", f.Servers, o.Interval)
	s.figures("go run ./internal/bench -only watch", watchRows(f, o)...)
	return nil
}

func (b *bench) watch() service.WatchOptions {
	return service.WatchOptions{
		Binary: b.binary, Servers: b.servers, Interval: 50 * time.Second,
		Progress: func(text string) { fmt.Fprintln(b.progress, " ", text) },
	}
}

func watchRows(f service.WatchFigures, o service.WatchOptions) []figure {
	list := []figure{
		above("probes a second while all are due", f.Backlog, 200, ""),
		above("probes a second at the interval", f.Rate, 200, ""),
		below("longest time between two probes of a server", f.Longest.Seconds(), o.Interval.Seconds(), "s"),
		below(fmt.Sprintf("until all of %d changes were noticed", f.Changed), f.Noticed.Seconds(), o.Interval.Seconds(), "s"),
		plain("registrations a second", f.Registered, ""),
	}
	if f.Peak > 0 {
		list = append(list, below("most memory of the service", float64(f.Peak)/1e6, 300, "MB"))
	}
	if f.Processor > 0 {
		list = append(list, plain("processor time a probe", f.Processor.Seconds()*1000, "ms"),
			plain(fmt.Sprintf("probes a second that %d cores have room for at that, with nothing else to do", runtime.NumCPU()), float64(runtime.NumCPU())/f.Processor.Seconds(), ""))
	}
	return list
}

// replicas kills one of two services on PostgreSQL.
func replicas(ctx context.Context, b *bench, s *sheet) error {
	if b.postgres == "" {
		return notHere("TOOLMARK_TEST_POSTGRES names no PostgreSQL")
	}
	database, drop, err := b.newDatabase(ctx)
	if err != nil {
		return err
	}
	o := b.watch()
	// The interval is longer than a server stays reserved for a process that died.
	o.Database, o.Servers, o.Interval = database, b.servers/2, time.Minute
	f, err := service.KillOne(ctx, o)
	if err = errors.Join(err, drop()); err != nil {
		return err
	}
	s.text("Two services on one PostgreSQL watch %d servers at an interval of %v; one is killed (SIGKILL).", f.Servers, f.Interval)
	missed := func(what string, n int) figure {
		return figure{what: what, value: strconv.Itoa(n), aim: "0", missed: n > 0}
	}
	s.figures("go run ./internal/bench -only replicas",
		missed("servers that were not probed in the interval after", f.Missed[0]),
		missed("servers that were not probed in the one behind that", f.Missed[1]),
		plain("probes less than a quarter of the interval behind another of the same server", float64(f.Doubled), ""),
		plain("longest time between two probes of a server, of those that the killed one had begun too", f.Longest.Seconds(), "s"),
		plain("probes a second from then on", f.Rate, ""),
	)
	return nil
}
