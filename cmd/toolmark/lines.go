package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
)

const (
	// maxLine is the most bytes of one line of --lines, the newline aside.
	maxLine = 16 << 20
	// batchBytes and batchLines are how much is handed to a worker at once, so that
	// handing over costs little beside the work.
	batchBytes = 256 << 10
	batchLines = 512
)

// batch is a run of input lines, and where their answers will be.
type batch struct {
	text  []byte
	ends  []int // end of each line in text
	long  []bool
	ready chan []byte
}

// answerLines reads lines and writes the answer to each, in order: answer gets a
// line without its newline (tooLong where the line was over maxLine, and is empty)
// and appends what is to be printed. It is called from several goroutines at once.
// Empty lines have no answer.
//
// Memory is bounded by the batches under way: two a processor, and each at most
// batchBytes and one line. What has been answered is written before the input is
// waited for, so a program can ask and read in turns.
func answerLines(ctx context.Context, in io.Reader, out io.Writer, answer func(dst, line []byte, tooLong bool) []byte) error {
	workers := runtime.GOMAXPROCS(0)
	work := make(chan *batch)
	queue := make(chan *batch, workers)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for b := range work {
				b.ready <- b.answer(answer)
			}
		})
	}
	wg.Go(func() {
		writeBatches(queue, out, func(err error) { cancel(fmt.Errorf("write the output: %w", err)) })
	})
	err := readBatches(ctx, in, func(b *batch) {
		queue <- b
		work <- b
	})
	close(work)
	close(queue)
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (b *batch) answer(answer func(dst, line []byte, tooLong bool) []byte) []byte {
	dst := make([]byte, 0, 160*len(b.ends))
	from := 0
	for i, end := range b.ends {
		dst = answer(dst, b.text[from:end], b.long[i])
		from = end
	}
	return dst
}

// writeBatches writes the answers in the order of the queue and flushes whenever
// nothing more is under way. It tells of a failure at once, so that reading stops, and
// from then on only empties the queue.
func writeBatches(queue <-chan *batch, out io.Writer, fail func(error)) {
	w := bufio.NewWriterSize(out, batchBytes)
	failed := false
	for b := range queue {
		text := <-b.ready
		if failed {
			continue
		}
		_, err := w.Write(text)
		if err == nil && len(queue) == 0 {
			err = w.Flush()
		}
		if err != nil {
			failed = true
			fail(err)
		}
	}
	if !failed {
		if err := w.Flush(); err != nil {
			fail(err)
		}
	}
}

func newBatch() *batch { return &batch{ready: make(chan []byte, 1)} }

// readBatches cuts the input into batches. A batch ends when it is full, and when
// the next read would have to wait.
func readBatches(ctx context.Context, in io.Reader, send func(*batch)) error {
	r := bufio.NewReaderSize(in, batchBytes)
	b := newBatch()
	flush := func() {
		if len(b.ends) > 0 {
			send(b)
			b = newBatch()
		}
	}
	for ctx.Err() == nil {
		if r.Buffered() == 0 || !bytes.Contains(peek(r), []byte{'\n'}) {
			flush() // the rest of the line has to be waited for
		}
		from := len(b.text)
		text, tooLong, err := readLine(r, b.text)
		b.text = text
		if err != nil && !errors.Is(err, io.EOF) {
			flush()
			return fmt.Errorf("read the input: %w", err)
		}
		if len(b.text) > from || tooLong {
			b.ends = append(b.ends, len(b.text))
			b.long = append(b.long, tooLong)
		}
		if err != nil {
			flush()
			return nil
		}
		if len(b.text) >= batchBytes || len(b.ends) >= batchLines {
			flush()
		}
	}
	return ctx.Err()
}

func peek(r *bufio.Reader) []byte {
	text, _ := r.Peek(r.Buffered()) // what is buffered can always be peeked at
	return text
}

// readLine appends the next line to dst without its newline. Of a line over maxLine
// nothing is kept, and the rest of it is passed over.
func readLine(r *bufio.Reader, dst []byte) (line []byte, tooLong bool, err error) {
	from := len(dst)
	for {
		part, err := r.ReadSlice('\n')
		if n := len(part); n > 0 && part[n-1] == '\n' {
			part = part[:n-1]
		}
		if !tooLong && len(dst)-from+len(part) > maxLine {
			tooLong, dst = true, dst[:from]
		}
		if !tooLong {
			dst = append(dst, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return dst, tooLong, err
		}
	}
}
