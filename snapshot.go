package toolmark

import "time"

// Snapshot is a manifest as it was read at one time from one source.
type Snapshot struct {
	// Source names where it came from: a path, "-", a URL, or a command line.
	Source   string
	Manifest *Manifest
	ReadAt   time.Time
	// Bytes is the snapshot as one JSON document, of which Manifest.Tree is the
	// tree: a file's own bytes, or what a probe put together from the raw bytes of
	// each answer.
	Bytes []byte
	// Warnings say what the source did that it should not, and that did not stop the
	// reading: lines that are not JSON-RPC on stdout, for example. Hostile text.
	Warnings []string
	// LeftOut names the lists that the source declared and that could not be read, as in
	// "prompts/list". Where there are any the manifest is only part of what is declared.
	LeftOut []string
}
