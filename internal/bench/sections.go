package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolmark/toolmark/internal/bench/service"
	"github.com/toolmark/toolmark/rulepack/atr"
)

// sections are the page's, in order.
var sections = []section{
	{"pins", "Pins", pins},
	{"text", "Text inspection", inspection},
	{"scans", "Scans", scans},
	{"hostile", "Hostile lists and texts", hostile},
	{"community", "Community rules beside their own engine", community},
	{"start", "Cold start", coldStart},
	{"service", "The service", underLoad},
	{"refusals", "Refused keys", refusals},
	{"attacks", "Memory under attack", attacks},
	{"watch", "Watching registered servers", watched},
	{"replicas", "A replica that is killed", replicas},
}

func pins(ctx context.Context, b *bench, s *sheet) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	bodies, source, err := load(b.corpus)
	if err != nil {
		return err
	}
	s.text("Reads, pins and hashes lists and lets CPython's `json` do the same in the same run, in turns.")
	ratio, err := beside(ctx, s, bodies, source, b.python, b.rounds, b.repeat)
	if errors.Is(err, exec.ErrNotFound) {
		return notHere("there is no CPython (%s)", b.python)
	}
	if err != nil {
		return err
	}
	growth, err := linearity(s, b.rounds)
	if err != nil {
		return err
	}
	fmt.Fprintln(s)
	s.figures("go run ./internal/bench -only pins -check",
		above("times as fast as CPython's published recipe", ratio, leastRatio, "×"),
		below("slowest to fastest time for a byte, 16 KiB to 1 MiB", growth, mostGrowth, "to 1"))
	b.demand(ratio >= leastRatio, "pins are %.1f times as fast as CPython's, not %.0f", ratio, leastRatio)
	b.demand(growth <= mostGrowth, "the time for a byte of a pin grows %.2f times from short to long bodies", growth)
	return nil
}

func inspection(ctx context.Context, _ *bench, s *sheet) error {
	run := goBench{"textcheck", "Readings|Inspect", "200ms", 3}
	r, err := run.run(ctx)
	if err != nil {
		return err
	}
	var list []figure
	for _, what := range []string{"plain", "lines", "russian", "hostile"} {
		for _, kind := range []string{"Readings", "Inspect"} {
			speed, ok := r.get(kind+"/"+what, "MB/s")
			if !ok || speed == 0 {
				return fmt.Errorf("no figure of %s/%s", kind, what)
			}
			list = append(list, plain(fmt.Sprintf("%s of %s text", strings.ToLower(kind), what), 1000/speed, "ns a byte"))
		}
	}
	s.text("All views of a text that rules read, and the search for what is hidden in it, for texts of 4 KB.")
	s.figures(run.String(), list...)
	return nil
}

func scans(ctx context.Context, b *bench, s *sheet) error {
	run := goBench{"scan", "Typical|LargestRealList", "300ms", 3}
	if !b.hasCorpus() {
		run.pattern = "Typical/made-up"
	}
	r, err := run.run(ctx)
	if err != nil {
		return err
	}
	const cpu = "cpu-ms/op"
	var list []figure
	add := func(what, name string, aim float64) {
		if v, ok := r.get(name, cpu); !ok {
			list = append(list, figure{what: what, value: "not measured here", aim: "at most " + number(aim) + " ms", missed: false})
		} else if aim == 0 {
			list = append(list, plain(what, v, "ms"))
		} else {
			list = append(list, below(what, v, aim, "ms"))
		}
	}
	add("typical list, made up (25 tools, 20 KB), built-in rules", "Typical/made-up/built-in", 0)
	add("the made-up list with the community rules", "Typical/made-up/all", 3)
	add("supabase (31 tools, 23 KB), built-in rules", "Typical/supabase/built-in", 0)
	add("supabase with the community rules", "Typical/supabase/all", 3)
	add("kubernetes-mcp-server (20 tools, 26 KB), built-in rules", "Typical/kubernetes-mcp-server/built-in", 0)
	add("kubernetes-mcp-server with the community rules", "Typical/kubernetes-mcp-server/all", 3)
	add("largest real list (131,072 characters), built-in rules", "LargestRealList/built-in", 0)
	add("largest real list with the community rules", "LargestRealList/all", 25)
	s.text("Processor time on one core for a list that is read already, with every rule and every reading. Real lists are captures of real servers in `../shared`; the largest is a tool of each in turn, up to what a request may have.")
	if _, err := atr.Open(""); err != nil {
		s.text("The community rules are not here (%v).", err)
	}
	s.figures(run.String(), list...)
	if !b.hasCorpus() {
		s.text("Real lists are not here (`../shared`).")
		return nil
	}
	return linear(ctx, s)
}

func linear(ctx context.Context, s *sheet) error {
	run := goBench{"scan", "Linear", "1x", 2}
	r, err := run.run(ctx)
	if err != nil {
		return err
	}
	least, most := 0.0, 0.0
	fmt.Fprintln(s, "| one description of real ones | processor time a byte |")
	fmt.Fprintln(s, "| ---: | ---: |")
	for size := 16; size <= 1024; size *= 4 {
		v, ok := r.get(fmt.Sprintf("Linear/%dKiB", size), "cpu-ns/byte")
		if !ok {
			return fmt.Errorf("no figure for %d KiB", size)
		}
		fmt.Fprintf(s, "| %d KiB | %.0f ns |\n", size, v)
		if least == 0 || v < least {
			least = v
		}
		most = max(most, v)
	}
	fmt.Fprintln(s)
	s.figures(run.String(), below("slowest to fastest time for a byte", most/least, mostGrowth, "to 1"))
	return nil
}

func hostile(ctx context.Context, _ *bench, s *sheet) error {
	lists := goBench{"scan", "HostileList", "300ms", 3}
	r, err := lists.run(ctx)
	if err != nil {
		return err
	}
	took, ok := r.get("HostileList", "ns/op")
	if !ok {
		return errors.New("no figure of the hostile list")
	}
	s.text("500 tools of nothing but words that rules look for, in disguises that cost readings, as large as a request may be:")
	s.figures(lists.String(), below("hostile list, built-in rules", took/1e6, 250, "ms"))

	texts := goBench{"rulepack", "Hostile", "300ms", 3}
	if r, err = texts.run(ctx); err != nil {
		return err
	}
	var list []figure
	for _, name := range []string{"words", "one-sentence", "patterns", "examples", "glued"} {
		v, ok := r.get("Hostile/"+name, "cpu-ms/op")
		if !ok {
			return fmt.Errorf("no figure of hostile %s", name)
		}
		list = append(list, below("text of the rules' own "+name, v, 250, "ms"))
	}
	s.text("One text of 131,072 bytes made of all rules' own vocabulary, built-in rules:")
	s.figures(texts.String(), list...)
	return nil
}

var timesAsFast = regexp.MustCompile(`(\d+) texts: Node (\S+), ours (\S+), (\d+) times as fast`)

func community(ctx context.Context, b *bench, s *sheet) error {
	const command = "TOOLMARK_ATR_SPEED=1 go test -count=1 -v -run TestEngineSpeed ./rulepack/atr"
	s.text("The pack's own engine on Node and ours, on the same texts in one run; neither's start is counted.")
	if _, err := exec.LookPath("node"); err != nil {
		return notHere("there is no Node")
	}
	if !b.hasCorpus() {
		return notHere("real texts are not here (`../shared`)")
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "TestEngineSpeed", "./rulepack/atr")
	cmd.Env = append(os.Environ(), "TOOLMARK_ATR_SPEED=1")
	out, err := cmd.CombinedOutput()
	m := timesAsFast.FindSubmatch(out)
	if m == nil {
		if err == nil {
			return notHere("the engine or its rules are not here")
		}
		return fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	ratio, err := strconv.ParseFloat(string(m[4]), 64)
	if err != nil {
		return err
	}
	node, err := time.ParseDuration(string(m[2]))
	if err != nil {
		return err
	}
	ours, err := time.ParseDuration(string(m[3]))
	if err != nil {
		return err
	}
	s.figures(command,
		figure{what: "texts", value: string(m[1])}, plain("Node", node.Seconds()*1000, "ms"), plain("ours", ours.Seconds()*1000, "ms"),
		above("times as fast", ratio, 50, "×"))
	b.demand(ratio >= 50, "community rules run %.0f times as fast as on Node, not 50", ratio)
	return nil
}

func coldStart(ctx context.Context, b *bench, s *sheet) error {
	const file, rounds = "examples/weather.json", 15
	var walls, busy []time.Duration
	most := int64(0)
	for range rounds {
		cmd := exec.CommandContext(ctx, b.binary, "scan", file)
		begun := time.Now()
		out, err := cmd.CombinedOutput()
		took := time.Since(begun)
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
			return fmt.Errorf("%s scan %s: %w\n%s", b.binary, file, err, out)
		}
		walls = append(walls, took)
		busy = append(busy, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		most = max(most, residentMost(cmd.ProcessState))
	}
	slices.Sort(walls)
	slices.Sort(busy)
	s.text("A new process scans a file, community rules included where they are here; %d times.", rounds)
	list := []figure{
		below("fastest, on the wall", walls[0].Seconds()*1000, 60, "ms"),
		plain("median, on the wall", walls[rounds/2].Seconds()*1000, "ms"),
		plain("median processor time", busy[rounds/2].Seconds()*1000, "ms"),
	}
	if most > 0 {
		list = append(list, below("most memory", float64(most)/1e6, 120, "MB"))
	}
	s.figures(b.binary+" scan "+file, list...)
	return nil
}

func underLoad(ctx context.Context, b *bench, s *sheet) error {
	command := fmt.Sprintf("go run ./internal/bench/load -for %v", b.length)
	f, err := service.Measure(ctx, service.Options{Binary: b.binary, For: b.length})
	if err != nil {
		return err
	}
	s.text("The typical list over 32 connections; service and generator share the machine's cores. SQLite:")
	s.figures(command, append([]figure{above("scans a second", f.Rate, 1000, "")}, answered(f, b.length)...)...)
	if b.postgres == "" {
		s.text("PostgreSQL with two replicas: not measured here, TOOLMARK_TEST_POSTGRES names none.")
		return nil
	}
	database, drop, err := b.newDatabase(ctx)
	if err != nil {
		return err
	}
	p, err := service.Measure(ctx, service.Options{Binary: b.binary, For: b.length, Database: database, Replicas: 2})
	if err = errors.Join(err, drop()); err != nil {
		return err
	}
	s.text("PostgreSQL, two replicas on the same cores:")
	s.figures(command+" -replicas 2 -database postgres://…",
		append([]figure{above("scans a second, of those with SQLite", 100*p.Rate/f.Rate, 80, " %"), {what: "scans a second", value: number(p.Rate)}}, answered(p, b.length)...)...)
	return nil
}

func answered(f service.Figures, length time.Duration) []figure {
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	list := []figure{
		{what: "answers that were not 200", value: strconv.Itoa(f.Others), aim: "0", missed: f.Others > 0},
		plain("p50", ms(f.P50), "ms"), plain("p99", ms(f.P99), "ms"), plain("slowest", ms(f.Max), "ms"),
	}
	if f.Processor > 0 {
		list = append(list, plain("processor time a scan", ms(f.Processor), "ms"),
			plain(fmt.Sprintf("scans a second that %d cores have room for at that, with nothing else to do", runtime.NumCPU()), float64(runtime.NumCPU())/f.Processor.Seconds(), ""))
	}
	if f.Middle > 0 {
		list = append(list, figure{
			what:  fmt.Sprintf("memory before, half way through and after %v", length),
			value: service.Megabytes(f.Before) + ", " + service.Megabytes(f.Middle) + ", " + service.Megabytes(f.After),
			aim:   "flat", missed: float64(f.After) > 1.2*float64(f.Middle),
		})
	}
	return list
}

func refusals(ctx context.Context, b *bench, s *sheet) error {
	const rounds = 3000
	list, err := service.Refusals(ctx, service.Options{Binary: b.binary}, rounds)
	if err != nil {
		return err
	}
	least, most := list[0].Median, list[0].Median
	var rows []figure
	for _, r := range list {
		least, most = min(least, r.Median), max(most, r.Median)
		rows = append(rows, plain("key: "+r.Key, float64(r.Median.Nanoseconds())/1000, "µs"))
	}
	s.text("How long a 401 takes, over HTTP, for keys of every length and kind in random turns, in requests of one length; medians of %d each. A key that is known but for a character must take no longer than one that is none at all.", rounds)
	s.figures("go run ./internal/bench -only refusals", append(rows, below("slowest to fastest", float64(most)/float64(least), 1.1, "to 1"))...)
	return nil
}

func attacks(ctx context.Context, b *bench, s *sheet) error {
	a, err := service.Attacked(ctx, service.Options{Binary: b.binary}, b.idle, 60)
	if err != nil {
		return err
	}
	s.text("%d connections that say nothing, and %d bodies at once: declared as 2 GiB, chunked without end, and gzip that inflates to 1 GiB. All are refused; an honest request in between is answered.", a.Idle, a.Bombs)
	memory := figure{what: "most memory of the service", value: service.Megabytes(a.Peak), aim: "at most 200 MB", missed: a.Peak > 200e6}
	answer := figure{what: "the honest request", value: "answered", aim: "answered"}
	if !a.Answered {
		answer.value, answer.missed = "not answered", true
	}
	s.figures("go run ./internal/bench -only attacks", memory, answer)
	return nil
}
