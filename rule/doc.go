// Package rule is the rule format: it decodes, checks, compiles and matches rules.
package rule
