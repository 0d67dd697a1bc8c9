package probe

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errByteLimit says that a server has sent all that it may.
var errByteLimit = errors.New("byte limit reached")

// A lineReader gives lines without their ends, and stops when *left bytes were read.
// Its memory is bounded by *left.
type lineReader struct {
	r    *bufio.Reader
	left *int64
}

func newLineReader(r io.Reader, left *int64) *lineReader {
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
		if *l.left -= int64(len(part)); *l.left < 0 {
			return append(text, part...), errByteLimit
		}
		text = append(text, part...)
		if err != bufio.ErrBufferFull {
			return text, err
		}
	}
}
