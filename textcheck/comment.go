package textcheck

import (
	"strings"
)

// comments finds HTML comments that say something. One that is not closed hides the rest of the text
// in a renderer.
func (x *inspection) comments() {
	for i := 0; i+3 < len(x.runes); i++ {
		if !x.starts(i, "<!--") {
			continue
		}
		end, closed := len(x.runes), false
		for j := i + 4; j+2 < len(x.runes); j++ {
			if x.starts(j, "-->") {
				end, closed = j, true
				break
			}
		}
		body := strings.TrimSpace(toText(x.runes[i+4 : end]))
		if closed && body == "" {
			i = end + 2
			continue
		}
		if closed {
			// A space in its place, so that what stood apart does not come together.
			x.edit(i, end+3, " ")
			end += 3
		} else {
			x.edit(i, i+4, " ")
		}
		x.hit(KindHTMLComment, i, end, i, body)
		i = end - 1
	}
}

func (x *inspection) starts(i int, ascii string) bool {
	if i+len(ascii) > len(x.runes) {
		return false
	}
	for n := 0; n < len(ascii); n++ {
		if x.runes[i+n] != rune(ascii[n]) {
			return false
		}
	}
	return true
}

// toText gives code points as UTF-8; a surrogate becomes U+FFFD.
func toText(runes []rune) string { return string(runes) }

// maxTag is the longest tag, in code points, that is looked into.
const maxTag = 1024

// markup finds what a renderer of HTML or Markdown does not show though it is in
// the text: elements styled away and link reference definitions used as comments.
func (x *inspection) markup() {
	for i := 0; i < len(x.runes); i++ {
		switch x.runes[i] {
		case '<':
			end := x.tagEnd(i + 1)
			if end < 0 || !isASCIIRuneLetter(x.at(i+1)) {
				continue
			}
			tag := strings.ToLower(toText(x.runes[i+1 : end]))
			if hidesElement(tag) {
				x.hit(KindMarkup, i, end+1, i, "")
			}
			i = end
		case '[':
			if i > 0 && x.runes[i-1] != '\n' {
				continue
			}
			for _, label := range [...]string{"[//]:", "[comment]:", "[_]:", "[hidden]:"} {
				if x.starts(i, label) {
					end := i
					for end < len(x.runes) && x.runes[end] != '\n' {
						end++
					}
					body := strings.Trim(toText(x.runes[i+len(label):end]), " #<>()\"'\r")
					x.hit(KindMarkup, i, end, i, body)
					i = end - 1
					break
				}
			}
		}
	}
}

// tagEnd gives the index of the > that ends a tag, -1 if none is near.
func (x *inspection) tagEnd(i int) int {
	for n := i; n < len(x.runes) && n-i < maxTag; n++ {
		switch x.runes[n] {
		case '>':
			return n
		case '<':
			return -1
		}
	}
	return -1
}

func isASCIIRuneLetter(r rune) bool { return r >= 0 && r < 0x80 && isASCIILetter(byte(r)) }

// hidesElement reports a tag, in lower case, whose element is not shown.
func hidesElement(tag string) bool {
	if _, style, ok := strings.Cut(tag, "style"); ok {
		style = strings.Map(func(r rune) rune {
			if r == ' ' || r == '\t' || r == '\n' {
				return -1
			}
			return r
		}, style)
		for _, s := range [...]string{
			"display:none", "visibility:hidden", "opacity:0", "font-size:0", "font-size:1px",
			"color:white", "color:#fff", "color:transparent", "text-indent:-",
		} {
			if strings.Contains(style, s) {
				return true
			}
		}
	}
	for _, f := range strings.Fields(tag)[1:] {
		if f == "hidden" || f == "hidden/" {
			return true
		}
	}
	return false
}

// padding finds white space that pushes what follows off the screen: longBlank
// spaces and tabs on a line, or longLines line ends, with text after them.
func (x *inspection) padding() {
	for i := 0; i < len(x.runes); {
		blank, lines, j := 0, 0, i
		for ; j < len(x.runes); j++ {
			r := x.runes[j]
			if r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029 {
				if r != '\r' || x.at(j+1) != '\n' {
					lines++
				}
				blank = 0
				continue
			}
			if !isBlank(r) {
				break
			}
			blank++
		}
		if j == i {
			i++
			continue
		}
		// Blank to the end of a line, or of the text, hides nothing.
		if j < len(x.runes) && (blank >= longBlank || lines >= longLines) {
			instead := " "
			if lines > 0 {
				instead = "\n"
			}
			x.edit(i, j, instead)
			x.hit(KindPadding, i, j, i, "")
		}
		i = j
	}
}

// isBlank reports white space on a line.
func isBlank(r rune) bool {
	if r < 0x80 {
		return r == ' ' || r == '\t'
	}
	return category(props(r)) == catZs
}
