package shadow

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// vocabulary finds, in one pass over a text, which of a list of words stand in it,
// inside other words too: an automaton of Aho and Corasick ("Efficient String Matching",
// CACM 1975) with a table of all moves. It knows all words of all sways, and so says of
// a sentence what strings.Contains, asked once a word, would say.
type vocabulary struct {
	number map[string]int // of each word
	class  [256]uint8     // of a byte, a capital as its small letter; 0: in no word
	width  int            // classes, made even
	moves  []uint16       // state × class → state times width, plus one where words end
	ends   []wordSet      // per state: the words that end there
}

// wordSet is a set of words by their numbers.
type wordSet [4]uint64

func (s *wordSet) add(n int) { s[n>>6] |= 1 << (n & 63) }

func (s *wordSet) join(o *wordSet) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s *wordSet) meets(o *wordSet) bool {
	return s[0]&o[0]|s[1]&o[1]|s[2]&o[2]|s[3]&o[3] != 0
}

// meetsAll reports whether the set has a word of each group.
func (s *wordSet) meetsAll(groups []wordSet) bool {
	for i := range groups {
		if !s.meets(&groups[i]) {
			return false
		}
	}
	return true
}

// meetsAny reports whether the set has a word of each group of some list of groups.
func (s *wordSet) meetsAny(lists [][]wordSet) bool {
	for _, groups := range lists {
		if s.meetsAll(groups) {
			return true
		}
	}
	return false
}

func newVocabulary(words []string) *vocabulary {
	v := &vocabulary{number: map[string]int{}, width: 1}
	for _, w := range words {
		if _, ok := v.number[w]; !ok {
			v.number[w] = len(v.number)
		}
		for _, c := range []byte(w) {
			if v.class[c] == 0 {
				v.class[c] = uint8(v.width)
				v.width++
			}
		}
	}
	if len(v.number) > 64*len(wordSet{}) {
		panic("shadow: more words than a wordSet holds")
	}
	v.width += v.width & 1
	for c := byte('A'); c <= 'Z'; c++ {
		v.class[c] = v.class[c+'a'-'A']
	}
	v.grow()
	return v
}

// grow makes the states: first the tree of the words, then, level by level, where a
// word that breaks off goes on as the beginning of another.
func (v *vocabulary) grow() {
	tree := [][]int{make([]int, v.width)}
	v.ends = []wordSet{{}}
	for word, number := range v.number {
		at := 0
		for _, c := range []byte(word) {
			next := &tree[at][v.class[c]]
			if *next == 0 {
				*next = len(tree)
				tree = append(tree, make([]int, v.width))
				v.ends = append(v.ends, wordSet{})
				next = &tree[at][v.class[c]]
			}
			at = *next
		}
		v.ends[at].add(number)
	}
	if len(tree)*v.width > 1<<16 {
		panic("shadow: more states than a move can name")
	}
	v.moves = make([]uint16, len(tree)*v.width)
	fails := make([]int, len(tree))
	queue := []int{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		v.ends[at].join(&v.ends[fails[at]])
		for c, next := range tree[at] {
			back := 0
			if at != 0 {
				back = int(v.moves[fails[at]*v.width+c]) / v.width
			}
			if next == 0 {
				next = back
			} else {
				fails[next] = back
				queue = append(queue, next)
			}
			v.moves[at*v.width+c] = uint16(next * v.width)
		}
	}
	for i, to := range v.moves {
		if v.ends[int(to)/v.width] != (wordSet{}) {
			v.moves[i]++
		}
	}
}

// in gives the words that stand in a text, whatever the case of its ASCII letters. Text
// beyond ASCII must be in lower case already: some capitals there have small letters in
// ASCII.
func (v *vocabulary) in(text string) (found wordSet) {
	at := uint16(0)
	for i := 0; i < len(text); i++ {
		at = v.moves[int(at&^1)+int(v.class[text[i]])]
		if at&1 != 0 {
			found.join(&v.ends[int(at)/v.width])
		}
	}
	return found
}

// set gives the numbers of words, each of which must be known.
func (v *vocabulary) set(words []string) (s wordSet) {
	for _, w := range words {
		s.add(v.number[w])
	}
	return s
}

// lexicon is the vocabulary with what the sways and the collective pattern need of it.
type lexicon struct {
	*vocabulary
	unknown    [][]wordSet // needs of the sways that hold for tools of servers we do not know
	known      [][]wordSet // and of the others
	server     wordSet     // signs of a name that says itself that it is a server's
	collective []wordSet
}

// What collective needs, and what tells a server's name (see serverName).
var (
	collectiveNeeds = [][]string{
		{"tool", "server", "function"},
		{"behavio", "working", "output", "call", "recipient", "argument"},
		{"modif", "chang", "alter", "overrid", "redefin", "hijack", "intercept"},
	}
	serverSigns = []string{"server.", "mcp"}
)

var swayWords = sync.OnceValue(func() *lexicon {
	all := append([]string{}, serverSigns...)
	groups := collectiveNeeds
	for i := range sways() {
		groups = append(groups, sways()[i].needs...)
	}
	for _, group := range groups {
		all = append(all, group...)
	}
	l := &lexicon{vocabulary: newVocabulary(all)}
	l.server = l.set(serverSigns)
	sets := func(groups [][]string) (out []wordSet) {
		for _, group := range groups {
			out = append(out, l.set(group))
		}
		return out
	}
	l.collective = sets(collectiveNeeds)
	for i := range sways() {
		if sw := &sways()[i]; sw.known {
			l.known = append(l.known, sets(sw.needs))
		} else {
			l.unknown = append(l.unknown, sets(sw.needs))
		}
	}
	return l
})

// swaysUnknown reports whether a sentence with these words has those of some pattern
// that holds for tools of servers we do not know, or names a server (see serverName).
// Without them its names do not matter.
func (l *lexicon) swaysUnknown(found *wordSet) bool {
	return found.meets(&l.server) || found.meetsAny(l.unknown)
}

// swaysKnown reports the same for tools of any server.
func (l *lexicon) swaysKnown(found *wordSet) bool {
	return found.meetsAny(l.unknown) || found.meetsAny(l.known)
}

// lowered gives text as in wants it.
func lowered(text string) string {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return strings.ToLower(text)
		}
	}
	return text
}

// mayName is a cheap test that no sentence fails in which, where no other server is
// known, something counts as a tool's name: it holds a token that is built as
// identifiers are, or one in quotes (see classify).
func mayName(sentence string) bool {
	quotes := 0
	for i := 0; i < len(sentence); i++ {
		switch b := sentence[i]; b {
		case '_':
			return true
		case '`', '\'', '"':
			if quotes++; quotes > 1 {
				return true
			}
		case '-', '.', ':':
			if i > 0 && i+1 < len(sentence) && sentence[i+1] > ' ' && sentence[i-1] > ' ' {
				return true
			}
		default:
			if b >= 'A' && b <= 'Z' && i > 0 && sentence[i-1] >= 'a' && sentence[i-1] <= 'z' {
				return true
			}
		}
	}
	return false
}
