// Command webhook-receiver receives Toolmark's webhooks as a receiver should: it verifies
// every delivery before it reads it, refuses old ones, and acts once for each event.
//
//	WEBHOOK_SECRET=whsec_… go run ./examples/webhook-receiver -addr 127.0.0.1:9000
//
// It uses the standard library only, so that it can be copied; docs/webhooks.md explains it
// and has the same for Python and Node.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:9000", "address to listen on")
	flag.Parse()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil || len(key) < 24 {
		log.Fatal("put the webhook's secret (whsec_…) into WEBHOOK_SECRET")
	}
	server := &http.Server{
		Addr: *addr, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		Handler: &receiver{key: key, now: time.Now, seen: map[string]time.Time{}, act: act},
	}
	log.Printf("listening on %s", *addr)
	log.Fatal(server.ListenAndServe())
}

// act is where your own work goes. What an event quotes of a server is that server's text:
// data to show, escaped, and never anything to follow. %q escapes it here.
func act(e event) error {
	_, err := fmt.Printf("%s %s: %q is %s\n", e.ID, e.Type, e.Data.Server.Name, e.Data.Status)
	return err
}

// event is what this receiver reads of a delivery; there is more.
type event struct {
	Type, ID string
	Data     struct {
		Server struct{ ID, Name string }
		Status string
	}
}

// verify reports whether a delivery was signed with the key within the last five minutes.
func verify(key []byte, header http.Header, body []byte, now time.Time) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if age := now.Sub(time.Unix(seconds, 0)).Abs(); id == "" || err != nil || age > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	want := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, signature := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), want) { // takes the same time wherever they differ
			return true
		}
	}
	return false
}

// receiver answers deliveries.
type receiver struct {
	key []byte
	now func() time.Time
	act func(event) error

	mu   sync.Mutex
	seen map[string]time.Time // a table with a unique column, where you have a database
}

// keep is how long an event may come again: Toolmark keeps it, and can replay it, that long.
const keep = 30 * 24 * time.Hour

// ServeHTTP takes a delivery. Any answer but 2xx has it sent again later.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, 1<<20)) // the bytes as they came
	if err != nil || !verify(r.key, request.Header, body, r.now()) {
		http.Error(w, "not a delivery for this receiver", http.StatusBadRequest)
		return
	}
	if err := r.once(request.Header.Get("webhook-id"), body); err != nil {
		http.Error(w, "try again", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// once acts on an event, and keeps its id when that was done.
func (r *receiver) once(id string, body []byte) error {
	r.mu.Lock() // a second delivery of it waits for the first one
	defer r.mu.Unlock()
	now := r.now()
	for old, at := range r.seen {
		if now.Sub(at) > keep {
			delete(r.seen, old)
		}
	}
	if _, again := r.seen[id]; again {
		return nil
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	if e.ID != id {
		return errors.New("another event than its header says")
	}
	if err := r.act(e); err != nil {
		return err
	}
	r.seen[id] = now
	return nil
}
