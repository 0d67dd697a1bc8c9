package scan

import "github.com/toolmark/toolmark/shadow"

// checkNames reports names and texts that take the place of other servers' tools
// (E002). Like all checks it reads no more than the scope allows: the name of a tool
// is compared in any scope, since the API promises that.
func checkNames(_ *Scanner, sub *subject, stop func() bool) bool {
	if sub.tool != nil {
		sub.findings = append(sub.findings, sub.names.ByName(sub.name, sub.index)...)
	}
	texts := make([]shadow.Text, 0, len(sub.fields))
	for i := range sub.fields {
		texts = append(texts, shadow.Text{Pointer: sub.fields[i].Pointer, Readings: sub.fields[i].Readings})
	}
	if stop() {
		return false
	}
	sub.findings = append(sub.findings, sub.names.ByText(sub.name, sub.index, texts)...)
	return true
}
