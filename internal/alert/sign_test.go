package alert

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"
)

// The key is that of 32 bytes counting up from 0.
const testSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

func headers(tb testing.TB, secret, id string, at time.Time, body []byte) http.Header {
	tb.Helper()
	signature, err := Sign(secret, id, at, body)
	if err != nil {
		tb.Fatal(err)
	}
	h := http.Header{}
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(HeaderSignature, signature)
	return h
}

// TestAgainstTheLibrary holds Sign and Verify to the specification's own library, both ways.
func TestAgainstTheLibrary(t *testing.T) {
	other, err := standardwebhooks.NewWebhook(testSecret)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`evt_[0-9a-zA-Z]{20}`).Draw(t, "id")
		body := []byte(rapid.String().Draw(t, "body"))
		now := time.Now()
		signature, err := Sign(testSecret, id, now, body)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := other.Sign(id, now, body)
		if err != nil || theirs != signature {
			t.Fatalf("%s, the library %s (%v)", signature, theirs, err)
		}
		h := http.Header{}
		h.Set(HeaderID, id)
		h.Set(HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
		h.Set(HeaderSignature, signature)
		if err := other.Verify(body, h); err != nil {
			t.Fatalf("the library refuses it: %v", err)
		}
		if err := Verify(testSecret, h, body, now); err != nil {
			t.Fatalf("we refuse it: %v", err)
		}
	})
}

// TestCaseG12_ReplayedDelivery: an old, a future or a header-less delivery is refused, and
// so is one whose id, time or body was changed.
func TestCaseG12_ReplayedDelivery(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	body := []byte(`{"type":"drift.detected"}`)
	for _, c := range []struct {
		name   string
		change func(h http.Header)
		body   string
		now    time.Time
		want   error
	}{
		{"as sent", func(http.Header) {}, string(body), now, nil},
		{"four minutes later", func(http.Header) {}, string(body), now.Add(4 * time.Minute), nil},
		{"an hour later", func(http.Header) {}, string(body), now.Add(time.Hour), ErrTimestamp},
		{"from the future", func(http.Header) {}, string(body), now.Add(-time.Hour), ErrTimestamp},
		{"of the year 2001", func(h http.Header) { h.Set(HeaderTimestamp, "1000000000") }, string(body), now, ErrTimestamp},
		{"without a timestamp", func(h http.Header) { h.Del(HeaderTimestamp) }, string(body), now, ErrHeaders},
		{"without an id", func(h http.Header) { h.Del(HeaderID) }, string(body), now, ErrHeaders},
		{"without a signature", func(h http.Header) { h.Del(HeaderSignature) }, string(body), now, ErrHeaders},
		{"a time that is no number", func(h http.Header) { h.Set(HeaderTimestamp, "now") }, string(body), now, ErrHeaders},
		{"a fresh time over an old signature", func(h http.Header) { h.Set(HeaderTimestamp, strconv.FormatInt(now.Unix()+1, 10)) }, string(body), now, ErrSignature},
		{"another id", func(h http.Header) { h.Set(HeaderID, "evt_other") }, string(body), now, ErrSignature},
		{"another body", func(http.Header) {}, `{"type":"server.recovered"}`, now, ErrSignature},
		{"another version alone", func(h http.Header) { h.Set(HeaderSignature, strings.Replace(h.Get(HeaderSignature), "v1,", "v2,", 1)) }, string(body), now, ErrSignature},
		{"an old key's signature beside it", func(h http.Header) { h.Set(HeaderSignature, "v1,AAAA v2,zz "+h.Get(HeaderSignature)) }, string(body), now, nil},
	} {
		h := headers(t, testSecret, "evt_1", now, body)
		c.change(h)
		if err := Verify(testSecret, h, []byte(c.body), c.now); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for _, secret := range []string{"", "AAEC", "whsec_", "whsec_AAEC", "whsec_?"} {
		if _, err := Sign(secret, "evt_1", now, body); err == nil {
			t.Errorf("secret %q signs", secret)
		}
		if err := Verify(secret, headers(t, testSecret, "evt_1", now, body), body, now); err == nil {
			t.Errorf("secret %q verifies", secret)
		}
	}
}
