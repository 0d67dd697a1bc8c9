package textcheck

// maxANSI is the longest control string, in code points, that is taken as one.
// Without its end a string would swallow the text.
const maxANSI = 4096

// ansiLength gives the length of the escape sequence (ECMA-48) at the start of r,
// which is ESC or a C1 control: a control sequence, a control string up to its
// terminator, or ESC and one character. A lone ESC or C1 control gives 1.
func ansiLength(r []rune) int {
	at, introducer := 1, r[0]
	if introducer == 0x1b {
		if len(r) < 2 {
			return 1
		}
		at, introducer = 2, r[1]+0x40
		if r[1] < 0x20 || r[1] > 0x7e {
			return 1
		}
	}
	switch introducer {
	case 0x9b: // CSI: parameters, intermediates, one final
		i := at
		for i < len(r) && i < maxANSI && r[i] >= 0x20 && r[i] <= 0x3f {
			i++
		}
		if i < len(r) && r[i] >= 0x40 && r[i] <= 0x7e {
			return i + 1
		}
		return at
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // DCS, SOS, OSC, PM, APC: up to ST, or BEL
		for i := at; i < len(r) && i < maxANSI; i++ {
			switch {
			case r[i] == 7 || r[i] == 0x9c:
				return i + 1
			case r[i] == 0x1b && i+1 < len(r) && r[i+1] == '\\':
				return i + 2
			case r[i] == '\n' || r[i] == 0x1b || r[i] >= 0x80 && r[i] < 0xa0:
				return at
			}
		}
		return at
	}
	if r[0] != 0x1b {
		return 1
	}
	// ESC, intermediates, one final.
	i := 1
	for i < len(r) && i < 8 && r[i] >= 0x20 && r[i] <= 0x2f {
		i++
	}
	if i < len(r) && r[i] >= 0x30 && r[i] <= 0x7e {
		return i + 1
	}
	return 1
}
