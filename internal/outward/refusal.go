package outward

import (
	"errors"
	"fmt"

	"github.com/toolmark/toolmark"
)

// Rule names what a connection was refused for.
type Rule string

// The rules, in the order in which they are asked.
const (
	RuleURL       Rule = "url"        // not a URL, or one without a host
	RuleScheme    Rule = "scheme"     // another scheme than http and https
	RuleUser      Rule = "user"       // a user or a password in the URL
	RulePort      Rule = "port"       // no port number, or one of another protocol
	RuleZone      Rule = "zone"       // an IPv6 address with a zone (RFC 6874)
	RuleHost      Rule = "host"       // a host that is not one plain ASCII name
	RuleNumber    Rule = "number"     // an IPv4 address in another spelling than four decimal numbers
	RuleLocalName Rule = "local-name" // a name that has a meaning only inside a network
	RuleEmbedded  Rule = "embedded"   // an IPv6 address with an IPv4 address inside that is refused
	RuleAddress   Rule = "address"    // an address that is not public unicast
	RuleOwn       Rule = "own"        // an address of this machine
	RuleName      Rule = "name"       // a name without an address that may be connected to
	RuleRedirect  Rule = "redirect"   // a redirect from https to http, or one too many
)

// A Refusal is why the guard made no connection.
type Refusal struct {
	Rule   Rule
	Reason string // for whoever asked: repeats only what they wrote
	detail string
}

// Error gives the reason and the rule.
func (r *Refusal) Error() string { return fmt.Sprintf("%s (rule %s)", r.Reason, r.Rule) }

// Detail says what the guard saw, such as the address a name resolved to. It is for the
// operator's log, never for whoever asked. "" where there is no more than Reason.
func (r *Refusal) Detail() string { return r.detail }

// AsRefusal gives the refusal in err's chain.
func AsRefusal(err error) (*Refusal, bool) {
	var r *Refusal
	ok := errors.As(err, &r)
	return r, ok
}

// refuse makes the error of a refusal. what is the part of the URL it is about, "" for
// none.
func refuse(rule Rule, what, detail, reason string) error {
	message := "not connected"
	if what != "" {
		message += " to " + quote(what)
	}
	return &toolmark.Error{Code: toolmark.ErrAddressRefused, Message: message, Err: &Refusal{Rule: rule, Reason: reason, detail: detail}}
}

// quote gives what the caller wrote in a form that is safe to print.
func quote(s string) string {
	const most = 200
	if end := toolmark.ByteOffset(s, most); end < len(s) {
		return string(toolmark.AppendQuoted(nil, s[:end])) + "…"
	}
	return string(toolmark.AppendQuoted(nil, s))
}
