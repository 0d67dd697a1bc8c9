package atr

import (
	"fmt"
	"sync"
	"time"

	"github.com/dlclark/regexp2"
)

// backtrackTime is how long one pattern with back-references may look at one stretch of
// one text, see Pack.patience. The clock is that of the machine: a timeout is the one thing here that
// depends on it.
const backtrackTime = 50 * time.Millisecond

// backtracker runs a pattern with back-references.
type backtracker struct {
	mu sync.Mutex
	re *regexp2.Regexp
}

func backtracking(p *pattern) (*backtracker, error) {
	options := regexp2.RegexOptions(regexp2.ECMAScript | regexp2.IgnoreCase)
	if p.unicode {
		options |= regexp2.Unicode
	}
	re, err := regexp2.Compile(`\G(?:`+p.source+`)`, options)
	if err != nil {
		return nil, fmt.Errorf("pattern with a back-reference: %w", err)
	}
	return &backtracker{re: re}, nil
}

// at tells whether the pattern matches at a position, and up to where; an error is a
// timeout.
func (b *backtracker) at(text []rune, from int, limit time.Duration) (end int, found bool, err error) {
	b.mu.Lock() // the limit is a member of the expression
	defer b.mu.Unlock()
	b.re.MatchTimeout = limit
	m, err := b.re.FindRunesMatchStartingAt(text, from)
	if err != nil || m == nil {
		return 0, false, err
	}
	return m.Index + m.Length, true, nil
}
