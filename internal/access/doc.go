// Package access decides who may do what, and how often: the form of API keys, scopes,
// limits, access lists and the address a request came from.
//
// Everything here is a pure decision over values: no database, no clock, no network.
// The same arithmetic therefore counts a quota whatever store holds it; that it is
// counted once is the store's part (registry.Store).
//
// What it does not do: it does not authenticate end users. An end user and, behind a
// trusted proxy, an address are what the caller says they are.
package access
