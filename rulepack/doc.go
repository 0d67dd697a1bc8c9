// Package rulepack holds the built-in rules: what a tool's text must not tell a
// model, as data.
//
// A rule names an act (concealment, exfiltration, precedence over other tools, …),
// not a string: it is made of word families that are listed by language in words/,
// so that a rule written once speaks every language whose families are there. Each
// rule carries the reason why it exists, what an honest author writes instead, and
// examples on both sides; the tests of this package run all of them, through the
// rule engine and through a whole scan.
//
// The rules are embedded in the binary and do not change while it runs. Ids of
// rules are permanent; those that are no longer used stand in retired.yaml.
//
// The package does not match, read manifests or decide what a match is worth in a
// report: see packages rule and scan.
package rulepack
