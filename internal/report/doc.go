// Package report turns the outcome of a scan into what people and their tools read:
// a text for terminals, JSON, SARIF 2.1.0, JUnit XML and Markdown.
//
// Guarantees: text of a manifest is hostile, and no writer passes it on raw. JSON
// and SARIF are pure ASCII. A terminal, JUnit and Markdown get text whose invisible
// and controlling characters are spelled out; Markdown has no active link, image,
// HTML or mention that a manifest could have put there. A document is built whole
// before its first byte is written, so nothing is half-printed. The same document
// always gives the same bytes.
//
// The package decides nothing: what is found, what is suppressed and what fails
// comes in a [Document].
package report
