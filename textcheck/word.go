package textcheck

import "slices"

// minSpaced is how many letters one by one make a spaced-out word.
const minSpaced = 6

// splitWords writes names and joined words as words: a space for each joint inside
// a word, for each symbol or emoji between letters, and before the capitals of
// camelCase.
func splitWords(cells []cell) []cell {
	out := make([]cell, 0, len(cells)+len(cells)/8)
	for i, c := range cells {
		var prev, next rune = ' ', ' '
		if i > 0 {
			prev = cells[i-1].r
		}
		if i+1 < len(cells) {
			next = cells[i+1].r
		}
		switch {
		case c.r < 0x80 && isJoint(byte(c.r)):
			if isTextLetter(prev) && isTextLetter(next) || c.r == '_' || isJointRune(prev) || isJointRune(next) {
				c.r = ' '
			}
		case c.r < 0x80:
			if isUpper(c.r) && (isLower(prev) || isUpper(prev) && isLower(next)) {
				out = append(out, cell{' ', c.from, c.from})
			}
		case isStop(c.r): // it ends a sentence or a clause, and must go on doing so
		default:
			switch p := props(c.r); category(p) {
			case catSm, catSc, catSk, catSo, catPd, catPo, catPc:
				c.r = ' '
			default:
				if p&bitModifier != 0 || c.r == 0xfe0f {
					c.r = ' '
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// isStop reports whether a character beyond ASCII ends a sentence or parts clauses: the
// stops and commas of Chinese, Japanese, Devanagari, Arabic and Armenian.
func isStop(r rune) bool {
	switch r {
	case '。', '、', '！', '，', '：', '；', '？', '｡', '､', '।', '॥', '؟', '،', '؛', '۔', '։':
		return true
	}
	return false
}

func isJointRune(r rune) bool { return r < 0x80 && isJoint(byte(r)) }

func isUpper(r rune) bool { return r >= 'A' && r <= 'Z' }

func isTextLetter(r rune) bool {
	if r < 0x80 {
		return isASCIILetter(byte(r)) || r >= '0' && r <= '9'
	}
	return isLetter(props(r))
}

// closeUp writes letters that stand one by one as words: "d i s r e g a r d  y o u r"
// as "disregard your". Two spaces are a gap between words; where there are none, the
// words of English are found in the letters. ok is false where nothing stands so.
func closeUp(cells []cell) (out []cell, ok bool) {
	if !hasSingles(cells) {
		return cells, false
	}
	out = make([]cell, 0, len(cells))
	for i := 0; i < len(cells); {
		n := 0
		if i == 0 || !isTextLetter(cells[i-1].r) && !isCombining(cells[i-1].r) {
			n = spacedLength(cells[i:])
		}
		if n == 0 {
			out = append(out, cells[i])
			i++
			continue
		}
		ok = true
		run := cells[i : i+n]
		sep := run[unit(run)].r
		start, gaps := len(out), false
		for j := 0; j < len(run); j++ {
			if isTextLetter(run[j].r) || isCombining(run[j].r) {
				out = append(out, run[j])
				continue
			}
			if k := j; isSeparator(run[j].r) && (j+1 < len(run) && !isTextLetter(run[j+1].r) || run[j].r != sep) {
				for j+1 < len(run) && !isTextLetter(run[j+1].r) {
					j++
				}
				out = append(out, cell{' ', run[k].from, run[j].to})
				gaps = true
			}
		}
		if !gaps {
			out = segment(out, start)
		}
		i += n
	}
	return out, ok
}

// hasSingles reports whether letters that stand alone follow each other often
// enough for a spaced-out word to be possible.
func hasSingles(cells []cell) bool {
	singles, length := 0, 0
	for i := 0; i < len(cells); i++ {
		if isTextLetter(cells[i].r) {
			if length++; length > 1 {
				singles = 0
			}
			continue
		}
		if length == 1 {
			if singles++; singles >= minSpaced {
				return true
			}
		}
		length = 0
	}
	return length == 1 && singles+1 >= minSpaced
}

// spacedLength gives the length of the stretch of single letters, each parted from
// the next by one to three separators, at the start of cells; 0 for fewer than
// minSpaced.
func spacedLength(cells []cell) int {
	letters, end := 0, 0
	for i := 0; i < len(cells); {
		n := unit(cells[i:])
		if n == 0 || i+n < len(cells) && isTextLetter(cells[i+n].r) {
			break
		}
		letters++
		i += n
		end = i
		seps := 0
		for i < len(cells) && seps < 4 && isSeparator(cells[i].r) {
			i++
			seps++
		}
		if seps == 0 || seps > 3 {
			break
		}
	}
	if letters < minSpaced {
		return 0
	}
	return end
}

// unit gives the length of the letter at the start of cells with its marks and, in
// scripts that have them, the letters that a virama joins to it; 0 for no letter.
func unit(cells []cell) int {
	if !isTextLetter(cells[0].r) {
		return 0
	}
	n := 1
	for n < len(cells) && isCombining(cells[n].r) {
		n++
		if n < len(cells) && props(cells[n-1].r)&bitVirama != 0 && isTextLetter(cells[n].r) {
			n++
		}
	}
	return n
}

func isCombining(r rune) bool { return r >= 0x300 && isMark(props(r)) }

func isSeparator(r rune) bool {
	if r < 0x80 {
		return isSpace(r) || isJoint(byte(r)) || r == ',' || r == '/' || r == ';' || r == ':'
	}
	switch category(props(r)) {
	case catZs, catPd, catPo, catSo, catSm, catSk:
		return true
	}
	return false
}

// segment puts spaces between the words of English that the letters from start on
// are, the longest first, and leaves the rest as it is.
func segment(cells []cell, start int) []cell {
	letters := append([]cell(nil), cells[start:]...)
	out := cells[:start]
	var buf [maxEnglish]byte
	for i := 0; i < len(letters); {
		n := 0
		for n < maxEnglish && i+n < len(letters) && letters[i+n].r < 0x80 {
			buf[n] = byte(letters[i+n].r)
			n++
		}
		for n > 1 && !english(string(buf[:n])) {
			n--
		}
		n = max(n, 1)
		if i > 0 && (n > 1 || len(out) > 0 && out[len(out)-1].r == ' ') && n > 1 {
			out = append(out, cell{' ', letters[i].from, letters[i].from})
		}
		out = append(out, letters[i:i+n]...)
		i += n
	}
	return out
}

// unleet writes the digits and symbols inside words as the letters that they stand
// for, where that gives at least one word of English or where, in whatever language,
// three words near each other have digits between letters; ok is false otherwise. Other
// words with digits between letters are then taken to be written so too.
func unleet(cells []cell) (out []cell, ok bool) {
	out = append([]cell(nil), cells...)
	inside, near := 0, 0 // words with digits between letters, and where the last one was
	var last []cell
	dense := false
	leetWords(out, func(at int, word []cell) {
		if unleetWord(word) {
			ok = true
		}
		if digitsInside(word) && !slices.EqualFunc(word, last, func(a, b cell) bool { return a.r == b.r }) {
			if at-near > leetGap {
				inside = 0
			}
			near, last = at, word
			if inside++; inside >= 3 {
				dense = true
			}
		}
	})
	if ok = ok || dense; ok {
		leetWords(out, func(_ int, word []cell) {
			if dense && len(word) > 2 || isASCIILetter(byte(word[0].r)) && isASCIILetter(byte(word[len(word)-1].r)) {
				for i := range word {
					if c := leetLetter(byte(word[i].r)); c != 0 {
						word[i].r = rune(c)
					}
				}
			}
		})
	}
	return out, ok
}

// leetGap is how far apart, in characters, words in leet may begin to be of one text.
const leetGap = 24

// digitsInside reports a word that has nothing but letters and digits, at least two,
// one of them between letters, and is no hex number.
func digitsInside(word []cell) bool {
	inside, hex, digits := false, true, 0
	for i, c := range word {
		k := class[byte(c.r)]
		if k&(clLetter|clDigit) == 0 {
			return false
		}
		hex = hex && k&clHex != 0
		if k&clDigit != 0 {
			digits++
		}
		if k&clDigit != 0 && i > 0 && i+1 < len(word) && class[byte(word[i-1].r)]&class[byte(word[i+1].r)]&clLetter != 0 {
			inside = true
		}
	}
	return inside && !hex && digits > 1
}

// leetWords calls f with each run of letters and leet that has both.
func leetWords(out []cell, f func(at int, word []cell)) {
	for i := 0; i < len(out); {
		start, letters, digits := i, 0, 0
		for ; i < len(out) && out[i].r < 0x80; i++ {
			c := byte(out[i].r)
			switch {
			case isASCIILetter(c):
				letters++
				continue
			case leetLetter(c) != 0:
				digits++
				continue
			}
			break
		}
		if i == start {
			i++
			continue
		}
		if digits == 0 || letters == 0 || i-start > maxEnglish+2 {
			continue
		}
		// A mark at the end is more likely a mark.
		end := i
		for end > start && (out[end-1].r == '!' || out[end-1].r == '+' || out[end-1].r == '|') {
			end--
		}
		if end > start {
			f(start, out[start:end])
		}
	}
}

// unleetWord replaces the digits of a word if the result is English, trying 1 as i
// and as l.
func unleetWord(word []cell) bool {
	if len(word) < 3 || len(word) > maxEnglish {
		return false
	}
	var buf [maxEnglish]byte
	var ones []int
	changed := false
	for i, c := range word {
		buf[i] = byte(c.r)
		if !isASCIILetter(buf[i]) {
			changed = true
			if c.r == '1' || c.r == '!' || c.r == '|' {
				ones = append(ones, i)
			}
			buf[i] = leetLetter(buf[i])
		}
	}
	if !changed || len(ones) > 4 {
		return false
	}
	for choice := 0; choice < 1<<len(ones); choice++ {
		for bit, at := range ones {
			buf[at] = 'i'
			if choice>>bit&1 != 0 {
				buf[at] = 'l'
			}
		}
		if english(string(buf[:len(word)])) {
			for i := range word {
				word[i].r = rune(buf[i])
			}
			return true
		}
	}
	return false
}
