package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"
)

// bridge serves a stdio MCP server over Streamable HTTP: each session is a process of its
// own, and messages are passed on byte for byte. What the server says unasked goes to the
// stream that a GET opens. It can be stopped and started again at the same address, and
// given another command for the sessions that begin from then on.
type bridge struct {
	address string
	key     string // that X-Bridge-Key must have; "" is none

	mu       sync.Mutex
	command  func() *exec.Cmd
	sessions map[string]*bridged
	count    int
	server   *http.Server
	serving  sync.WaitGroup
}

func startBridge(t *testing.T, key string, command func() *exec.Cmd) *bridge {
	t.Helper()
	b := &bridge{address: "127.0.0.1:0", key: key, command: command, sessions: map[string]*bridged{}}
	b.start(t)
	t.Cleanup(b.stop)
	return b
}

func (b *bridge) url() string { return "http://" + b.address + "/mcp" }

// use takes another command for new sessions.
func (b *bridge) use(command func() *exec.Cmd) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.command = command
}

// start listens, at the address of before if there was one.
func (b *bridge) start(t *testing.T) {
	t.Helper()
	ln, err := net.Listen("tcp", b.address)
	for range 50 { // somebody else may have it for a moment
		if err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
		ln, err = net.Listen("tcp", b.address)
	}
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: b}
	b.mu.Lock()
	b.address, b.server = ln.Addr().String(), server
	b.mu.Unlock()
	b.serving.Go(func() { _ = server.Serve(ln) })
}

// stop ends the listener, all connections and all processes. It is safe to call twice.
func (b *bridge) stop() {
	b.mu.Lock()
	server, sessions := b.server, b.sessions
	b.server, b.sessions = nil, map[string]*bridged{}
	b.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
	for _, s := range sessions {
		s.end()
	}
	b.serving.Wait()
}

func (b *bridge) session(id string) *bridged {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions[id]
}

// ServeHTTP answers as MCP 2025-11-25, transports, has it.
func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b.key != "" && r.Header.Get("X-Bridge-Key") != b.key {
		http.Error(w, "no", http.StatusForbidden)
		return
	}
	id := r.Header.Get("Mcp-Session-Id")
	s := b.session(id)
	if id != "" && s == nil {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	switch {
	case r.Method == http.MethodPost:
		b.post(w, r, s)
	case s == nil:
		http.Error(w, "no session", http.StatusBadRequest)
	case r.Method == http.MethodGet:
		s.stream(w, r)
	case r.Method == http.MethodDelete:
		b.mu.Lock()
		delete(b.sessions, id)
		b.mu.Unlock()
		s.end()
	default:
		http.Error(w, "no such method", http.StatusMethodNotAllowed)
	}
}

func (b *bridge) post(w http.ResponseWriter, r *http.Request, s *bridged) {
	body, err := io.ReadAll(r.Body)
	var message struct {
		ID     json.RawMessage
		Method string
	}
	if err == nil {
		err = json.Unmarshal(body, &message)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if s == nil {
		if message.Method != "initialize" {
			http.Error(w, "no session", http.StatusBadRequest)
			return
		}
		if s, err = b.begin(w.Header()); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
	}
	answer, err := s.ask(string(message.ID), bytes.ReplaceAll(body, []byte("\n"), []byte(" ")), r.Context().Done())
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
	case answer == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}
}

// begin starts a process for a new session.
func (b *bridge) begin(header http.Header) (*bridged, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.server == nil {
		return nil, fmt.Errorf("the bridge is closed")
	}
	s := &bridged{cmd: b.command(), waiting: map[string]chan []byte{}, news: make(chan []byte, 64), done: make(chan struct{})}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go s.read(out)
	b.count++
	id := strconv.Itoa(b.count)
	b.sessions[id] = s
	header.Set("Mcp-Session-Id", id)
	return s, nil
}

// bridged is one process.
type bridged struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	mu      sync.Mutex
	waiting map[string]chan []byte // by the id of a request, as it was written
	news    chan []byte
	done    chan struct{} // closed when the process says no more
}

// read passes on what the process says.
func (s *bridged) read(out io.Reader) {
	defer close(s.done)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := bytes.Clone(lines.Bytes())
		var message struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal(line, &message); err != nil {
			continue // a line of a log
		}
		s.mu.Lock()
		asked := s.waiting[string(message.ID)]
		if message.Method == "" {
			delete(s.waiting, string(message.ID))
		}
		s.mu.Unlock()
		switch {
		case message.Method != "":
			select {
			case s.news <- line:
			default: // nobody listens
			}
		case asked != nil:
			asked <- line
		}
	}
}

// ask sends a message and gives its answer; nil where a message has none.
func (s *bridged) ask(id string, message []byte, cancelled <-chan struct{}) ([]byte, error) {
	var answer chan []byte
	s.mu.Lock()
	if id != "" {
		answer = make(chan []byte, 1)
		s.waiting[id] = answer
	}
	_, err := s.in.Write(append(message, '\n'))
	s.mu.Unlock()
	if err != nil || id == "" {
		return nil, err
	}
	select {
	case line := <-answer:
		return line, nil
	case <-s.done:
		return nil, io.ErrUnexpectedEOF
	case <-cancelled:
		return nil, io.ErrUnexpectedEOF
	}
}

// stream sends what the process says unasked.
func (s *bridged) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	_ = control.Flush()
	for {
		select {
		case line := <-s.news:
			_, _ = fmt.Fprintf(w, "data: %s\n\n", line)
			_ = control.Flush()
		case <-s.done:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// end kills the process.
func (s *bridged) end() {
	_ = s.cmd.Process.Kill()
	<-s.done
	_ = s.cmd.Wait() // killed
}
