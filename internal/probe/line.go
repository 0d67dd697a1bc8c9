package probe

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync/atomic"
)

// errByteLimit says that a server has sent all that it may.
var errByteLimit = errors.New("byte limit reached")

// A budget is how many bytes may still be read from a server. Several readers may
// draw on it at once.
type budget struct{ n atomic.Int64 }

func newBudget(n int64) *budget {
	b := &budget{}
	b.n.Store(n)
	return b
}

// A lineReader gives lines without their ends, and stops when left is used up. Its
// memory is bounded by left.
type lineReader struct {
	r    *bufio.Reader
	left *budget
}

func newLineReader(r io.Reader, left *budget) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), left: left}
}

// next gives the next line that is not blank. With an error it gives what there was
// of a last line. The result is the caller's own.
func (l *lineReader) next() ([]byte, error) {
	for {
		text, err := l.line()
		if trimmed := bytes.Trim(text, " \t\r\n"); len(trimmed) > 0 || err != nil {
			return trimmed, err
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	var text []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if l.left.n.Add(-int64(len(part))) < 0 {
			return append(text, part...), errByteLimit
		}
		text = append(text, part...)
		if err != bufio.ErrBufferFull {
			return text, err
		}
	}
}
