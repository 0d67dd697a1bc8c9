// Package toolmark is the domain of Toolmark: what an MCP server declares, what
// was found in it, and how bad that is.
//
// It holds plain types and the few rules that belong to them; it imports nothing
// else of this module, and everything else may import it. Bytes become a [Value]
// (package canonjson), a Value becomes a [Manifest] ([ReadManifest]), checks turn a
// Manifest into [Finding]s, and a [Report] carries those to whoever asked.
//
// All text of a manifest is hostile. It is kept exactly as it was sent, including
// what JSON allows and UTF-8 does not: strings are WTF-8, that is UTF-8 in which a
// lone surrogate of a \uD800–\uDFFF escape stands as its own three bytes. Printing
// such text is the job of package report, which escapes it.
package toolmark
