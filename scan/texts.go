package scan

import "github.com/toolmark/toolmark/textcheck"

// texts keeps what was found in the texts of one scan: the tools of a list share the
// names of parameters, and often whole descriptions of them. What is kept is only read.
type texts struct {
	known map[textKey]examined
}

type textKey struct {
	text    string
	options textcheck.Options
}

type examined struct {
	hidden   textcheck.Inspection
	readings []textcheck.Reading
}

func newTexts() *texts { return &texts{known: map[textKey]examined{}} }

func (t *texts) examine(f *field) (textcheck.Inspection, []textcheck.Reading) {
	key := textKey{f.text, f.options}
	if e, ok := t.known[key]; ok {
		return e.hidden, e.readings
	}
	var e examined
	e.hidden, e.readings = textcheck.Examine(f.text, f.options)
	t.known[key] = e
	return e.hidden, e.readings
}
