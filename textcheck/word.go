package textcheck

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
		n := spacedLength(cells[i:])
		if n == 0 || i > 0 && isTextLetter(cells[i-1].r) {
			out = append(out, cells[i])
			i++
			continue
		}
		ok = true
		run := cells[i : i+n]
		sep := run[1].r
		start, gaps := len(out), false
		for j := 0; j < len(run); j++ {
			if isTextLetter(run[j].r) {
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
		if !isTextLetter(cells[i].r) || i+1 < len(cells) && isTextLetter(cells[i+1].r) {
			break
		}
		letters++
		i++
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
// for, where that gives at least one word of English; ok is false otherwise. Where it
// does, other words with digits between letters are taken to be written so too.
func unleet(cells []cell) (out []cell, ok bool) {
	out = append([]cell(nil), cells...)
	leetWords(out, func(word []cell) {
		if unleetWord(word) {
			ok = true
		}
	})
	if ok {
		leetWords(out, func(word []cell) {
			if isASCIILetter(byte(word[0].r)) && isASCIILetter(byte(word[len(word)-1].r)) {
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

// leetWords calls f with each run of letters and leet that has both.
func leetWords(out []cell, f func(word []cell)) {
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
			f(out[start:end])
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
