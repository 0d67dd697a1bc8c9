package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
)

// section is a part of docs/performance.md. Add one to sections to have it measured and
// written with the others.
type section struct {
	id    string // for -only
	title string
	// measure writes the section's text and figures. errNotHere says that they cannot be
	// had on this machine.
	measure func(ctx context.Context, b *bench, s *sheet) error
}

// errNotHere is the error of what cannot be measured here; its text says what is missing.
var errNotHere = errors.New("not measured here")

func notHere(why string, args ...any) error {
	return fmt.Errorf("%w: %s", errNotHere, fmt.Sprintf(why, args...))
}

// sheet is a section that is being written.
type sheet struct {
	strings.Builder
	missed []string // aims
}

// figure is one row of a table: what was measured, what came of it, and the aim beside
// it, "" where there is none.
type figure struct {
	what, value, aim string
	missed           bool
}

// text writes a paragraph.
func (s *sheet) text(format string, args ...any) {
	fmt.Fprintf(s, format+"\n\n", args...)
}

// figures writes a table and the command that gives it.
func (s *sheet) figures(command string, list ...figure) {
	fmt.Fprintln(s, "| figure | measured | aim | |")
	fmt.Fprintln(s, "| --- | ---: | ---: | --- |")
	for _, f := range list {
		verdict := ""
		switch {
		case f.missed:
			verdict = "not met"
			s.missed = append(s.missed, f.what+": "+f.value+", the aim is "+f.aim)
		case f.aim != "":
			verdict = "met"
		}
		fmt.Fprintf(s, "| %s | %s | %s | %s |\n", f.what, f.value, f.aim, verdict)
	}
	fmt.Fprintf(s, "\n`%s`\n\n", command)
}

// below gives a figure that must not be more than an aim.
func below(what string, value, aim float64, unit string) figure {
	return figure{what, number(value) + " " + unit, "at most " + number(aim) + " " + unit, value > aim}
}

// above gives a figure that must not be less than an aim.
func above(what string, value, aim float64, unit string) figure {
	return figure{what, number(value) + unit, "at least " + number(aim) + unit, value < aim}
}

// plain gives a figure without an aim.
func plain(what string, value float64, unit string) figure {
	return figure{what: what, value: strings.TrimSpace(number(value) + " " + unit)}
}

// number writes a figure with two or three digits that count.
func number(v float64) string {
	switch {
	case v >= 100 || v == float64(int(v)):
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

const preface = `# Performance

Written by ` + "`make bench`" + ` (` + "`go run ./internal/bench`" + `), which measures what the issues promise and
puts the aim beside each figure; below each table stands the command that gives it alone. What
counts are ratios in one run and processor time: where the machine does other work besides, times
on the wall, and scans a second, say more about that than about Toolmark. "Processor time" is the
system's account of the process, all threads and the kernel's work for it included.

`

// write measures sections and writes the page; what was missed is given.
func write(ctx context.Context, b *bench, list []section, out io.Writer) (missed []string, err error) {
	fmt.Fprint(out, preface)
	fmt.Fprintf(out, "This run: %d cores (%s), %s, %s/%s.%s\n\n", runtime.NumCPU(), processorName(), runtime.Version(), runtime.GOOS, runtime.GOARCH, busyness())
	for _, part := range list {
		fmt.Fprintln(b.progress, "measuring:", part.title)
		s := &sheet{}
		err := part.measure(ctx, b, s)
		switch {
		case errors.Is(err, errNotHere):
			s.text("%s.", strings.ToUpper(err.Error()[:1])+err.Error()[1:])
		case err != nil:
			return missed, fmt.Errorf("%s: %w", part.title, err)
		}
		fmt.Fprintf(out, "## %s\n\n%s", part.title, s.String())
		missed = append(missed, s.missed...)
	}
	return missed, nil
}

// processorName reads what Linux calls the processor.
func processorName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(data)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return "processor unknown"
}

// precedence says whether the run goes before other work or behind it, where Linux tells
// it (proc(5), field 19 of stat).
func precedence() string {
	stat, err := os.ReadFile("/proc/self/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if err != nil || len(fields) < 17 || fields[16] == "0" {
		return ""
	}
	return " It ran at nice " + fields[16] + "."
}

// busyness says how much other work the machine had when the run began, where Linux
// tells it.
func busyness() string {
	data, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(data))
	if err != nil || len(fields) < 3 {
		return ""
	}
	return fmt.Sprintf(" In the five minutes before it, %s processes wanted a core on average.%s", fields[1], precedence())
}

// merge puts the sections of a page that was measured in part in the place of those of the
// same titles of an older one, and new ones behind it. Each says of which run it is.
func merge(old, part string) string {
	head, parts := split(part)
	run := ""
	if _, after, found := strings.Cut(head, "This run: "); found {
		run = "Measured apart from the rest: " + strings.TrimSpace(after) + "\n\n"
	}
	front, all := split(old)
	for _, p := range parts {
		title, body, _ := strings.Cut(p, "\n\n")
		p = title + "\n\n" + run + strings.TrimRight(body, "\n") + "\n\n"
		at := slices.IndexFunc(all, func(o string) bool { return strings.HasPrefix(o, title+"\n") })
		if at < 0 {
			all = append(all, p)
		} else {
			all[at] = p
		}
	}
	return front + strings.Join(all, "")
}

// split gives what stands before the first section of a page, and its sections.
func split(page string) (head string, sections []string) {
	parts := strings.Split(strings.TrimRight(page, "\n")+"\n\n", "\n## ")
	for i := range parts[1:] {
		parts[i] += "\n"
		parts[i+1] = "## " + parts[i+1]
	}
	return parts[0], parts[1:]
}
