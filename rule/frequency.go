package rule

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// How often a literal stands in ordinary text is guessed, and only chooses what is
// looked at first: the rarest of what must be there. Most texts are English definitions
// of tools, so the words that stand in most of those are written out here.

// ordinaryWords are words by how often one of them stands in the descriptions and
// schemas of honest servers: in places of a thousand bytes.
var ordinaryWords = []struct {
	rate  float64
	words string
}{
	{5, "a an and any are as at be by can do for from if in is it not of on or that the this to use will with you your string object schema id name json number"},
	{0.7, "array default search get project list http:// https:// properties boolean url tool query type file when optional user only text content specific all results path " +
		"integer filter server data new api create http https page set files returns must field value include return read required should"},
	{0.2, "command update using current fields resource contents operation base call delete mcp format information time message task one add request branch " +
		"database application run true provided header local web status used full table paths multiple code about no key action first absolute which urls " +
		"names model null need up end available com team description provide workflow date before index parameters ai example category existing each " +
		"details resources like ids per where values objects source next more response want version tools start group its operations seconds within after"},
	{0.08, "commands image what logs configuration state markdown label such package types target execute check their specified output pass custom metadata " +
		"system context mode active organization events directory view including workspace extract docs against build location service etc find instead " +
		"complete running config needed supported between usage into best returned agent false based session other changes whether remove line records " +
		"retrieve automatically node access offset previous title have single parameter sort nodes queries match items note apps place errors repository " +
		"options pages generate valid select env record parent tables process identifier syntax through top perform deploy my test created deployment " +
		"language requires than already prompt comment level result projects auto tag form discover patterns supports updated documentation see know has " +
		"following runtime error variables show topic services omit range links last exact also but total git html agents environment public me without " +
		"via cli so require container describe does auth us cannot management modify then item users them open uses always owner order log report tasks " +
		"template account question clear root change instructions ask feature step specify option exists arguments directly across over otherwise store " +
		"these security tags follow send email enabled memory write link channel key keys token import host port domain never don't doesn't"},
}

// ordinaryWord is how often each of them stands.
var ordinaryWord = sync.OnceValue(func() map[string]float64 {
	rates := map[string]float64{}
	for _, list := range ordinaryWords {
		for word := range strings.FieldsSeq(list.words) {
			if _, ok := rates[word]; !ok {
				rates[word] = list.rate
			}
		}
	}
	return rates
})

// rare is about how often any other word stands.
const rare = 0.02

// frequency estimates at how many of a thousand bytes of ordinary text a text stands:
// as a whole word, or inside others too.
func frequency(text string, whole bool) float64 {
	word := strings.TrimSpace(text)
	n := utf8.RuneCountInString(word)
	if n < len(word) {
		// One letter of Han says more than one of Cyrillic.
		if r, _ := utf8.DecodeRuneInString(word); classOf(r) == classDense {
			n *= 3
		}
		return rare / float64(n)
	}
	if first, rest, ok := strings.Cut(word, " "); ok {
		// Words that seldom stand beside each other.
		return min(frequency(first, whole), frequency(rest, whole)) / 4
	}
	whole = whole || len(word) < len(text)
	rate := ordinaryWord()[word]
	switch {
	case rate > 0 && whole:
		return rate
	case rate > 0 && n > 2:
		return 4 * rate
	case n <= 1:
		if strings.Contains("[]<>{}|$~@#!&*+=^%\\", word) {
			return 1
		}
		return 45
	case n == 2 && (whole || !strings.ContainsFunc(word, isWord)):
		return 0.3
	case n == 2:
		return 18
	case n == 3 && !whole:
		return 2
	case !whole:
		return 4 * rare
	}
	return rare
}
