// Package scan runs every check on a manifest inside a time budget, and puts what
// they find into one [toolmark.Report] in the order of the contract.
//
// Guarantees: the pin, each tool's hash and the comparison with an earlier pin are
// always complete. One tool cannot take another tool's time: each has its share of
// the budget first, and only what is left over goes to those that need more. A
// tool that was not reached whole is named in unscanned_tools and what was found in
// it until then is kept. A check that panics costs its own tool (E900), not the
// list. The same manifest always gives the same report while it is scanned whole.
//
// The package does not read JSON, does not know who asked, stores nothing and logs
// nothing.
package scan
