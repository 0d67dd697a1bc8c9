package textcheck

import (
	"strings"
	"unicode/utf8"
)

// letter is one letter of a word.
type letter struct {
	at      int // index of the code point
	r       rune
	foreign bool
}

// maxWord is the longest word, in letters, that is judged as one.
const maxWord = 200

// lookalikes judges the words of the raw text, one by one: a word in one script is
// never suspect in prose, whatever its letters look like.
func (x *inspection) lookalikes() {
	n := len(x.hits)
	x.words(func(word []letter) {
		if fold := foldWord(word); fold != nil {
			x.lookalike(word, fold)
		}
	})
	x.dressedWords()
	if x.opts.Name && len(x.hits) == n {
		x.name()
	}
}

// words calls f with each run of letters. Marks and invisible characters belong to
// the word; hyphens, apostrophes, digits and the rest part words, so that
// "API-ключ" is two.
func (x *inspection) words(f func(word []letter)) {
	var word []letter
	mixed := false
	end := func() {
		if mixed && len(word) > 1 {
			f(word)
		}
		word, mixed = word[:0], false
	}
	for i, r := range x.runes {
		if r < 0x80 {
			if !isASCIILetter(byte(r)) {
				end()
				continue
			}
			word = append(word, letter{i, r, false})
		} else {
			p := props(r)
			switch {
			case isInvisible(r, p) || isMark(p):
				continue
			case !isLetter(p):
				end()
				continue
			}
			foreign := isForeign(p)
			mixed = mixed || foreign
			word = append(word, letter{i, r, foreign})
		}
		if len(word) >= maxWord {
			end()
		}
	}
	end()
}

// foldWord gives what each letter of a mixed word should have been, nil where the
// word is honest. 0 leaves a letter as it is.
func foldWord(word []letter) []rune {
	latin, foreign := 0, 0
	for _, l := range word {
		if l.foreign {
			foreign++
		} else {
			latin++
		}
	}
	if latin == 0 || foreign == 0 {
		return nil
	}
	fold := make([]rune, len(word))
	found := false
	english := isEnglish(word)
	for a := 0; a < len(word); {
		if !word[a].foreign {
			a++
			continue
		}
		b := a
		for b < len(word) && word[b].foreign {
			b++
		}
		if suspect(word, a, b, english) {
			found = true
			for i := a; i < b; i++ {
				if c := looksLike(word[i].r); c != 0 {
					fold[i] = rune(c)
				} else if c := passesFor(word[i].r); c != 0 {
					fold[i] = rune(c)
				}
			}
		}
		a = b
	}
	if !found {
		found = foldLatin(word, fold)
	}
	if !found {
		return nil
	}
	return fold
}

// suspect judges the foreign letters a–b of a word that has Latin letters too.
func suspect(word []letter, a, b int, english bool) bool {
	strong, weak := true, true
	for _, l := range word[a:b] {
		if looksLike(l.r) == 0 {
			strong = false
			if passesFor(l.r) == 0 {
				weak = false
			}
		}
	}
	if !weak {
		return false
	}
	if english {
		return true
	}
	inside := a > 0 && b < len(word)
	lower := a > 0 && isLower(word[a-1].r) || b < len(word) && isLower(word[b].r)
	if b-a == 1 && isSymbol(word[a].r) {
		// A Greek letter as a symbol: λmax, TNFα, NFκB.
		if !lower || !inside && len(word) <= 4 {
			return false
		}
	}
	if !strong {
		return inside && lower
	}
	if a > 1 && b == len(word) && isUpperRun(word[:a]) && isLowerForeign(word[a:b]) {
		return false // a Latin acronym with the ending of another language
	}
	return true
}

// isEnglish reports a word that with its look-alikes replaced is a common one.
func isEnglish(word []letter) bool {
	if len(word) > maxEnglish {
		return false
	}
	var b [maxEnglish]byte
	for i, l := range word {
		c := plain(l.r)
		if c == 0 {
			c = passesFor(l.r)
		}
		if c == 0 || c >= 0x80 {
			return false
		}
		b[i] = c
	}
	return english(string(b[:len(word)]))
}

// foldLatin judges Latin letters inside a Cyrillic word: one or two that look like
// Cyrillic ones, small, or a capital that begins the word.
func foldLatin(word []letter, fold []rune) bool {
	found := false
	for a := 0; a < len(word); {
		if word[a].foreign {
			a++
			continue
		}
		b := a
		alike := true
		for ; b < len(word) && !word[b].foreign; b++ {
			if cyrillicFor(word[b].r) == 0 || !isLower(word[b].r) && (b > 0 || len(word) < 4) {
				alike = false
			}
		}
		cyrillic := a > 0 && isCyrillic(word[a-1].r) || b < len(word) && isCyrillic(word[b].r)
		if alike && cyrillic && b-a <= 2 && len(word) > 2*(b-a) {
			found = true
			for i := a; i < b; i++ {
				fold[i] = cyrillicFor(word[i].r)
			}
		}
		a = b
	}
	return found
}

func isCyrillic(r rune) bool { return script(props(r)) == scriptCyrillic }

func isLower(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z'
	}
	return category(props(r)) == catLl
}

func isUpperRun(word []letter) bool {
	for _, l := range word {
		if l.foreign || isLower(l.r) {
			return false
		}
	}
	return true
}

func isLowerForeign(word []letter) bool {
	for _, l := range word {
		if !isLower(l.r) {
			return false
		}
	}
	return true
}

// isSymbol reports a Greek letter that formulas use; omicron, iota and upsilon are
// not among them.
func isSymbol(r rune) bool {
	return r >= 'α' && r <= 'ω' && r != 'ο' && r != 'ι' && r != 'υ' && r != 'ς' ||
		strings.ContainsRune("ΓΔΘΛΞΠΣΦΨΩϕϑϵ", r)
}

// lookalike records a word and what to put for its letters.
func (x *inspection) lookalike(word []letter, fold []rune) {
	first := -1
	var b strings.Builder
	for i, l := range word {
		r := l.r
		if fold[i] != 0 {
			r = fold[i]
			if first < 0 {
				first = l.at
			}
			x.edit(l.at, l.at+1, string(r))
		}
		b.WriteRune(r)
	}
	x.hit(KindHomoglyph, word[0].at, word[len(word)-1].at+1, first, b.String())
}

// dressedWords finds words written in mathematical, circled, squared or full-width
// letters, in superscripts or in small capitals. A single one is a symbol; a run of
// them is writing that tools do not read as the letters it shows.
func (x *inspection) dressedWords() {
	wide := -1 // whether full-width letters are at home: 1 yes, 0 no, -1 not asked
	for i := 0; i < len(x.runes); i++ {
		if isRegional(x.runes[i]) {
			i = x.region(i) - 1
			continue
		}
		c, style := dress(x.runes[i])
		if c == 0 {
			continue
		}
		start, last, letters, least := i, i, 0, 3
		var b strings.Builder
		for ; i < len(x.runes) && i-start < maxWord; i++ {
			r := x.runes[i]
			next, s := dress(r)
			if next == 0 {
				// Small capitals have no x, and a plain s serves for theirs.
				if style == styleSmall && isWordASCII(r) && r|0x20 >= 'a' && i+1 < len(x.runes) {
					b.WriteByte(byte(r))
					continue
				}
				if r >= 0x80 && isInvisible(r, props(r)) {
					continue
				}
				break
			}
			if isASCIILetter(next) {
				letters++
			}
			if s == styleSuper || s == styleSub {
				least = 4
			}
			if s == styleWide {
				if wide < 0 {
					wide = x.usesWide()
				}
				if wide == 1 {
					letters--
				}
			}
			b.WriteByte(next)
			last = i
		}
		text := b.String()
		if letters < least {
			continue
		}
		for j := start; j <= last; j++ {
			if c, _ := dress(x.runes[j]); c != 0 {
				x.edit(j, j+1, string(rune(c)))
			}
		}
		x.hit(KindHomoglyph, start, last+1, start, text[:min(len(text), last+1-start)])
		i = last
	}
}

// region judges a run of regional indicators and gives its end.
func (x *inspection) region(i int) int {
	n, spells := regionLetters(x.runes, i)
	if spells {
		var b strings.Builder
		for j := i; j < i+n; j++ {
			b.WriteByte(regionLetter(x.runes[j]))
			x.edit(j, j+1, string(rune(regionLetter(x.runes[j]))))
		}
		x.hit(KindHomoglyph, i, i+n, i, b.String())
	}
	return i + n
}

// styleSmall is the style of small capitals and negative capitals.
const styleSmall = 7

func dress(r rune) (ascii, style byte) {
	if r < 0x80 {
		return 0, 0
	}
	if c := smallCapital(r); c != 0 {
		return c, styleSmall
	}
	return dressed(r)
}

// usesWide gives 1 where the text has East Asian letters, 0 where it has none.
func (x *inspection) usesWide() int {
	for _, r := range x.runes {
		if r >= 0x1100 && isCJK(props(r)) {
			return 1
		}
	}
	return 0
}

// name finds a name that as a whole looks like ASCII. Turkish dotless i is a letter
// of names, so that alone it does not count.
func (x *inspection) name() {
	var b strings.Builder
	first := -1
	for i, r := range x.runes {
		p := props(r)
		if r >= 0x80 && isInvisible(r, p) {
			continue
		}
		c := plain(r)
		if c == 0 {
			return
		}
		if r >= 0x80 && r != 'ı' && first < 0 {
			first = i
		}
		b.WriteByte(c)
	}
	if first < 0 {
		return
	}
	x.hit(KindHomoglyph, 0, len(x.runes), first, b.String())
	for i, r := range x.runes {
		if r >= utf8.RuneSelf {
			if c := plain(r); c != 0 {
				x.edit(i, i+1, string(rune(c)))
			}
		}
	}
}
