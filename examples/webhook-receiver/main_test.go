package main

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/alert"
)

// Keys of 32 bytes, as webhooks have them.
const (
	secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	other  = "whsec_////AwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
)

// TestCaseG12_ReceiverRefusesReplays plays deliveries as Toolmark sends them, and as an
// attacker would, to the example and to the programs of docs/webhooks.md. What is refused
// is not acted on, and what comes again is acted on once.
func TestCaseG12_ReceiverRefusesReplays(t *testing.T) {
	t.Run("go", func(t *testing.T) {
		var mu sync.Mutex
		acted := 0
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(&receiver{key: key, now: time.Now, seen: map[string]time.Time{}, act: func(event) error {
			mu.Lock()
			defer mu.Unlock()
			acted++
			return nil
		}})
		defer server.Close()
		play(t, server.URL, func() int {
			mu.Lock()
			defer mu.Unlock()
			return acted
		})
	})
	t.Run("python", func(t *testing.T) { playProgram(t, "python", "python3", "receiver.py") })
	t.Run("node", func(t *testing.T) { playProgram(t, "js", "node", "receiver.mjs") })
}

// delivery gives what Toolmark posts.
func delivery(t *testing.T, secret, id string, at time.Time) (http.Header, string) {
	t.Helper()
	body := fmt.Sprintf(`{"type":"drift.detected","id":%q,"data":{"server":{"id":"srv_1","name":"caf\u00e9 \ud800"},"status":"changed"}}`, id)
	signature, err := alert.Sign(secret, id, at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	h.Set(alert.HeaderID, id)
	h.Set(alert.HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(alert.HeaderSignature, signature)
	return h, body
}

func play(t *testing.T, url string, acted func() int) {
	now := time.Now()
	signed := func(secret, id string, at time.Time) func() (http.Header, string) {
		return func() (http.Header, string) { return delivery(t, secret, id, at) }
	}
	with := func(change func(http.Header) string) func() (http.Header, string) {
		return func() (http.Header, string) {
			h, body := delivery(t, secret, "evt_changed", now)
			return h, body + change(h)
		}
	}
	set := func(name, value string) func() (http.Header, string) {
		return with(func(h http.Header) string { h.Set(name, value); return "" })
	}
	without := func(name string) func() (http.Header, string) {
		return with(func(h http.Header) string { h.Del(name); return "" })
	}
	want := 0
	for _, c := range []struct {
		name string
		make func() (http.Header, string)
		acts bool
		ok   bool
	}{
		{"as sent", signed(secret, "evt_1", now), true, true},
		{"the same again", signed(secret, "evt_1", now), false, true},
		{"another attempt, signed anew", signed(secret, "evt_1", now.Add(time.Second)), false, true},
		{"four minutes old", signed(secret, "evt_2", now.Add(-4*time.Minute)), true, true},
		{"an hour old", signed(secret, "evt_3", now.Add(-time.Hour)), false, false},
		{"of the year 2001", signed(secret, "evt_3", time.Unix(1_000_000_000, 0)), false, false},
		{"from the future", signed(secret, "evt_3", now.Add(time.Hour)), false, false},
		{"a fresh time over an old signature", set(alert.HeaderTimestamp, strconv.FormatInt(now.Unix()-1, 10)), false, false},
		{"without a timestamp", without(alert.HeaderTimestamp), false, false},
		{"a timestamp that is no number", set(alert.HeaderTimestamp, "now"), false, false},
		{"a timestamp with a sign", set(alert.HeaderTimestamp, "+"+strconv.FormatInt(now.Unix(), 10)), false, false},
		{"without an id", without(alert.HeaderID), false, false},
		{"another id", set(alert.HeaderID, "evt_other"), false, false},
		{"without a signature", without(alert.HeaderSignature), false, false},
		{"an empty signature", set(alert.HeaderSignature, "v1,"), false, false},
		{"a signature that is no base64", set(alert.HeaderSignature, "v1,?? \u00e9"), false, false},
		{"of another version", with(func(h http.Header) string {
			h.Set(alert.HeaderSignature, strings.Replace(h.Get(alert.HeaderSignature), "v1,", "v2,", 1))
			return ""
		}), false, false},
		{"another body", with(func(http.Header) string { return " " }), false, false},
		{"with another key", signed(other, "evt_3", now), false, false},
		{"signed with two keys", func() (http.Header, string) {
			h, body := delivery(t, secret, "evt_4", now)
			wrong, _ := delivery(t, other, "evt_4", now)
			h.Set(alert.HeaderSignature, wrong.Get(alert.HeaderSignature)+" "+h.Get(alert.HeaderSignature))
			return h, body
		}, true, true},
		{"one that was refused before", signed(secret, "evt_3", now), true, true},
	} {
		header, body := c.make()
		request, err := http.NewRequest(http.MethodPost, url+"/hook", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = header
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if ok := response.StatusCode/100 == 2; ok != c.ok {
			t.Errorf("%s: status %d", c.name, response.StatusCode)
		}
		if c.acts {
			want++
		}
		if got := acted(); got != want {
			t.Fatalf("%s: acted %d times, want %d", c.name, got, want)
		}
	}
}

// playProgram plays to a program of docs/webhooks.md, which says on standard output where
// it listens, and then a line for each event it acts on.
func playProgram(t *testing.T, language, command, name string) {
	if _, err := exec.LookPath(command); err != nil {
		t.Skipf("there is no %s here", command)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(fence(t, language)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command, file)
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret, "PORT=0", "PYTHONUNBUFFERED=1")
	var faults strings.Builder
	cmd.Stderr = &faults
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var mu sync.Mutex
	acted := 0
	drained := make(chan struct{})
	defer func() {
		_ = cmd.Process.Kill()
		<-drained
		_ = cmd.Wait() // killed
		if t.Failed() {
			t.Log(faults.String())
		}
	}()
	lines.Scan()
	port, ok := strings.CutPrefix(lines.Text(), "listening on ")
	go func() {
		defer close(drained)
		for lines.Scan() {
			mu.Lock()
			if strings.HasPrefix(lines.Text(), "evt_") {
				acted++
			}
			mu.Unlock()
		}
	}()
	if !ok {
		t.Fatalf("%s says %q", name, lines.Text())
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return acted
	}
	play(t, "http://127.0.0.1:"+port, func() int {
		// The line is written before the answer, and read here a little later: no count
		// rises by itself, so that one which stands still for a moment is it.
		last := count()
		for {
			time.Sleep(20 * time.Millisecond)
			now := count()
			if now == last {
				return now
			}
			last = now
		}
	})
}

// fence gives the one block of a language in docs/webhooks.md.
func fence(t *testing.T, language string) string {
	t.Helper()
	parts := strings.Split(page(t), "```"+language+"\n")
	if len(parts) != 2 {
		t.Fatalf("docs/webhooks.md has %d blocks of %s", len(parts)-1, language)
	}
	program, _, found := strings.Cut(parts[1], "\n```\n")
	if !found {
		t.Fatalf("the block of %s has no end", language)
	}
	return program + "\n"
}

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "webhooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPageQuotesTheProgram holds the page to the code it quotes.
func TestPageQuotesTheProgram(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if block := fence(t, "go"); !strings.Contains(string(source), block) {
		t.Errorf("main.go does not hold\n%s", block)
	}
}

// TestFailedActComesAgain: an event on which nothing could be done is answered so that it
// is sent again, and is not taken for a repeat then.
func TestFailedActComesAgain(t *testing.T) {
	fails := true
	acted := 0
	r := &receiver{key: make([]byte, 32), now: time.Now, seen: map[string]time.Time{}, act: func(event) error {
		if fails {
			return errors.New("the pager is off")
		}
		acted++
		return nil
	}}
	zero := "whsec_" + base64.StdEncoding.EncodeToString(r.key)
	send := func() int {
		h, body := delivery(t, zero, "evt_1", time.Now())
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		request.Header = h
		w := httptest.NewRecorder()
		r.ServeHTTP(w, request)
		return w.Code
	}
	if code := send(); code != http.StatusInternalServerError {
		t.Errorf("%d", code)
	}
	fails = false
	if first, second := send(), send(); first != http.StatusNoContent || second != http.StatusNoContent || acted != 1 {
		t.Errorf("%d, %d, acted %d times", first, second, acted)
	}
	// What is kept is forgotten in the end.
	r.now = func() time.Time { return time.Now().Add(keep + time.Hour) }
	h, body := delivery(t, zero, "evt_2", r.now())
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	request.Header = h
	w := httptest.NewRecorder()
	r.ServeHTTP(w, request)
	if w.Code != http.StatusNoContent || len(r.seen) != 1 {
		t.Errorf("%d, %d ids are kept", w.Code, len(r.seen))
	}
	// No more of a body is read than a delivery has.
	w = httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat(" ", 2<<20))))
	if w.Code != http.StatusBadRequest {
		t.Errorf("%d for 2 MiB", w.Code)
	}
}
