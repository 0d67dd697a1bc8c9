// Package lockfile reads and writes toolmark.lock.json: what people have reviewed and
// accepted of the MCP servers they use. docs/formats.md has the format.
//
// A [File] holds one [Entry] a server: where it is read, its whole manifest, the hashes,
// and who accepted it when. Update is the only way to write one.
//
// Guarantees:
//
//   - Nothing that a server declares is lost: lone surrogates, number literals, members
//     that stand twice, members nobody knows. Only what means nothing is not kept: the
//     order of members, and of tools with different names.
//   - The same content always gives the same bytes. One tool is one block; a changed word
//     changes the line of the word and one line of hashes of the tool, and of the entry
//     one line of hashes and one of who accepted it.
//   - A file that was damaged or edited by hand is refused with line and JSON Pointer, and
//     left as it is. So is one of a newer format. The hashes are no signature: they
//     notice accidents and careless edits, and not somebody who computes them anew.
//   - Members that this version does not know are kept.
//   - A write is whole or not there: unique temporary file, fsync, rename. Writers wait
//     for each other, so that a hundred at once lose no entry; readers never wait. No
//     file is left behind, unless the process is killed between, and what is left then
//     is in nobody's way.
//
// The package probes nothing, compares nothing (package pin does) and holds no secret:
// of headers and variables it records names, and values only where they are written as
// ${NAME} or are no secret by their nature, such as a locale.
package lockfile
