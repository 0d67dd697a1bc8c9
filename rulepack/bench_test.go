//go:build unix

package rulepack_test

import (
	"io/fs"
	"math/rand/v2"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/rule"
	"github.com/toolmark/toolmark/rulepack"
	"github.com/toolmark/toolmark/textcheck"
)

// longest is the most characters of a request.
const longest = 131072

// vocabulary gives what stands between the quotation marks, commas and bars of the
// files: words of families, pieces of patterns, texts of examples.
func vocabulary(tb testing.TB, folder string, separator *regexp.Regexp) []string {
	tb.Helper()
	var words []string
	err := fs.WalkDir(rulepack.Files(), folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(rulepack.Files(), path)
		for _, w := range separator.Split(string(data), -1) {
			if w = strings.TrimSpace(w); w != "" {
				words = append(words, w)
			}
		}
		return err
	})
	if err != nil || len(words) < 1000 {
		tb.Fatalf("%d words: %v", len(words), err)
	}
	return words
}

func shuffled(words []string, seed uint64, between string) string {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < longest {
		b.WriteString(words[random.IntN(len(words))])
		b.WriteString(between)
		if random.IntN(14) == 0 {
			b.WriteString(". ")
		}
	}
	return strings.ToValidUTF8(b.String()[:longest], "")
}

// BenchmarkHostile matches texts of the greatest size made of the rules' own words:
// processor time, which a loaded machine changes little.
func BenchmarkHostile(b *testing.B) {
	set, err := rulepack.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	words := vocabulary(b, "words", regexp.MustCompile(`[,\[\]"*]+|\n[a-z0-9-]+:`))
	patterns := vocabulary(b, "rules", regexp.MustCompile(`\\[a-zA-Z]|[|(){}?+*\\\[\]:'"]+|\n`))
	texts := vocabulary(b, "rules", regexp.MustCompile(`text: "|"[,}]|\n`))
	for name, text := range map[string]string{
		"words":        shuffled(words, 1, " "),
		"one-sentence": strings.ReplaceAll(shuffled(words, 2, " "), ".", ""),
		"patterns":     shuffled(patterns, 3, " "),
		"examples":     shuffled(texts, 4, " "),
		"glued":        shuffled(words, 5, ""),
	} {
		b.Run(name, func(b *testing.B) {
			fields := []rule.Field{{Surface: toolmark.SurfaceDescription, Pointer: "/description", Text: text, Readings: textcheck.Readings(text)}}
			set.Match(fields, nil) // compiles what is compiled lazily
			before, n := processorTime(b), 0
			for b.Loop() {
				set.Match(fields, nil)
				n++
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(n), "cpu-ms/op")
		})
	}
}

// processorTime gives the time that this process has had of all processors.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
