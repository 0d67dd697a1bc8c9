// Package textcheck finds hidden and deceptive text, decodes it, cleans it, and gives
// the views of a text that a detector should read.
//
// Inspect judges each place where it stands: a zero-width joiner is right inside an
// emoji or between letters of a script that needs it and found between Latin ones.
// Sanitize gives a clean copy, Visible a copy that can be printed. Readings takes off
// disguises one by one and keeps the way back to the original, so that whatever a rule
// finds in a view can be shown in the text as sent. Skeleton, NormalName and Confusable
// compare names.
//
// All functions take WTF-8 (UTF-8 that may hold lone surrogates) of any content, run
// in time and memory proportional to its length, and never panic. They decide by
// tables of one version of Unicode, UnicodeVersion, made from the character database,
// UTS #39 and UTS #51; only normalisation and case folding follow the toolchain, where
// Unicode guarantees that assigned characters never change.
//
// The package does not judge intent: what a text asks for is the business of rules.
// It does not render HTML or Markdown, follows no links and knows no language but a
// short list of English words, by which it tells a word in disguise from noise.
package textcheck
