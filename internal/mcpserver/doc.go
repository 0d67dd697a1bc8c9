// Package mcpserver is the MCP side of the service: four tools that answer what the HTTP
// API answers, over Streamable HTTP (POST /mcp, without sessions) and over standard input
// and output, for the MCP revisions 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and
// 2026-07-28. The protocol itself is modelcontextprotocol/go-sdk's.
//
// Guarantees. The definitions are the bytes of tools.json and nothing else: no caller,
// session, locale or revision sees others, and nothing of a server that was read ever
// stands in one. An answer has structured content that its outputSchema describes, pure
// ASCII, and a short text in our own words; what of other servers stands in that text is
// escaped, bounded and in double quotes. Clients of revisions that have no structured
// content get it as a second text. A request from another origin, and on a loopback
// address one for another host, is refused (DNS rebinding). scan_manifest counts as the
// HTTP API counts it.
//
// It keeps no state between requests, decides nothing (packages access, registry and
// scan do), and opens no listener.
package mcpserver
