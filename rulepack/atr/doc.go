// Package atr runs the community rules of the ATR project (Agent Threat Rules): the
// npm package that pack.lock names, by version and SHA-512.
//
// [Fetch] downloads that package from an npm registry, verifies it and writes it,
// with an index made from it, into a cache directory of the user; [Open] reads the
// index, in a few milliseconds; [Pack.Match] gives the rules that match the texts of
// one tool. Nothing of the package is part of this repository or of the binary.
//
// What a rule means is what the package's own engine makes of it, for an event of
// type mcp_exchange in which each text is both content and tool_description:
//
//   - rules whose status is draft or deprecated are skipped; rules of method semantic
//     run by their pattern fallback, those of method trace, behavioral and signature
//     not at all; conditions on other fields never hold.
//   - a pattern is an ECMAScript regular expression (ECMA-262, annex B) and ignores
//     case whatever it says; one leading group of inline flags is dropped; it has the
//     u flag if it contains \u{ or \p{, else it sees UTF-16 code units.
//   - it is tried on the text in NFKC without zero-width characters and with a short
//     list of look-alikes folded to Latin, then on the text as it is.
//   - conditions are joined by any or all; rules that say suppress_in_code_blocks do
//     not match where their first match stands in code.
//
// Texts of any length are read, where the engine of the package gives up at 100,000
// code units.
//
// Patterns are not run by a regular expression engine of the usual kind: they are
// evaluated on sets of positions, see machine.go. That is exact for lookaround, takes
// time linear in the text whatever the text is, and needs no timeout. Patterns with
// back-references are first tried without them in that way, and only what passes is
// given to a backtracking engine (dlclark/regexp2) with a timeout, which is reported.
//
// The package does not judge: what a match is worth beyond its severity, and what a
// user has suppressed, is decided elsewhere.
package atr
