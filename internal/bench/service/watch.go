package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"
)

// WatchOptions are how many registered servers are watched, and how. The zero
// WatchOptions watch 10,000 servers at an interval of 50 seconds with one service on
// SQLite.
type WatchOptions struct {
	Binary   string        // default bin/toolmark
	Database string        // default a SQLite file in a temporary folder
	Servers  int           // default 10,000
	Tools    int           // of each; default 25
	Bytes    int           // of each list, about; default 20,000
	Interval time.Duration // default 50 s
	Progress func(string)  // is told what happens; may be nil
}

func (o WatchOptions) withDefaults() WatchOptions {
	if o.Binary == "" {
		o.Binary = "bin/toolmark"
	}
	if o.Servers == 0 {
		o.Servers = 10_000
	}
	if o.Tools == 0 {
		o.Tools = 25
	}
	if o.Bytes == 0 {
		o.Bytes = 20_000
	}
	if o.Interval == 0 {
		o.Interval = 50 * time.Second
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}

// WatchFigures are what was measured of a watch.
type WatchFigures struct {
	Servers, Bytes int
	Registered     float64       // servers a second, over HTTP
	Backlog        float64       // probes a second while all servers were due at once
	Rate           float64       // probes a second at the interval
	Processor      time.Duration // of the service, a probe; 0 where the system does not say
	Peak           int64         // most memory of the service; 0 where the system does not say
	Longest        time.Duration // between two probes of one server
	Changed        int           // servers that got another list
	Noticed        time.Duration // until the last of them was known to be changed
}

// watching is a database with registered servers.
type watching struct {
	WatchOptions
	fleet    *fleet
	key      string
	folder   string
	register time.Duration
}

// prepare serves the fleet and registers it, with nobody watching.
func (o WatchOptions) prepare(ctx context.Context) (w *watching, err error) {
	w = &watching{WatchOptions: o}
	if w.Database == "" {
		if w.folder, err = os.MkdirTemp("", "toolmark-watch-"); err != nil {
			return nil, err
		}
		w.Database = "sqlite:" + w.folder + "/toolmark.db"
	}
	if w.fleet, err = newFleet(o.Servers, o.Tools, o.Bytes); err != nil {
		return nil, errors.Join(err, w.end())
	}
	p, err := w.start(ctx, "--watch=false")
	if err == nil {
		w.key = p.key
		w.register, err = w.fleet.register(p.url, p.key)
	}
	if p != nil {
		err = errors.Join(err, p.stop())
	}
	if err != nil {
		return nil, errors.Join(err, w.end())
	}
	o.Progress(fmt.Sprintf("registered %d servers in %v", o.Servers, w.register.Round(time.Second)))
	return w, nil
}

// start starts a service that may probe the fleet.
func (w *watching) start(ctx context.Context, more ...string) (*process, error) {
	return start(ctx, w.Binary, w.Database, append([]string{
		"--allow-net", "127.0.0.0/8", "--interval", w.Interval.String(), "--watch-per-host", "0", "--fetch-rules=false",
	}, more...)...)
}

func (w *watching) end() error {
	var faults []error
	if w.fleet != nil {
		faults = append(faults, w.fleet.close())
	}
	if w.folder != "" {
		faults = append(faults, os.RemoveAll(w.folder))
	}
	return errors.Join(faults...)
}

// MeasureWatch registers servers, lets one service watch them from a moment on at which
// all of them are due, and changes a hundred of them.
func MeasureWatch(ctx context.Context, o WatchOptions) (f WatchFigures, err error) {
	o = o.withDefaults()
	w, err := o.prepare(ctx)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	f.Servers, f.Bytes = o.Servers, len(w.fleet.head)
	f.Registered = float64(o.Servers) / w.register.Seconds()
	select { // all are due when the service starts
	case <-ctx.Done():
		return f, ctx.Err()
	case <-time.After(o.Interval):
	}
	w.fleet.forget()
	p, err := w.start(ctx)
	if p != nil {
		defer func() { err = errors.Join(err, p.stop()) }()
	}
	if err != nil {
		return f, err
	}
	begun := time.Now()
	took, err := w.fleet.allRead(ctx, begun, 20*o.Interval)
	if err != nil {
		return f, err
	}
	reads, _ := w.fleet.within(begun, begun.Add(took))
	f.Backlog = float64(reads) / took.Seconds()
	o.Progress(fmt.Sprintf("all read in %v: %.0f a second", took.Round(time.Second), f.Backlog))

	// An interval later all are at their places in it.
	if err := pause(ctx, o.Interval); err != nil {
		return f, err
	}
	all := []*process{p}
	busy, from := processor(all), time.Now()
	var exchanged []int
	for n := 0; n < o.Servers; n += max(1, o.Servers/100) {
		exchanged = append(exchanged, n)
	}
	f.Changed = len(exchanged)
	w.fleet.exchange(exchanged)
	if f.Noticed, err = w.noticed(ctx, p.url, exchanged); err != nil {
		return f, err
	}
	if err := pause(ctx, time.Until(from.Add(2*o.Interval))); err != nil {
		return f, err
	}
	to := time.Now()
	busy = processor(all) - busy
	reads, _ = w.fleet.within(from, to)
	f.Rate = float64(reads) / to.Sub(from).Seconds()
	f.Processor = busy / time.Duration(max(reads, 1))
	f.Longest, _ = w.fleet.gaps(from, to, 0)
	f.Peak = peak(all)
	return f, nil
}

// noticed waits until the service says of all that were exchanged that they are changed.
func (w *watching) noticed(ctx context.Context, base string, exchanged []int) (time.Duration, error) {
	begun := time.Now()
	for _, n := range exchanged {
		name := fmt.Sprintf("server %d", n)
		for {
			status, err := w.status(ctx, base, name)
			if err != nil {
				return 0, err
			}
			if status == "changed" {
				break
			}
			if time.Since(begun) > 10*w.Interval {
				return 0, fmt.Errorf("%s is %s after %v", name, status, time.Since(begun))
			}
			if err := pause(ctx, 100*time.Millisecond); err != nil {
				return 0, err
			}
		}
	}
	return time.Since(begun), nil
}

func (w *watching) status(ctx context.Context, base, name string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/servers/"+url.PathEscape(name), nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("X-API-Key", w.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var server struct{ Status string }
	if err := json.NewDecoder(response.Body).Decode(&server); err != nil || response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s is answered %d (%v)", name, response.StatusCode, err)
	}
	return server.Status, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// KillFigures are what became of the probes when one of two replicas was killed.
type KillFigures struct {
	Servers  int
	Interval time.Duration
	Missed   [2]int        // servers that were not probed in the first and second interval after
	Doubled  int           // probes that followed another one of the same server within a quarter of an interval
	Longest  time.Duration // between two probes of one server
	Rate     float64       // probes a second, from the kill on
}

// KillOne watches servers with two services on one database, and kills one of them.
func KillOne(ctx context.Context, o WatchOptions) (f KillFigures, err error) {
	o = o.withDefaults()
	w, err := o.prepare(ctx)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	f.Servers, f.Interval = o.Servers, o.Interval
	w.fleet.forget()
	stays, err := w.start(ctx)
	if stays != nil {
		defer func() { err = errors.Join(err, stays.stop()) }()
	}
	if err != nil {
		return f, err
	}
	dies, err := w.start(ctx)
	if err == nil {
		_, err = w.fleet.allRead(ctx, time.Now(), 10*o.Interval)
	}
	if dies != nil {
		// Killed, whatever happened: it says so when it is waited for.
		err = errors.Join(err, dies.cmd.Process.Kill())
		<-dies.drained
		_ = dies.cmd.Wait()
	}
	if err != nil {
		return f, err
	}
	killed := time.Now()
	o.Progress("one of two is killed")
	if err := pause(ctx, 2*o.Interval); err != nil {
		return f, err
	}
	half, end := killed.Add(o.Interval), killed.Add(2*o.Interval)
	_, f.Missed[0] = w.fleet.within(killed, half)
	_, f.Missed[1] = w.fleet.within(half, end)
	reads, _ := w.fleet.within(killed, end)
	f.Rate = float64(reads) / (2 * o.Interval).Seconds()
	f.Longest, f.Doubled = w.fleet.gaps(killed, end, o.Interval/4)
	return f, nil
}
