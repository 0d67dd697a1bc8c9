package service

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Attack is what a service took while it was attacked.
type Attack struct {
	Idle  int   // connections that were opened and said nothing
	Bombs int   // bodies that were refused: of 2 GiB, and of 1 GiB behind gzip
	Peak  int64 // most memory of the service in bytes; 0 where the system does not say
	// Answered is whether an honest request was answered 200 meanwhile.
	Answered bool
}

// Attacked opens connections that stay idle, sends bodies of 2 GiB (declared, and in
// chunks without end) and bombs that inflate to 1 GiB, many at once, and asks for a scan
// in between.
func Attacked(ctx context.Context, o Options, idle, bombs int) (a Attack, err error) {
	o = o.withDefaults()
	o.Replicas = 1
	started, bases, key, err := o.services(ctx)
	defer func() { err = errors.Join(err, stop(started)) }()
	if err != nil {
		return a, err
	}
	c := &client{base: bases[0]}
	defer c.close()
	var held []net.Conn
	defer func() {
		for _, conn := range held {
			_ = conn.Close()
		}
	}()
	for range idle {
		conn, err := (&net.Dialer{Timeout: answerTime}).DialContext(ctx, "tcp", c.host())
		if err != nil {
			return a, fmt.Errorf("open idle connection %d: %w", len(held)+1, err)
		}
		held = append(held, conn)
	}
	a.Idle = len(held)

	bomb, err := inflates(1 << 30)
	if err != nil {
		return a, err
	}
	if len(bomb) > 1<<20 {
		return a, fmt.Errorf("the bomb has %d bytes: it would be refused for its length", len(bomb))
	}
	const path = "/api/v1/mcp/manifest-scan"
	requests := [][]byte{
		c.head("POST", path, key, "Content-Type: application/json\r\nContent-Length: 2147483648\r\n"),
		append(c.head("POST", path, key, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"), chunk(4<<20)...),
		append(c.head("POST", path, key, fmt.Sprintf("Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n", len(bomb))), bomb...),
	}
	faults := make([]error, bombs)
	var group sync.WaitGroup
	for i := range bombs {
		group.Go(func() { faults[i] = refused(c.host(), requests[i%len(requests)]) })
	}
	status, asked := c.do(c.post(path, key, Typical(25, 20_000)))
	a.Answered = status == 200
	group.Wait()
	a.Bombs = bombs
	a.Peak = peak(started)
	return a, errors.Join(append(faults, asked)...)
}

// refused sends a request and wants 413, or 503 where too many bodies are held already.
// The service may hang up before all was sent.
func refused(host string, request []byte) error {
	conn, err := net.DialTimeout("tcp", host, answerTime)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return err
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = conn.Write(request) // the answer says what came of it
	}()
	line, err := bufio.NewReader(conn).ReadString('\n')
	_ = conn.Close()
	<-sent
	if err != nil {
		return fmt.Errorf("no answer to a body that is too long: %w", err)
	}
	if !strings.HasPrefix(line, "HTTP/1.1 413") && !strings.HasPrefix(line, "HTTP/1.1 503") {
		return fmt.Errorf("a body that is too long was answered %q", line)
	}
	return nil
}

// chunk gives a chunk of spaces that says it has 2 GiB, and so many bytes of it: the
// service must have hung up before it got them.
func chunk(n int) []byte {
	return append([]byte("80000000\r\n"), bytes.Repeat([]byte{' '}, n)...)
}

// inflates gives gzip that inflates to n spaces, a multiple of 16 MiB: one member (RFC
// 1952, section 2.2) again and again, so that it is soon made.
func inflates(n int) ([]byte, error) {
	const part = 16 << 20
	var member bytes.Buffer
	z, err := gzip.NewWriterLevel(&member, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(bytes.Repeat([]byte{' '}, part)); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return bytes.Repeat(member.Bytes(), n/part), nil
}

// peak gives the most memory that any of the processes had, as Linux accounts it; 0
// elsewhere.
func peak(all []*process) (most int64) {
	for _, p := range all {
		most = max(most, memory(p, "VmHWM:"))
	}
	return most
}

// memory reads a line of /proc/PID/status in bytes; 0 where there is none.
func memory(p *process, field string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if after, found := strings.CutPrefix(line, field); found {
			kilobytes, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
			if err != nil {
				return 0
			}
			return kilobytes * 1024
		}
	}
	return 0
}
