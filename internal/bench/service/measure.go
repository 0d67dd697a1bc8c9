package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Options are what to measure. The zero Options start one service of bin/toolmark on
// SQLite and ask it for ten seconds over 32 connections.
type Options struct {
	Binary      string        // default bin/toolmark
	Database    string        // its --database; default a SQLite file in a temporary folder
	Replicas    int           // services on the one database; default 1
	URLs        []string      // measure these instead of starting any
	Key         string        // theirs; that of the first start where not given
	Connections int           // each waits for an answer before it sends again; default 32
	For         time.Duration // how long to measure, after a fifth of it to warm up; default 10 s
}

func (o Options) withDefaults() Options {
	if o.Binary == "" {
		o.Binary = "bin/toolmark"
	}
	if o.Replicas == 0 {
		o.Replicas = 1
	}
	if o.Connections == 0 {
		o.Connections = 32
	}
	if o.For == 0 {
		o.For = 10 * time.Second
	}
	return o
}

// Figures are what was measured.
type Figures struct {
	Tools, Bytes   int           // of the list
	Rate           float64       // scans a second
	P50, P99, Max  time.Duration // of an answer
	Processor      time.Duration // of the services, a scan; 0 where the system does not say
	Answers        int           // that were 200
	Others         int           // that were not
	Example        string        // of one of these
	Before, Middle int64         // memory of the services in bytes; 0 where the system does not say
	After          int64
}

// Measure asks the service for scans of a typical list: 25 tools, 20 KB.
func Measure(ctx context.Context, o Options) (f Figures, err error) {
	o = o.withDefaults()
	started, bases, key, err := o.services(ctx)
	defer func() { err = errors.Join(err, stop(started)) }()
	if err != nil {
		return f, err
	}
	f.Tools = 25
	body := Typical(f.Tools, 20_000)
	f.Bytes = len(body)
	l := &load{bases: bases, key: key, body: body, connections: o.Connections}
	if _, err := l.run(ctx, o.For/5); err != nil {
		return f, err
	}
	f.Before = sample(started)
	busy := processor(started)
	first, err := l.run(ctx, o.For/2)
	if err != nil {
		return f, err
	}
	f.Middle = sample(started)
	second, err := l.run(ctx, o.For-o.For/2)
	if err != nil {
		return f, err
	}
	f.After = sample(started)
	busy = processor(started) - busy
	all := first.add(second)
	f.Rate, f.Others, f.Example, f.Answers = all.rate(), all.others, all.example, len(all.answers)
	f.P50, f.P99, f.Max = all.quantile(0.5), all.quantile(0.99), all.quantile(1)
	f.Processor = busy / time.Duration(len(all.answers))
	return f, nil
}

// services starts what is asked for, or gives what is there. What was started is given
// with an error too.
func (o Options) services(ctx context.Context) (started []*process, bases []string, key string, err error) {
	if len(o.URLs) > 0 {
		if o.Key == "" {
			return nil, nil, "", errors.New("a key of the running service must be given")
		}
		return nil, o.URLs, o.Key, nil
	}
	database, folder := o.Database, ""
	if database == "" {
		if folder, err = os.MkdirTemp("", "toolmark-load-"); err != nil {
			return nil, nil, "", err
		}
		database = "sqlite:" + folder + "/toolmark.db"
	}
	key = o.Key
	for range o.Replicas {
		p, err := start(ctx, o.Binary, database)
		if p != nil {
			p.folder, folder = folder, ""
			started = append(started, p)
		}
		if err != nil {
			return started, nil, "", err
		}
		if key == "" {
			key = p.key
		}
		bases = append(bases, p.url)
	}
	if key == "" {
		return started, nil, "", errors.New("the database has keys already: one must be given")
	}
	return started, bases, key, nil
}

func stop(started []*process) error {
	var faults []error
	for _, p := range started {
		faults = append(faults, p.stop())
	}
	for _, p := range started {
		if p.folder != "" {
			faults = append(faults, os.RemoveAll(p.folder))
		}
	}
	return errors.Join(faults...)
}

// Megabytes writes an amount of memory.
func Megabytes(n int64) string {
	if n == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}
