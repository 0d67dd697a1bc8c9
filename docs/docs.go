// Package docs holds those of these pages that the service shows. It has no code.
package docs

import _ "embed" // for the files

// Formats is formats.md: what is computed and written, exact enough for others to do it.
//
//go:embed formats.md
var Formats []byte

// Vectors is vectors.json: bodies with their canonical bytes, pins and fingerprints, made
// by scripts/vectors.py, which shares no code with what is tested against them.
//
//go:embed vectors.json
var Vectors []byte
