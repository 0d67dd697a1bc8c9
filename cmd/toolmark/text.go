package main

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/report"
	"github.com/toolmark/toolmark/textcheck"
)

type textFlags struct {
	json, sanitize, quiet bool
	failOn                string
}

func (p *program) textCommand() *cobra.Command {
	f := &textFlags{}
	cmd := &cobra.Command{
		Use:   "text [FILE]",
		Short: "Find hidden and deceptive characters in a text",
		Long: `Text shows every hidden or look-alike character of a text, markup comment and base64
run: line and column, code points, name, and what it says once decoded. Without FILE,
or with -, it reads standard input. The text is UTF-8.

Exit codes as for scan: hidden and look-alike characters are medium, comments and
base64 are info, so that with --fail-on medium a hidden character exits 3.`,
		Example: `  toolmark text README.md
  curl -s https://example.com/prompt.txt | toolmark text --fail-on medium
  toolmark text --sanitize prompt.txt > clean.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: p.runs(func(_ *cobra.Command, args []string) error { return p.text(args, f) }),
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&f.sanitize, "sanitize", false, "print the clean copy and nothing else")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document (docs/cli.md)")
	cmd.Flags().BoolVar(&f.quiet, "quiet", false, "print nothing where nothing fails the run")
	cmd.Flags().StringVar(&f.failOn, "fail-on", "high", "exit 3 from this severity on: high, medium, info or never")
	return cmd
}

func (p *program) text(args []string, f *textFlags) error {
	failOn, err := parseFailOn(f.failOn)
	if err != nil {
		return err
	}
	if f.json && f.sanitize {
		return usage("--json and --sanitize exclude each other; the JSON document has the clean copy in \"sanitized\"")
	}
	path := "-"
	if len(args) == 1 {
		path = args[0]
	}
	data, err := p.readBytes(path, maxFile)
	if err != nil {
		return err
	}
	if err := checkUTF8(path, data); err != nil {
		return err
	}
	if len(data) > small {
		p.env.steady()
	}
	text := string(data)
	if f.sanitize {
		return p.write([]byte(textcheck.Sanitize(text)))
	}
	found := report.Inspection{Name: path, Text: text, Found: textcheck.Inspect(text, textcheck.Options{})}
	failed := failOn != 0 && found.Worst() >= failOn
	var buf bytes.Buffer
	switch {
	case f.json:
		err = found.WriteJSON(&buf)
	case f.quiet && !failed:
	default:
		err = found.WriteText(&buf, report.TextOptions{Colour: p.colour(p.env.stdout), Width: p.width()})
	}
	if err != nil {
		return err
	}
	if err := p.write(buf.Bytes()); err != nil {
		return err
	}
	return verdict(failed, false)
}

// checkUTF8 names the first byte that is not UTF-8.
func checkUTF8(path string, data []byte) error {
	if path == "-" {
		path = "standard input"
	}
	hint := ""
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		hint = "; it looks like UTF-16, convert it first, as in: iconv -f UTF-16 -t UTF-8"
	}
	line, start := 1, 0
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return &toolmark.Error{Code: toolmark.ErrInvalidJSON, Message: fmt.Sprintf(
				"%s:%d:%d: not UTF-8: byte 0x%02x at offset %d%s", path, line, utf8.RuneCount(data[start:i])+1, data[i], i, hint)}
		}
		if r == '\n' {
			line, start = line+1, i+1
		}
		i += size
	}
	return nil
}
