// Package shadow finds tools that take the place of others: names that another
// server's tool already has, or that a person or a client cannot tell from it (E002);
// texts that tell the model to use a tool instead of another server's, or that change
// how that one is used (E002); and names that collide within one server (W022).
//
// It reads nothing of other servers but their names, which is all the API is given.
// A tool that speaks of its own server's tools is documentation and never reported.
// It does not judge what a text orders beside that: that is the business of rules.
package shadow
