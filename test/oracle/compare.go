package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Ask runs a program that reads one body a line and prints one answer a line, such as
// `python3 pin_oracle.py` or `toolmark pin --lines`, and gives its answers. It is an
// error if there are not as many answers as bodies. A program may end with a failure
// because some bodies are invalid: its exit code is not looked at where the answers
// are complete.
func Ask(ctx context.Context, bodies [][]byte, program string, args ...string) ([]string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var input, output, stderr bytes.Buffer
	for _, b := range bodies {
		input.Write(b)
		input.WriteByte('\n')
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &input, &output, &stderr
	runErr := cmd.Run()
	// A list without tools ends in a space, so only line ends are cut.
	answers := strings.Split(strings.TrimSuffix(output.String(), "\n"), "\n")
	if len(answers) != len(bodies) {
		return nil, fmt.Errorf("%s gave %d answers to %d bodies (%v): %.500s", program, len(answers), len(bodies), runErr, stderr.String())
	}
	return answers, nil
}

// Tally counts what came of comparing answers.
type Tally struct {
	Bodies  int
	Equal   int // readable, the same answer
	Invalid int // refused by both
	// Stricter are lines that CPython reads and the contract refuses, by the reason:
	// "not JSON" (NaN and Infinity), "not UTF-8", "too deep", "name not a string".
	Stricter map[string]int
	// Digits are lines that CPython refuses for an integer of more than 4,300 digits
	// and that we read.
	Digits int
	// Different are the lines that nothing excuses, each with both answers.
	Different []string
}

// Compare adds the answers to one batch of bodies.
func (t *Tally) Compare(bodies [][]byte, ours, theirs []string) {
	if t.Stricter == nil {
		t.Stricter = map[string]int{}
	}
	for i, body := range bodies {
		t.Bodies++
		weRefuse, theyRefuse := strings.HasPrefix(ours[i], "invalid "), strings.HasPrefix(theirs[i], "invalid ")
		switch {
		case weRefuse && theyRefuse:
			t.Invalid++
			continue
		case !weRefuse && !theyRefuse && ours[i] == theirs[i]:
			t.Equal++
			continue
		case weRefuse && !theyRefuse:
			if reason := stricter(body); reason != "" {
				t.Stricter[reason]++
				continue
			}
		case theyRefuse && !weRefuse && manyDigits.Match(body):
			t.Digits++
			continue
		}
		t.Different = append(t.Different, fmt.Sprintf("body   %.2000q\nours   %s\ntheirs %s", body, ours[i], theirs[i]))
	}
}

var (
	manyDigits = regexp.MustCompile(`[0-9]{1000}[0-9]{1000}[0-9]{1000}[0-9]{1000}[0-9]{301}`)
	notNumber  = regexp.MustCompile(`(^|[\[:,\s])(NaN|-?Infinity)([\]},\s]|$)`)
)

// maxDepth is the deepest nesting that the contract reads. It is written here again so
// that the judge does not depend on the judged.
const maxDepth = 512

// stricter gives the reason for which the contract refuses a body that CPython reads,
// found without our own reader, or "".
func stricter(body []byte) string {
	switch {
	case !utf8.Valid(body):
		return "not UTF-8"
	case notNumber.Match(body):
		return "not JSON"
	case depth(body) > maxDepth:
		return "too deep"
	}
	// Maps and not structs: those take a key in any case and merge duplicates.
	var root map[string]any
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	decoder.UseNumber()
	if decoder.Decode(&root) != nil {
		return ""
	}
	tools, _ := root["tools"].([]any)
	for _, tool := range tools {
		members, ok := tool.(map[string]any)
		if !ok {
			return ""
		}
		if _, ok := members["name"].(string); !ok {
			return "name not a string"
		}
	}
	return ""
}

// depth gives the deepest nesting of a JSON text.
func depth(body []byte) int {
	deepest, level, inString := 0, 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			level++
			deepest = max(deepest, level)
		case c == ']' || c == '}':
			level--
		}
	}
	return deepest
}

// String sums the tally up in one paragraph.
func (t *Tally) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d bodies: %d readable with the same answer, %d invalid on both sides, %d different", t.Bodies, t.Equal, t.Invalid, len(t.Different))
	total := 0
	for _, n := range t.Stricter {
		total += n
	}
	fmt.Fprintf(&s, "\nread by CPython only, as the contract says: %d", total)
	for _, reason := range []string{"not JSON", "not UTF-8", "too deep", "name not a string"} {
		fmt.Fprintf(&s, ", %s %d", reason, t.Stricter[reason])
	}
	fmt.Fprintf(&s, "\nread by us only (integers of more than 4,300 digits): %d", t.Digits)
	return s.String()
}
