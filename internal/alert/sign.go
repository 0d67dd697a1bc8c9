package alert

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/toolmark/toolmark/internal/registry"
)

// The header fields of a delivery (Standard Webhooks 1.0.0).
const (
	HeaderID        = "webhook-id"        // the event: the same in every delivery of it
	HeaderTimestamp = "webhook-timestamp" // of this attempt, in seconds since 1970 UTC
	HeaderSignature = "webhook-signature" // v1,<base64>; several are separated by spaces
)

// Tolerance is how far the time of a delivery may be from the receiver's clock.
const Tolerance = 5 * time.Minute

// The errors of Verify.
var (
	ErrHeaders   = errors.New("a header field of the delivery is missing or malformed")
	ErrTimestamp = errors.New("the delivery is too old, or from the future")
	ErrSignature = errors.New("no signature of the delivery fits")
)

// Sign gives the value of HeaderSignature: HMAC-SHA-256 over "id.timestamp.body" (Standard
// Webhooks 1.0.0, Verifying signatures). secret is whsec_ and base64.
func Sign(secret, id string, at time.Time, body []byte) (string, error) {
	key, err := registry.SecretBytes(secret)
	if err != nil {
		return "", err
	}
	return "v1," + base64.StdEncoding.EncodeToString(mac(key, id, strconv.FormatInt(at.Unix(), 10), body)), nil
}

func mac(key []byte, id, timestamp string, body []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(id + "." + timestamp + "."))
	m.Write(body)
	return m.Sum(nil)
}

// Verify is what a receiver does before it reads a delivery: it needs all three header
// fields, wants a time within Tolerance, and a signature that fits. A receiver also keeps
// the ids it has seen for that long, and ignores those that come again.
func Verify(secret string, header http.Header, body []byte, now time.Time) error {
	key, err := registry.SecretBytes(secret)
	if err != nil {
		return err
	}
	id, timestamp := header.Get(HeaderID), header.Get(HeaderTimestamp)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil || header.Get(HeaderSignature) == "" {
		return ErrHeaders
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return ErrTimestamp
	}
	want := mac(key, id, timestamp, body)
	for one := range strings.FieldsSeq(header.Get(HeaderSignature)) {
		text, ok := strings.CutPrefix(one, "v1,")
		if !ok {
			continue
		}
		if got, err := base64.StdEncoding.DecodeString(text); err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return ErrSignature
}
