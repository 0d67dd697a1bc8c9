package scan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/rule"
)

// The score of weak signals. A rule of severity signal stands for words that attacks
// use and honest texts too: that the model is spoken of, that a secret is, that the
// user is left out. An attack needs several of them in one sentence or the next; an
// honest text seldom has them so close together.
//
// The score of a sentence is the sum of
//   - the weights of the signals in it, each signal once;
//   - half the weight, rounded towards zero, of each further signal in the sentence
//     before or after it in the same field; the name of a parameter and the beginning
//     of its description are neighbours too;
//   - MediumWeight for each rule of severity medium that matched in it, and
//     DowngradedWeight where a rule was downgraded because the sentence speaks about
//     attacks.
//
// What stands further away counts nothing: in a long honest text there is something of
// everything. Each reading of a text is summed up by itself, and the best sentence of
// a tool is its score. From MediumScore on it is a finding of severity medium, from
// HighScore on of severity high.
const (
	MediumScore = 5
	HighScore   = 9

	MediumWeight     = 1
	DowngradedWeight = -3
)

// sentence names a sentence of a reading of a field.
type sentence struct {
	field   int
	reading string
	number  int
}

// scored is what counts in one sentence.
type scored struct {
	at     sentence
	counts []rule.Match // one for each rule
}

// split parts the matches that are findings from signals.
func split(matches []rule.Match) (findings, signals []rule.Match) {
	for _, m := range matches {
		if m.Rule.Weight != 0 {
			signals = append(signals, m)
		} else {
			findings = append(findings, m)
		}
	}
	return findings, signals
}

// weigh gives the best sentence's score with its parts, and the signals that stand in
// it; nil where no sentence reaches MediumScore.
func (sub *subject) weigh(findings, signals []rule.Match) (*toolmark.Score, []rule.Match) {
	if len(signals) < 2 && (len(signals) == 0 || len(findings) == 0) {
		return nil, nil // no single one reaches the threshold
	}
	sentences := map[sentence]*scored{}
	place := func(m rule.Match) *scored {
		at := sentence{m.Field, m.Reading, m.Sentence}
		if sentences[at] == nil {
			sentences[at] = &scored{at: at}
		}
		return sentences[at]
	}
	for _, m := range signals {
		s := place(m)
		s.counts = append(s.counts, m)
	}
	for _, m := range findings {
		if len(m.Places) == 1 && m.Severity < toolmark.High {
			s := place(m)
			s.counts = append(s.counts, m)
		}
	}
	order := make([]*scored, 0, len(sentences))
	for _, s := range sentences {
		order = append(order, s)
	}
	slices.SortFunc(order, func(a, b *scored) int {
		return cmp.Or(cmp.Compare(a.at.field, b.at.field), strings.Compare(a.at.reading, b.at.reading), cmp.Compare(a.at.number, b.at.number))
	})
	var best toolmark.Score
	var from []rule.Match
	for _, s := range order {
		score, signals := sub.sum(s, sentences)
		if score.Total > best.Total {
			best, from = score, signals
		}
	}
	if best.Total < MediumScore {
		return nil, nil
	}
	best.Threshold = MediumScore
	if best.Total >= HighScore {
		best.Threshold = HighScore
	}
	return &best, from
}

// sum gives the score of one sentence and the signals that are part of it.
func (sub *subject) sum(s *scored, sentences map[sentence]*scored) (toolmark.Score, []rule.Match) {
	var score toolmark.Score
	var signals []rule.Match
	have := map[string]bool{}
	add := func(m rule.Match, weight int) {
		if have[m.Rule.ID] {
			return
		}
		have[m.Rule.ID] = true
		if weight == 0 {
			return
		}
		score.Total += weight
		score.Parts = append(score.Parts, toolmark.ScorePart{Rule: m.Rule.Reference(), Weight: weight})
		if m.Rule.Weight > 0 {
			signals = append(signals, m)
		}
	}
	for _, m := range s.counts {
		add(m, weightOf(m))
	}
	for _, at := range sub.neighbours(s.at) {
		if near := sentences[at]; near != nil {
			for _, m := range near.counts {
				add(m, weightOf(m)/2)
			}
		}
	}
	return score, signals
}

func weightOf(m rule.Match) int {
	switch {
	case m.Rule.Weight != 0:
		return m.Rule.Weight
	case m.Severity == toolmark.Info && m.Rule.Severity > toolmark.Info:
		return DowngradedWeight
	case m.Severity == toolmark.Medium:
		return MediumWeight
	}
	return 0
}

// neighbours gives the sentences beside one.
func (sub *subject) neighbours(at sentence) []sentence {
	list := []sentence{
		{at.field, at.reading, at.number - 1},
		{at.field, at.reading, at.number + 1},
	}
	if at.number == 0 && at.field > 0 && sub.isNameOf(at.field-1, at.field) {
		list = append(list, sentence{at.field - 1, at.reading, 0})
	}
	return list
}

// isNameOf reports whether a field is the name of the parameter that another describes.
func (sub *subject) isNameOf(name, text int) bool {
	a, b := &sub.fields[name], &sub.fields[text]
	return a.Surface == toolmark.SurfaceParameterName && b.Surface == toolmark.SurfaceParameter && b.Pointer == a.Pointer+"/description"
}
