package httpapi

import (
	"net/http"

	"github.com/toolmark/toolmark"
)

const (
	pathPrecall   = "/v1/precall-check"
	pathIntegrity = "/v1/tool-integrity"
	pathText      = "/v1/text-scan"
)

// question reads the one string that a question is about.
func (x *exchange) question(name string) (string, error) {
	v, err := x.readObject()
	if err != nil {
		return "", err
	}
	var list faults
	text := list.required(v, name)
	list.only(v, name)
	return text, list.failure()
}

// precall answers POST /v1/precall-check.
func (a *API) precall(x *exchange) error {
	url, err := x.question("url")
	if err != nil {
		return err
	}
	return x.answer(a.questions.Precall(x.r.Context(), x.as(), url))
}

// integrity answers POST /v1/tool-integrity.
func (a *API) integrity(x *exchange) error {
	server, err := x.question("server")
	if err != nil {
		return err
	}
	return x.answer(a.questions.Integrity(x.r.Context(), x.as(), server))
}

// textScan answers POST /v1/text-scan. A text takes a core like a list does, and waits
// for one like a list.
func (a *API) textScan(x *exchange) error {
	ctx := x.r.Context()
	body, err := x.readBody(toolmark.MaxBody)
	if err != nil {
		return err
	}
	defer body.Release()
	leave, err := a.gate.enter(ctx, body.bytes)
	if err != nil {
		return err
	}
	defer leave()
	var answer []byte
	err = a.gate.turn(ctx, func() error {
		v, err := parse(body.bytes)
		if err != nil {
			return err
		}
		var list faults
		if v.Kind != toolmark.KindObject {
			list.add(faultObject, "the body must be an object, not "+article(v))
			return list.failure()
		}
		text := list.required(v, "text")
		list.only(v, "text")
		if err := list.failure(); err != nil {
			return err
		}
		report, err := a.questions.ScanText(text)
		if err != nil {
			return known(err)
		}
		if answer, err = encode(report); err != nil {
			return internal(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return x.send(http.StatusOK, answer)
}
