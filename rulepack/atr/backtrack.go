package atr

import (
	"fmt"
	"time"

	"github.com/dlclark/regexp2"
)

// backtrackTime is how long one pattern with back-references may look at one text.
const backtrackTime = 50 * time.Millisecond

// backtracker runs a pattern with back-references.
type backtracker struct{ re *regexp2.Regexp }

func backtracking(p *pattern) (*backtracker, error) {
	options := regexp2.RegexOptions(regexp2.ECMAScript | regexp2.IgnoreCase)
	if p.unicode {
		options |= regexp2.Unicode
	}
	re, err := regexp2.Compile(p.source, options)
	if err != nil {
		return nil, fmt.Errorf("pattern with a back-reference: %w", err)
	}
	re.MatchTimeout = backtrackTime
	return &backtracker{re}, nil
}

// find gives the first match at or behind a position; an error is a timeout.
func (b *backtracker) find(text []rune, from int) (start, end int, found bool, err error) {
	m, err := b.re.FindRunesMatchStartingAt(text, from)
	if err != nil || m == nil {
		return 0, 0, false, err
	}
	return m.Index, m.Index + m.Length, true, nil
}
