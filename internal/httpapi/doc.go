// Package httpapi is the HTTP side of the scan service: routes, wire types, and the
// one place where errors become answers.
//
// Guarantees: every response carries X-Request-Id, an answer to bytes that are no
// request too (but not with TLS, see unread.go); every JSON response is ASCII with
// Content-Type "application/json; charset=utf-8" (what /mcp answers once a caller is let
// in has the form that MCP gives it, see MCP). The
// checks of a request come in one order: method, key, access list, scope, rate,
// declared body size, media type, body, quota; a check that refuses leaves those
// behind it undone, so a body is not read for a caller who may not send one. A body
// has at most 1 MiB as sent and after gzip; what all bodies and their trees hold
// together is bounded too, and who comes when it is full is answered 503. Nothing of
// a tool list, a pin or a key is written to a log, a metric or a trace.
//
// The package does not decide who may do what (package access), does not count
// (package registry), does not find anything (package scan) and opens no listener:
// see [API.ServeHTTP] and [Serve].
package httpapi
