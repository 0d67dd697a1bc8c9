// Package outward is the guard of every connection that the service makes to an
// address which somebody else chose: probes, webhooks, OAuth metadata, the address an
// HTTP+SSE server names for our messages, and wherever a redirect leads.
//
// What it guarantees, of every request through a client of a [Guard]:
//
//   - The URL is http or https, without user and password, its host in one plain
//     spelling: a DNS name in ASCII, four decimal numbers, or IPv6 in brackets. Numbers
//     written as octal, hex, one integer or fewer than four parts, zones, and names that
//     only mean something inside a network are refused before any look-up.
//   - The address is looked at when the socket is made and before a packet leaves
//     ([net.Dialer.Control]), so what a name resolves to between check and use does not
//     matter. Only public unicast addresses pass: none that IANA lists as special purpose,
//     none that carries such an IPv4 address inside (mapped, compatible, translated, NAT64,
//     6to4, Teredo, ISATAP), none of this machine, and no address of a cloud's
//     platform. The operator may allow ranges ([Options].AllowNet).
//   - The port is not one that another protocol owns (WHATWG Fetch, port blocking).
//   - No proxy is used, whatever the environment says.
//   - Each redirect is a new request, with all of these checks. It never goes from https
//     to http, and takes nothing to another origin that identifies the caller.
//   - Time, bytes of the answer, bytes of its header and redirects are bounded.
//
// A refusal is a *toolmark.Error with the code address_refused around a [Refusal], which
// names the rule. Its text repeats only what the caller wrote: not what a name resolved
// to, nor whether it resolved at all. The operator finds that in [Refusal.Detail].
//
// What it does not do: it does not limit how often one host is asked (the watch does),
// and does not know the operator's own public addresses or NAT64 prefixes other than the
// well-known ones.
package outward
