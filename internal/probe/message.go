package probe

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

// A request is a JSON-RPC 2.0 request, or with id 0 a notification.
type request struct {
	id     int
	method string
	params string // a JSON object, or "" for none
	// version is the revision for the MCP-Protocol-Version header; "" sends none.
	version string
}

func (r request) encode() []byte {
	b := []byte(`{"jsonrpc":"2.0"`)
	if r.id != 0 {
		b = append(b, `,"id":`...)
		b = strconv.AppendInt(b, int64(r.id), 10)
	}
	b = append(b, `,"method":`...)
	b = toolmark.AppendQuoted(b, r.method)
	if r.params != "" {
		b = append(b, `,"params":`...)
		b = append(b, r.params...)
	}
	return append(b, '}')
}

// A message is one JSON-RPC message of the server. Offsets in tree count in raw.
type message struct {
	raw  []byte
	tree *toolmark.Value
}

type messageKind int

const (
	notRPC       messageKind = iota // JSON, but not a JSON-RPC 2.0 message
	response                        // has a result or an error
	serverCall                      // a request of the server to us
	notification                    // wants no answer
)

func (m message) kind() messageKind {
	if v := m.tree.Get("jsonrpc"); v.Kind != toolmark.KindString || v.Text != "2.0" {
		return notRPC
	}
	hasID := m.tree.Get("id").Kind != toolmark.KindAbsent
	if m.tree.Get("method").Kind == toolmark.KindString {
		if hasID {
			return serverCall
		}
		return notification
	}
	if hasID || !m.tree.Get("error").Absent() {
		return response
	}
	return notRPC
}

// answers reports whether the message answers request id. Servers that turn our
// number into a string, or write it as 1.0, are understood. An error with the id
// null answers whatever was asked last: the server could not read the id.
func (m message) answers(id int) bool {
	switch v := m.tree.Get("id"); v.Kind {
	case toolmark.KindNumber, toolmark.KindString:
		return sameID(v, id)
	case toolmark.KindNull, toolmark.KindAbsent:
		return !m.tree.Get("error").Absent()
	}
	return false
}

// sameID reports whether v is our number, in one of the spellings that come back.
func sameID(v *toolmark.Value, id int) bool {
	return (v.Kind == toolmark.KindNumber || v.Kind == toolmark.KindString) && strings.TrimSuffix(v.Text, ".0") == strconv.Itoa(id)
}

// An answer is a response, taken apart.
type answer struct {
	raw    []byte
	result *toolmark.Value // an object, where err is nil
	err    *rpcError
}

// An rpcError is the error member of a response (JSON-RPC 2.0, section 5.1).
type rpcError struct {
	code    string // the number's literal
	message string
	data    *toolmark.Value
}

// The error codes that mean something to a probe.
const (
	codeMethodNotFound     = "-32601" // JSON-RPC 2.0
	codeUnsupportedVersion = "-32022" // MCP 2026-07-28, UnsupportedProtocolVersionError
)

func (e *rpcError) Error() string {
	text := "error " + e.code
	if e.message != "" {
		text += " " + quoteShort(e.message)
	}
	return text
}

func (m message) answer() (*answer, error) {
	a := &answer{raw: m.raw}
	if e := m.tree.Get("error"); !e.Absent() {
		a.err = &rpcError{code: "without code", data: e.Get("data")}
		if c := e.Get("code"); c.Kind == toolmark.KindNumber {
			a.err.code = cut(c.Text, 24)
		}
		if t := e.Get("message"); t.Kind == toolmark.KindString {
			a.err.message = t.Text
		}
		return a, nil
	}
	a.result = m.tree.Get("result")
	if a.result.Kind != toolmark.KindObject {
		return nil, failure(toolmark.ErrProtocol, nil, "the answer has neither an error nor an object as its result (JSON-RPC 2.0, section 5)")
	}
	return a, nil
}

// slice gives the bytes of one value of the answer as they were sent.
func (a *answer) slice(v *toolmark.Value) []byte { return a.raw[v.Start:v.End] }

// readMessages reads a message or a batch of them (JSON-RPC 2.0, section 6, which
// MCP 2025-03-26 allows). A batch's parts share raw.
func readMessages(raw []byte) ([]message, error) {
	tree, err := canonjson.Parse(raw, canonjson.Options{})
	if err != nil {
		return nil, err
	}
	if tree.Kind != toolmark.KindArray {
		return []message{{raw: raw, tree: tree}}, nil
	}
	all := make([]message, 0, len(tree.Items))
	for i := range tree.Items {
		all = append(all, message{raw: raw, tree: &tree.Items[i]})
	}
	return all, nil
}

// looksLikeRPC tells a JSON-RPC message that cannot be read from a log line. It is
// asked only of text that is not JSON.
func looksLikeRPC(line []byte) bool {
	line = bytes.TrimLeft(line, " \t\ufeff")
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return false
	}
	return bytes.Contains(line[:min(len(line), 4096)], []byte(`"jsonrpc"`)) ||
		bytes.Contains(line[max(0, len(line)-4096):], []byte(`"jsonrpc"`))
}

// reply gives our answer to a request of the server: ping is answered, everything
// else is a method we do not have, since our capabilities are empty.
func reply(m message) []byte {
	id := m.tree.Get("id")
	if id.Kind != toolmark.KindNumber && id.Kind != toolmark.KindString {
		return nil
	}
	raw := m.raw[id.Start:id.End]
	if m.tree.Get("method").Text == "ping" {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`, raw)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"this client only lists"}}`, raw)
}

func asFailure(err error) (*toolmark.Error, bool) {
	var e *toolmark.Error
	ok := errors.As(err, &e)
	return e, ok
}
