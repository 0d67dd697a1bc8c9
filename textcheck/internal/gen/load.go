package main

import (
	"fmt"
	"strconv"
	"strings"
)

const maxRune = 0x10ffff

// Bits of a code point's properties; package textcheck reads them by the same
// layout, which the written file repeats as constants.
const (
	bitIgnorable  = 1 << 13 // Default_Ignorable_Code_Point
	bitPictograph = 1 << 14 // Extended_Pictographic
	bitEmoji      = 1 << 15 // Emoji
	bitModifier   = 1 << 16 // Emoji_Modifier
	bitVirama     = 1 << 17 // Canonical_Combining_Class 9
	bitRTL        = 1 << 18 // Bidi_Class R or AL
	bitIdeograph  = 1 << 19 // Unified_Ideograph
	shiftJoining  = 20      // Joining_Type, 3 bits
	shiftCategory = 8       // General_Category, 5 bits
)

var categories = []string{
	"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No",
	"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So",
	"Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co",
}

var joining = []string{"U", "R", "L", "D", "C", "T"}

// styles are the compatibility decompositions that dress an ASCII letter or digit.
var styles = map[string]byte{
	"<font>": 1, "<circle>": 2, "<square>": 3, "<wide>": 4, "<super>": 5, "<sub>": 6,
}

type styled struct{ style, ascii byte }

type ucd struct {
	props       []uint32
	scripts     []string
	names       map[rune]string
	aliases     map[rune]string
	styled      map[rune]styled
	confusable  map[rune]string
	fold        map[rune]byte
	variations  map[[2]rune]bool
	flags       []string // payloads of RGI tag sequences, after the black flag
	regionFlags []string // RGI flags of two regional indicators, as two letters
}

func load(dir string) (*ucd, error) {
	for _, name := range []string{
		"Scripts.txt", "PropList.txt", "DerivedCoreProperties.txt", "confusables.txt",
		"StandardizedVariants.txt", "NameAliases.txt", "extracted/DerivedJoiningType.txt",
	} {
		if err := checkVersion(dir, name); err != nil {
			return nil, err
		}
	}
	u := &ucd{
		props: make([]uint32, maxRune+1), scripts: []string{"Unknown"},
		names: map[rune]string{}, aliases: map[rune]string{}, styled: map[rune]styled{},
		confusable: map[rune]string{}, fold: map[rune]byte{}, variations: map[[2]rune]bool{},
	}
	steps := []func(dir string) error{
		u.loadData, u.loadScripts, u.loadAliases, u.loadVariations, u.loadEmojiSequences, u.loadConfusables,
		u.property("DerivedCoreProperties.txt", "Default_Ignorable_Code_Point", bitIgnorable),
		u.property("emoji/emoji-data.txt", "Extended_Pictographic", bitPictograph),
		u.property("emoji/emoji-data.txt", "Emoji", bitEmoji),
		u.property("emoji/emoji-data.txt", "Emoji_Modifier", bitModifier),
		u.property("PropList.txt", "Unified_Ideograph", bitIdeograph),
	}
	for i, j := range joining {
		steps = append(steps, u.property("extracted/DerivedJoiningType.txt", j, uint32(i)<<shiftJoining))
	}
	for _, step := range steps {
		if err := step(dir); err != nil {
			return nil, err
		}
	}
	u.foldASCII()
	return u, nil
}

func (u *ucd) property(file, name string, bits uint32) func(dir string) error {
	return func(dir string) error {
		n := 0
		err := fields(dir, file, func(f []string) error {
			if len(f) < 2 || f[1] != name {
				return nil
			}
			lo, hi, err := hexRange(f[0])
			for r := lo; err == nil && r <= hi; r++ {
				u.props[r] |= bits
				n++
			}
			return err
		})
		if err == nil && n == 0 && bits != 0 {
			return fmt.Errorf("%s has no %s", file, name)
		}
		return err
	}
}

func (u *ucd) loadData(dir string) error {
	cat := map[string]uint32{}
	for i, c := range categories {
		cat[c] = uint32(i) << shiftCategory
	}
	var first rune = -1
	return fields(dir, "UnicodeData.txt", func(f []string) error {
		lo, hi, err := hexRange(f[0])
		if err != nil {
			return err
		}
		switch {
		case strings.HasSuffix(f[1], ", First>"):
			first = lo
			return nil
		case strings.HasSuffix(f[1], ", Last>"):
			lo = first
		}
		bits, ok := cat[f[2]]
		if !ok {
			return fmt.Errorf("unknown category %q", f[2])
		}
		if f[3] == "9" {
			bits |= bitVirama
		}
		if f[4] == "R" || f[4] == "AL" {
			bits |= bitRTL
		}
		for r := lo; r <= hi; r++ {
			u.props[r] |= bits
		}
		if !strings.HasPrefix(f[1], "<") {
			u.names[lo] = f[1]
		}
		if tag, rest, ok := strings.Cut(f[5], " "); ok && styles[tag] != 0 {
			to, err := hexRunes(rest)
			if err != nil {
				return err
			}
			if len(to) == 1 && to[0] < 0x80 && isAlnum(byte(to[0])) {
				u.styled[lo] = styled{styles[tag], byte(to[0])}
			}
		}
		return nil
	})
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func (u *ucd) loadScripts(dir string) error {
	id := map[string]int{"Unknown": 0}
	return fields(dir, "Scripts.txt", func(f []string) error {
		lo, hi, err := hexRange(f[0])
		if err != nil {
			return err
		}
		if _, ok := id[f[1]]; !ok {
			id[f[1]] = len(u.scripts)
			u.scripts = append(u.scripts, f[1])
		}
		if len(u.scripts) > 256 {
			return fmt.Errorf("more than 256 scripts")
		}
		for r := lo; r <= hi; r++ {
			u.props[r] |= uint32(id[f[1]])
		}
		return nil
	})
}

func (u *ucd) loadAliases(dir string) error {
	return fields(dir, "NameAliases.txt", func(f []string) error {
		lo, _, err := hexRange(f[0])
		if err == nil && u.aliases[lo] == "" && (f[2] == "control" || f[2] == "figment") {
			u.aliases[lo] = f[1]
		}
		return err
	})
}

func (u *ucd) loadVariations(dir string) error {
	for _, name := range []string{"StandardizedVariants.txt", "emoji/emoji-variation-sequences.txt"} {
		err := fields(dir, name, func(f []string) error {
			seq, err := hexRunes(f[0])
			if err == nil && len(seq) != 2 {
				err = fmt.Errorf("variation sequence of %d code points", len(seq))
			}
			if err == nil {
				u.variations[[2]rune{seq[0], seq[1]}] = true
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *ucd) loadEmojiSequences(dir string) error {
	return fields(dir, "emoji/emoji-sequences.txt", func(f []string) error {
		switch f[1] {
		case "RGI_Emoji_Tag_Sequence":
			seq, err := hexRunes(f[0])
			if err != nil {
				return err
			}
			var tag []byte
			for _, r := range seq[1 : len(seq)-1] {
				tag = append(tag, byte(r-0xe0000))
			}
			u.flags = append(u.flags, string(tag))
		case "RGI_Emoji_Flag_Sequence":
			seq, err := hexRunes(f[0])
			if err != nil {
				return err
			}
			u.regionFlags = append(u.regionFlags, string([]byte{byte(seq[0] - 0x1f1e6 + 'A'), byte(seq[1] - 0x1f1e6 + 'A')}))
		}
		return nil
	})
}

func (u *ucd) loadConfusables(dir string) error {
	return fields(dir, "confusables.txt", func(f []string) error {
		n, err := strconv.ParseUint(f[0], 16, 32)
		if err != nil {
			return err
		}
		to, err := hexRunes(f[1])
		if err == nil {
			u.confusable[rune(n)] = string(to)
		}
		return err
	})
}

// foldASCII finds the letters that look like one ASCII letter or digit. UTS #39
// takes l for every upright bar and rn for m; here a capital is read as I, and rn
// as the m that it is printed as.
func (u *ucd) foldASCII() {
	for r, to := range u.confusable {
		if r < 0x80 {
			continue
		}
		cat := categories[u.props[r]>>shiftCategory&31]
		if cat[0] != 'L' && cat != "Nl" && cat != "So" {
			continue
		}
		if to == "rn" {
			to = "m"
		}
		if len(to) != 1 || !isAlnum(to[0]) {
			continue
		}
		c := to[0]
		if c == 'l' && cat == "Lu" {
			c = 'I'
		}
		u.fold[r] = c
	}
}
