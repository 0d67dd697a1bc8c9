// Package service measures the scan service as a client sees it: it starts the binary on
// a database of its own, sends a typical list over many connections at once and tells how
// many scans a second were answered, how long they took, what processor time each cost
// and what memory the service held.
//
// Service and generator share the machine's cores. The generator writes requests that are
// ready, reads no more of an answer than its status and its length, and so leaves the
// cores to the service; what it uses all the same is part of the figures.
//
// It speaks HTTP/1.1 over plain TCP, to services it started or was told of, and nothing
// else.
package service
