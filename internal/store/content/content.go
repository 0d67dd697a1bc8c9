// Package content packs what servers served for a database: DEFLATE (RFC 1951), named by
// the SHA-256 of the bytes. Unpack gives exactly the bytes that were packed, or an error;
// it never allocates more than their stated size, which is at most Max.
package content

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Max is the most bytes of one content.
const Max = 16 << 20

// writers are used again: a compressor takes a megabyte.
var writers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		panic(err) // only for a level that does not exist
	}
	return w
}}

// Pack compresses a content.
func Pack(raw []byte) ([]byte, error) {
	if len(raw) > Max {
		return nil, fmt.Errorf("a content of %d bytes: at most %d can be stored", len(raw), Max)
	}
	var out bytes.Buffer
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(&out)
	if _, err := w.Write(raw); err != nil {
		return nil, fmt.Errorf("pack a content: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack a content: %w", err)
	}
	return out.Bytes(), nil
}

// Unpack gives the content of size bytes back.
func Unpack(packed []byte, size int64) ([]byte, error) {
	if size < 0 || size > Max {
		return nil, fmt.Errorf("a stored content of %d bytes", size)
	}
	r := flate.NewReader(bytes.NewReader(packed))
	raw := make([]byte, size)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, fmt.Errorf("unpack a content: %w", err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		return nil, errors.New("unpack a content: it is longer than it should be")
	}
	return raw, nil
}
