package service

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// client is one connection that is kept, and opened again where the service closed it.
type client struct {
	base string // http://host:port
	conn net.Conn
	in   *bufio.Reader
}

// answerTime is the longest an answer may take.
const answerTime = 30 * time.Second

func (c *client) host() string { return strings.TrimPrefix(c.base, "http://") }

// post gives the bytes of a request; key "" sends none.
func (c *client) post(path, key string, body []byte) []byte {
	return append(c.head("POST", path, key, fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))), body...)
}

func (c *client) head(method, path, key, more string) []byte {
	if key != "" {
		key = "X-API-Key: " + key + "\r\n"
	}
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n", method, path, c.host(), key, more)
}

// do sends a request and reads its answer away.
func (c *client) do(request []byte) (status int, err error) {
	if c.conn == nil {
		if c.conn, err = net.DialTimeout("tcp", c.host(), answerTime); err != nil {
			return 0, err
		}
		c.in = bufio.NewReaderSize(c.conn, 16<<10)
	}
	if err := c.conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return 0, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	return c.answer()
}

// answer reads the head of an answer and skips its body.
func (c *client) answer() (status int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, fmt.Errorf("no answer of HTTP/1.1: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length, last := -1, false
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		case bytes.EqualFold(name, []byte("Connection")):
			last = bytes.EqualFold(value, []byte("close"))
		}
	}
	if length < 0 {
		return 0, errors.New("an answer that does not say how long it is")
	}
	if _, err := c.in.Discard(length); err != nil {
		return 0, err
	}
	if last {
		c.close()
	}
	return status, nil
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}
