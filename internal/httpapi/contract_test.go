package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// contractRouter gives the OpenAPI document as a validator reads it.
var contractRouter = sync.OnceValues(func() (routers.Router, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(openAPI)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
})

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func requestBody(t *testing.T, r *http.Request) []byte {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// checkContract holds one exchange against the OpenAPI document: a request that was
// answered with success must be one it allows, one that was answered 422 must be one it
// does not, and every response must be one it describes.
func checkContract(t *testing.T, r *http.Request, body []byte, w *httptest.ResponseRecorder, schemaAllows bool) {
	t.Helper()
	router, err := contractRouter()
	if err != nil {
		t.Fatal(err)
	}
	asked := httptest.NewRequest(r.Method, r.URL.String(), bytes.NewReader(body))
	asked.Header = r.Header.Clone()
	if r.Method == http.MethodHead {
		asked.Method = http.MethodGet
	}
	route, params, err := router.FindRoute(asked)
	if err != nil {
		if w.Code == http.StatusNotFound || w.Code == http.StatusMethodNotAllowed || r.Method == http.MethodOptions {
			return // not in the document, and not answered as if it were
		}
		t.Errorf("%s %s is answered %d, but the document does not have it: %v", r.Method, r.URL.Path, w.Code, err)
		return
	}
	options := &openapi3filter.Options{
		AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
		IncludeResponseStatus: true, MultiError: true,
	}
	if w.Code >= 400 && w.Code != 422 {
		options.ExcludeRequestBody = true
	}
	input := &openapi3filter.RequestValidationInput{Request: asked, PathParams: params, Route: route, Options: options}
	err = openapi3filter.ValidateRequest(context.Background(), input)
	switch {
	case w.Code < 400 && err != nil:
		t.Errorf("the document refuses a request that is answered %d: %v", w.Code, err)
	case w.Code == 422 && err == nil && !schemaAllows:
		t.Error("the document allows a request that is answered 422")
	}
	if r.Method == http.MethodHead {
		return
	}
	answer := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: w.Code, Header: w.Header(), Options: options}
	answer.SetBodyBytes(w.Body.Bytes())
	if err := openapi3filter.ValidateResponse(context.Background(), answer); err != nil {
		t.Errorf("the document refuses the response %d: %v", w.Code, err)
	}
}

// TestDocumentHasEveryRoute holds the document's paths and the routes against each
// other, both ways.
func TestDocumentHasEveryRoute(t *testing.T) {
	router, err := contractRouter()
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, fixtureConfig{})
	known := map[string]bool{}
	for _, r := range f.api.routes {
		known[r.method+" "+r.path] = true
		path := strings.NewReplacer("{id}", "some-id", "{snapshot}", "snap_1").Replace(r.path)
		if _, _, err := router.FindRoute(httptest.NewRequest(r.method, path, nil)); err != nil {
			t.Errorf("%s %s: %v", r.method, r.path, err)
		}
	}
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			if !known[method+" "+path] {
				t.Errorf("%s %s is in the document and not served", method, path)
			}
		}
	}
}

// TestDocumentIsStrict shows that the validator reads the parts of the document the
// other tests rest on: it must refuse these responses.
func TestDocumentIsStrict(t *testing.T) {
	router, err := contractRouter()
	if err != nil {
		t.Fatal(err)
	}
	const good = `{"sha256":"0000000000000000000000000000000000000000000000000000000000000000","ok":true,"findings":[],"tools":[],"incomplete":false,"unscanned_tools":[]}`
	for name, c := range map[string]struct {
		old, new string
		ok       bool
	}{
		"as it is":         {"", "", true},
		"an extra member":  {`"ok":true`, `"ok":true,"extra":1`, false},
		"a member missing": {`"ok":true,`, ``, false},
		"an unknown code":  {`"findings":[]`, `"findings":[{"code":"X1","tool":"a","severity":"high","reason":"r","details":{}}]`, false},
		"other details":    {`"findings":[]`, `"findings":[{"code":"E301","tool":"*","severity":"high","reason":"r","details":{"cause":"c"}}]`, false},
		"null for a list":  {`"tools":[]`, `"tools":null`, false},
		"an upper-case pin": {
			`"sha256":"0000`, `"sha256":"ABCD`, false,
		},
	} {
		request := httptest.NewRequest(http.MethodPost, pathScan, strings.NewReader(`{"tools":[]}`))
		request.Header.Set("Content-Type", "application/json")
		route, params, err := router.FindRoute(request)
		if err != nil {
			t.Fatal(err)
		}
		options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}
		input := &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route, Options: options}
		answer := &openapi3filter.ResponseValidationInput{
			RequestValidationInput: input, Status: 200, Options: options,
			Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}, "X-Request-Id": {"r"}},
		}
		answer.SetBodyBytes([]byte(strings.Replace(good, c.old, c.new, 1)))
		err = openapi3filter.ValidateResponse(context.Background(), answer)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
