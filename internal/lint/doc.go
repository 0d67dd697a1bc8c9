// Package lint gives advice to those who build an MCP server: what in its definitions, or
// in a change of them, makes clients and reviewers stop at a release that is honest. Its
// findings have the L codes.
//
// It guarantees that it never says that something is well: no finding means that nothing
// of this list was seen. What it compares, it compares by pin.Diff; another order or
// another spelling of the same is no difference to it. Texts that it quotes are the
// manifest's and hostile; the reasons are its own.
//
// It does not read servers or files, does not decide what fails a build, and does not look
// for orders to the model: what a scan found comes in as Input.Scan.
package lint
