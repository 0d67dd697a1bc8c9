package probe

import (
	"errors"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
)

// ErrNotListening says that a server offers no way to be told when its lists change:
// read it at intervals instead.
var ErrNotListening = errors.New("the server offers no way to be told of changes; read it at intervals")

// A streamEnded error says that the server ended the stream on which it tells of
// changes, and that another may be opened in the same session.
type streamEnded struct {
	retry   time.Duration // how long the server wants us to wait; 0 where it did not say
	resumes bool          // the next stream goes on after the last event of this one
}

func (*streamEnded) Error() string { return "the event stream ended" }

// changeable are the lists whose changes a server can announce: the capability, whose
// name is also the word in notifications/…/list_changed, and the member that asks for it
// in subscriptions/listen. Templates of resources change with the resources.
var changeable = [...]struct{ name, filter string }{
	{"tools", "toolsListChanged"},
	{"prompts", "promptsListChanged"},
	{"resources", "resourcesListChanged"},
}

// subscriptionMeta is what marks messages of a subscription (MCP 2026-07-28).
const subscriptionMeta = "io.modelcontextprotocol/subscriptionId"

// news is what a server said unasked. Only the goroutine that calls the transport uses
// it.
type news struct {
	changed [len(changeable)]bool

	listen   int // id of subscriptions/listen; 0 where none was sent
	acked    bool
	honoured int       // how many of the lists asked for the server will tell of
	over     bool      // the server ended the subscription
	refusal  *rpcError // the error it ended it with
}

// hear takes in a notification.
func (n *news) hear(m message) {
	method, params := m.tree.Get("method").Text, m.tree.Get("params")
	switch method {
	case "notifications/subscriptions/acknowledged":
		if n.listen == 0 || !sameID(params.Get("_meta").Get(subscriptionMeta), n.listen) {
			return
		}
		n.acked, n.honoured = true, 0
		for _, l := range changeable {
			if v := params.Get("notifications").Get(l.filter); v.Kind == toolmark.KindTrue {
				n.honoured++
			}
		}
	case "notifications/cancelled":
		if n.listen != 0 && sameID(params.Get("requestId"), n.listen) {
			n.over = true
		}
	default:
		for i, l := range changeable {
			if method == "notifications/"+l.name+"/list_changed" {
				n.changed[i] = true
			}
		}
	}
}

// answered takes in the answer to subscriptions/listen, which says that the subscription
// is over, and reports whether m is that.
func (n *news) answered(m message) bool {
	if n.listen == 0 || !sameID(m.tree.Get("id"), n.listen) {
		return false
	}
	n.over = true
	if a, err := m.answer(); err == nil {
		n.refusal = a.err
	}
	return true
}

func (n *news) any() bool { return n.changed != [len(changeable)]bool{} }

// waiting reports whether there is anything to act on.
func (n *news) waiting() bool { return n.any() || n.over }

// take gives the lists that were announced, and forgets them.
func (n *news) take() []string {
	var names []string
	for i, l := range changeable {
		if n.changed[i] {
			names = append(names, l.name)
		}
	}
	n.changed = [len(changeable)]bool{}
	return names
}

// subscribe notes that subscriptions/listen is sent with that id.
func (n *news) subscribe(id int) {
	n.listen, n.acked, n.honoured, n.over, n.refusal = id, false, 0, false, nil
}

// settled reports whether the server has said what becomes of the subscription.
func (n *news) settled() bool { return n.acked || n.over }

// listenParams are the members of subscriptions/listen's params.
func listenParams() string {
	var b strings.Builder
	b.WriteString(`"notifications":{`)
	for i, l := range changeable {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + l.filter + `":true`)
	}
	b.WriteByte('}')
	return b.String()
}
