package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	source "github.com/yuin/goldmark/text"

	"github.com/toolmark/toolmark/docs"
)

// SpecVersion is the version of the formats that /security/spec describes. It changes
// when what a hash covers or a lockfile means does.
const SpecVersion = 1

const (
	pathSpec    = "/security/spec"
	pathVectors = pathSpec + "/vectors.json"
)

//go:embed spec.html
var specTemplate string

// specPage is the formats as a page, and the vectors.
type specPage struct {
	html    []byte
	policy  string
	htmlTag string
	listTag string // of the vectors
}

// newSpec renders docs/formats.md once. The page needs nothing from outside.
func newSpec() (*specPage, error) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	tree := markdown.Parser().Parse(source.NewReader(docs.Formats))
	if err := localLinks(tree); err != nil {
		return nil, fmt.Errorf("read the formats: %w", err)
	}
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, docs.Formats, tree); err != nil {
		return nil, fmt.Errorf("render the formats: %w", err)
	}
	t, err := template.New("spec").Parse(specTemplate)
	if err != nil {
		return nil, fmt.Errorf("read the page's template: %w", err)
	}
	sum := sha256.Sum256(append(append([]byte{}, docs.Formats...), docs.Vectors...))
	var out bytes.Buffer
	if err := t.Execute(&out, map[string]any{
		"Version": SpecVersion, "Digest": hex.EncodeToString(sum[:]),
		"Style": template.CSS(docsStyle),      //nolint:gosec // our own file
		"Body":  template.HTML(body.String()), //nolint:gosec // our own page; goldmark leaves raw HTML out
	}); err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	style := sha256.Sum256([]byte(docsStyle))
	return &specPage{
		html: out.Bytes(), htmlTag: entityTag(out.Bytes()), listTag: entityTag(docs.Vectors),
		policy: "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-" +
			base64.StdEncoding.EncodeToString(style[:]) + "'",
	}, nil
}

func entityTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// localLinks takes the links to files beside the page out of it, which the service does
// not have: their words stay.
func localLinks(tree ast.Node) error {
	var away []*ast.Link
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			u, err := url.Parse(string(link.Destination))
			if err != nil {
				return ast.WalkStop, err
			}
			if u.Scheme == "" && u.Path != "" {
				away = append(away, link)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, link := range away {
		parent := link.Parent()
		if parent == nil {
			return errors.New("a link stands nowhere")
		}
		for child := link.FirstChild(); child != nil; {
			next := child.NextSibling()
			parent.InsertBefore(parent, link, child)
			child = next
		}
		parent.RemoveChild(parent, link)
	}
	return err
}

func (s *specPage) page(x *exchange) error {
	x.Header().Set("Content-Security-Policy", s.policy)
	return send(x, "text/html; charset=utf-8", s.htmlTag, s.html)
}

func (s *specPage) vectors(x *exchange) error {
	x.Header().Set("Content-Disposition", `attachment; filename="toolmark-vectors-`+strconv.Itoa(SpecVersion)+`.json"`)
	return send(x, "application/json; charset=utf-8", s.listTag, docs.Vectors)
}

// send answers with a body that stays the same, unless the client has it already.
func send(x *exchange, media, tag string, body []byte) error {
	h := x.Header()
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", tag)
	if x.r.Header.Get("If-None-Match") == tag {
		x.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.WriteHeader(http.StatusOK)
	_, _ = x.Write(body)
	return nil
}
