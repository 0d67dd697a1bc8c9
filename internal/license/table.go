package license

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:generate ../../scripts/licenses.sh

//go:embed table.txt
var tableText string

// entry is what the table says of a licence.
type entry struct {
	id         string
	deprecated bool
	// listed says that choosealicense.com has an entry; only then the flags say anything.
	listed                               bool
	permissions, conditions, limitations []string
}

// table holds identifiers by their lower-case form: SPDX compares them in any case.
type table struct {
	licenses   map[string]*entry
	exceptions map[string]*entry
}

// facts gives the table, read once. It is our own file and held by tests to be readable.
var facts = sync.OnceValues(func() (*table, error) { return readTable(tableText) })

func readTable(text string) (*table, error) {
	t := &table{licenses: map[string]*entry{}, exceptions: map[string]*entry{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		if len(words) < 2 {
			return nil, fmt.Errorf("licence table, line %d: no identifier", n)
		}
		e := &entry{id: words[1]}
		for _, word := range words[2:] {
			name, value, _ := strings.Cut(word, "=")
			var flags []string
			if value != "" {
				flags = strings.Split(value, ",")
			}
			switch name {
			case "deprecated":
				e.deprecated = true
			case "permissions":
				e.listed, e.permissions = true, flags
			case "conditions":
				e.conditions = flags
			case "limitations":
				e.limitations = flags
			default:
				return nil, fmt.Errorf("licence table, line %d: %q is not known", n, name)
			}
		}
		kind := t.licenses
		switch words[0] {
		case "license":
		case "exception":
			kind = t.exceptions
		default:
			return nil, fmt.Errorf("licence table, line %d: %q is not known", n, words[0])
		}
		key := strings.ToLower(e.id)
		if kind[key] != nil {
			return nil, fmt.Errorf("licence table, line %d: %s stands twice", n, e.id)
		}
		kind[key] = e
	}
	return t, nil
}

// flags gives the entry that holds the flags of a licence: its own, or that of the
// family under whose old identifier choosealicense.com lists it (GPL-2.0 for
// GPL-2.0-only and GPL-2.0-or-later). Nil where there is none.
func (t *table) flags(e *entry) *entry {
	if e.listed {
		return e
	}
	for _, suffix := range [...]string{"-only", "-or-later"} {
		if family, cut := strings.CutSuffix(e.id, suffix); cut {
			// GFDL-1.3-invariants-only finds nothing here: invariant sections may not be
			// modified, which the entry of GFDL-1.3 does not say.
			if f := t.licenses[strings.ToLower(family)]; f != nil && f.listed {
				return f
			}
		}
	}
	return nil
}

// replacements are the expressions that SPDX's list names for deprecated identifiers.
// Those for which it names none, or more than one, are left out.
var replacements = map[string]string{
	"AGPL-1.0":                         "AGPL-1.0-only",
	"AGPL-3.0":                         "AGPL-3.0-only",
	"BSD-2-Clause-NetBSD":              "BSD-2-Clause",
	"bzip2-1.0.5":                      "bzip2-1.0.6",
	"eCos-2.0":                         "GPL-2.0-or-later WITH eCos-exception-2.0",
	"GFDL-1.1":                         "GFDL-1.1-only",
	"GFDL-1.2":                         "GFDL-1.2-only",
	"GFDL-1.3":                         "GFDL-1.3-only",
	"GPL-1.0":                          "GPL-1.0-only",
	"GPL-2.0":                          "GPL-2.0-only",
	"GPL-2.0-with-autoconf-exception":  "GPL-2.0-only WITH Autoconf-exception-2.0",
	"GPL-2.0-with-bison-exception":     "GPL-2.0-only WITH Bison-exception-2.2",
	"GPL-2.0-with-classpath-exception": "GPL-2.0-only WITH Classpath-exception-2.0",
	"GPL-2.0-with-font-exception":      "GPL-2.0-only WITH Font-exception-2.0",
	"GPL-2.0-with-GCC-exception":       "GPL-2.0-only WITH GCC-exception-2.0",
	"GPL-3.0":                          "GPL-3.0-only",
	"GPL-3.0-with-autoconf-exception":  "GPL-3.0-only WITH Autoconf-exception-3.0",
	"GPL-3.0-with-GCC-exception":       "GPL-3.0-only WITH GCC-exception-3.1",
	"LGPL-2.0":                         "LGPL-2.0-only",
	"LGPL-2.1":                         "LGPL-2.1-only",
	"LGPL-3.0":                         "LGPL-3.0-only",
	"StandardML-NJ":                    "SMLNJ",
	"wxWindows":                        "LGPL-2.0-or-later WITH WxWindows-exception-3.1",
}

func has(list []string, word string) bool { return slices.Contains(list, word) }
