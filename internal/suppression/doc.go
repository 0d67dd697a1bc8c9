// Package suppression holds the findings that people have looked at and accepted.
//
// A list is YAML, in toolmark.yaml beside the work:
//
//	suppressions:
//	  - code: E001
//	    tool: put_file
//	    place: /description            # JSON Pointer as the report shows it
//	    rule: order-to-the-model       # id or opaque reference
//	    server: files                  # optional: only for this server
//	    reason: Reviewed on 2 May, the text names our own command.
//	    expires: 2026-12-31            # optional: the last day it holds
//
// Guarantees: decoding is strict; an unknown key, a missing reason, a code that does
// not exist is an error with file and line, never skipped. An entry hides only what
// it names: a finding is suppressed when every one of its places is named, so a new
// attack in a text that was accepted once still counts. A changed pin (E301) cannot
// be suppressed. An entry that has expired suppresses nothing, and it and one that
// names nothing are reported.
//
// The package does not decide what suppressed findings mean for an exit code, and
// writes no files.
package suppression
