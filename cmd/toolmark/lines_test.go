package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// echo answers a line with itself.
func echo(dst, line []byte, tooLong bool) []byte {
	if tooLong {
		return append(dst, "too long\n"...)
	}
	return fmt.Appendf(dst, "<%s>\n", line)
}

// What comes out is the answer to each line in order, however the input is cut.
func TestAnswerLinesKeepsOrder(t *testing.T) {
	defer goleak.VerifyNone(t)
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z{}"\r ]{0,40}`), 0, 60).Draw(t, "lines")
		times := rapid.SampledFrom([]int{1, 1, 1, 40}).Draw(t, "times")
		input := strings.Repeat(strings.Join(lines, "\n")+"\n", times)
		if rapid.Bool().Draw(t, "no last newline") {
			input = strings.TrimSuffix(input, "\n")
		}
		var want strings.Builder
		for line := range strings.SplitSeq(input, "\n") {
			if line != "" {
				fmt.Fprintf(&want, "<%s>\n", line)
			}
		}
		var in io.Reader = strings.NewReader(input)
		switch rapid.IntRange(0, 2).Draw(t, "cut") {
		case 0:
			in = iotest.OneByteReader(in)
		case 1:
			in = iotest.DataErrReader(iotest.HalfReader(in))
		}
		var out bytes.Buffer
		if err := answerLines(context.Background(), in, &out, echo); err != nil {
			t.Fatal(err)
		}
		if out.String() != want.String() {
			t.Fatalf("got\n%q\nwant\n%q", out.String(), want.String())
		}
	})
}

func TestAnswerLinesLongLine(t *testing.T) {
	defer goleak.VerifyNone(t)
	just := strings.Repeat("x", maxLine)
	var out bytes.Buffer
	if err := answerLines(context.Background(), strings.NewReader("a\n"+just+"\n"+just+"y\nb\n"), &out, echo); err != nil {
		t.Fatal(err)
	}
	if want := "<a>\n<" + just + ">\ntoo long\n<b>\n"; out.String() != want {
		t.Errorf("got %d bytes, want %d", out.Len(), len(want))
	}
}

// A program may ask, wait for the answer, and ask again.
func TestAnswerLinesAnswersBeforeWaiting(t *testing.T) {
	defer goleak.VerifyNone(t)
	askR, askW := io.Pipe()
	answerR, answerW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- answerLines(context.Background(), askR, answerW, echo)
		answerW.Close()
	}()
	buf := make([]byte, 100)
	for i := range 50 {
		question := fmt.Sprintf("question %d", i)
		for _, part := range []string{question[:4], question[4:] + "\n"} {
			if _, err := io.WriteString(askW, part); err != nil {
				t.Fatal(err)
			}
		}
		n, err := io.ReadAtLeast(answerR, buf, len(question)+3)
		if err != nil || string(buf[:n]) != "<"+question+">\n" {
			t.Fatalf("answer %q, %v", buf[:n], err)
		}
	}
	askW.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

type brokenWriter struct{ after int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.after -= len(p); w.after < 0 {
		return 0, errors.New("the pipe is closed")
	}
	return len(p), nil
}

func TestAnswerLinesStopsWhenNobodyReads(t *testing.T) {
	defer goleak.VerifyNone(t)
	endless := io.MultiReader(strings.NewReader("first\n"), &repeating{text: "line\n"})
	err := answerLines(context.Background(), endless, &brokenWriter{after: 1000}, echo)
	if err == nil || !strings.Contains(err.Error(), "the pipe is closed") {
		t.Errorf("got %v", err)
	}
}

func TestAnswerLinesStopsWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := answerLines(ctx, &repeating{text: "line\n"}, io.Discard, echo); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAnswerLinesReportsAReadError(t *testing.T) {
	defer goleak.VerifyNone(t)
	broken := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(errors.New("disk on fire")))
	var out bytes.Buffer
	err := answerLines(context.Background(), broken, &out, echo)
	if err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("got %v", err)
	}
	if out.String() != "<a>\n" {
		t.Errorf("answered %q; half a line is no line", out.String())
	}
}

// repeating gives the same text for ever.
type repeating struct {
	text string
	at   int
}

func (r *repeating) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[r.at]
		r.at = (r.at + 1) % len(r.text)
	}
	return len(p), nil
}

func TestInterruptibleReaderEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	defer w.Close()
	in := &interruptible{ctx: ctx, in: r}
	go io.WriteString(w, "hello") // the reader below says whether it arrived
	buf := make([]byte, 10)
	if n, err := in.Read(buf); n != 5 || err != nil || string(buf[:n]) != "hello" {
		t.Fatalf("read %q, %v", buf[:n], err)
	}
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := in.Read(buf); !errors.Is(err, context.Canceled) {
		t.Fatalf("after the end of the context: %v", err)
	}
}
