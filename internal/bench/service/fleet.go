package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fleet is many MCP servers on one loopback address, /mcp/0, /mcp/1 and so on, each with a
// list of its own. They speak revision 2025-06-18 and are asked four times in a probe:
// server/discover, which they do not know, initialize, initialized and tools/list. It
// notes when each list was read.
type fleet struct {
	base   string
	server *http.Server
	done   chan struct{}
	head   []byte // of a list; what differs comes behind it

	mu      sync.Mutex
	reads   [][]time.Time // by server
	release []int         // what each serves
}

// newFleet serves so many servers until close, each with a list of about size bytes.
func newFleet(n, tools, size int) (*fleet, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	list := Typical(tools, size) // {"tools":[…]}
	f := &fleet{
		base: "http://" + ln.Addr().String(), done: make(chan struct{}),
		head: list[:len(list)-len("]}")], reads: make([][]time.Time, n), release: make([]int, n),
	}
	f.server = &http.Server{Handler: f}
	go func() {
		defer close(f.done)
		_ = f.server.Serve(ln) // ends with close
	}()
	return f, nil
}

func (f *fleet) close() error {
	err := f.server.Close()
	<-f.done
	return err
}

// ServeHTTP answers as one of the servers.
func (f *fleet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/mcp/"))
	if err != nil || n < 0 || n >= len(f.reads) || r.Method != http.MethodPost {
		http.Error(w, "not here", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, "not JSON-RPC", http.StatusBadRequest)
		return
	}
	var answer bytes.Buffer
	fmt.Fprintf(&answer, `{"jsonrpc":"2.0","id":%s,`, request.ID)
	switch {
	case len(request.ID) == 0:
		w.WriteHeader(http.StatusAccepted)
		return
	case request.Method == "initialize":
		fmt.Fprintf(&answer, `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"server %d","version":"1"}}}`, n)
	case request.Method == "tools/list":
		answer.WriteString(`"result":`)
		answer.Write(f.head)
		fmt.Fprintf(&answer, `,{"name":"own","description":"Belongs to server %d, in its release %d.","inputSchema":{"type":"object"}}]}}`, n, f.read(n))
	default:
		answer.WriteString(`"error":{"code":-32601,"message":"method not found"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer.Bytes()) // the service may have left
}

// read notes that a list is read, and gives its release.
func (f *fleet) read(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads[n] = append(f.reads[n], time.Now())
	return f.release[n]
}

// exchange gives servers another release.
func (f *fleet) exchange(list []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range list {
		f.release[n]++
	}
}

// forget forgets all reads so far.
func (f *fleet) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.reads)
}

// within counts the reads of each server in a span of time: how many all had, and how many
// servers had none.
func (f *fleet) within(from, to time.Time) (reads, none int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, list := range f.reads {
		here := 0
		for _, at := range list {
			if !at.Before(from) && at.Before(to) {
				here++
			}
		}
		if reads += here; here == 0 {
			none++
		}
	}
	return reads, none
}

// gaps gives the longest time that any server was not read in a span, the ends of the span
// included, and how many reads followed another of the same server within close.
func (f *fleet) gaps(from, to time.Time, close time.Duration) (longest time.Duration, doubled int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, list := range f.reads {
		last := from
		for i, at := range list {
			if at.Before(from) || at.After(to) {
				continue
			}
			longest = max(longest, at.Sub(last))
			if i > 0 && at.Sub(list[i-1]) < close {
				doubled++
			}
			last = at
		}
		longest = max(longest, to.Sub(last))
	}
	return longest, doubled
}

// allRead waits until every server was read since a time, and gives when that was.
func (f *fleet) allRead(ctx context.Context, since time.Time, longest time.Duration) (time.Duration, error) {
	for time.Since(since) < longest {
		if _, none := f.within(since, time.Now()); none == 0 {
			return time.Since(since), nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	_, none := f.within(since, time.Now())
	return 0, fmt.Errorf("%d servers were not read in %v", none, longest)
}

// register registers all servers over HTTP, and gives how long that took.
func (f *fleet) register(base, key string) (time.Duration, error) {
	const connections = 16
	begun := time.Now()
	faults := make([]error, connections)
	var group sync.WaitGroup
	for i := range connections {
		group.Go(func() {
			c := &client{base: base}
			defer c.close()
			for n := i; n < len(f.reads); n += connections {
				status, err := c.do(c.post("/v1/servers", key, fmt.Appendf(nil, `{"url":"%s/mcp/%d","name":"server %d"}`, f.base, n, n)))
				if err == nil && status != http.StatusCreated {
					err = fmt.Errorf("server %d is answered %d", n, status)
				}
				if err != nil {
					faults[i] = fmt.Errorf("register the servers: %w", err)
					return
				}
			}
		})
	}
	group.Wait()
	return time.Since(begun), errors.Join(faults...)
}
