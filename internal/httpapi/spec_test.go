package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/toolmark/toolmark/docs"
)

// The page of the formats has every heading of the document, its own links lead
// somewhere, and nothing of it comes from outside.
func TestSpecPage(t *testing.T) {
	f := newFixture(t, fixtureConfig{})
	w := f.ask(http.MethodGet, pathSpec, "", "")
	page := w.Body.String()
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	headings := regexp.MustCompile(`(?m)^##? (.+)$`).FindAllSubmatch(docs.Formats, -1)
	if len(headings) < 6 {
		t.Fatalf("%d headings", len(headings))
	}
	for _, h := range headings {
		if !strings.Contains(page, ">"+string(h[1])+"</h") {
			t.Errorf("no heading %s", h[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		switch target := m[1]; {
		case strings.HasPrefix(target, "#"):
			if !strings.Contains(page, `id="`+target[1:]+`"`) {
				t.Errorf("%s leads nowhere", target)
			}
		case strings.HasPrefix(target, "/"):
			if got := f.ask(http.MethodGet, target, "", ""); got.Code != http.StatusOK {
				t.Errorf("%s is answered %d", target, got.Code)
			}
		default:
			t.Errorf("%s leads outside", target)
		}
	}
	if strings.Contains(page, "raw HTML omitted") || strings.Contains(page, "<script") {
		t.Error("the page has HTML that it should not")
	}
	r := httptest.NewRequest(http.MethodGet, pathSpec, nil)
	r.Header.Set("If-None-Match", w.Header().Get("ETag"))
	again := httptest.NewRecorder()
	f.api.ServeHTTP(again, r)
	if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("%d with %d bytes for a client that has the page", again.Code, again.Body.Len())
	}
}

func TestSpecVectors(t *testing.T) {
	f := newFixture(t, fixtureConfig{})
	w := f.ask(http.MethodGet, pathVectors, "", "")
	var file struct{ Version int }
	if err := json.Unmarshal(w.Body.Bytes(), &file); err != nil || file.Version != SpecVersion || !bytes.Equal(w.Body.Bytes(), docs.Vectors) {
		t.Errorf("%d, version %d, %v", w.Code, file.Version, err)
	}
	// Each vector gets the same from the scan.
	var vectors struct {
		Vectors []struct {
			Name, Body, Pin string
			Fingerprint     *string
		}
	}
	if err := json.Unmarshal(docs.Vectors, &vectors); err != nil {
		t.Fatal(err)
	}
	key := f.key(t, newKey(t, nil))
	for _, v := range vectors.Vectors {
		w := f.ask(http.MethodPost, pathScan, key, v.Body)
		var report struct {
			SHA256      string
			Fingerprint string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &report); err != nil || report.SHA256 != v.Pin {
			t.Errorf("%s: %d %s", v.Name, w.Code, w.Body)
		}
		if report.Fingerprint != "" && (v.Fingerprint == nil || *v.Fingerprint != report.Fingerprint) {
			t.Errorf("%s: fingerprint %s", v.Name, report.Fingerprint)
		}
	}
}
