// Package license says whether an SPDX licence expression permits what somebody intends
// to do, and under which conditions.
//
// Guarantees: a use is permitted only where every licence that must be kept is on SPDX's
// list, has an entry in the permissions table of choosealicense.com, and that entry grants
// the use. All else is unknown: an identifier or exception that is not on the list, a
// licence without entry, a LicenseRef, a use that the table says nothing of. Work and
// memory are linear in the expression, which is bounded (MaxExpression, MaxDepth).
//
// The grammar is that of the SPDX specification, annex "SPDX license expressions":
// identifiers in any case, "+", WITH, AND, OR (AND binds tighter), parentheses,
// LicenseRef- and DocumentRef-.
//
// It reads no licence texts, knows nothing of a licence but the table's flags, and gives
// no legal advice.
package license
