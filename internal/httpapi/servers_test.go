package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/toolmark/toolmark/internal/registry"
)

// TestRegistryLeaksNothing: what is sent to servers, and what they say, is in no log and
// no metric; headers are in no answer either.
func TestRegistryLeaksNothing(t *testing.T) {
	const token = "Bearer sesame-4711"
	f := newFixture(t, fixtureConfig{})
	key := f.key(t, registry.NewKey{})
	url := "https://mail.example/mcp?token=" + secretText
	f.world.serve(url, `"serverInfo":{"name":"`+secretText+`","version":"1"},"tools":[{"name":"`+secretText+`","description":"`+secretText+`"}]`)
	body := `{"url":"` + url + `","name":"mail","headers":{"Authorization":"` + token + `"}}`
	answers := ""
	ask := func(method, path, body string, want int) {
		t.Helper()
		w := f.ask(method, path, key, body)
		if w.Code != want {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		answers += w.Body.String()
	}
	ask(http.MethodPost, "/v1/servers", body, 201)
	ask(http.MethodPost, "/v1/servers", body, 409)
	ask(http.MethodGet, "/v1/servers", "", 200)
	ask(http.MethodPost, "/v1/servers/mail/check", "", 200)
	ask(http.MethodPost, pathPrecall, `{"url":"`+url+`"}`, 200)
	f.world.serve(url, "down protocol "+url+": "+token+" is not known here")
	ask(http.MethodPost, "/v1/servers/mail/check", "", 200)
	ask(http.MethodGet, "/v1/servers/mail/history", "", 200)
	ask(http.MethodPost, "/v1/servers", strings.Replace(body, `"mail"`, `"again"`, 1), 502)
	if strings.Contains(answers, "sesame") || strings.Contains(answers, "token="+secretText) {
		t.Errorf("an answer holds what is sent to the server: %s", answers)
	}
	seen := f.log.String() + f.ask(http.MethodGet, "/metrics", "", "").Body.String()
	for _, text := range []string{"sesame", secretText, "mail.example"} {
		if strings.Contains(seen, text) {
			t.Errorf("%q is in the log or the metrics", text)
		}
	}
	if !strings.Contains(seen, "/v1/servers/{id}/check") {
		t.Error("nothing was logged")
	}
}
