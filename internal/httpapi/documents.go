package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
)

var (
	//go:embed openapi.json
	openAPI []byte
	//go:embed docs.html
	docsTemplate string
	//go:embed docs.css
	docsStyle string
)

// documents are what describes the API to programs and to people.
type documents struct {
	html   []byte
	policy string
	spec   *specPage
}

// newDocuments renders the page once, from the OpenAPI document and nothing else.
func newDocuments() (*documents, error) {
	var doc map[string]any
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	page, err := newPage(doc)
	if err != nil {
		return nil, err
	}
	t, err := template.New("docs").Parse(docsTemplate)
	if err != nil {
		return nil, fmt.Errorf("read the page's template: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, page); err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	spec, err := newSpec()
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(docsStyle))
	return &documents{
		html: out.Bytes(), spec: spec,
		policy: "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-" +
			base64.StdEncoding.EncodeToString(hash[:]) + "'",
	}, nil
}

func (d *documents) openAPI(x *exchange) error {
	x.Header().Set("Cache-Control", "public, max-age=300")
	return x.send(http.StatusOK, openAPI)
}

func (d *documents) page(x *exchange) error {
	h := x.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", d.policy)
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("Content-Length", strconv.Itoa(len(d.html)))
	x.WriteHeader(http.StatusOK)
	_, _ = x.Write(d.html)
	return nil
}

// docsPage is the document as the template wants it.
type docsPage struct {
	Title, Version, Text string
	Style                template.CSS
	Groups               []docsGroup
	Schemas              []docsSchema
}

type docsGroup struct {
	Name, Text string
	Operations []docsOperation
}

type docsOperation struct {
	Method, Path, ID, Summary, Text string
	Body                            docsType
	Responses                       []docsResponse
	Parameters                      []docsField
}

type docsResponse struct {
	Status, Text string
	Body         docsType
}

type docsSchema struct {
	Name, Text string
	Fields     []docsField
	Type       docsType
}

type docsField struct {
	Name, Text string
	Type       docsType
	Required   bool
}

// docsType is a schema in a few words, or a link to one.
type docsType struct {
	Text string
	Ref  string // a schema of components
}

var docsMethods = []string{"get", "post", "put", "delete"}

func newPage(doc map[string]any) (*docsPage, error) {
	info := object(doc["info"])
	p := &docsPage{
		Title: text(info["title"]), Version: text(info["version"]), Text: text(info["description"]),
		Style: template.CSS(docsStyle), //nolint:gosec // our own file
	}
	components := object(doc["components"])
	paths := object(doc["paths"])
	for _, tag := range array(doc["tags"]) {
		group := docsGroup{Name: text(object(tag)["name"]), Text: text(object(tag)["description"])}
		for _, path := range order(openAPI, "paths", paths) {
			for _, method := range docsMethods {
				operation := object(object(paths[path])[method])
				if tags := array(operation["tags"]); len(tags) == 0 || text(tags[0]) != group.Name {
					continue
				}
				group.Operations = append(group.Operations, newOperation(components, method, path, operation))
			}
		}
		p.Groups = append(p.Groups, group)
	}
	schemas := object(components["schemas"])
	for _, name := range order(openAPI, "schemas", schemas) {
		s := object(schemas[name])
		p.Schemas = append(p.Schemas, docsSchema{Name: name, Text: text(s["description"]), Fields: fields(s), Type: typeOf(s)})
	}
	if len(p.Groups) == 0 || len(p.Schemas) == 0 {
		return nil, fmt.Errorf("the OpenAPI document has %d groups and %d schemas", len(p.Groups), len(p.Schemas))
	}
	return p, nil
}

func newOperation(components map[string]any, method, path string, o map[string]any) docsOperation {
	d := docsOperation{
		Method: strings.ToUpper(method), Path: path, ID: text(o["operationId"]), Summary: text(o["summary"]), Text: text(o["description"]),
		Body: content(resolve(components, o["requestBody"])),
	}
	for _, parameter := range array(o["parameters"]) {
		q := resolve(components, parameter)
		required, _ := q["required"].(bool)
		d.Parameters = append(d.Parameters, docsField{
			Name: text(q["name"]) + " (" + text(q["in"]) + ")", Text: text(q["description"]), Type: typeOf(object(q["schema"])), Required: required,
		})
	}
	responses := object(o["responses"])
	for _, status := range sorted(responses) {
		r := resolve(components, responses[status])
		d.Responses = append(d.Responses, docsResponse{Status: status, Text: text(r["description"]), Body: content(r)})
	}
	return d
}
