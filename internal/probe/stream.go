package probe

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"time"
)

// maxEventID is the most bytes of an event's id that we send back.
const maxEventID = 1 << 10

// An event is one event of a text/event-stream (WHATWG HTML, section 9.2).
type event struct {
	name string
	data []byte // the lines of data, joined by line feeds
}

// An eventReader takes an event stream apart. The reader below it bounds the memory.
type eventReader struct {
	r     *bufio.Reader
	first bool

	id    string        // of the last event that had one; to go on after it
	retry time.Duration // how long the server wants us to wait before we ask again
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 16<<10), first: true}
}

// next gives the next event. An event that the stream's end cuts off counts as one:
// some servers leave out the last blank line.
func (e *eventReader) next() (event, error) {
	var ev event
	has := false
	for {
		line, err := e.line()
		if err != nil && len(line) == 0 {
			if err == io.EOF && has {
				return ev, nil
			}
			return event{}, err
		}
		if e.first {
			line, e.first = bytes.TrimPrefix(line, []byte("\ufeff")), false
		}
		if len(line) == 0 {
			if has {
				return ev, nil
			}
			ev = event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "id":
			if len(value) <= maxEventID && bytes.IndexByte(value, 0) < 0 {
				e.id = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.retry = time.Duration(ms) * time.Millisecond
			}
		case "event":
			ev.name = cut(string(value), shortText)
		case "data":
			if has {
				ev.data = append(ev.data, '\n')
			}
			ev.data, has = append(ev.data, value...), true
		}
	}
}

// line gives the next line without its end, which is \n, \r\n or \r.
func (e *eventReader) line() ([]byte, error) {
	var line []byte
	for {
		b, err := e.r.ReadByte()
		if err != nil {
			return line, err
		}
		switch b {
		case '\n':
			return line, nil
		case '\r':
			if next, err := e.r.Peek(1); err == nil && next[0] == '\n' {
				e.r.Discard(1)
			}
			return line, nil
		}
		line = append(line, b)
	}
}
