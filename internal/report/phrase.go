package report

import (
	"slices"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
)

// phrase is a sentence about a change: our words, and between them names and values of a
// manifest, which are hostile and stay apart until a writer knows how to quote them.
type phrase []word

type word struct {
	text   string
	theirs bool
}

// longestQuote is how many code points of a name or a value a phrase quotes; the diff
// below it shows the rest.
const longestQuote = 120

func ours(text string) phrase { return phrase{{text: text}} }

// ours adds words of ours.
func (p phrase) ours(text string) phrase { return append(p, word{text: text}) }

// name adds a name of the manifest.
func (p phrase) name(text string) phrase { return append(p, word{text: text, theirs: true}) }

// value adds a value of the manifest: a string as it is, anything else as JSON.
func (p phrase) value(v *toolmark.Value) phrase {
	switch {
	case v == nil:
		return p.ours("nothing")
	case v.Kind == toolmark.KindString:
		return p.name(v.Text)
	case v.Kind <= toolmark.KindNumber && len(v.Text) < longestQuote:
		return p.ours(string(canonjson.Append(nil, v))) // a literal cannot be taken for words
	case v.Kind == toolmark.KindArray && len(v.Items) > 0 && len(v.Items) <= mostNamed && allStrings(v):
		for i := range v.Items {
			if i > 0 {
				p = p.ours(", ")
			}
			p = p.name(v.Items[i].Text)
		}
		return p
	}
	return p.name(string(canonjson.Append(nil, v)))
}

// tells reports whether the phrase quotes a value whole, or each of its elements.
func (p phrase) tells(v *toolmark.Value) bool {
	if v == nil {
		return true
	}
	if v.Kind == toolmark.KindArray && len(v.Items) > 0 && len(v.Items) <= mostNamed {
		each := true
		for i := range v.Items {
			each = each && v.Items[i].Kind < toolmark.KindArray && p.tells(&v.Items[i])
		}
		if each {
			return true
		}
	}
	text := phrase{}.value(v)[0].text
	for _, w := range p {
		if w.theirs && toolmark.CodePoints(w.text) <= longestQuote && (w.text == text || strings.HasSuffix(w.text, "."+text)) || !w.theirs && w.text == text {
			return true
		}
	}
	return false
}

// plain gives the phrase for a terminal or a log: what is theirs in quotes, on one line,
// with what is hidden made visible.
func (p phrase) plain() string {
	return p.join(func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` })
}

// markdown gives the phrase with what is theirs in code spans.
func (p phrase) markdown() string { return p.join(code) }

func (p phrase) join(quote func(string) string) string {
	var b strings.Builder
	for _, w := range p {
		if !w.theirs {
			b.WriteString(w.text)
			continue
		}
		text := oneLine(sub(w.text, 0, longestQuote))
		if toolmark.CodePoints(w.text) > longestQuote {
			text += "…"
		}
		b.WriteString(quote(text))
	}
	return b.String()
}

func allStrings(v *toolmark.Value) bool {
	return !slices.ContainsFunc(v.Items, func(e toolmark.Value) bool { return e.Kind != toolmark.KindString })
}
