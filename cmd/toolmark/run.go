package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/report"
)

// The exit codes of the contract.
const (
	exitClean    = 0
	exitFailed   = 1 // could not finish
	exitUsage    = 2 // wrong use
	exitFindings = 3 // findings at or above --fail-on
)

// exit ends the program with a code once everything has been said.
type exit int

func (e exit) Error() string { return "exit " + strconv.Itoa(int(e)) }

// program is one run of the command.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            environment
	// started is true once a command's own code runs: what fails before is wrong use.
	started bool
	noColor bool
	// taken counts the bytes of all files that were read.
	taken atomic.Int64
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env environment) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, env: env}
	root := p.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return p.finish(cmd, err)
}

// finish says what went wrong, if nobody has, and gives the exit code.
func (p *program) finish(cmd *cobra.Command, err error) int {
	var code exit
	var failure *toolmark.Error
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, context.Canceled):
		p.complain("interrupted before the end")
		return exitFailed
	case !p.started:
		p.complain(err.Error())
		p.say("Run '" + cmd.CommandPath() + " --help' for how to use it.")
		return exitUsage
	case errors.As(err, &failure) && failure.Code == toolmark.ErrUsage:
		p.complain(err.Error())
		return exitUsage
	}
	p.complain(err.Error())
	return exitFailed
}

// complain writes an error. Its text may be hostile.
func (p *program) complain(message string) {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	for i, line := range lines {
		if i == 0 {
			line = "toolmark: " + line
		}
		p.say(line)
	}
}

// warn writes a warning. Its text may be hostile.
func (p *program) warn(message string) { p.say("toolmark: warning: " + message) }

// say writes a line to the error stream, made printable.
func (p *program) say(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	fmt.Fprintln(p.stderr, report.Printable(line)) // nobody is left to tell if this fails
}

// colour reports whether sequences may be written to a stream: never to what is no
// terminal, and not against NO_COLOR (no-color.org) or --no-color.
func (p *program) colour(s screen) bool {
	return s.terminal && !p.noColor && p.env.getenv("NO_COLOR") == "" && p.env.getenv("TERM") != "dumb"
}

// width gives the columns to write for: the terminal's, at most 120, else 100.
func (p *program) width() int {
	if n, err := strconv.Atoi(p.env.getenv("COLUMNS")); err == nil && n > 0 {
		return min(n, 200)
	}
	if s := p.env.stdout; s.terminal && s.width > 0 {
		return min(s.width, 120)
	}
	return 100
}

// write writes a whole document to the output stream.
func (p *program) write(out []byte) error {
	if _, err := p.stdout.Write(out); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

func usage(format string, args ...any) error {
	return &toolmark.Error{Code: toolmark.ErrUsage, Message: fmt.Sprintf(format, args...)}
}
