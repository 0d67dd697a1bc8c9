package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/license"
)

// licenseCheck answers POST /v1/licenses/check. It needs no key and counts nothing: it
// compares identifiers with tables in memory.
func (a *API) licenseCheck(x *exchange) error {
	v, err := x.readObject()
	if err != nil {
		return err
	}
	var list faults
	list.only(v, "license", "intended_use")
	expression := list.required(v, "license")
	uses := list.uses(v.Get("intended_use"))
	if err := list.failure(); err != nil {
		return err
	}
	answer, err := license.Check(expression, uses)
	var syntax *license.SyntaxError
	switch {
	case errors.As(err, &syntax):
		list.add(faultPattern, "license is not an SPDX expression: at byte "+strconv.Itoa(syntax.Offset)+": "+syntax.Reason, "license")
		return list.failure()
	case err != nil:
		return internal(err)
	}
	return x.reply(http.StatusOK, answer)
}

// uses reads the intended uses. One that is not known is a fault: an answer that passed
// over it would look as if it were permitted.
func (f *faults) uses(v *toolmark.Value) []license.Use {
	if v.Absent() {
		return nil
	}
	if v.Kind != toolmark.KindObject {
		f.add(faultObject, "intended_use must be an object, not "+article(v), "intended_use")
		return nil
	}
	var uses []license.Use
	for i := range v.Members {
		m := &v.Members[i]
		switch use := license.Use(m.Name); {
		case !slices.Contains(license.Uses, use):
			f.add("extra_forbidden", "member number "+strconv.Itoa(i+1)+" is no use that is known: "+useNames(), "intended_use")
		case v.Get(m.Name) != &m.Value:
			f.add(faultValue, m.Name+" stands twice", "intended_use", m.Name)
		case m.Value.Kind == toolmark.KindTrue:
			uses = append(uses, use)
		case m.Value.Kind != toolmark.KindFalse:
			f.add(faultBool, m.Name+" must be true or false, not "+article(&m.Value), "intended_use", m.Name)
		}
	}
	return uses
}

func useNames() string {
	var names []string
	for _, use := range license.Uses {
		names = append(names, string(use))
	}
	return strings.Join(names, ", ")
}
