package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
)

// spot is one piece of one text that is shown once: places of a finding that are
// about the same string and stand close together.
type spot struct {
	first  *toolmark.Location
	places map[placed]bool
	ranges [][2]int // code points, in order, apart from each other
	rules  []string // opaque references, each once
	kinds  []string // one for each place
	// readings are in words, with what the text says in each; the text as sent is none.
	readings []string
	says     []string
}

// placed is a place without its reading.
type placed struct {
	start, end int
	kind       string
}

// closeBy is how far apart places may stand to be shown in one piece.
const closeBy = 40

// spots puts the places of a finding together. They keep the order in which the
// finding lists them, but for those that join an earlier one.
func spots(places []toolmark.Location) []spot {
	groups := map[toolmark.Text][]*toolmark.Location{}
	var order []toolmark.Text
	for i := range places {
		k := places[i].Pointer
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], &places[i])
	}
	var out []spot
	for _, k := range order {
		group := groups[k]
		slices.SortStableFunc(group, func(a, b *toolmark.Location) int { return cmp.Compare(a.Start, b.Start) })
		from := len(out)
		for _, loc := range group {
			if n := len(out); n == from || loc.Start > out[n-1].end()+closeBy {
				out = append(out, spot{first: loc, places: map[placed]bool{}})
			}
			out[len(out)-1].add(loc)
		}
	}
	return out
}

func (s *spot) end() int {
	if len(s.ranges) == 0 {
		return s.first.End
	}
	return s.ranges[len(s.ranges)-1][1]
}

func (s *spot) add(loc *toolmark.Location) {
	if n := len(s.ranges); n > 0 && loc.Start <= s.ranges[n-1][1] {
		s.ranges[n-1][1] = max(s.ranges[n-1][1], loc.End)
	} else if loc.End > loc.Start {
		s.ranges = append(s.ranges, [2]int{loc.Start, loc.End})
	}
	if p := (placed{loc.Start, loc.End, loc.Kind}); loc.Kind != "" && !s.places[p] {
		s.places[p] = true
		s.kinds = append(s.kinds, loc.Kind)
	}
	if loc.Rule != "" && !slices.Contains(s.rules, loc.Rule) {
		s.rules = append(s.rules, loc.Rule)
	}
	if words := inWords(loc.Reading); words != "" && !slices.Contains(s.readings, words) {
		s.readings = append(s.readings, words)
		if loc.Excerpt != "" && !slices.Contains(s.says, string(loc.Excerpt)) {
			s.says = append(s.says, string(loc.Excerpt))
		}
	}
}

// head names the place of a spot, what kind of characters stand there, and how they
// were read.
func (s *spot) head() string {
	parts := []string{oneLine(string(s.first.Pointer))}
	if s.first.Pointer == "" {
		parts[0] = "the whole object"
	}
	for i, kind := range s.kinds {
		if slices.Index(s.kinds, kind) != i {
			continue
		}
		n := 0
		for _, k := range s.kinds {
			if k == kind {
				n++
			}
		}
		if n > 1 {
			kind = fmt.Sprintf("%s ×%d", kind, n)
		}
		parts = append(parts, oneLine(kind))
	}
	if len(s.readings) > 0 {
		parts = append(parts, strings.Join(s.readings, ", and "))
	}
	return strings.Join(parts, " · ")
}
